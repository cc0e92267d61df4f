-- The reference package's tables, with its names, so that both can work on one database. They may exist already, and be
-- filled: then they stay as they are.

CREATE TABLE IF NOT EXISTS kubun_connector_operation (
    caller_did TEXT NOT NULL,
    operation_id TEXT NOT NULL,
    node_key TEXT NOT NULL,
    owner_did TEXT NOT NULL,
    connector_name TEXT NOT NULL,
    model TEXT NOT NULL,
    op TEXT NOT NULL,
    account_key TEXT NOT NULL,
    target TEXT NOT NULL,
    source_id TEXT,
    deterministic_event_id TEXT NOT NULL,
    payload_hash TEXT NOT NULL,
    reissue_intent TEXT NOT NULL,
    provider_etag TEXT,
    document_id TEXT,
    result_entity TEXT,
    state TEXT NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    next_attempt_at INTEGER,
    defer_reason TEXT,
    send_marker TEXT,
    last_kind TEXT,
    last_http_status INTEGER,
    version INTEGER NOT NULL DEFAULT 0,
    incarnation TEXT,
    lease_token TEXT,
    lease_expires_at INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (caller_did, operation_id)
);

CREATE TABLE IF NOT EXISTS kubun_connector_projection_watch (
    owner_did TEXT NOT NULL,
    connector_name TEXT NOT NULL,
    model TEXT NOT NULL,
    account_key TEXT NOT NULL,
    source_id TEXT NOT NULL,
    document_id TEXT NOT NULL,
    verified_state_digest TEXT,
    observed_winner_digest TEXT,
    verification_status TEXT NOT NULL,
    verification_attempts INTEGER NOT NULL DEFAULT 0,
    repair_generation INTEGER NOT NULL DEFAULT 0,
    next_attempt_at INTEGER,
    claimed_until INTEGER,
    defer_reason TEXT,
    version INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (owner_did, connector_name, model, account_key, source_id)
);

CREATE TABLE IF NOT EXISTS kubun_connector_sweep_receipt (
    owner_did TEXT NOT NULL,
    connector_name TEXT NOT NULL,
    partition TEXT NOT NULL,
    provenance TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    model_id TEXT NOT NULL,
    scope TEXT NOT NULL,
    keep TEXT NOT NULL,
    source_fetch_hlc TEXT NOT NULL,
    predicate TEXT,
    kind TEXT NOT NULL,
    complete INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    committed_at INTEGER,
    PRIMARY KEY (owner_did, connector_name, partition, provenance)
);

CREATE TABLE IF NOT EXISTS kubun_connector_sweep_candidate (
    owner_did TEXT NOT NULL,
    connector_name TEXT NOT NULL,
    partition TEXT NOT NULL,
    provenance TEXT NOT NULL,
    document_id TEXT NOT NULL,
    source_id TEXT NOT NULL,
    model_id TEXT NOT NULL,
    state TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    apply_failures INTEGER NOT NULL DEFAULT 0,
    last_error TEXT,
    next_attempt_at INTEGER NOT NULL DEFAULT 0,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (owner_did, connector_name, partition, provenance, document_id)
);

CREATE TABLE IF NOT EXISTS kubun_connector_sweep_checkpoint (
    owner_did TEXT NOT NULL,
    connector_name TEXT NOT NULL,
    partition TEXT NOT NULL,
    provenance TEXT NOT NULL,
    receipt_sequence INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (owner_did, connector_name, partition)
);

CREATE TABLE IF NOT EXISTS kubun_connector_sync_state (
    connector_name TEXT NOT NULL,
    owner_did TEXT NOT NULL,
    checkpoint TEXT,
    last_synced_at TEXT NOT NULL,
    entity_count INTEGER NOT NULL DEFAULT 0,
    status TEXT NOT NULL,
    error TEXT,
    lease_expires_at INTEGER,
    recovery TEXT,
    version INTEGER NOT NULL DEFAULT 0,
    incarnation TEXT,
    PRIMARY KEY (connector_name, owner_did)
);

CREATE TABLE IF NOT EXISTS kubun_connector_pending_auth (
    state TEXT NOT NULL,
    code_verifier TEXT NOT NULL,
    provider TEXT NOT NULL,
    owner_did TEXT NOT NULL,
    owner_wrappable_did TEXT,
    controller_wrappable_did TEXT,
    created_at INTEGER NOT NULL,
    redirect_url TEXT NOT NULL,
    scopes TEXT NOT NULL,
    is_incremental INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (state)
);

CREATE TABLE IF NOT EXISTS kubun_connector_entity_trim (
    document_id TEXT NOT NULL,
    owner_did TEXT NOT NULL,
    connector_name TEXT NOT NULL,
    trimmed_fields TEXT NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (document_id)
);

CREATE TABLE IF NOT EXISTS kubun_connector_observation_records (
    type TEXT NOT NULL,
    owner TEXT NOT NULL,
    id TEXT NOT NULL,
    op_hash TEXT NOT NULL,
    hlc TEXT NOT NULL,
    op_jwt TEXT NOT NULL,
    payload BLOB,
    PRIMARY KEY (type, owner, id, op_hash)
);

CREATE TABLE IF NOT EXISTS kubun_connector_observation_repair (
    document_id TEXT NOT NULL,
    owner TEXT NOT NULL,
    fetch_hlc TEXT NOT NULL,
    decision_hlc TEXT NOT NULL,
    present INTEGER NOT NULL,
    value_digest TEXT,
    written_at INTEGER NOT NULL,
    PRIMARY KEY (document_id)
);

CREATE UNIQUE INDEX IF NOT EXISTS kubun_connector_operation_node_key ON kubun_connector_operation (node_key);
CREATE INDEX IF NOT EXISTS kubun_connector_operation_document_id ON kubun_connector_operation (document_id);
CREATE INDEX IF NOT EXISTS kubun_connector_operation_owner_did ON kubun_connector_operation (owner_did);
CREATE INDEX IF NOT EXISTS kubun_connector_operation_state_updated_at ON kubun_connector_operation (state, updated_at);
CREATE UNIQUE INDEX IF NOT EXISTS kubun_connector_projection_watch_document ON kubun_connector_projection_watch (owner_did, model, document_id);
CREATE INDEX IF NOT EXISTS kubun_connector_projection_watch_document_id ON kubun_connector_projection_watch (document_id);
CREATE INDEX IF NOT EXISTS kubun_connector_sweep_candidate_due ON kubun_connector_sweep_candidate (owner_did, connector_name, state, next_attempt_at);
CREATE INDEX IF NOT EXISTS kubun_connector_observation_repair_written_at ON kubun_connector_observation_repair (written_at, document_id);
