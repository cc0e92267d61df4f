-- Statistics: kept counts of the books, and of the changes over time.
--
-- Rows of both are kept for each scope that is asked for. The viewer is empty for everybody, or a caller, for the rows of
-- other owners; the owner is a row's own, or empty for all of the viewer's together.

-- What was added to or taken from the books, whoever wrote: appended, and worked off soon after and before counts are
-- read. Append only, so that nobody waits for anybody.
CREATE TABLE book_delta (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    book TEXT NOT NULL,
    owner_did TEXT NOT NULL,
    caller_did TEXT NOT NULL,
    connector_name TEXT NOT NULL,
    word TEXT NOT NULL,
    defer_reason TEXT,
    change INTEGER NOT NULL
);

-- How many operations are in each state, watches in each status, and of both how many wait for each reason.
CREATE TABLE book_count (
    viewer_did TEXT NOT NULL,
    book TEXT NOT NULL,
    owner_did TEXT NOT NULL,
    connector_name TEXT NOT NULL,
    word TEXT NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (viewer_did, book, owner_did, connector_name, word)
) WITHOUT ROWID;
CREATE INDEX book_count_connector ON book_count (viewer_did, book, connector_name, owner_did, word);
CREATE INDEX book_count_none ON book_count (count) WHERE count = 0;

-- How many changes were made in each minute and each hour.
CREATE TABLE outcome_count (
    viewer_did TEXT NOT NULL,
    owner_did TEXT NOT NULL,
    span_ms INTEGER NOT NULL,
    starts_at INTEGER NOT NULL,
    connector_name TEXT NOT NULL,
    transition TEXT NOT NULL,
    to_state TEXT NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (viewer_did, owner_did, span_ms, starts_at, connector_name, transition, to_state)
) WITHOUT ROWID;
CREATE INDEX outcome_count_starts ON outcome_count (starts_at);
-- The last change that was counted.
CREATE TABLE outcome_counted (
    singleton INTEGER NOT NULL PRIMARY KEY CHECK (singleton = 1),
    counted_through INTEGER NOT NULL
);
INSERT INTO outcome_counted (singleton, counted_through) VALUES (1, 0);
CREATE INDEX change_event_at ON change_event (at);

INSERT INTO book_delta (book, owner_did, caller_did, connector_name, word, defer_reason, change)
    SELECT 'operation', owner_did, caller_did, connector_name, state, defer_reason, count(*) FROM kubun_connector_operation
    GROUP BY owner_did, caller_did, connector_name, state, defer_reason;
INSERT INTO book_delta (book, owner_did, caller_did, connector_name, word, defer_reason, change)
    SELECT 'watch', owner_did, owner_did, connector_name, verification_status, defer_reason, count(*)
    FROM kubun_connector_projection_watch GROUP BY owner_did, connector_name, verification_status, defer_reason;

-- Differs because SQLite's triggers are one for each event.
CREATE TRIGGER kubun_connector_operation_counted_made AFTER INSERT ON kubun_connector_operation BEGIN
    INSERT INTO book_delta (book, owner_did, caller_did, connector_name, word, defer_reason, change)
        VALUES ('operation', NEW.owner_did, NEW.caller_did, NEW.connector_name, NEW.state, NEW.defer_reason, 1);
END;
CREATE TRIGGER kubun_connector_operation_counted_moved
AFTER UPDATE OF owner_did, caller_did, connector_name, state, defer_reason ON kubun_connector_operation
WHEN OLD.owner_did IS NOT NEW.owner_did OR OLD.caller_did IS NOT NEW.caller_did OR OLD.connector_name IS NOT
    NEW.connector_name OR OLD.state IS NOT NEW.state OR OLD.defer_reason IS NOT NEW.defer_reason BEGIN
    INSERT INTO book_delta (book, owner_did, caller_did, connector_name, word, defer_reason, change)
        VALUES ('operation', OLD.owner_did, OLD.caller_did, OLD.connector_name, OLD.state, OLD.defer_reason, -1),
        ('operation', NEW.owner_did, NEW.caller_did, NEW.connector_name, NEW.state, NEW.defer_reason, 1);
END;
CREATE TRIGGER kubun_connector_operation_counted_gone AFTER DELETE ON kubun_connector_operation BEGIN
    INSERT INTO book_delta (book, owner_did, caller_did, connector_name, word, defer_reason, change)
        VALUES ('operation', OLD.owner_did, OLD.caller_did, OLD.connector_name, OLD.state, OLD.defer_reason, -1);
END;
CREATE TRIGGER kubun_connector_projection_watch_counted_made AFTER INSERT ON kubun_connector_projection_watch BEGIN
    INSERT INTO book_delta (book, owner_did, caller_did, connector_name, word, defer_reason, change)
        VALUES ('watch', NEW.owner_did, NEW.owner_did, NEW.connector_name, NEW.verification_status, NEW.defer_reason, 1);
