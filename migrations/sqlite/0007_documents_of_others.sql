-- Who may speak of a document: anybody may name any document in a claim.

-- 1 where a DID without a role claimed the operation, or one that it is a reissue of.
ALTER TABLE kubun_connector_operation ADD COLUMN self_claimed INTEGER NOT NULL DEFAULT 0;

-- A document's operations, and whose they are, without looking at the rows.
DROP INDEX kubun_connector_operation_document;
CREATE INDEX kubun_connector_operation_document ON kubun_connector_operation
    (document_id, created_at, caller_did, operation_id, owner_did, self_claimed);
