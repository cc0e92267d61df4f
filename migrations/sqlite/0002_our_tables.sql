-- Our own columns on the package's tables, each nullable, so that the package's writes stay what they are.
-- The node key of the operation that this one was reissued from.
ALTER TABLE kubun_connector_operation ADD COLUMN reissued_from TEXT;
-- `attempts` right after the last refund: only a later count can be refunded.
ALTER TABLE kubun_connector_operation ADD COLUMN refunded_attempts INTEGER;
-- The digest of the primary key that a node id carries; none on rows that the package wrote, until they are asked for.
ALTER TABLE kubun_connector_projection_watch ADD COLUMN node_key TEXT;

-- One reissue per operation.
CREATE UNIQUE INDEX kubun_connector_operation_reissued_from ON kubun_connector_operation (reissued_from) WHERE reissued_from IS NOT NULL;
CREATE INDEX kubun_connector_operation_created ON kubun_connector_operation (created_at, caller_did, operation_id);
CREATE INDEX kubun_connector_operation_updated ON kubun_connector_operation (updated_at, caller_did, operation_id);
CREATE INDEX kubun_connector_operation_document ON kubun_connector_operation (document_id, created_at, caller_did, operation_id);
CREATE INDEX kubun_connector_operation_document_state ON kubun_connector_operation (document_id, state, created_at, caller_did, operation_id);
CREATE INDEX kubun_connector_operation_deferred ON kubun_connector_operation (defer_reason, owner_did) WHERE defer_reason IS NOT NULL;
CREATE UNIQUE INDEX kubun_connector_projection_watch_node_key ON kubun_connector_projection_watch (node_key) WHERE node_key IS NOT NULL;
CREATE INDEX kubun_connector_projection_watch_unadopted ON kubun_connector_projection_watch (owner_did) WHERE node_key IS NULL;
CREATE INDEX kubun_connector_projection_watch_deferred ON kubun_connector_projection_watch (defer_reason, owner_did) WHERE defer_reason IS NOT NULL;
CREATE INDEX kubun_connector_sweep_candidate_document ON kubun_connector_sweep_candidate (document_id);

-- What the local store shows for each document, as the connector said last.
CREATE TABLE document_winner (
    document_id TEXT NOT NULL PRIMARY KEY,
    digest TEXT NOT NULL,
    version TEXT,
    updated_at INTEGER NOT NULL
);

-- What is remembered of an operation that was collected, so that a replay of its claim never writes again.
CREATE TABLE operation_tombstone (
    caller_did TEXT NOT NULL,
    operation_id TEXT NOT NULL,
    node_key TEXT NOT NULL,
    envelope_digest TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('committed', 'dead')),
    document_id TEXT,
    settled_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (caller_did, operation_id)
);
CREATE INDEX operation_tombstone_expires ON operation_tombstone (expires_at);

-- The change log: one row for each entity that a transition changed.
CREATE TABLE change_event (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    entity TEXT NOT NULL,
    entity_id TEXT NOT NULL,
    transition TEXT NOT NULL,
    from_state TEXT,
    to_state TEXT,
    document_id TEXT,
    owner_did TEXT,
    caller_did TEXT,
    connector_name TEXT,
    actor_did TEXT,
    facts TEXT NOT NULL
);
CREATE INDEX change_event_entity ON change_event (entity_id, sequence);
CREATE INDEX change_event_document ON change_event (document_id, sequence);

-- The log's own name, which every cursor carries, and the last number that retention removed.
CREATE TABLE change_feed (
    singleton INTEGER NOT NULL PRIMARY KEY CHECK (singleton = 1),
    feed_id TEXT NOT NULL,
    trimmed_through INTEGER NOT NULL
);
-- Differs because each engine draws randomness by its own function.
INSERT INTO change_feed (singleton, feed_id, trimmed_through) VALUES (1, lower(hex(randomblob(8))), 0);
