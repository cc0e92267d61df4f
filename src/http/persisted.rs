//! Documents known by the SHA-256 of their text, so that a client need not send it each time.
//!
//! Two ways. By itself the server remembers what it was sent together with its hash, as Apollo's automatic persisted
//! queries do: a bounded number of texts, the ones used last. With a list from a file, what stands in it runs and
//! nothing else does. Owns texts alone: each is read and checked anew, like one that was sent.

#[cfg(test)]
mod tests;

mod memory;

use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_graphql::ServerError;
use sha2::{Digest as _, Sha256};

use self::memory::Memory;
use super::limits;
use super::refusal::{Code, bad_input, error};

/// The SHA-256 of a document's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DocumentHash([u8; 32]);

impl DocumentHash {
    /// The hash of a text.
    #[must_use]
    pub fn of(text: &str) -> Self {
        Self(Sha256::digest(text).into())
    }
}

impl FromStr for DocumentHash {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = "is 64 hexadecimal digits: the SHA-256 of a document's text";
        if text.len() != 64 || !text.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return Err(wrong);
        }
        let mut hash = [0; 32];
        for (byte, place) in hash.iter_mut().zip((0..64).step_by(2)) {
            *byte = u8::from_str_radix(&text[place..place + 2], 16).map_err(|_| wrong)?;
        }
        Ok(Self(hash))
    }
}

/// The documents of a file, by hash.
#[derive(Clone)]
pub struct DocumentList(Arc<HashMap<DocumentHash, String>>);

impl fmt::Debug for DocumentList {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} documents", self.0.len())
    }
}

impl DocumentList {
    /// Reads a file: a JSON object from hashes to texts.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(path: &str) -> Result<Self, String> {
        let text = std::fs::read(path).map_err(|error| format!("the file cannot be read: {error}"))?;
        let map: HashMap<String, String> = serde_json::from_slice(&text)
            .map_err(|error| format!("the file is no JSON object from hashes to documents: {error}"))?;
        let listed = map.into_iter().map(|(hash, text)| match hash.parse::<DocumentHash>() {
            Ok(parsed) if parsed == DocumentHash::of(&text) => Ok((parsed, text)),
            Ok(_) => Err(format!("{hash} is not the SHA-256 of the document beside it")),
            Err(wrong) => Err(format!("\"{hash}\" should be a hash, which {wrong}")),
        });
        Ok(Self(Arc::new(listed.collect::<Result<_, _>>()?)))
    }
}

/// Where documents are looked up.
#[derive(Debug)]
pub enum Documents {
    /// Those of a list, and no others.
    Listed(DocumentList),
    /// Any, and those that were sent lately by their hash alone.
    Remembered(Mutex<Memory>),
}

impl Documents {
    /// Of this list, or of whatever comes.
    #[must_use]
    pub fn new(list: Option<DocumentList>) -> Self {
        list.map_or_else(|| Self::Remembered(Mutex::default()), Self::Listed)
    }

    /// The text that a request means.
    ///
    /// # Errors
    /// When its text and its hash differ, when a text is not known here by this hash, or not allowed.
    pub fn text(&self, sent: Option<String>, hash: Option<DocumentHash>) -> Result<String, ServerError> {
        if let (Some(text), Some(hash)) = (&sent, hash)
            && DocumentHash::of(text) != hash
        {
            return Err(bad_input("The hash that came with the document is not the SHA-256 of its text."));
        }
        match self {
            Self::Listed(DocumentList(list)) => {
                let text = match (sent, hash) {
                    // A text that is too long is none of the list's, and not worth hashing.
                    (Some(text), _) if text.len() <= limits::DOCUMENT_BYTES => {
                        list.contains_key(&DocumentHash::of(&text)).then_some(text)
                    }
                    (None, Some(hash)) => list.get(&hash).cloned(),
                    _ => None,
                };
                text.ok_or_else(|| {
                    error(Code::Forbidden, "This server runs the documents of its list only, and this is none of them.")
                })
            }
            Self::Remembered(memory) => match (sent, hash) {
                (Some(text), _) => Ok(text),
                (None, Some(hash)) => {
                    // The message is the one that Apollo's clients look for.
                    let unknown = || error(Code::PersistedQueryNotFound, "PersistedQueryNotFound");
                    locked(memory).find(hash).map(|text| text.as_ref().to_owned()).ok_or_else(unknown)
                }
                (None, None) => Err(bad_input("The parameter \"query\" is missing.")),
            },
        }
    }

    /// Remembers a document that has been read, and came with its hash.
    pub fn remember(&self, hash: DocumentHash, text: &str) {
        if let Self::Remembered(memory) = self {
            locked(memory).keep(hash, text);
        }
    }
}

/// Nothing here can be left half done by a panic.
fn locked(memory: &Mutex<Memory>) -> MutexGuard<'_, Memory> {
    memory.lock().unwrap_or_else(PoisonError::into_inner)
}
