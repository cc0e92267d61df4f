-- Who may speak of a document: anybody may name any document in a claim.

-- 1 while all that is known of an operation is what a DID without a role said: it claimed it, or one that it is a reissue of.
-- 0 where a service claimed it, or once it is finalized, which is refused on documents of others.
ALTER TABLE kubun_connector_operation ADD COLUMN unproven int NOT NULL DEFAULT 0;

-- Whose operations a document has, without looking at the rows.
CREATE INDEX kubun_connector_operation_document_whose ON kubun_connector_operation
    (document_id, unproven, owner_did, caller_did);

-- Claims of before, by owners for themselves, on documents that others watch and they do not.
UPDATE kubun_connector_operation SET unproven = 1 WHERE state <> 'committed' AND caller_did = owner_did
    AND EXISTS (SELECT 1 FROM kubun_connector_projection_watch AS watch
        WHERE watch.document_id = kubun_connector_operation.document_id)
    AND NOT EXISTS (SELECT 1 FROM kubun_connector_projection_watch AS watch
        WHERE watch.document_id = kubun_connector_operation.document_id AND watch.owner_did = kubun_connector_operation.owner_did);
