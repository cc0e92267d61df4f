-- Who may do what for whom, and who saw what was said of a document.

-- Which caller may claim operations for which owner; the connector is empty for every one.
CREATE TABLE access_grant (
    owner_did text COLLATE "C" NOT NULL,
    caller_did text COLLATE "C" NOT NULL,
    connector_name text COLLATE "C" NOT NULL,
    created_at bigint NOT NULL,
    PRIMARY KEY (owner_did, caller_did, connector_name)
);
CREATE INDEX access_grant_caller ON access_grant (caller_did, owner_did, connector_name);

-- Of a change of a document's winner, trim or repair: those who saw an operation or watch of it then, each by 32 hexadecimal
-- digits. None on changes of what has an owner or a caller of its own.
ALTER TABLE change_event ADD COLUMN seen_by text;

-- The operations of one state in the order of their making.
CREATE INDEX kubun_connector_operation_state_created ON kubun_connector_operation (state, created_at, caller_did, operation_id);
