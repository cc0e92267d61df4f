//! Signing in by the real door: which tokens are taken, what the others are told, and when a right that was given ends.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hyper::Request;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use writewatch::store::Engine;

use crate::access::House;
use crate::harness::claim;
use crate::support::client::{post_as, send};
use crate::support::signer::{AUDIENCE, Key, Person, jwt, now_s};
use crate::support::socket::{Arrival, Subscription, try_subscribe_as};

const CLAIM: &str = "mutation($input: ClaimOperationInput!) { claimOperation(input: $input) { outcome } }";

/// A claim of somebody's for themselves, under this token.
async fn claim_by(house: &House, authorization: &str, did: &str, operation_id: &str) -> (u16, Value) {
    let input = claim(operation_id, &json!({ "callerDid": did, "ownerDid": did }));
    post_as(house.server.url(), Some(authorization), CLAIM, json!({ "input": input })).await
}

fn hmac_sha256(key: &[u8], bytes: &[u8]) -> Vec<u8> {
    let padded = |with: u8| -> Vec<u8> { (0..64).map(|at| key.get(at).copied().unwrap_or(0) ^ with).collect() };
    let inner = Sha256::new().chain_update(padded(0x36)).chain_update(bytes).finalize();
    Sha256::new().chain_update(padded(0x5c)).chain_update(inner).finalize().to_vec()
}

fn public_bytes(person: &Person) -> Vec<u8> {
    match &person.key {
        Key::Ed25519(key) => key.verifying_key().to_bytes().to_vec(),
        Key::P256(key) => key.verifying_key().to_sec1_point(true).as_bytes().to_vec(),
    }
}

/// Tokens in the name of somebody that are none, each with what is wrong with it.
fn bad_tokens(victim: &Person, other: &Person) -> Vec<(&'static str, String)> {
    let now = now_s();
    let claims = json!({ "iss": victim.did, "aud": AUDIENCE, "iat": now, "exp": now + 600 });
    let header = |alg: &str| json!({ "alg": alg, "typ": "JWT" });
    let with_header = |header: Value| victim.token_with(header, json!({}));
    let with_claims = |claims: Value| victim.token_with(json!({}), claims);
    let good = victim.token();
    let (signed, signature) = good.rsplit_once('.').unwrap();
    let other_alg = if victim.alg() == "EdDSA" { "ES256" } else { "EdDSA" };
    let secret = public_bytes(victim);
    let jwk = json!({ "kty": "OKP", "crv": "Ed25519", "x": URL_SAFE_NO_PAD.encode(public_bytes(other)) });
    let own_key = json!({ "alg": victim.alg(), "typ": "JWT", "jwk": jwk });
    let twice = format!("{{\"alg\":\"none\",\"alg\":\"{}\",\"typ\":\"JWT\"}}", victim.alg());
    let twice = format!("{}.{}", URL_SAFE_NO_PAD.encode(twice), signed.split_once('.').unwrap().1);
    let twice_signature = URL_SAFE_NO_PAD.encode(victim.sign(twice.as_bytes()));
    vec![
        ("alg none", jwt(&header("none"), &claims, |_| vec![])),
        ("alg None", jwt(&header("None"), &claims, |_| vec![])),
        ("alg none, with a signature", jwt(&header("none"), &claims, |bytes| victim.sign(bytes))),
        ("HS256 by the public key", jwt(&header("HS256"), &claims, |bytes| hmac_sha256(&secret, bytes))),
        ("HS256 by the DID", jwt(&header("HS256"), &claims, |bytes| hmac_sha256(&Sha256::digest(&victim.did), bytes))),
        ("the other kind's alg", jwt(&header(other_alg), &claims, |bytes| victim.sign(bytes))),
        ("the other kind's alg and signature", jwt(&header(other_alg), &claims, |bytes| other.sign(bytes))),
        ("no alg", with_header(json!({ "alg": null }))),
        ("alg in another case", with_header(json!({ "alg": victim.alg().to_lowercase() }))),
        ("a key of the sender's own", jwt(&own_key, &claims, |bytes| other.sign(bytes))),
        ("a key in the header", with_header(json!({ "jwk": jwk }))),
        ("an unknown crit", with_header(json!({ "crit": ["x"], "x": 1 }))),
        ("b64 false", with_header(json!({ "b64": false, "crit": ["b64"] }))),
        ("a key elsewhere", with_header(json!({ "jku": "https://evil.example" }))),
        ("no typ", with_header(json!({ "typ": null }))),
        ("another typ", with_header(json!({ "typ": "at+jwt" }))),
        ("a member twice", format!("{twice}.{twice_signature}")),
        ("a foreign key", jwt(&header(victim.alg()), &claims, |bytes| other.sign(bytes))),
        ("a foreign issuer", with_claims(json!({ "iss": other.did }))),
        ("an issuer that is no did:key", with_claims(json!({ "iss": "did:web:x.example" }))),
        ("no issuer", with_claims(json!({ "iss": null }))),
        ("another audience", with_claims(json!({ "aud": "https://other.example" }))),
        ("other audiences", with_claims(json!({ "aud": ["https://other.example", ""] }))),
        ("no audience", with_claims(json!({ "aud": null }))),
        ("an audience that is no text", with_claims(json!({ "aud": [AUDIENCE, 1] }))),
        ("expired", with_claims(json!({ "exp": now - 70 }))),
        ("no exp", with_claims(json!({ "exp": null }))),
        ("exp that is no number", with_claims(json!({ "exp": "9999999999" }))),
        ("good for more than a day", with_claims(json!({ "exp": now + 24 * 3_600 + 300 }))),
        ("not valid yet", with_claims(json!({ "nbf": now + 90 }))),
        ("made later than now", with_claims(json!({ "iat": now + 90 }))),
        ("a signature cut short", format!("{signed}.{}", &signature[..signature.len() - 4])),
        ("no signature", format!("{signed}.")),
        ("padded", format!("{signed}.{signature}==")),
        ("two parts", signed.to_owned()),
        ("four parts", format!("{good}.x")),
        ("words", "let me in".to_owned()),
        ("nothing", String::new()),
        ("very long", with_claims(json!({ "x": "x".repeat(9_000) }))),
    ]
}

