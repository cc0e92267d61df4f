-- The reference package's tables, with its names, so that both can work on one database. They may exist already, and be
-- filled: then they stay as they are.
-- Differs because PostgreSQL orders text by the database's locale unless told otherwise: keys are compared byte for byte.

CREATE TABLE IF NOT EXISTS kubun_connector_operation (
    caller_did text COLLATE "C" NOT NULL,
    operation_id text COLLATE "C" NOT NULL,
    node_key text NOT NULL,
    owner_did text COLLATE "C" NOT NULL,
    connector_name text NOT NULL,
    model text NOT NULL,
    op text NOT NULL,
    account_key text NOT NULL,
    target text NOT NULL,
    source_id text,
    deterministic_event_id text NOT NULL,
    payload_hash text NOT NULL,
    reissue_intent text NOT NULL,
    provider_etag text,
    document_id text COLLATE "C",
    result_entity text,
    state text NOT NULL,
    attempts integer NOT NULL DEFAULT 0,
    next_attempt_at bigint,
    defer_reason text,
    send_marker text,
    last_kind text,
    last_http_status integer,
    version integer NOT NULL DEFAULT 0,
    incarnation text,
    lease_token text,
    lease_expires_at bigint,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    PRIMARY KEY (caller_did, operation_id)
);

CREATE TABLE IF NOT EXISTS kubun_connector_projection_watch (
    owner_did text COLLATE "C" NOT NULL,
    connector_name text COLLATE "C" NOT NULL,
    model text COLLATE "C" NOT NULL,
    account_key text COLLATE "C" NOT NULL,
    source_id text COLLATE "C" NOT NULL,
    document_id text COLLATE "C" NOT NULL,
    verified_state_digest text,
    observed_winner_digest text,
    verification_status text NOT NULL,
    verification_attempts integer NOT NULL DEFAULT 0,
    repair_generation integer NOT NULL DEFAULT 0,
    next_attempt_at bigint,
    claimed_until bigint,
    defer_reason text,
    version integer NOT NULL DEFAULT 0,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    PRIMARY KEY (owner_did, connector_name, model, account_key, source_id)
);

CREATE TABLE IF NOT EXISTS kubun_connector_sweep_receipt (
    owner_did text COLLATE "C" NOT NULL,
    connector_name text COLLATE "C" NOT NULL,
    partition text COLLATE "C" NOT NULL,
    provenance text COLLATE "C" NOT NULL,
    sequence bigint NOT NULL,
    model_id text NOT NULL,
    scope text NOT NULL,
    keep text NOT NULL,
    source_fetch_hlc text NOT NULL,
    predicate text,
    kind text NOT NULL,
    complete integer NOT NULL,
    created_at bigint NOT NULL,
    committed_at bigint,
    PRIMARY KEY (owner_did, connector_name, partition, provenance)
);

CREATE TABLE IF NOT EXISTS kubun_connector_sweep_candidate (
    owner_did text COLLATE "C" NOT NULL,
    connector_name text COLLATE "C" NOT NULL,
    partition text COLLATE "C" NOT NULL,
    provenance text COLLATE "C" NOT NULL,
    document_id text COLLATE "C" NOT NULL,
    source_id text NOT NULL,
    model_id text NOT NULL,
    state text NOT NULL,
    attempts integer NOT NULL,
    apply_failures integer NOT NULL DEFAULT 0,
    last_error text,
    next_attempt_at bigint NOT NULL DEFAULT 0,
    updated_at bigint NOT NULL,
    PRIMARY KEY (owner_did, connector_name, partition, provenance, document_id)
);

CREATE TABLE IF NOT EXISTS kubun_connector_sweep_checkpoint (
    owner_did text COLLATE "C" NOT NULL,
    connector_name text COLLATE "C" NOT NULL,
    partition text COLLATE "C" NOT NULL,
    provenance text NOT NULL,
    receipt_sequence bigint NOT NULL,
    updated_at bigint NOT NULL,
    PRIMARY KEY (owner_did, connector_name, partition)
);

CREATE TABLE IF NOT EXISTS kubun_connector_sync_state (
    connector_name text COLLATE "C" NOT NULL,
    owner_did text COLLATE "C" NOT NULL,
    checkpoint text,
    last_synced_at text NOT NULL,
    entity_count integer NOT NULL DEFAULT 0,
    status text NOT NULL,
    error text,
    lease_expires_at bigint,
    recovery text,
    version integer NOT NULL DEFAULT 0,
    incarnation text,
    PRIMARY KEY (connector_name, owner_did)
);

