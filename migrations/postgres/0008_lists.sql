-- Lists by several conditions: each condition has an index in each order, and the list is read by the one that the fewest meet.

CREATE INDEX kubun_connector_operation_model_created ON kubun_connector_operation
    (model, connector_name, created_at, caller_did, operation_id);
CREATE INDEX kubun_connector_operation_model_updated ON kubun_connector_operation
    (model, connector_name, updated_at, caller_did, operation_id);
CREATE INDEX kubun_connector_operation_kind_updated ON kubun_connector_operation (last_kind, updated_at, caller_did, operation_id)
    WHERE last_kind IS NOT NULL;
CREATE INDEX kubun_connector_operation_deferred_created ON kubun_connector_operation
    (defer_reason, created_at, caller_did, operation_id) WHERE defer_reason IS NOT NULL;
CREATE INDEX kubun_connector_operation_deferred_updated ON kubun_connector_operation
    (defer_reason, updated_at, caller_did, operation_id) WHERE defer_reason IS NOT NULL;
CREATE INDEX kubun_connector_projection_watch_model ON kubun_connector_projection_watch
    (model, connector_name, owner_did, account_key, source_id);

-- What these take the place of.
DROP INDEX kubun_connector_operation_owner_connector;
DROP INDEX kubun_connector_operation_caller_connector;
DROP INDEX kubun_connector_operation_deferred;
DROP INDEX kubun_connector_projection_watch_deferred;
CREATE INDEX kubun_connector_projection_watch_deferred ON kubun_connector_projection_watch
    (defer_reason, owner_did, connector_name, model, account_key, source_id) WHERE defer_reason IS NOT NULL;

-- Whose watches a document has: an owner may have all the watches that there are.
CREATE INDEX kubun_connector_projection_watch_document_whose ON kubun_connector_projection_watch (document_id, owner_did);
