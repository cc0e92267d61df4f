-- What due work, retention, sweeps and repairs need beside the package's columns.

-- When a winner was written that the watch has not seen yet: set by the trigger on document_winner, whoever writes there;
-- cleared by arming and verifying.
ALTER TABLE kubun_connector_projection_watch ADD COLUMN drifted_at INTEGER;
-- When the watch is due: by its schedule while it is pending, by the drifted winner once it is settled.
-- Differs because each engine has one kind of generated column that can be added.
ALTER TABLE kubun_connector_projection_watch ADD COLUMN due_at INTEGER GENERATED ALWAYS AS (
    CASE verification_status WHEN 'pending_verification' THEN next_attempt_at WHEN 'verified' THEN drifted_at
    ELSE coalesce(drifted_at, next_attempt_at) END) VIRTUAL;
CREATE INDEX kubun_connector_projection_watch_due ON kubun_connector_projection_watch
    (due_at, owner_did, connector_name, model, account_key, source_id) WHERE due_at IS NOT NULL;
CREATE INDEX kubun_connector_projection_watch_owner_due ON kubun_connector_projection_watch
    (owner_did, due_at, connector_name, model, account_key, source_id) WHERE due_at IS NOT NULL;

-- When the operation is due, while it is live.
ALTER TABLE kubun_connector_operation ADD COLUMN due_at INTEGER GENERATED ALWAYS AS (
    CASE WHEN state = 'attempted' THEN coalesce(next_attempt_at, created_at) END) VIRTUAL;
CREATE INDEX kubun_connector_operation_due ON kubun_connector_operation
    (due_at, caller_did, operation_id) WHERE due_at IS NOT NULL;
CREATE INDEX kubun_connector_operation_owner_due ON kubun_connector_operation
    (owner_did, due_at, caller_did, operation_id) WHERE due_at IS NOT NULL;

-- Each filter of a list with each of its orders, so that neither many rows nor few make a long walk.
CREATE INDEX kubun_connector_operation_owner_created ON kubun_connector_operation (owner_did, created_at, caller_did, operation_id);
CREATE INDEX kubun_connector_operation_owner_updated ON kubun_connector_operation (owner_did, updated_at, caller_did, operation_id);
CREATE INDEX kubun_connector_operation_caller_created ON kubun_connector_operation (caller_did, created_at, operation_id);
CREATE INDEX kubun_connector_operation_caller_updated ON kubun_connector_operation (caller_did, updated_at, operation_id);
CREATE INDEX kubun_connector_operation_connector_created ON kubun_connector_operation
    (connector_name, created_at, caller_did, operation_id);
CREATE INDEX kubun_connector_operation_connector_updated ON kubun_connector_operation
    (connector_name, updated_at, caller_did, operation_id);
CREATE INDEX kubun_connector_operation_kind ON kubun_connector_operation (last_kind, created_at, caller_did, operation_id)
    WHERE last_kind IS NOT NULL;
CREATE INDEX kubun_connector_operation_caller_due ON kubun_connector_operation
    (caller_did, due_at, operation_id) WHERE due_at IS NOT NULL;
CREATE INDEX kubun_connector_operation_connector_due ON kubun_connector_operation
    (connector_name, due_at, caller_did, operation_id) WHERE due_at IS NOT NULL;
CREATE INDEX kubun_connector_projection_watch_connector_due ON kubun_connector_projection_watch
    (connector_name, due_at, owner_did, model, account_key, source_id) WHERE due_at IS NOT NULL;
CREATE INDEX kubun_connector_projection_watch_status ON kubun_connector_projection_watch
    (verification_status, owner_did, connector_name, model, account_key, source_id);
CREATE INDEX kubun_connector_projection_watch_connector ON kubun_connector_projection_watch
    (connector_name, owner_did, model, account_key, source_id);

