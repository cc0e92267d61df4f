//! A minimal GraphQL client over HTTP. One connection for each request: a test that kills the server must know that a
//! failed request was sent once, and never again behind its back.

use http_body_util::{BodyExt, Full};
use hyper::{Request, Response, Uri, body::Bytes, client::conn::http1, header};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use std::{error::Error, time::Duration};
use tokio::{net::TcpStream, time::timeout};

const ANSWERED_WITHIN: Duration = Duration::from_mins(1);

pub type Failure = Box<dyn Error + Send + Sync>;

/// Posts to the server at `url` (as `Server::url` gives it) and returns the whole answer, `data` and `errors`.
pub async fn post(url: &str, query: &str, variables: Value) -> Value {
    try_post(url, query, variables).await.unwrap_or_else(|failure| panic!("no answer from {url}: {failure}"))
}

/// As `post`, for tests in which the server may be gone.
pub async fn try_post(url: &str, query: &str, variables: Value) -> Result<Value, Failure> {
    let request = Request::post(format!("{url}/graphql"))
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::ACCEPT, "application/graphql-response+json")
        .body(json!({ "query": query, "variables": variables }).to_string())?;
    let response = send(request).await?;
    Ok(serde_json::from_slice(response.body())?)
}

/// As `post`, with an Authorization header: the status and the whole answer.
pub async fn post_as(url: &str, authorization: Option<&str>, query: &str, variables: Value) -> (u16, Value) {
    let mut request = Request::post(format!("{url}/graphql"))
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::ACCEPT, "application/graphql-response+json");
    if let Some(authorization) = authorization {
        request = request.header(header::AUTHORIZATION, authorization);
    }
    let body = json!({ "query": query, "variables": variables }).to_string();
    let response = send(request.body(body).expect("a request")).await;
    let response = response.unwrap_or_else(|failure| panic!("no answer from {url}: {failure}"));
    let answer = serde_json::from_slice(response.body()).expect("JSON");
    (response.status().as_u16(), answer)
}

/// Sends any request, named by its full URL, and reads the whole response.
pub async fn send(request: Request<String>) -> Result<Response<Bytes>, Failure> {
    timeout(ANSWERED_WITHIN, exchange(request)).await?
}

async fn exchange(request: Request<String>) -> Result<Response<Bytes>, Failure> {
    let (mut head, body) = request.into_parts();
    let authority = head.uri.authority().ok_or("a URL without a host")?.clone();
    // On the wire a request names its path alone, and the host in a header.
    head.uri = head.uri.path_and_query().map_or(Uri::from_static("/"), |path| path.clone().into());
    head.headers.entry(header::HOST).or_insert(authority.as_str().parse()?);

    let stream = TcpStream::connect(authority.as_str()).await?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    // Ends by itself when the sender is dropped.
    tokio::spawn(connection);
    let response = sender.send_request(Request::from_parts(head, Full::new(Bytes::from(body)))).await?;
    let (head, body) = response.into_parts();
    Ok(Response::from_parts(head, body.collect().await?.to_bytes()))
}