END;
CREATE TRIGGER kubun_connector_projection_watch_counted_moved
AFTER UPDATE OF owner_did, connector_name, verification_status, defer_reason ON kubun_connector_projection_watch
WHEN OLD.owner_did IS NOT NEW.owner_did OR OLD.connector_name IS NOT NEW.connector_name OR OLD.verification_status
    IS NOT NEW.verification_status OR OLD.defer_reason IS NOT NEW.defer_reason BEGIN
    INSERT INTO book_delta (book, owner_did, caller_did, connector_name, word, defer_reason, change)
        VALUES ('watch', OLD.owner_did, OLD.owner_did, OLD.connector_name, OLD.verification_status, OLD.defer_reason, -1),
        ('watch', NEW.owner_did, NEW.owner_did, NEW.connector_name, NEW.verification_status, NEW.defer_reason, 1);
END;
CREATE TRIGGER kubun_connector_projection_watch_counted_gone AFTER DELETE ON kubun_connector_projection_watch BEGIN
    INSERT INTO book_delta (book, owner_did, caller_did, connector_name, word, defer_reason, change)
        VALUES ('watch', OLD.owner_did, OLD.owner_did, OLD.connector_name, OLD.verification_status, OLD.defer_reason, -1);
END;

-- What needs a person's eye, found without a walk over what does not.
-- They hold what is asked for with them: few rows, walked without looking at the table.
CREATE INDEX kubun_connector_operation_leased ON kubun_connector_operation
    (lease_expires_at, due_at, owner_did, caller_did, connector_name) WHERE due_at IS NOT NULL AND lease_token IS NOT NULL;
CREATE INDEX kubun_connector_operation_marked ON kubun_connector_operation
    (lease_expires_at, lease_token, owner_did, caller_did, connector_name) WHERE due_at IS NOT NULL AND send_marker IS NOT NULL;
CREATE INDEX kubun_connector_projection_watch_claimed ON kubun_connector_projection_watch
    (claimed_until, due_at, owner_did, connector_name) WHERE claimed_until IS NOT NULL;
CREATE INDEX kubun_connector_sweep_candidate_refused ON kubun_connector_sweep_candidate (owner_did, connector_name)
    WHERE state = 'refused';

-- Lists by when something was changed, in the order of creation, are walked without looking at the rows.
DROP INDEX kubun_connector_operation_created;
CREATE INDEX kubun_connector_operation_created ON kubun_connector_operation
    (created_at, caller_did, operation_id, updated_at);
DROP INDEX kubun_connector_operation_connector_created;
CREATE INDEX kubun_connector_operation_connector_created ON kubun_connector_operation
    (connector_name, created_at, caller_did, operation_id, updated_at);

-- The kept write states again, with two indexes less: by document, and as they are listed.
ALTER TABLE document_write_state RENAME TO document_write_state_before;
CREATE TABLE document_write_state (
    document_id TEXT NOT NULL,
    viewer_did TEXT NOT NULL,
    write_state TEXT NOT NULL,
    PRIMARY KEY (document_id, viewer_did)
) WITHOUT ROWID;
INSERT INTO document_write_state (document_id, viewer_did, write_state)
    SELECT document_id, viewer_did, write_state FROM document_write_state_before;
DROP TABLE document_write_state_before;
CREATE INDEX document_write_state_listed ON document_write_state (viewer_did, write_state, document_id);

-- What a removed operation kept from being needed is needed again. Retention removes none such.
CREATE TRIGGER kubun_connector_operation_gone AFTER DELETE ON kubun_connector_operation
WHEN OLD.collectable IS NULL AND OLD.state IN ('committed', 'dead') BEGIN
    UPDATE kubun_connector_operation SET collectable = NULL
    WHERE kubun_connector_operation.document_id = OLD.document_id AND kubun_connector_operation.collectable = 1
        AND (kubun_connector_operation.caller_did = OLD.caller_did OR kubun_connector_operation.owner_did = OLD.owner_did)
        AND NOT (EXISTS (SELECT 1 FROM kubun_connector_operation AS newer WHERE newer.document_id = kubun_connector_operation.document_id
            AND newer.state IN ('committed', kubun_connector_operation.state) AND newer.caller_did = kubun_connector_operation.caller_did
            AND (newer.created_at, newer.caller_did, newer.operation_id) > (kubun_connector_operation.created_at, kubun_connector_operation.caller_did, kubun_connector_operation.operation_id))
        AND EXISTS (SELECT 1 FROM kubun_connector_operation AS newer WHERE newer.document_id = kubun_connector_operation.document_id
            AND newer.state IN ('committed', kubun_connector_operation.state) AND newer.owner_did = kubun_connector_operation.owner_did
            AND (newer.created_at, newer.caller_did, newer.operation_id) > (kubun_connector_operation.created_at, kubun_connector_operation.caller_did, kubun_connector_operation.operation_id)));
END;

-- One owner's sync states, by connector.
CREATE INDEX kubun_connector_sync_state_owner ON kubun_connector_sync_state (owner_did, connector_name);
