-- Who may speak of a document: anybody may name any document in a claim.

-- 1 while all that is known of an operation is what a DID without a role said: it claimed it, or one that it is a reissue of.
-- 0 where a service claimed it, or once it is finalized, which is refused on documents of others.
ALTER TABLE kubun_connector_operation ADD COLUMN unproven INTEGER NOT NULL DEFAULT 0;

-- Whose operations a document has, without looking at the rows.
CREATE INDEX kubun_connector_operation_document_whose ON kubun_connector_operation
    (document_id, unproven, owner_did, caller_did);

-- Who holds a document: whose word on it counts, because more than a claim is known of them.
CREATE VIEW document_holder AS
    SELECT document_id, owner_did FROM kubun_connector_projection_watch
    UNION ALL SELECT document_id, owner_did FROM kubun_connector_operation WHERE unproven = 0
    UNION ALL SELECT document_id, owner_did FROM kubun_connector_entity_trim
    UNION ALL SELECT document_id, owner FROM kubun_connector_observation_repair;

-- Which operations count as their document's: what is unproven does where its owner holds the document, or nobody.
CREATE VIEW document_operation AS
    SELECT document_id, owner_did, caller_did, operation_id FROM kubun_connector_operation AS operation
    WHERE document_id IS NOT NULL AND (unproven = 0
        OR EXISTS (SELECT 1 FROM document_holder AS holder WHERE holder.document_id = operation.document_id
            AND holder.owner_did = operation.owner_did)
        OR NOT EXISTS (SELECT 1 FROM document_holder AS holder WHERE holder.document_id = operation.document_id));

-- Claims of before, by owners for themselves, on documents that others watch and they do not.
UPDATE kubun_connector_operation SET unproven = 1 WHERE state <> 'committed' AND caller_did = owner_did
    AND EXISTS (SELECT 1 FROM kubun_connector_projection_watch AS watch
        WHERE watch.document_id = kubun_connector_operation.document_id)
    AND NOT EXISTS (SELECT 1 FROM kubun_connector_projection_watch AS watch
        WHERE watch.document_id = kubun_connector_operation.document_id AND watch.owner_did = kubun_connector_operation.owner_did);
