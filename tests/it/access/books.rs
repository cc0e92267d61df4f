//! The books that each cell of the table is asked of: one owner's, made for that cell alone, and the phantom of them, which
//! has names for everything and nothing behind them.

use std::sync::Arc;

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::OnceCell;
use writewatch::domain::ids::NodeId;
use writewatch::domain::time::rfc3339;
use writewatch::domain::words::EntityKind;
use writewatch::entropy::fresh_key;
use writewatch::store::Engine;

use super::reads::{Things, make_all};
use crate::harness::{Database, claim, input_type, merge};
use crate::support::client::post_as;
use crate::support::server::Server;
use crate::support::signer::{AUDIENCE, Person, now_s};

/// A server that one signs in to, with somebody in each role.
pub struct House {
    pub server: Server,
    pub service: Person,
    pub operator: Person,
    pub access_file: std::path::PathBuf,
    _folder: TempDir,
    _database: Database,
}

impl House {
    pub async fn open(engine: Engine) -> Arc<Self> {
        Self::open_with(engine, &[]).await
    }

    /// With settings of its own beside those of signing in.
    pub async fn open_with(engine: Engine, settings: &[(&str, &str)]) -> Arc<Self> {
        let database = Database::fresh(engine).await;
        let folder = TempDir::new().unwrap();
        let access_file = folder.path().join("access.json");
        let (service, operator) = (Person::fresh(), Person::fresh_p256());
        let listed = json!({ "services": [service.did], "operators": [operator.did] });
        std::fs::write(&access_file, listed.to_string()).unwrap();
        let signing_in = [
            ("WRITEWATCH_AUTH", "did"),
            ("WRITEWATCH_AUDIENCE", AUDIENCE),
            ("WRITEWATCH_ACCESS_FILE", access_file.to_str().unwrap()),
        ];
        let server = Server::start_with(&database.url(), &[&signing_in, settings].concat()).await;
        Arc::new(Self { server, service, operator, access_file, _folder: folder, _database: database })
    }

    /// Writes another version of the access file, as an editor does: in one step.
    pub fn write_access(&self, listed: &Value) {
        let beside = self.access_file.with_extension("new");
        std::fs::write(&beside, listed.to_string()).unwrap();
        std::fs::rename(&beside, &self.access_file).unwrap();
    }

    /// The whole answer to somebody.
    pub async fn answer(&self, who: &Person, query: &str, variables: Value) -> Value {
        let token = format!("Bearer {}", who.token());
        let (status, answer) = post_as(self.server.url(), Some(&token), query, variables).await;
        assert_ne!(status, 401, "{answer}");
        answer
    }

    /// The data of an answer to the operator, which must have no errors.
    pub async fn ask(&self, query: &str, variables: Value) -> Value {
        let mut answer = self.answer(&self.operator, query, variables.clone()).await;
        assert!(answer.get("errors").is_none(), "{query}\n{variables}\n{answer:#}");
        answer["data"].take()
    }

    /// Performs a mutation as the operator.
    pub async fn act(&self, mutation: &str, input: Value, fields: &str) -> Value {
        let kind = input_type(mutation);
        let query = format!("mutation($input: {kind}!) {{ {mutation}(input: $input) {{ {fields} }} }}");
        self.ask(&query, json!({ "input": input })).await[mutation].take()
    }
}

/// An owner's books; a phantom has none, whatever is asked to be made.
pub struct Books {
    pub house: Arc<House>,
    pub owner: Person,
    pub caller: Person,
    pub granted: Person,
    pub stranger: Person,
    /// Tells these books from all others.
    pub name: String,
    is_phantom: bool,
    things: OnceCell<Things>,
}

impl Books {
    pub async fn of_somebody(house: &Arc<House>) -> Self {
        let [owner, caller, granted, stranger] = [(); 4].map(|()| Person::fresh());
        let books = Self {
            house: Arc::clone(house),
            owner,
            caller,
            granted,
            stranger,
            name: fresh_key(),
            is_phantom: false,
            things: OnceCell::new(),
        };
        let grant = json!({ "ownerDid": books.owner.did, "callerDid": books.granted.did });
        house.act("grantAccess", grant, "grant { createdAt }").await;
        books
    }