/// Case J01.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn j01_only_what_the_issuers_own_key_signed_for_us_and_for_now_is_a_token() {
    let house = House::open(Engine::Sqlite).await;
    for (victim, other) in [(Person::fresh(), Person::fresh_p256()), (Person::fresh_p256(), Person::fresh())] {
        let mut texts = std::collections::BTreeSet::new();
        for (what, token) in bad_tokens(&victim, &other) {
            let (status, answer) = claim_by(&house, &format!("Bearer {token}"), &victim.did, "k").await;
            assert_eq!((status, answer.get("data")), (401, None), "{what}: {answer}");
            assert_eq!(answer["errors"][0]["extensions"]["code"], "UNAUTHENTICATED", "{what}: {answer}");
            texts.insert(answer.to_string());
        }
        assert_eq!(texts.len(), 1, "one neutral text: {texts:?}");
        for authorization in [format!("Basic {}", victim.token()), victim.token(), "Bearer".to_owned()] {
            assert_eq!(claim_by(&house, &authorization, &victim.did, "k").await.0, 401);
        }
        let good = victim.token();
        let in_url = format!(
            "{}/graphql?query=%7Bviewer%7Bdid%7D%7D&access_token={good}&authorization=Bearer%20{good}",
            house.server.url()
        );
        let response = send(Request::get(in_url).body(String::new()).unwrap()).await.unwrap();
        assert_eq!(response.status(), 401, "never in a URL");
        assert_eq!(response.headers()["www-authenticate"], "Bearer");
        let told = house.ask("query($did: String!) { operations(filter: { ownerDid: $did }) { totalCount } changes(filter: { ownerDid: $did }) { totalCount } }", json!({ "did": victim.did })).await;
        assert_eq!(told, json!({ "operations": { "totalCount": 0 }, "changes": { "totalCount": 0 } }), "nothing ran");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tokens_of_both_kinds_are_taken_within_their_time_and_a_minute_beyond() {
    let house = House::open(Engine::Sqlite).await;
    let now = now_s();
    for person in [Person::fresh(), Person::fresh_p256()] {
        let good = [
            json!({}),
            json!({ "aud": ["https://other.example", AUDIENCE] }),
            json!({ "exp": now - 30 }),
            json!({ "exp": now + 24 * 3_600 }),
            json!({ "nbf": now + 30, "iat": now + 30 }),
            json!({ "iat": null, "jti": "x", "sub": "somebody else" }),
        ];
        for claims in good {
            let token = person.token_with(json!({ "kid": "#x" }), claims.clone());
            let (status, answer) =
                post_as(house.server.url(), Some(&format!("bEARER {token}")), "{ viewer { did roles } }", json!({}))
                    .await;
            assert_eq!(
                (status, &answer["data"]["viewer"]),
                (200, &json!({ "did": person.did, "roles": [] })),
                "{claims}"
            );
        }
        let (_, answer) = claim_by(&house, &format!("Bearer {}", person.token()), &person.did, "k").await;
        assert_eq!(answer["data"]["claimOperation"]["outcome"], "CLAIMED");
    }
    for (authorization, expected) in [(format!("Bearer {}", house.service.token()), 200), (String::new(), 401)] {
        // As clients of HTTP/2 ask: a request that offers an upgrade is a request all the same.
        let offering = Request::post(format!("{}/graphql", house.server.url()))
            .header("content-type", "application/json")
            .header("authorization", authorization)
            .header("connection", "Upgrade, HTTP2-Settings")
            .header("upgrade", "h2c")
            .body(json!({ "query": "{ viewer { did } }" }).to_string());
        assert_eq!(send(offering.unwrap()).await.unwrap().status(), expected);
        for method in ["HEAD", "PUT", "OPTIONS"] {
            let url = format!("{}/graphql?query=%7Bviewer%7Bdid%7D%7D", house.server.url());
            let other = Request::builder().method(method).uri(url).body(String::new()).unwrap();
            let status = send(other).await.unwrap().status().as_u16();
            assert!((400..500).contains(&status), "{method}: {status}");
        }
    }
    for path in ["/healthz", "/readyz", "/"] {
        let response =
            send(Request::get(format!("{}{path}", house.server.url())).body(String::new()).unwrap()).await.unwrap();
        assert_eq!(response.status(), 200, "{path} needs no token");
    }
    let introspection = post_as(house.server.url(), None, "{ __schema { queryType { name } } }", json!({})).await;
    assert_eq!((introspection.0, introspection.1.get("data")), (401, None));
}

/// What a change's `actorDid` says, and that neither it nor anything else ever says a token.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_acted_is_told_and_no_token_is() {
    let house = House::open_with(Engine::Sqlite, &[("WRITEWATCH_LOG", "debug")]).await;
    let person = Person::fresh();
    let token = person.token();
    claim_by(&house, &format!("Bearer {token}"), &person.did, "k").await;
    let (_, refused) = claim_by(&house, &format!("Bearer {token}x"), &person.did, "k2").await;
    let changes = house.ask("{ changes { nodes { actorDid facts } } }", json!({})).await["changes"]["nodes"].take();
    assert_eq!(changes[0]["actorDid"], person.did.as_str());
    assert!(house.server.log().contains("nobody is let in"), "the cause is logged");
    let signature = token.rsplit_once('.').unwrap().1;
    for said in [changes.to_string(), refused.to_string(), house.server.log()] {
        assert!(!said.contains(signature), "{said}");
    }
}

