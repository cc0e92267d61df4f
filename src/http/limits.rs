//! What one client may ask of the door, in one place. Owns numbers only; each is enforced in the file named beside it.

use std::time::Duration;

/// Bytes of a GraphQL document (`document/scan.rs`).
pub const DOCUMENT_BYTES: usize = 64 * 1024;
/// Lexical tokens of a document (`document/scan.rs`).
pub const DOCUMENT_TOKENS: usize = 5_000;
/// Brackets of any kind open at once: the parser recurses on them (`document/scan.rs`).
pub const OPEN_BRACKETS: usize = 64;

/// Aliases written in a document (`document/count.rs`).
pub const ALIASES: u64 = 30;
/// Root fields of an operation, fragments expanded (`document/count.rs`).
pub const ROOT_FIELDS: u64 = 10;
/// Directives written in a document (`document/count.rs`).
pub const DIRECTIVES: u64 = 50;
/// Fields inside fields; `GraphiQL`'s introspection needs 15 (`document/count.rs`).
pub const FIELD_DEPTH: u64 = 16;
/// Selection sets inside selection sets, fragments included; `GraphiQL`'s introspection needs 17 (`document/count.rs`).
pub const SELECTION_DEPTH: u64 = 24;
/// Selections of an operation with every fragment expanded where it is spread (`document/count.rs`).
pub const EXPANDED_SELECTIONS: u64 = 2_000;
/// Fields of the largest possible answer: each times the rows of the pages they stand in. Fifty full pages of twenty fields
/// (`document/count.rs`).
pub const ANSWER_FIELDS: u64 = 100_000;
/// What a JSON value counts for among them: it may have 256 KiB, where another field has some bytes (`document/count.rs`).
pub const JSON_VALUE_FIELDS: u64 = 200;
/// Fields of the largest possible answer about the schema itself; `GraphiQL`'s introspection comes to two thirds of it
/// (`document/count.rs`).
pub const INTROSPECTED_FIELDS: u64 = 100_000;
/// Rows of a page that is asked for without a size, and of the largest page (`document/count.rs`).
pub const DEFAULT_PAGE_ROWS: u64 = 50;
/// See `DEFAULT_PAGE_ROWS`.
pub const MAX_PAGE_ROWS: u64 = 100;

/// Errors in one answer (`answer.rs`).
pub const ERRORS: usize = 10;

/// Bytes of a request body, and of a WebSocket message (`graphql.rs`, `socket.rs`).
pub const BODY_BYTES: usize = 1024 * 1024;
/// Values in the JSON of a request: one of two bytes takes fifty in memory (`json.rs`).
pub const JSON_VALUES: usize = 100_000;
/// Bytes of a body that is too long which are still read, so that its sender hears of it (`graphql.rs`).
pub const FORGOTTEN_BYTES: usize = 16 * 1024 * 1024;
/// From the first byte of a request's body to its answer (`graphql.rs`, `socket.rs`).
pub const REQUEST_TIME: Duration = Duration::from_secs(30);
/// From accepting a connection, or the end of its last answer, to the end of the next request's headers (`serve.rs`).
pub const HEADER_TIME: Duration = Duration::from_mins(1);
/// Bytes of a request's line and headers (`serve.rs`).
pub const HEADER_BYTES: usize = 64 * 1024;
/// From the signal to stop to leaving whatever is still open (`serve.rs`).
pub const SHUTDOWN_TIME: Duration = Duration::from_secs(10);

/// From the opening of a socket to its `connection_init` (`socket.rs`).
pub const INIT_TIME: Duration = Duration::from_secs(10);
/// Bytes that come through a socket until it is acknowledged: a token has 8 KiB (`socket.rs`).
pub const INIT_BYTES: usize = 64 * 1024;
/// Between two server pings (`socket.rs`).
pub const PING_EVERY: Duration = Duration::from_secs(20);
/// From a ping to any sign of life (`socket.rs`).
pub const PONG_TIME: Duration = Duration::from_secs(10);
/// For a peer to take what is written to it (`socket.rs`).
pub const WRITE_TIME: Duration = Duration::from_secs(10);
/// From the signal to stop to a socket's closing: for requests already running (`socket.rs`).
pub const DRAIN_TIME: Duration = Duration::from_secs(5);
/// From our close frame to the peer's (`socket.rs`).
pub const CLOSE_TIME: Duration = Duration::from_secs(1);
/// Operations running at once on a socket (`socket.rs`).
pub const SOCKET_OPERATIONS: usize = 100;
/// Answers that are kept for others who follow the same, and their bytes together (`follow.rs`).
pub const SHARED_ANSWERS: usize = 4_096;
/// See `SHARED_ANSWERS`.
pub const SHARED_ANSWER_BYTES: usize = 8 * 1024 * 1024;
/// Bytes of an operation's id on a socket (`socket/message.rs`).
pub const SOCKET_ID_BYTES: usize = 256;
/// Bytes read at once from a socket: an idle one costs what this is (`socket.rs`).
pub const SOCKET_READ_BYTES: usize = 1024;
/// Messages that wait are gathered up to this many bytes before they are written (`socket.rs`).
pub const SOCKET_WRITE_BYTES: usize = 8 * 1024;
/// Bytes of a close frame's reason: a control frame holds 125, two of them are the code (`socket/message.rs`).
pub const CLOSE_REASON_BYTES: usize = 123;

/// Documents known by their hash (`persisted.rs`).
pub const REMEMBERED_DOCUMENTS: usize = 1_000;
/// Bytes of all of them (`persisted.rs`).
pub const REMEMBERED_BYTES: usize = 8 * 1024 * 1024;
/// Callers whose requests are counted at once (`rate.rs`).
pub const COUNTED_CALLERS: usize = 10_000;
/// Between two signs of life of an event stream on which nothing happens (`sse.rs`).
pub const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// Characters of a request's id that is taken over from its sender (`caller.rs`).
pub const REQUEST_ID_CHARS: usize = 128;