    /// The same people but for the owner, whose books are not there.
    pub fn phantom(&self) -> Self {
        let [caller, granted, stranger] = [&self.caller, &self.granted, &self.stranger].map(Person::clone);
        Self {
            house: Arc::clone(&self.house),
            owner: Person::fresh(),
            caller,
            granted,
            stranger,
            name: fresh_key(),
            is_phantom: true,
            things: OnceCell::new(),
        }
    }

    pub fn who(&self, column: &str) -> &Person {
        match column {
            "stranger" => &self.stranger,
            "caller" => &self.caller,
            "granted" => &self.granted,
            "owner" => &self.owner,
            "service" => &self.house.service,
            "operator" => &self.house.operator,
            other => panic!("the table has a column {other}"),
        }
    }

    /// One of everything, made when it is asked for first.
    pub async fn things(&self) -> &Things {
        self.things.get_or_init(|| make_all(self)).await
    }

    pub const fn is_phantom(&self) -> bool {
        self.is_phantom
    }

    pub fn document(&self) -> String {
        format!("doc-{}", self.name)
    }

    pub fn claim(&self, operation_id: &str, changes: &Value) -> Value {
        let mut input = claim(
            &format!("{operation_id}-{}", self.name),
            &json!({ "callerDid": self.caller.did, "ownerDid": self.owner.did, "documentId": self.document(),
                "deterministicEventId": format!("event-{}", self.name), "leaseMs": 3_600_000 }),
        );
        merge(&mut input, changes);
        input
    }

    async fn claimed(&self, operation_id: &str) -> String {
        if self.is_phantom {
            return NodeId::operation(&fresh_key()).encode();
        }
        let claimed = self.house.act("claimOperation", self.claim(operation_id, &json!({})), "operation { id }").await;
        claimed["operation"]["id"].as_str().unwrap().to_owned()
    }

    async fn then(&self, mutation: &str, input: Value, fields: &str) -> Value {
        if self.is_phantom { Value::Null } else { self.house.act(mutation, input, fields).await }
    }

    /// The live operation, leased as L1.
    pub async fn operation(&self) -> String {
        self.claimed("live").await
    }

    /// An operation that waits, and its reason.
    pub async fn deferred(&self, reason: &str) -> String {
        let id = self.claimed("deferred").await;
        let later = rfc3339((now_s() + 3_600) * 1_000);
        let input = json!({ "id": id, "leaseToken": "L1", "nextAttemptAt": later, "reason": reason });
        self.then("deferOperation", input, "outcome").await;
        id
    }

    /// A dead operation that nobody holds.
    pub async fn dead(&self) -> String {
        let id = self.claimed("dead").await;
        let dead = json!({ "id": id, "leaseToken": "L1", "version": 0, "toState": "DEAD" });
        self.then("recordOperation", dead, "outcome").await;
        self.then("releaseLease", json!({ "id": id, "leaseToken": "L1" }), "outcome").await;
        id
    }

    /// The watch of a committed operation, due, with a winner.
    pub async fn watch(&self) -> String {
        let id = self.claimed("committed").await;
        let finalize = json!({ "id": id, "leaseToken": "L1", "version": 0, "documentId": self.document(),
            "sourceId": self.source(), "winnerDigest": "w1" });
        let watch = self.then("finalizeOperation", finalize, "watch { id }").await;
        let phantom = || NodeId::of_key(EntityKind::Watch, &[&self.name]).encode();
        watch["watch"]["id"].as_str().map_or_else(phantom, str::to_owned)
    }

    pub fn source(&self) -> String {
        format!("source-{}", self.name)
    }

    pub fn identity(&self) -> Value {
        json!({ "ownerDid": self.owner.did, "connectorName": "contacts", "model": "Contact", "accountKey": "a1", "sourceId": self.source() })
    }

