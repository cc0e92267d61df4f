//! The database: its schema on both engines, its migrations from every start, its statements and its settings.

use std::collections::BTreeSet;

use futures_util::future::join_all;
use serde_json::json;
use writewatch::domain::viewer::Viewer;
use writewatch::store::{Act, DatabaseUrl, Engine, Locks, Named, Result, Sql, Store, Tx};

use crate::harness::{Database, Harness, claim, on_both_engines};

/// The reference package's tables, as it makes them: without our columns, and on PostgreSQL in the database's order.
const PACKAGE_TABLES: &str = "
    CREATE TABLE kubun_connector_operation (caller_did text NOT NULL, operation_id text NOT NULL, node_key text NOT NULL,
        owner_did text NOT NULL, connector_name text NOT NULL, model text NOT NULL, op text NOT NULL, account_key text NOT NULL,
        target text NOT NULL, source_id text, deterministic_event_id text NOT NULL, payload_hash text NOT NULL,
        reissue_intent text NOT NULL, provider_etag text, document_id text, result_entity text, state text NOT NULL,
        attempts integer NOT NULL DEFAULT 0, next_attempt_at bigint, defer_reason text, send_marker text, last_kind text,
        last_http_status integer, version integer NOT NULL DEFAULT 0, incarnation text, lease_token text, lease_expires_at bigint,
        created_at bigint NOT NULL, updated_at bigint NOT NULL, PRIMARY KEY (caller_did, operation_id));
    CREATE UNIQUE INDEX package_node_key ON kubun_connector_operation (node_key);
    CREATE TABLE kubun_connector_projection_watch (owner_did text NOT NULL, connector_name text NOT NULL, model text NOT NULL,
        account_key text NOT NULL, source_id text NOT NULL, document_id text NOT NULL, verified_state_digest text,
        observed_winner_digest text, verification_status text NOT NULL, verification_attempts integer NOT NULL DEFAULT 0,
        repair_generation integer NOT NULL DEFAULT 0, next_attempt_at bigint, claimed_until bigint, defer_reason text,
        version integer NOT NULL DEFAULT 0, created_at bigint NOT NULL, updated_at bigint NOT NULL,
        PRIMARY KEY (owner_did, connector_name, model, account_key, source_id));
    INSERT INTO kubun_connector_operation VALUES
        ('did:b', 'k', 'node/1', 'did:o', 'c', 'M', 'create', 'a', 't', NULL, 'e', 'h', 'null', NULL, 'doc', NULL, 'committed', 2,
            NULL, NULL, NULL, NULL, NULL, 3, NULL, NULL, NULL, 5, 6),
        ('did:B', 'k', 'node/2', 'did:o', 'c', 'M', 'create', 'a', 't', NULL, 'e', 'h', '{\"a\":1}', NULL, NULL, NULL, 'attempted', 1,
            NULL, NULL, NULL, NULL, NULL, 0, NULL, 'L1', 7, 5, 6);
    INSERT INTO kubun_connector_projection_watch VALUES
        ('did:o', 'c', 'M', 'a', 's', 'doc', NULL, 'w', 'pending_verification', 0, 4, 9, NULL, NULL, 2, 5, 6);
";

async fn open(database: &Database) -> Result<Store> {
    let url: DatabaseUrl = database.url().parse().unwrap();
    Store::open(&url, None).await
}

async fn refusal(database: &Database) -> String {
    match open(database).await {
        Ok(_) => panic!("the database was taken"),
        Err(error) => error.to_string(),
    }
}

/// Reads the settings of the connection that it runs on: the writer's own.
struct Synchronous;

impl Named for Synchronous {
    fn name(&self) -> &'static str {
        "synchronous"
    }
}

impl Act for Synchronous {
    type Answer = usize;

    async fn locks(&self, _: &mut Tx) -> Result<Locks> {
        Ok(Locks::none())
    }

