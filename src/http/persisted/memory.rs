//! A bounded memory of texts by their hash: the ones that were used last.

use std::collections::HashMap;
use std::sync::Arc;

use super::DocumentHash;
use crate::http::limits;

/// The documents that were sent with their hash and used last.
#[derive(Debug, Default)]
pub struct Memory {
    texts: HashMap<DocumentHash, Remembered>,
    bytes: usize,
    uses: u64,
}

#[derive(Debug)]
struct Remembered {
    text: Arc<str>,
    last_used: u64,
}

impl Memory {
    /// The text with this hash, used now.
    pub fn find(&mut self, hash: DocumentHash) -> Option<Arc<str>> {
        self.uses += 1;
        let found = self.texts.get_mut(&hash)?;
        found.last_used = self.uses;
        Some(Arc::clone(&found.text))
    }

    /// Keeps a text, in place of those that were used longest ago.
    pub fn keep(&mut self, hash: DocumentHash, text: &str) {
        if self.find(hash).is_some() || text.len() > limits::REMEMBERED_BYTES {
            return;
        }
        while self.texts.len() >= limits::REMEMBERED_DOCUMENTS || self.bytes + text.len() > limits::REMEMBERED_BYTES {
            // A walk over all of them: they are few, and something is forgotten only for a text that is new.
            let Some(oldest) = self.texts.iter().min_by_key(|(_, it)| it.last_used).map(|(hash, _)| *hash) else {
                break;
            };
            self.bytes -= self.texts.remove(&oldest).map_or(0, |it| it.text.len());
        }
        self.bytes += text.len();
        self.texts.insert(hash, Remembered { text: text.into(), last_used: self.uses });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_remembered_is_bounded_by_count_and_by_bytes_and_the_used_ones_stay() {
        let mut memory = Memory::default();
        let used = DocumentHash::of("used");
        memory.keep(used, "used");
        for number in 0..2 * limits::REMEMBERED_DOCUMENTS {
            let text = format!("{{ a{number} }}");
            memory.keep(DocumentHash::of(&text), &text);
            assert!(memory.find(used).is_some());
        }
        assert_eq!(memory.texts.len(), limits::REMEMBERED_DOCUMENTS);
        for number in 0..2 * limits::REMEMBERED_BYTES / limits::DOCUMENT_BYTES {
            let text = format!("{number:08}{}", "x".repeat(limits::DOCUMENT_BYTES - 8));
            memory.keep(DocumentHash::of(&text), &text);
            assert!(memory.bytes <= limits::REMEMBERED_BYTES && memory.find(used).is_some());
        }
        let held: usize = memory.texts.values().map(|it| it.text.len()).sum();
        assert_eq!(held, memory.bytes);
        assert!(memory.texts.len() >= limits::REMEMBERED_BYTES / limits::DOCUMENT_BYTES - 1);
    }
}