-- 1 once newer rows of its document keep the write state without it: what retention may remove. Maintained by triggers,
-- whoever writes, so that retention never looks at what it has to keep.
ALTER TABLE kubun_connector_operation ADD COLUMN collectable INTEGER;
CREATE INDEX kubun_connector_operation_collectable ON kubun_connector_operation
    (updated_at, caller_did, operation_id) WHERE collectable = 1;
CREATE INDEX kubun_connector_operation_kept ON kubun_connector_operation (document_id, state)
    WHERE collectable IS NULL AND state IN ('committed', 'dead');
UPDATE kubun_connector_operation SET collectable = 1
    WHERE kubun_connector_operation.state IN ('committed', 'dead') AND (kubun_connector_operation.document_id IS NULL OR (EXISTS (SELECT 1 FROM kubun_connector_operation AS newer WHERE newer.document_id = kubun_connector_operation.document_id
            AND newer.state IN ('committed', kubun_connector_operation.state) AND newer.caller_did = kubun_connector_operation.caller_did
            AND (newer.created_at, newer.caller_did, newer.operation_id) > (kubun_connector_operation.created_at, kubun_connector_operation.caller_did, kubun_connector_operation.operation_id))
        AND EXISTS (SELECT 1 FROM kubun_connector_operation AS newer WHERE newer.document_id = kubun_connector_operation.document_id
            AND newer.state IN ('committed', kubun_connector_operation.state) AND newer.owner_did = kubun_connector_operation.owner_did
            AND (newer.created_at, newer.caller_did, newer.operation_id) > (kubun_connector_operation.created_at, kubun_connector_operation.caller_did, kubun_connector_operation.operation_id))));

-- Differs because SQLite's triggers are one for each event.
CREATE TRIGGER document_winner_drift AFTER INSERT ON document_winner BEGIN
    UPDATE kubun_connector_projection_watch SET drifted_at = CASE WHEN NEW.digest IS DISTINCT FROM observed_winner_digest THEN NEW.updated_at END
    WHERE document_id = NEW.document_id AND drifted_at IS DISTINCT FROM CASE WHEN NEW.digest IS DISTINCT FROM observed_winner_digest THEN NEW.updated_at END;
END;
CREATE TRIGGER document_winner_moved AFTER UPDATE ON document_winner BEGIN
    UPDATE kubun_connector_projection_watch SET drifted_at = CASE WHEN NEW.digest IS DISTINCT FROM observed_winner_digest THEN NEW.updated_at END
    WHERE document_id = NEW.document_id AND drifted_at IS DISTINCT FROM CASE WHEN NEW.digest IS DISTINCT FROM observed_winner_digest THEN NEW.updated_at END;
END;
-- A watch that somebody settles on another winner than the one that is recorded. Arming leaves it pending, and is no drift.
CREATE TRIGGER kubun_connector_projection_watch_made AFTER INSERT ON kubun_connector_projection_watch
WHEN NEW.verification_status <> 'pending_verification' BEGIN
    UPDATE kubun_connector_projection_watch SET drifted_at = (
        SELECT winner.updated_at FROM document_winner AS winner WHERE winner.document_id = NEW.document_id
        AND winner.digest IS DISTINCT FROM NEW.observed_winner_digest)
    WHERE owner_did = NEW.owner_did AND connector_name = NEW.connector_name AND model = NEW.model
        AND account_key = NEW.account_key AND source_id = NEW.source_id AND drifted_at IS DISTINCT FROM (
        SELECT winner.updated_at FROM document_winner AS winner WHERE winner.document_id = NEW.document_id
        AND winner.digest IS DISTINCT FROM NEW.observed_winner_digest);