    async fn run(&self, tx: &mut Tx) -> Result<usize> {
        Ok(usize::try_from(tx.first::<(i64,)>(Sql::Shaped("PRAGMA synchronous"), vec![]).await?.unwrap().0).unwrap())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_acknowledged_act_survives_a_power_cut() {
    let harness = Harness::start(Engine::Sqlite).await;
    let full = 2;
    let viewer = std::sync::Arc::new(Viewer::open());
    assert_eq!(harness.app.store.perform(&viewer, Synchronous).await.unwrap(), full);
    assert_eq!(harness.database.texts("PRAGMA journal_mode").await, ["wal"]);
}

on_both_engines! {
    async fn every_statement_can_be_prepared(harness: Harness) {
        let statements = harness.app.store.statements();
        assert!(statements.len() > 20, "only {} statements are declared", statements.len());
        for (name, text) in statements {
            harness.app.store.prepare(text).await.unwrap_or_else(|error| panic!("{name}: {error}\n{text}"));
        }
        assert!(harness.app.store.prepare("SELECT nonsense FROM change_event").await.is_err());
    }

    async fn a_database_of_the_package_is_taken_as_it_is(harness: Harness) {
        let database = Database::fresh(harness.engine).await;
        database.execute(PACKAGE_TABLES).await;
        let harness = Harness::start_on(harness.engine, database).await;
        let rows = harness.ask("{ operations { nodes { id callerDid reissueIntent state attempts document { writeState } } }
            watches { nodes { id generation } } }", json!({})).await;
        let callers: Vec<&str> = rows["operations"]["nodes"].as_array().unwrap().iter().map(|row| row["callerDid"].as_str().unwrap()).collect();
        assert_eq!(callers, ["did:B", "did:b"], "keys compare byte for byte");
        assert_eq!(rows["operations"]["nodes"][1]["document"]["writeState"], "VERIFYING");
        assert_eq!(rows["operations"]["nodes"][0]["reissueIntent"], json!({ "a": 1 }));
        let watch = rows["watches"]["nodes"][0]["id"].clone();
        let found = harness.ask("query($id: ID!) { node(id: $id) { ... on Watch { generation } } }", json!({ "id": watch })).await;
        assert_eq!(found["node"]["generation"], 4, "a watch of the package's is found by its node id");
        let opened = harness.act("requestRepull", json!({ "id": watch }), "outcome watch { generation }").await;
        assert_eq!(opened, json!({ "outcome": "OPENED", "watch": { "generation": 5 } }));
        let operation = rows["operations"]["nodes"][0]["id"].clone();
        let marked = harness.act("markSendStarted", json!({ "id": operation, "leaseToken": "L1", "marker": "m" }), "outcome").await;
        assert_eq!(marked["outcome"], "MARKED");
        assert_eq!(harness.act("claimOperation", claim("k", &json!({ "callerDid": "did:new" })), "outcome").await["outcome"], "CLAIMED");
    }

    async fn a_watch_of_the_package_is_armed_by_its_node_id_at_first_sight(harness: Harness) {
        let database = Database::fresh(harness.engine).await;
        database.execute(PACKAGE_TABLES).await;
        let harness = Harness::start_on(harness.engine, database).await;
        let id = writewatch::domain::ids::NodeId::of_key(writewatch::domain::words::EntityKind::Watch, &["did:o", "c", "M", "a", "s"]);
        let opened = harness.act("requestRepull", json!({ "id": id.encode() }), "outcome").await;
        assert_eq!(opened["outcome"], "OPENED");
    }

    async fn a_newer_schema_is_refused_by_name(harness: Harness) {
        let (checksum, done) = if harness.engine == Engine::Sqlite { ("x'00'", "1") } else { ("'\\x00'", "true") };
        harness.database.execute(&format!(
            "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) VALUES (9007, 'later', {done}, {checksum}, 1)"
        )).await;
        let refusal = refusal(&harness.database).await;
        assert!(refusal.contains("9007") && refusal.contains("does not know"), "{refusal}");
    }

    async fn a_changed_migration_is_refused_by_name(harness: Harness) {
        let checksum = if harness.engine == Engine::Sqlite { "x'00'" } else { "'\\x00'" };
        harness.database.execute(&format!("UPDATE _sqlx_migrations SET checksum = {checksum} WHERE version = 2")).await;
        let refusal = refusal(&harness.database).await;
        assert!(refusal.contains("0002_our_tables") && refusal.contains("changed"), "{refusal}");
    }

    /// D04 of the cases, with the two before: one migrates and the others wait.
    async fn servers_that_start_at_once_migrate_once(harness: Harness) {
        let database = Database::fresh(harness.engine).await;
        let url: DatabaseUrl = database.url().parse().unwrap();
        let opened = join_all((0..5).map(|_| {
            let url = url.clone();
            tokio::spawn(async move { Store::open(&url, None).await.map(|_| ()) })
        }));
        for opened in opened.await {
            opened.unwrap().unwrap();
        }
        let applied = database.texts("SELECT CAST(count(*) AS text) FROM _sqlx_migrations").await;
        let files = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/migrations/sqlite")).unwrap().count();
        assert_eq!(applied, [files.to_string()]);
        assert_eq!(database.texts("SELECT CAST(count(*) AS text) FROM change_feed").await, ["1"]);
    }
}

/// The columns of every table and view and the indexes of both, told alike.
async fn shape(database: &Database, engine: Engine) -> (BTreeSet<String>, BTreeSet<String>) {
    let (columns, indexes) = if engine == Engine::Sqlite {
        (
            "SELECT t.name || '.' || c.name || ' ' || CASE lower(c.type) WHEN 'text' THEN 'text' WHEN 'blob' THEN 'bytes' ELSE 'number' END ||
                CASE WHEN c.\"notnull\" = 1 OR (c.pk > 0 AND lower(c.type) = 'integer') THEN ' NOT NULL' ELSE '' END || ' key ' || CASE WHEN c.pk > 0 THEN 'yes' ELSE 'no' END
            FROM sqlite_master t JOIN pragma_table_xinfo(t.name) c WHERE t.type IN ('table', 'view') AND t.name NOT LIKE 'sqlite_%' AND t.name <> '_sqlx_migrations'",
            "SELECT t.name || ' ' || i.name || ' (' || (SELECT group_concat(x.name, ', ') FROM pragma_index_info(i.name) x) || ') ' ||
                CASE WHEN i.\"unique\" = 1 THEN 'unique' ELSE '' END || CASE WHEN i.partial = 1 THEN ' partial' ELSE '' END
            FROM sqlite_master t JOIN pragma_index_list(t.name) i WHERE t.type = 'table' AND i.origin = 'c' AND t.name <> '_sqlx_migrations'",
        )
    } else {
        (
            "SELECT c.table_name || '.' || c.column_name || ' ' || CASE c.data_type WHEN 'text' THEN 'text' WHEN 'bytea' THEN 'bytes' ELSE 'number' END ||
                CASE WHEN c.is_nullable = 'NO' THEN ' NOT NULL' ELSE '' END || ' key ' || CASE WHEN EXISTS (SELECT 1 FROM pg_index i JOIN pg_attribute a
                    ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey) WHERE i.indisprimary AND i.indrelid = c.table_name::regclass AND a.attname = c.column_name)
                THEN 'yes' ELSE 'no' END
            FROM information_schema.columns c WHERE c.table_schema = 'public' AND c.table_name <> '_sqlx_migrations'",
            "SELECT t.relname || ' ' || x.relname || ' (' || (SELECT string_agg(a.attname, ', ' ORDER BY array_position(i.indkey::int[], a.attnum::int))
                    FROM pg_attribute a WHERE a.attrelid = t.oid AND a.attnum = ANY (i.indkey)) || ') ' ||
                CASE WHEN i.indisunique THEN 'unique' ELSE '' END || CASE WHEN i.indpred IS NOT NULL THEN ' partial' ELSE '' END
            FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid JOIN pg_class x ON x.oid = i.indexrelid JOIN pg_namespace n ON n.oid = t.relnamespace
            WHERE n.nspname = 'public' AND NOT i.indisprimary AND t.relname <> '_sqlx_migrations'",
        )
    };
    let set = |texts: Vec<String>| texts.into_iter().collect::<BTreeSet<_>>();
    (set(database.texts(columns).await), set(database.texts(indexes).await))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn both_engines_have_the_same_schema() {
    let (sqlite, postgres) = (Database::fresh(Engine::Sqlite).await, Database::fresh(Engine::Postgres).await);
    open(&sqlite).await.unwrap();
    open(&postgres).await.unwrap();
    let (ours, theirs) = (shape(&sqlite, Engine::Sqlite).await, shape(&postgres, Engine::Postgres).await);
    assert!(ours.0.len() > 100 && ours.1.len() > 15, "{ours:?}");
    let differ: Vec<_> = ours.0.symmetric_difference(&theirs.0).chain(ours.1.symmetric_difference(&theirs.1)).collect();
    assert!(differ.is_empty(), "{differ:#?}");
}
