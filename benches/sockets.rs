//! What very many listeners cost: sockets that each watch one document while others change, and a change that concerns a
//! thousand of them. Of a real server in its own process, on an embedded database. `WRITEWATCH_BENCH_SOCKETS` sets how many.
//!
//! The goals: 10,000 idle sockets at most 1.25 times the processor time of none, at most 10 kB each; a change at 1,000
//! listeners within 50 ms (p99).
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark that fails ends there, and prints what it finds"
)]
#![expect(clippy::disallowed_methods, reason = "a benchmark reads the clock and its one setting")]

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use futures_util::{SinkExt as _, StreamExt as _};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::{Request, header};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Message, http::HeaderValue};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async_with_config};

/// How long the processor time is taken: longer than from ping to ping.
const WINDOW: Duration = Duration::from_secs(30);
/// Changes a second while many sockets are idle, and while all of them are concerned.
const CHANGES: [u32; 2] = [200, 20];
const LISTENERS: usize = 1_000;
/// Sockets that connect at once.
const AT_ONCE: usize = 100;

type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

#[tokio::main]
async fn main() {
    let sockets: usize = std::env::var("WRITEWATCH_BENCH_SOCKETS").map_or(10_000, |text| text.parse().unwrap());
    let server = Server::start();
    let mut writer = Writer::connect(&server.address).await;
    writer.claim("warm").await;
    writer.write(CHANGES[0], Duration::from_secs(3)).await;

    let alone = server.processor_time();
    writer.write(CHANGES[0], WINDOW).await;
    let alone = server.processor_time().abs_diff(alone);
    println!("{:<58} {:>9.2}", "processor seconds in 30 s, 200 changes a second", alone.as_secs_f64());

    let memory = server.memory_kb();
    let document = "subscription($id: String!) { documentChanged(ids: [$id]) { document { writeState } cursor } }";
    let subscribe = |place: usize| (document, json!({ "id": format!("idle-{place}") }));
    let idle = connect(&server.address, sockets, subscribe).await;
    let idle = keep(idle, None);
    let each = (server.memory_kb() - memory) * 1_000 / i64::try_from(sockets).unwrap();
    println!("{:<58} {each:>9}", format!("bytes for each of {sockets} idle subscriptions"));
    let beside = server.processor_time();
    writer.write(CHANGES[0], WINDOW).await;
    let beside = server.processor_time().abs_diff(beside);
    let ratio = beside.as_secs_f64() / alone.as_secs_f64();
    println!("{:<58} {:>9.2}   {ratio:.2} ×", "processor seconds beside them", beside.as_secs_f64());
    drop(idle);

    let changes = "subscription { operationChanged { operation { version } change { at transition } cursor } }";
    let listening = connect(&server.address, LISTENERS, |_| (changes, json!({}))).await;
    let (told, mut heard) = mpsc::unbounded_channel();
    let listening = keep(listening, Some(&told));
    writer.write(CHANGES[1], Duration::from_secs(2)).await;
    while heard.try_recv().is_ok() {}
    writer.write(CHANGES[1], Duration::from_secs(10)).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let mut waits = vec![];
    while let Ok(wait) = heard.try_recv() {
        waits.push(wait);
    }
    drop(listening);
    waits.sort_unstable();
    let expected = LISTENERS * CHANGES[1] as usize * 10;
    assert!(waits.len() >= expected * 99 / 100, "{} of {expected} arrived", waits.len());
    for (told, place) in [("p50", waits.len() / 2), ("p99", waits.len() * 99 / 100), ("longest", waits.len() - 1)] {
        let name = format!("ms from the act to {LISTENERS} listeners, {told}");
        println!("{name:<58} {:>9}", waits[place]);
    }
}

/// The server, in its own process and folder.
struct Server {
    child: Child,
    address: String,
    _folder: tempfile::TempDir,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}", folder.path().join("bench.db").display());
        let mut child = Command::new(env!("CARGO_BIN_EXE_writewatch"))
            .args(["serve", "--listen", "127.0.0.1:0", "--log", "warn", "--database-url", &url])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let address = loop {
            let line = lines.next().unwrap().unwrap();
            if let Some(address) = line.strip_prefix("writewatch listening on http://") {
                break address.to_owned();
            }
        };
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, address, _folder: folder }
    }

    /// What the kernel has counted for it, in its ticks of 10 ms.
    fn processor_time(&self) -> Duration {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap();
        let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
        let ticks: u64 = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
        Duration::from_millis(ticks * 10)
    }

    fn memory_kb(&self) -> i64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }
}

/// One client that changes one operation again and again.
struct Writer {
    sender: SendRequest<Full<Bytes>>,
    host: String,
    id: Value,
    version: i64,
}