END;
CREATE TRIGGER kubun_connector_projection_watch_drift
AFTER UPDATE OF document_id, verified_state_digest, observed_winner_digest, verification_status ON kubun_connector_projection_watch
WHEN NEW.verification_status <> 'pending_verification' BEGIN
    UPDATE kubun_connector_projection_watch SET drifted_at = (
        SELECT winner.updated_at FROM document_winner AS winner WHERE winner.document_id = NEW.document_id
        AND winner.digest IS DISTINCT FROM NEW.observed_winner_digest)
    WHERE owner_did = NEW.owner_did AND connector_name = NEW.connector_name AND model = NEW.model
        AND account_key = NEW.account_key AND source_id = NEW.source_id AND drifted_at IS DISTINCT FROM (
        SELECT winner.updated_at FROM document_winner AS winner WHERE winner.document_id = NEW.document_id
        AND winner.digest IS DISTINCT FROM NEW.observed_winner_digest);
END;
CREATE TRIGGER kubun_connector_operation_made AFTER INSERT ON kubun_connector_operation
WHEN NEW.state IN ('committed', 'dead') BEGIN
    UPDATE kubun_connector_operation SET collectable = 1
    WHERE NEW.document_id IS NULL AND caller_did = NEW.caller_did AND operation_id = NEW.operation_id;
    UPDATE kubun_connector_operation SET collectable = 1
    WHERE kubun_connector_operation.document_id = NEW.document_id AND kubun_connector_operation.collectable IS NULL AND kubun_connector_operation.state IN ('committed', 'dead')
        AND (kubun_connector_operation.caller_did = NEW.caller_did OR kubun_connector_operation.owner_did = NEW.owner_did)
        AND EXISTS (SELECT 1 FROM kubun_connector_operation AS newer WHERE newer.document_id = kubun_connector_operation.document_id
            AND newer.state IN ('committed', kubun_connector_operation.state) AND newer.caller_did = kubun_connector_operation.caller_did
            AND (newer.created_at, newer.caller_did, newer.operation_id) > (kubun_connector_operation.created_at, kubun_connector_operation.caller_did, kubun_connector_operation.operation_id))
        AND EXISTS (SELECT 1 FROM kubun_connector_operation AS newer WHERE newer.document_id = kubun_connector_operation.document_id
            AND newer.state IN ('committed', kubun_connector_operation.state) AND newer.owner_did = kubun_connector_operation.owner_did
            AND (newer.created_at, newer.caller_did, newer.operation_id) > (kubun_connector_operation.created_at, kubun_connector_operation.caller_did, kubun_connector_operation.operation_id));
END;
CREATE TRIGGER kubun_connector_operation_finished AFTER UPDATE OF state, document_id ON kubun_connector_operation
WHEN NEW.state IN ('committed', 'dead') AND (OLD.state IS NOT NEW.state OR OLD.document_id IS NOT NEW.document_id) BEGIN
    UPDATE kubun_connector_operation SET collectable = 1
    WHERE NEW.document_id IS NULL AND caller_did = NEW.caller_did AND operation_id = NEW.operation_id;
    UPDATE kubun_connector_operation SET collectable = 1
    WHERE kubun_connector_operation.document_id = NEW.document_id AND kubun_connector_operation.collectable IS NULL AND kubun_connector_operation.state IN ('committed', 'dead')
        AND (kubun_connector_operation.caller_did = NEW.caller_did OR kubun_connector_operation.owner_did = NEW.owner_did)
        AND EXISTS (SELECT 1 FROM kubun_connector_operation AS newer WHERE newer.document_id = kubun_connector_operation.document_id
            AND newer.state IN ('committed', kubun_connector_operation.state) AND newer.caller_did = kubun_connector_operation.caller_did
            AND (newer.created_at, newer.caller_did, newer.operation_id) > (kubun_connector_operation.created_at, kubun_connector_operation.caller_did, kubun_connector_operation.operation_id))
        AND EXISTS (SELECT 1 FROM kubun_connector_operation AS newer WHERE newer.document_id = kubun_connector_operation.document_id
            AND newer.state IN ('committed', kubun_connector_operation.state) AND newer.owner_did = kubun_connector_operation.owner_did
            AND (newer.created_at, newer.caller_did, newer.operation_id) > (kubun_connector_operation.created_at, kubun_connector_operation.caller_did, kubun_connector_operation.operation_id));
