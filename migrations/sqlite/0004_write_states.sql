-- Lists of documents by their write state: what each document's is, for each who may see something of it.

-- Documents whose write state may be another than the kept one: appended whoever writes, worked off soon after and before a
-- list is read. Append only, so that nobody waits for anybody.
CREATE TABLE document_touched (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    document_id TEXT NOT NULL
);

-- The kept write states; those of who sees everything are under the empty name.
CREATE TABLE document_write_state (
    viewer_did TEXT NOT NULL,
    document_id TEXT NOT NULL,
    write_state TEXT NOT NULL,
    PRIMARY KEY (viewer_did, document_id)
);
CREATE INDEX document_write_state_listed ON document_write_state (viewer_did, write_state, document_id);
CREATE INDEX document_write_state_document ON document_write_state (document_id);

INSERT INTO document_touched (document_id) SELECT DISTINCT document_id FROM kubun_connector_operation WHERE document_id IS NOT NULL;

-- Differs because SQLite's triggers are one for each event.
CREATE TRIGGER kubun_connector_operation_touch_made AFTER INSERT ON kubun_connector_operation WHEN NEW.document_id IS NOT NULL BEGIN
    INSERT INTO document_touched (document_id) VALUES (NEW.document_id);
END;
CREATE TRIGGER kubun_connector_operation_touch_moved AFTER UPDATE OF state, document_id ON kubun_connector_operation
WHEN OLD.state IS NOT NEW.state OR OLD.document_id IS NOT NEW.document_id BEGIN
    INSERT INTO document_touched (document_id) SELECT NEW.document_id WHERE NEW.document_id IS NOT NULL;
    INSERT INTO document_touched (document_id) SELECT OLD.document_id WHERE OLD.document_id IS NOT NULL
        AND OLD.document_id IS NOT NEW.document_id;
END;
CREATE TRIGGER kubun_connector_operation_touch_gone AFTER DELETE ON kubun_connector_operation WHEN OLD.document_id IS NOT NULL BEGIN
    INSERT INTO document_touched (document_id) VALUES (OLD.document_id);
END;

-- Differs because SQLite's triggers are one for each event.
CREATE TRIGGER kubun_connector_projection_watch_touch_made AFTER INSERT ON kubun_connector_projection_watch WHEN NEW.document_id IS NOT NULL BEGIN
    INSERT INTO document_touched (document_id) VALUES (NEW.document_id);
END;
CREATE TRIGGER kubun_connector_projection_watch_touch_moved AFTER UPDATE OF verification_status, document_id ON kubun_connector_projection_watch
WHEN OLD.verification_status IS NOT NEW.verification_status OR OLD.document_id IS NOT NEW.document_id BEGIN
    INSERT INTO document_touched (document_id) SELECT NEW.document_id WHERE NEW.document_id IS NOT NULL;
    INSERT INTO document_touched (document_id) SELECT OLD.document_id WHERE OLD.document_id IS NOT NULL
        AND OLD.document_id IS NOT NEW.document_id;
END;
CREATE TRIGGER kubun_connector_projection_watch_touch_gone AFTER DELETE ON kubun_connector_projection_watch WHEN OLD.document_id IS NOT NULL BEGIN
    INSERT INTO document_touched (document_id) VALUES (OLD.document_id);
END;

-- Searching by the beginning of a name.
CREATE INDEX kubun_connector_operation_search_id ON kubun_connector_operation (operation_id);
CREATE INDEX kubun_connector_operation_search_source ON kubun_connector_operation (source_id) WHERE source_id IS NOT NULL;
CREATE INDEX kubun_connector_operation_search_event ON kubun_connector_operation (deterministic_event_id);
CREATE INDEX kubun_connector_projection_watch_search_source ON kubun_connector_projection_watch (source_id);

-- Two filters that often come together: who may see it, and by which connector.
CREATE INDEX kubun_connector_operation_owner_connector ON kubun_connector_operation
    (owner_did, connector_name, created_at, caller_did, operation_id);
CREATE INDEX kubun_connector_operation_caller_connector ON kubun_connector_operation
    (caller_did, connector_name, created_at, operation_id);