impl Writer {
    async fn connect(address: &str) -> Self {
        let stream = TcpStream::connect(address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        let (sender, connection) = handshake(TokioIo::new(stream)).await.unwrap();
        tokio::spawn(connection);
        Self { sender, host: address.to_owned(), id: Value::Null, version: 0 }
    }

    async fn act(&mut self, mutation: &str, kind: &str, fields: &str, input: Value) -> Value {
        let query = format!("mutation($input: {kind}!) {{ {mutation}(input: $input) {{ {fields} }} }}");
        let body = json!({ "query": query, "variables": { "input": input } }).to_string();
        let request = Request::post("/graphql")
            .header(header::HOST, &self.host)
            .header(header::CONTENT_TYPE, "application/json")
            .body(Full::new(Bytes::from(body)))
            .unwrap();
        self.sender.ready().await.unwrap();
        let response = self.sender.send_request(request).await.unwrap().into_body().collect().await.unwrap();
        let mut answer: Value = serde_json::from_slice(&response.to_bytes()).unwrap();
        answer["data"][mutation].take()
    }

    async fn claim(&mut self, key: &str) {
        let input = json!({
            "callerDid": "did:c", "operationId": key, "ownerDid": "did:o", "connectorName": "contacts", "model": "Contact",
            "op": "UPDATE", "accountKey": "a", "target": "t", "deterministicEventId": "e", "payloadHash": "h",
            "documentId": "busy", "leaseToken": "L", "leaseMs": 3_600_000,
        });
        let mut claimed = self.act("claimOperation", "ClaimOperationInput", "operation { id }", input).await;
        self.id = claimed["operation"]["id"].take();
    }

    /// So many changes a second, for so long.
    async fn write(&mut self, a_second: u32, time: Duration) {
        let began = Instant::now();
        let mut ticks = tokio::time::interval(Duration::from_secs(1) / a_second);
        let mut left = a_second * u32::try_from(time.as_secs()).unwrap();
        while left > 0 {
            ticks.tick().await;
            let input = json!({ "id": self.id, "leaseToken": "L", "version": self.version, "toState": "ATTEMPTED" });
            let told = self.act("recordOperation", "RecordOperationInput", "outcome", input).await;
            assert_eq!(told["outcome"], "RECORDED");
            self.version += 1;
            left -= 1;
        }
        let over = began.elapsed();
        assert!(over < time + time / 5, "the writer took {over:?} for {time:?}");
    }
}

/// Opens sockets and subscribes by each; all have begun to listen by then, as their first answers or the last one's tell.
async fn connect(address: &str, count: usize, subscribe: impl Fn(usize) -> (&'static str, Value)) -> Vec<Socket> {
    let mut opening = JoinSet::new();
    let mut sockets = Vec::with_capacity(count);
    for place in 0..count {
        let (query, variables) = subscribe(place);
        let first = query.contains("documentChanged");
        opening.spawn(open(address.to_owned(), query, variables, first));
        if opening.len() == AT_ONCE {
            sockets.push(opening.join_next().await.unwrap().unwrap());
        }
    }
    while let Some(socket) = opening.join_next().await {
        sockets.push(socket.unwrap());
    }
    sockets
}

async fn open(address: String, query: &'static str, variables: Value, first: bool) -> Socket {
    let mut request = format!("ws://{address}/graphql").into_client_request().unwrap();
    request.headers_mut().insert("sec-websocket-protocol", HeaderValue::from_static("graphql-transport-ws"));
    let config = WebSocketConfig::default().read_buffer_size(2 * 1024).write_buffer_size(0);
    let (mut socket, _) = connect_async_with_config(request, Some(config), true).await.unwrap();
    let mut say = async |message: Value| socket.send(Message::text(message.to_string())).await.unwrap();
    say(json!({ "type": "connection_init" })).await;
    say(json!({ "type": "subscribe", "id": "1", "payload": { "query": query, "variables": variables } })).await;
    // The acknowledgement, and the first answer where there is one.
    let mut answers = 0;
    while answers < 1 + usize::from(first) {
        if let Message::Text(text) = socket.next().await.unwrap().unwrap() {
            assert!(!text.contains("\"error\""), "{text}");
            answers += usize::from(!text.contains("\"ping\""));
        }
    }
    socket
}

/// Reads every socket on, answering pings; tells how long each change took to arrive.
fn keep(sockets: Vec<Socket>, told: Option<&mpsc::UnboundedSender<u64>>) -> JoinSet<()> {
    let mut reading = JoinSet::new();
    for mut socket in sockets {
        let told = told.cloned();
        reading.spawn(async move {
            while let Some(Ok(message)) = socket.next().await {
                let Message::Text(text) = message else { continue };
                if text.contains("\"ping\"") {
                    socket.send(Message::text("{\"type\":\"pong\"}")).await.unwrap();
                } else if let Some(told) = &told {
                    let answer: Value = serde_json::from_str(&text).unwrap();
                    let at = answer["payload"]["data"]["operationChanged"]["change"]["at"].as_str().unwrap();
                    let at = writewatch::domain::time::parse("at", at).unwrap();
                    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_millis();
                    let _ = told.send(u64::try_from(now).unwrap().saturating_sub(u64::try_from(at).unwrap()));
                }
            }
        });
    }
    reading
}