END;
CREATE TRIGGER kubun_connector_operation_moved AFTER UPDATE OF document_id ON kubun_connector_operation
WHEN OLD.state IN ('committed', 'dead') AND OLD.document_id IS NOT NEW.document_id BEGIN
    UPDATE kubun_connector_operation SET collectable = NULL
    WHERE kubun_connector_operation.document_id IN (OLD.document_id, NEW.document_id) AND kubun_connector_operation.collectable = 1
        AND (kubun_connector_operation.caller_did = NEW.caller_did OR kubun_connector_operation.owner_did = NEW.owner_did)
        AND NOT (EXISTS (SELECT 1 FROM kubun_connector_operation AS newer WHERE newer.document_id = kubun_connector_operation.document_id
            AND newer.state IN ('committed', kubun_connector_operation.state) AND newer.caller_did = kubun_connector_operation.caller_did
            AND (newer.created_at, newer.caller_did, newer.operation_id) > (kubun_connector_operation.created_at, kubun_connector_operation.caller_did, kubun_connector_operation.operation_id))
        AND EXISTS (SELECT 1 FROM kubun_connector_operation AS newer WHERE newer.document_id = kubun_connector_operation.document_id
            AND newer.state IN ('committed', kubun_connector_operation.state) AND newer.owner_did = kubun_connector_operation.owner_did
            AND (newer.created_at, newer.caller_did, newer.operation_id) > (kubun_connector_operation.created_at, kubun_connector_operation.caller_did, kubun_connector_operation.operation_id)));
END;

-- Winners that were written before the trigger was there.
UPDATE kubun_connector_projection_watch SET drifted_at = (
    SELECT winner.updated_at FROM document_winner AS winner
    WHERE winner.document_id = kubun_connector_projection_watch.document_id
    AND winner.digest IS DISTINCT FROM kubun_connector_projection_watch.observed_winner_digest);

-- One reissue per operation, also once it was collected.
ALTER TABLE operation_tombstone ADD COLUMN reissued_from TEXT;
CREATE INDEX operation_tombstone_reissued_from ON operation_tombstone (reissued_from) WHERE reissued_from IS NOT NULL;

CREATE INDEX kubun_connector_sweep_receipt_sequence ON kubun_connector_sweep_receipt
    (owner_did, connector_name, partition, sequence);
-- 1 once the partition's checkpoint has passed a committed receipt: what retention may remove.
ALTER TABLE kubun_connector_sweep_receipt ADD COLUMN passed INTEGER;
UPDATE kubun_connector_sweep_receipt SET passed = 1 WHERE committed_at IS NOT NULL AND sequence < (
    SELECT stands.receipt_sequence FROM kubun_connector_sweep_checkpoint AS stands
    WHERE stands.owner_did = kubun_connector_sweep_receipt.owner_did
    AND stands.connector_name = kubun_connector_sweep_receipt.connector_name
    AND stands.partition = kubun_connector_sweep_receipt.partition);
CREATE INDEX kubun_connector_sweep_receipt_passed ON kubun_connector_sweep_receipt (committed_at) WHERE passed = 1;
CREATE INDEX kubun_connector_sweep_candidate_open ON kubun_connector_sweep_candidate
    (updated_at, document_id, owner_did, connector_name, partition, provenance) WHERE state NOT IN ('applied', 'refused');
CREATE INDEX kubun_connector_sweep_candidate_owner_open ON kubun_connector_sweep_candidate
    (owner_did, connector_name, updated_at, document_id, partition, provenance) WHERE state NOT IN ('applied', 'refused');
CREATE INDEX kubun_connector_sweep_candidate_updated ON kubun_connector_sweep_candidate
    (updated_at, document_id, owner_did, connector_name, partition, provenance);
CREATE INDEX kubun_connector_sweep_candidate_owner_updated ON kubun_connector_sweep_candidate
    (owner_did, connector_name, updated_at, document_id, partition, provenance);
