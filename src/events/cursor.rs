//! A place in the log, as clients hold it: opaque, and good for the log that it came from alone.
//!
//! The number of a change counts everybody's, so a cursor is that number enciphered: two cursors tell nothing of how much
//! lies between them. The key is made of the log's own random name, which all its servers know and nobody is told. A change
//! has one cursor; a place that is no change of the client's has another one each time, which tells not even whether
//! anything happened.

use std::fmt;

use aes::cipher::{BlockCipherDecrypt as _, BlockCipherEncrypt as _, KeyInit as _};
use aes::{Aes128, Block};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};

/// Characters of a cursor: one block in base64.
const LENGTH: usize = 22;
/// What the key is made for.
const PURPOSE: &str = "cursors:";

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counted {
    /// The changes of the log.
    Changes,
    /// The repairs, in the order in which they were written.
    Repairs,
}

impl Counted {
    /// What stands before the number, so that a block that we did not make is found out.
    const fn mark(self) -> [u8; 4] {
        match self {
            Self::Changes => *b"chg:",
            Self::Repairs => *b"rep:",
        }
    }
}

/// The cursors of one log, for whoever knows its name.
pub struct Cursors(Aes128);

impl fmt::Debug for Cursors {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Cursors(_)")
    }
}

impl Cursors {
    /// Those of the log with this name.
    #[must_use]
    pub fn of(feed_id: &str) -> Self {
        let digest = Sha256::new().chain_update(PURPOSE).chain_update(feed_id).finalize();
        let mut key = [0; 16];
        key.copy_from_slice(&digest[..16]);
        Self(Aes128::new(&key.into()))
    }

    /// The cursor of what has this number. With the same salt it is the same.
    #[must_use]
    pub fn encode(&self, counted: Counted, number: i64, salt: u32) -> String {
        let mut block = [0; 16];
        block[..4].copy_from_slice(&counted.mark());
        block[4..8].copy_from_slice(&salt.to_be_bytes());
        block[8..].copy_from_slice(&number.to_be_bytes());
        let mut block = Block::from(block);
        self.0.encrypt_block(&mut block);
        URL_SAFE_NO_PAD.encode(block)
    }

    /// The number of what has this cursor; none for anything that this log never gave out.
    #[must_use]
    pub fn decode(&self, counted: Counted, text: &str) -> Option<i64> {
        let mut bytes = [0; 18];
        if text.len() != LENGTH || URL_SAFE_NO_PAD.decode_slice(text, &mut bytes) != Ok(16) {
            return None;
        }
        let [first @ .., _, _] = bytes;
        let mut block = Block::from(first);
        self.0.decrypt_block(&mut block);
        let number = i64::from_be_bytes(block[8..].try_into().ok()?);
        (block[..4] == counted.mark() && number >= 0).then_some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::Counted::{Changes, Repairs};
    use super::*;

    #[test]
    fn a_cursor_is_good_for_its_own_log_alone() {
        let cursors = Cursors::of("abc");
        for (number, salt) in [(0, 0), (7, 0), (7, 1), (i64::MAX, u32::MAX)] {
            let cursor = cursors.encode(Changes, number, salt);
            assert_eq!(cursor.len(), LENGTH);
            assert_eq!(cursors.decode(Changes, &cursor), Some(number));
            assert_eq!(cursors.decode(Repairs, &cursor), None);
            assert_eq!(Cursors::of("abd").decode(Changes, &cursor), None);
        }
        let good = cursors.encode(Changes, 7, 0);
        assert_ne!(good, cursors.encode(Changes, 7, 1));
        let cut = &good[1..];
        for bad in
            ["", "7", "YWJjOi03", cut, &format!("{good}A"), &"A".repeat(LENGTH), &"A".repeat(1_000), &"é".repeat(11)]
        {
            assert_eq!(cursors.decode(Changes, bad), None, "{bad}");
        }
        assert_eq!(cursors.decode(Changes, &cursors.encode(Changes, -1, 0)), None);
    }

    /// Neighbours have nothing in common, in no place more often than by chance.
    #[test]
    fn a_cursor_tells_nothing_of_its_number() {
        let cursors = Cursors::of("abc");
        let texts: Vec<String> = (0..1_000).map(|number| cursors.encode(Changes, number, 0)).collect();
        for place in 0..LENGTH - 1 {
            let same = texts.windows(2).filter(|pair| pair[0].as_bytes()[place] == pair[1].as_bytes()[place]).count();
            assert!(same < 60, "{same} of 999 are alike in place {place}");
        }
    }
}