CREATE TABLE IF NOT EXISTS kubun_connector_pending_auth (
    state text COLLATE "C" NOT NULL,
    code_verifier text NOT NULL,
    provider text NOT NULL,
    owner_did text NOT NULL,
    owner_wrappable_did text,
    controller_wrappable_did text,
    created_at bigint NOT NULL,
    redirect_url text NOT NULL,
    scopes text NOT NULL,
    is_incremental integer NOT NULL,
    expires_at bigint NOT NULL,
    PRIMARY KEY (state)
);

CREATE TABLE IF NOT EXISTS kubun_connector_entity_trim (
    document_id text COLLATE "C" NOT NULL,
    owner_did text NOT NULL,
    connector_name text NOT NULL,
    trimmed_fields text NOT NULL,
    updated_at bigint NOT NULL,
    PRIMARY KEY (document_id)
);

CREATE TABLE IF NOT EXISTS kubun_connector_observation_records (
    type text COLLATE "C" NOT NULL,
    owner text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    op_hash text COLLATE "C" NOT NULL,
    hlc text NOT NULL,
    op_jwt text NOT NULL,
    payload bytea,
    PRIMARY KEY (type, owner, id, op_hash)
);

CREATE TABLE IF NOT EXISTS kubun_connector_observation_repair (
    document_id text COLLATE "C" NOT NULL,
    owner text NOT NULL,
    fetch_hlc text NOT NULL,
    decision_hlc text NOT NULL,
    present integer NOT NULL,
    value_digest text,
    written_at bigint NOT NULL,
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

-- Tables that the package made have the locale's order: without effect on those made above.
ALTER TABLE kubun_connector_operation
    ALTER COLUMN caller_did TYPE text COLLATE "C",
    ALTER COLUMN operation_id TYPE text COLLATE "C",
    ALTER COLUMN owner_did TYPE text COLLATE "C",
    ALTER COLUMN document_id TYPE text COLLATE "C";
ALTER TABLE kubun_connector_projection_watch
    ALTER COLUMN owner_did TYPE text COLLATE "C",
    ALTER COLUMN connector_name TYPE text COLLATE "C",
    ALTER COLUMN model TYPE text COLLATE "C",
    ALTER COLUMN account_key TYPE text COLLATE "C",
    ALTER COLUMN source_id TYPE text COLLATE "C",
    ALTER COLUMN document_id TYPE text COLLATE "C";
ALTER TABLE kubun_connector_sweep_receipt
    ALTER COLUMN owner_did TYPE text COLLATE "C",
    ALTER COLUMN connector_name TYPE text COLLATE "C",
    ALTER COLUMN partition TYPE text COLLATE "C",
    ALTER COLUMN provenance TYPE text COLLATE "C";
ALTER TABLE kubun_connector_sweep_candidate
    ALTER COLUMN owner_did TYPE text COLLATE "C",
    ALTER COLUMN connector_name TYPE text COLLATE "C",
    ALTER COLUMN partition TYPE text COLLATE "C",
    ALTER COLUMN provenance TYPE text COLLATE "C",
    ALTER COLUMN document_id TYPE text COLLATE "C";
ALTER TABLE kubun_connector_sweep_checkpoint
    ALTER COLUMN owner_did TYPE text COLLATE "C",
    ALTER COLUMN connector_name TYPE text COLLATE "C",
    ALTER COLUMN partition TYPE text COLLATE "C";
ALTER TABLE kubun_connector_sync_state
    ALTER COLUMN connector_name TYPE text COLLATE "C",
    ALTER COLUMN owner_did TYPE text COLLATE "C";
ALTER TABLE kubun_connector_pending_auth
    ALTER COLUMN state TYPE text COLLATE "C";
ALTER TABLE kubun_connector_entity_trim
    ALTER COLUMN document_id TYPE text COLLATE "C";
ALTER TABLE kubun_connector_observation_records
    ALTER COLUMN type TYPE text COLLATE "C",
    ALTER COLUMN owner TYPE text COLLATE "C",
    ALTER COLUMN id TYPE text COLLATE "C",
    ALTER COLUMN op_hash TYPE text COLLATE "C";
ALTER TABLE kubun_connector_observation_repair
    ALTER COLUMN document_id TYPE text COLLATE "C";