CREATE INDEX kubun_connector_pending_auth_created ON kubun_connector_pending_auth (created_at, state);
CREATE INDEX kubun_connector_pending_auth_expires ON kubun_connector_pending_auth (expires_at, state);
-- The digests of primary keys that node ids carry; none on rows that the package wrote, until they are asked for.
ALTER TABLE kubun_connector_sweep_receipt ADD COLUMN node_key TEXT;
ALTER TABLE kubun_connector_sweep_candidate ADD COLUMN node_key TEXT;
ALTER TABLE kubun_connector_sync_state ADD COLUMN node_key TEXT;
CREATE UNIQUE INDEX kubun_connector_sweep_receipt_node_key ON kubun_connector_sweep_receipt (node_key) WHERE node_key IS NOT NULL;
CREATE UNIQUE INDEX kubun_connector_sweep_candidate_node_key ON kubun_connector_sweep_candidate (node_key) WHERE node_key IS NOT NULL;
CREATE UNIQUE INDEX kubun_connector_sync_state_node_key ON kubun_connector_sync_state (node_key) WHERE node_key IS NOT NULL;
CREATE INDEX kubun_connector_sweep_receipt_unadopted ON kubun_connector_sweep_receipt (owner_did) WHERE node_key IS NULL;
CREATE INDEX kubun_connector_sweep_candidate_unadopted ON kubun_connector_sweep_candidate (owner_did) WHERE node_key IS NULL;
CREATE INDEX kubun_connector_sync_state_unadopted ON kubun_connector_sync_state (owner_did) WHERE node_key IS NULL;

-- Repairs are numbered as they are written, whoever writes: the counter's row stays locked until the commit, so that no
-- lower number ever appears later.
CREATE TABLE observation_repair_counter (
    singleton INTEGER NOT NULL PRIMARY KEY CHECK (singleton = 1),
    last_written INTEGER NOT NULL
);
INSERT INTO observation_repair_counter (singleton, last_written) SELECT 1, count(*) FROM kubun_connector_observation_repair;
ALTER TABLE kubun_connector_observation_repair ADD COLUMN write_order INTEGER;
UPDATE kubun_connector_observation_repair SET write_order = (
    SELECT count(*) FROM kubun_connector_observation_repair AS earlier
    WHERE (earlier.written_at, earlier.document_id) <= (kubun_connector_observation_repair.written_at, kubun_connector_observation_repair.document_id));
CREATE UNIQUE INDEX kubun_connector_observation_repair_order ON kubun_connector_observation_repair (write_order);
CREATE TRIGGER kubun_connector_observation_repair_written AFTER INSERT ON kubun_connector_observation_repair BEGIN
    UPDATE observation_repair_counter SET last_written = last_written + 1;
    UPDATE kubun_connector_observation_repair SET write_order = (SELECT last_written FROM observation_repair_counter)
    WHERE document_id = NEW.document_id;
END;
CREATE TRIGGER kubun_connector_observation_repair_rewritten
AFTER UPDATE OF owner, fetch_hlc, decision_hlc, present, value_digest, written_at ON kubun_connector_observation_repair BEGIN
    UPDATE observation_repair_counter SET last_written = last_written + 1;
    UPDATE kubun_connector_observation_repair SET write_order = (SELECT last_written FROM observation_repair_counter)
    WHERE document_id = NEW.document_id;
END;

-- Of several servers one does the upkeep: the holder of this row, until its time is over.
CREATE TABLE upkeep_lease (
    singleton INTEGER NOT NULL PRIMARY KEY CHECK (singleton = 1),
    holder TEXT NOT NULL,
    held_until INTEGER NOT NULL
);
INSERT INTO upkeep_lease (singleton, holder, held_until) VALUES (1, '', 0);

-- What each task of upkeep did last, on whichever server.
CREATE TABLE upkeep_task (
    task TEXT NOT NULL PRIMARY KEY,
    last_run_at INTEGER NOT NULL,
    last_result TEXT NOT NULL
);
