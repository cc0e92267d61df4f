//! A minimal reader of server-sent events, by the lines that come: one connection, one stream.

use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::client::Failure;

const ARRIVES_WITHIN: Duration = Duration::from_secs(30);

pub struct Events {
    connection: BufReader<TcpStream>,
}

impl Events {
    /// Asks for a document by POST, as events.
    pub async fn open(url: &str, document: &str, request_id: &str) -> Self {
        Self::try_open(url, document, request_id)
            .await
            .unwrap_or_else(|failure| panic!("no stream from {url}: {failure}"))
    }

    async fn try_open(url: &str, document: &str, request_id: &str) -> Result<Self, Failure> {
        let host = url.trim_start_matches("http://");
        let body = serde_json::json!({ "query": document }).to_string();
        let request = format!(
            "POST /graphql HTTP/1.1\r\nhost: {host}\r\naccept: text/event-stream\r\ncontent-type: application/json\r\n\
             x-request-id: {request_id}\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        let mut connection = TcpStream::connect(host).await?;
        connection.write_all(request.as_bytes()).await?;
        Ok(Self { connection: BufReader::new(connection) })
    }

    /// The next line of an event; none when the stream has ended. The lines of HTTP itself end otherwise.
    pub async fn line(&mut self) -> Option<String> {
        let line = async {
            loop {
                let mut line = String::new();
                if self.connection.read_line(&mut line).await.expect("a stream that ends in order") == 0 {
                    return None;
                }
                match line.strip_suffix('\n') {
                    Some(line) if !line.is_empty() && !line.ends_with('\r') => return Some(line.to_owned()),
                    _ => {}
                }
            }
        };
        timeout(ARRIVES_WITHIN, line).await.expect("a line or the end in time")
    }

    /// The next answer that is told.
    pub async fn data(&mut self) -> serde_json::Value {
        loop {
            let line = self.line().await.expect("an answer before the end");
            if let Some(data) = line.strip_prefix("data: ") {
                return serde_json::from_str(data).expect("JSON");
            }
        }
    }
}