    pub fn trim(&self) -> Value {
        json!({ "documentId": self.document(), "ownerDid": self.owner.did, "connectorName": "contacts", "trimmedFields": ["a"] })
    }

    pub fn repair(&self) -> Value {
        let hlc = "1700000000000-0001-n1";
        json!({ "documentId": self.document(), "owner": self.owner.did, "fetchHlc": hlc, "decisionHlc": hlc, "present": true })
    }

    pub fn receipt(&self, partition: &str) -> Value {
        json!({ "ownerDid": self.owner.did, "connectorName": "contacts", "partition": partition, "provenance": self.name })
    }

    pub fn swept(&self) -> String {
        format!("swept-{}", self.name)
    }

    pub fn relist(&self, partition: &str, candidates: &[String]) -> Value {
        let candidates: Vec<Value> =
            candidates.iter().map(|id| json!({ "documentId": id, "sourceId": "s", "modelId": "Contact" })).collect();
        let mut input = self.receipt(partition);
        merge(
            &mut input,
            &json!({ "modelId": "Contact", "scope": 1, "keep": [], "kind": "relist", "complete": true,
                "sourceFetchHlc": "1700000000000-0000-n1", "candidates": candidates }),
        );
        input
    }

    pub fn candidate(&self) -> Value {
        let mut input = self.receipt("open");
        merge(&mut input, &json!({ "documentId": self.swept() }));
        input
    }

    pub fn sync_state(&self) -> Value {
        json!({ "connectorName": "contacts", "ownerDid": self.owner.did })
    }

    pub fn pending_auth(&self, expires_at_s: i64) -> Value {
        json!({ "state": format!("state-{}", self.name), "codeVerifier": "VERIFIER", "provider": "p", "ownerDid": self.owner.did,
            "redirectUrl": "https://x.example", "scopes": [], "incremental": false, "expiresAt": rfc3339(expires_at_s * 1_000) })
    }

    pub fn observation(&self) -> Value {
        let jwt = self.owner.observation(&self.document(), "1700000000000-0000-n1");
        json!({ "owner": self.owner.did, "id": self.document(), "opJwt": jwt })
    }

    /// Makes what a row needs that is named by its input.
    pub async fn make(&self, mutation: &str, input: Value) {
        self.then(mutation, input, "__typename").await;
    }

    /// Everything of the owner and of somebody's own, as the operator sees it: what a refused act leaves as it was.
    pub async fn everything(&self, who: &Person) -> Value {
        let of_both = json!({ "owner": self.owner.did, "who": who.did, "document": self.document() });
        let mut found = self.house.ask(OPERATIONS_AND_WATCHES, of_both).await;
        let of_owner = json!({ "owner": self.owner.did, "document": self.document() });
        merge(&mut found, &self.house.ask(WHAT_ELSE, of_owner).await);
        found
    }
}

const OPERATIONS_AND_WATCHES: &str = "query($owner: String!, $who: String!, $document: String!) {
    ofOwner: operations(filter: { ownerDid: $owner }) { nodes { ...all } }
    ofCaller: operations(filter: { callerDid: $who }) { nodes { ...all } }
    watches(filter: { ownerDid: $owner }) { nodes { version status } }
    document(id: $document) { winner { digest } trim { updatedAt } repair { writtenAt } }
    ofDocument: changes(filter: { documentIds: [$document] }) { totalCount }
    changes(filter: { ownerDid: $owner }) { totalCount }
} fragment all on Operation { operationId callerDid state version updatedAt deferReason lease { expiresAt } }";
const WHAT_ELSE: &str = "query($owner: String!, $document: String!) {
    sweepReceipts(filter: { ownerDid: $owner }) { nodes { provenance partition committedAt } }
    sweepCandidates(filter: { ownerDid: $owner }) { nodes { state attempts updatedAt } }
    syncState(connectorName: \"contacts\", ownerDid: $owner) { version }
    pendingAuths(ownerDid: $owner) { nodes { state } }
    observationDecision(owner: $owner, id: $document) { signers }
    accessGrants(ownerDid: $owner) { callerDid connectorName }
}";