const CHANGES: &str = "subscription { changes { transition } }";

async fn follow(house: &House, token: &str) -> Subscription {
    // The name in any case, as clients of headers have it.
    let init = json!({ "Authorization": format!("Bearer {token}") });
    try_subscribe_as(house.server.url(), init, CHANGES, Value::Null).await.unwrap()
}

/// The subscription ends with this code, then the socket with 4403.
async fn ends(mut followed: Subscription, code: &str) {
    match followed.arrival().await {
        Arrival::Error(errors) => assert_eq!(errors[0]["extensions"]["code"], code, "{errors}"),
        other => panic!("not ended: {other:?}"),
    }
    match followed.arrival().await {
        Arrival::Closed { code: Some(4403), .. } => {}
        other => panic!("not closed: {other:?}"),
    }
}

async fn still_follows(followed: &mut Subscription, wait: Duration) {
    let told = followed.arrival_within(wait).await;
    assert!(told.is_none(), "{told:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_ends_when_its_token_does() {
    let house = House::open(Engine::Sqlite).await;
    let person = Person::fresh();
    let token = person.token_with(json!({}), json!({ "exp": now_s() + 3 }));
    let mut followed = follow(&house, &token).await;
    claim_by(&house, &format!("Bearer {token}"), &person.did, "k").await;
    assert_eq!(followed.next().await["changes"]["transition"], "claim");
    ends(followed, "UNAUTHENTICATED").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_ends_when_the_access_file_takes_its_right_or_gives_another() {
    let house = House::open(Engine::Sqlite).await;
    let [gone, other, stays] = [(); 3].map(|()| Person::fresh());
    let (losing, mut staying) = (follow(&house, &gone.token()).await, follow(&house, &stays.token()).await);
    house.write_access(&json!({ "revoked": [gone.did] }));
    ends(losing, "UNAUTHENTICATED").await;
    let (status, _) = claim_by(&house, &format!("Bearer {}", gone.token()), &gone.did, "k").await;
    assert_eq!(status, 401, "and is not let in again");
    let refused = try_subscribe_as(
        house.server.url(),
        json!({ "authorization": format!("Bearer {}", gone.token()) }),
        CHANGES,
        Value::Null,
    )
    .await;
    assert!(refused.is_err_and(|refused| refused.to_string().contains("4403")));

    let changing = follow(&house, &other.token()).await;
    house.write_access(&json!({ "revoked": [gone.did], "services": [other.did] }));
    ends(changing, "FORBIDDEN").await;
    let (_, viewer) =
        post_as(house.server.url(), Some(&format!("Bearer {}", other.token())), "{ viewer { roles } }", json!({}))
            .await;
    assert_eq!(viewer["data"]["viewer"]["roles"], json!(["SERVICE"]));

    // What cannot be read takes and gives nothing.
    std::fs::write(&house.access_file, "{\"revoked\": [").unwrap();
    until_the_log_says(&house, "the last version of it stands").await;
    let (_, viewer) =
        post_as(house.server.url(), Some(&format!("Bearer {}", other.token())), "{ viewer { roles } }", json!({}))
            .await;
    assert_eq!(viewer["data"]["viewer"]["roles"], json!(["SERVICE"]), "the last version stands");
    still_follows(&mut staying, Duration::from_millis(200)).await;
    claim_by(&house, &format!("Bearer {}", stays.token()), &stays.did, "k").await;
    assert_eq!(staying.next().await["changes"]["transition"], "claim", "whom nothing concerns is not disturbed");

    // A slip in one entry keeps no other from being revoked.
    house.write_access(&json!({ "services": [other.did], "revoked": ["did:key:z6Mk", stays.did] }));
    ends(staying, "UNAUTHENTICATED").await;
    until_the_log_says(&house, "did:key:z6Mk is not a did:key").await;
    let (status, _) = claim_by(&house, &format!("Bearer {}", gone.token()), &gone.did, "k").await;
    assert_eq!(status, 401, "nor does it give a right back");
}

async fn until_the_log_says(house: &House, told: &str) {
    let said = tokio::time::timeout(Duration::from_secs(20), async {
        while !house.server.log().contains(told) {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    });
    said.await.unwrap_or_else(|_| panic!("the log does not tell {told}"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_comes_with_a_token_that_lost_its_right_is_counted_like_any_other() {
    let settings = [("WRITEWATCH_RATE_LIMIT", "1"), ("WRITEWATCH_RATE_BURST", "5")];
    let house = House::open_with(Engine::Sqlite, &settings).await;
    let person = Person::fresh();
    let token = format!("Bearer {}", person.token());
    let ask = async || post_as(house.server.url(), Some(&token), "{ viewer { did } }", json!({})).await.0;
    assert_eq!(ask().await, 200);
    house.write_access(&json!({ "revoked": [person.did] }));
    let refused = tokio::time::timeout(Duration::from_secs(20), async {
        loop {
            match ask().await {
                // It was let in before the file was read again, or asked more often than it may, as somebody.
                200 | 429 => tokio::time::sleep(Duration::from_millis(500)).await,
                status => return status,
            }
        }
    });
    assert_eq!(refused.await.expect("it is refused"), 401);
    let mut statuses = vec![];
    for _ in 0..10 {
        statuses.push(ask().await);
    }
    assert!(statuses.contains(&429), "{statuses:?}");
}
