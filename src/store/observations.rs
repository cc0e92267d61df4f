//! The observation records' table: the copies that are kept of signed claims.

use std::collections::BTreeSet;

use super::Store;
use super::engine::{args, statements};
use super::error::Result;
use super::locks::Lock;
use super::row::row;
use super::select::Select;
use super::tx::Tx;
use crate::domain::changes::NewChange;
use crate::domain::observations::copies::{Copy, Decision, decide};
use crate::domain::observations::{TYPE, read_stored};

const TABLE: &str = "kubun_connector_observation_records";

/// A stored copy, as it is.
#[derive(Debug, Clone)]
struct Stored {
    owner: String,
    id: String,
    op_jwt: String,
    payload: Option<Vec<u8>>,
}

row!(Stored from "kubun_connector_observation_records" { owner, id, op_jwt, payload });

statements! {
    OF_ID: Stored::COLUMNS,
        "SELECT {columns} FROM kubun_connector_observation_records WHERE type = $1 AND owner = $2 AND id = $3 ORDER BY op_hash";
    DELETE_OF_ID: "",
        "DELETE FROM kubun_connector_observation_records WHERE type = $1 AND id = $2 RETURNING owner";
    PUT: "",
        "INSERT INTO kubun_connector_observation_records (type, owner, id, op_hash, hlc, op_jwt, payload) \
        VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (type, owner, id, op_hash) DO UPDATE SET payload = excluded.payload";
}

impl Stored {
    /// The copy, unless somebody wrote what is none, or who may not sign.
    fn verified(self, services: &[String]) -> Option<Copy> {
        let claim = read_stored(&self.op_jwt).ok().filter(|claim| claim.owner == self.owner && claim.id == self.id)?;
        if !claim.is_signed_by_one_of(services) {
            return None;
        }
        Some(Copy { claim, op_jwt: self.op_jwt, payload: self.payload })
    }
}

/// The valid copies of an owner and id.
pub(super) async fn copies(tx: &mut Tx, (owner, id): (&str, &str), services: &[String]) -> Result<Vec<Copy>> {
    let rows: Vec<Stored> = tx.all(&OF_ID, args![TYPE, owner, id]).await?;
    Ok(rows.into_iter().filter_map(|row| row.verified(services)).collect())
}

/// Keeps these copies of an owner and id, and no others; how many went.
pub(super) async fn keep(
    tx: &mut Tx,
    transition: &'static str,
    (owner, id): (&str, &str),
    copies: &[Copy],
) -> Result<usize> {
    tx.must_hold(Lock::observations(id))?;
    for Copy { claim, op_jwt, payload } in copies {
        let args = args![TYPE, owner, id, &claim.op_hash, &claim.hlc, op_jwt, payload.clone()];
        tx.write(&PUT, args).await?;
    }
    let kept: Vec<String> = copies.iter().map(|copy| copy.claim.op_hash.clone()).collect();
    let mut delete = Select::delete(TABLE);
    delete.equals("type", Some(TYPE));
    delete.equals("owner", Some(owner));
    delete.equals("id", Some(id));
    delete.not_among("op_hash", &kept);
    let (text, args) = delete.returning("op_hash");
    let removed = tx.write_returning::<(String,)>(super::Sql::Shaped(&text), args).await?.len();
    let digest = copies.first().map(|copy| copy.claim.claim_digest.as_str());
    tx.emit(NewChange::observations(transition, owner, id).with("claimDigest", digest));
    Ok(removed)
}

/// Removes every copy of an id, whoever's.
pub(super) async fn remove_of_document(tx: &mut Tx, id: &str) -> Result<()> {
    tx.must_hold(Lock::observations(id))?;
    let owners: BTreeSet<(String,)> = tx.write_returning(&DELETE_OF_ID, args![TYPE, id]).await?.into_iter().collect();
    for (owner,) in owners {
        tx.emit(NewChange::observations("remove_observations", &owner, id));
    }
    Ok(())
}

impl Store {
    /// What is decided of each of these owners and ids, in the same order.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn observation_decisions(
        &self,
        keys: &[(String, String)],
        services: &[String],
    ) -> Result<Vec<Option<Decision>>> {
        let mut select = Select::new(Stored::COLUMNS, TABLE);
        if keys.is_empty() {
            return Ok(vec![]);
        }
        select.equals("type", Some(TYPE));
        select.keys(&["owner", "id"], keys.iter().map(|(owner, id)| [owner.as_str(), id.as_str()]));
        let rows: Vec<Stored> = select.all(&mut self.read().await?, keys.len()).await?;
        let copies: Vec<Copy> = rows.into_iter().filter_map(|row| row.verified(services)).collect();
        let of = |(owner, id): &(String, String)| {
            let of_key = copies.iter().filter(|copy| copy.claim.owner == *owner && copy.claim.id == *id);
            decide(&of_key.cloned().collect::<Vec<_>>())
        };
        Ok(keys.iter().map(of).collect())
    }
}
