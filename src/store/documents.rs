//! What else is known of documents: trims, repairs, and whether a sweep still has them among its candidates.

use super::Store;
use super::error::Result;
use super::row::row;
use super::select::Select;
use crate::domain::documents::{EntityTrim, ObservationRepair};

row!(EntityTrim from "kubun_connector_entity_trim" { document_id, owner_did, connector_name, trimmed_fields, updated_at });
row!(ObservationRepair from "kubun_connector_observation_repair" {
    document_id, owner, fetch_hlc, decision_hlc, present, value_digest, written_at,
});

impl Store {
    /// The trims of these documents, in no order.
    ///
    /// # Errors
    /// When the database refuses, or a row cannot be.
    pub async fn trims(&self, document_ids: &[String]) -> Result<Vec<EntityTrim>> {
        let mut select = Select::new(EntityTrim::COLUMNS, "kubun_connector_entity_trim");
        select.among("document_id", Some(document_ids));
        select.all(&mut self.read().await?, 1).await
    }

    /// The repairs that these documents wait for, in no order.
    ///
    /// # Errors
    /// When the database refuses, or a row cannot be.
    pub async fn repairs(&self, document_ids: &[String]) -> Result<Vec<ObservationRepair>> {
        let mut select = Select::new(ObservationRepair::COLUMNS, "kubun_connector_observation_repair");
        select.among("document_id", Some(document_ids));
        select.all(&mut self.read().await?, 1).await
    }

    /// Which of these documents a sweep has among its candidates.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn sweep_candidates_among(&self, document_ids: &[String]) -> Result<Vec<String>> {
        let mut select = Select::new("DISTINCT document_id", "kubun_connector_sweep_candidate");
        select.among("document_id", Some(document_ids));
        let found = select.all::<(String,)>(&mut self.read().await?, 1).await?;
        Ok(found.into_iter().map(|(id,)| id).collect())
    }
}
