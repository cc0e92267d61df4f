//! A place in the log, as clients hold it: opaque, and good for the log that it came from alone.
//!
//! The number of a change counts everybody's, so a cursor is that number enciphered: two cursors tell nothing of how much
//! lies between them. The key is made of the log's own random name, which all its servers know and nobody is told.

use std::fmt;

use aes::cipher::{BlockCipherDecrypt as _, BlockCipherEncrypt as _, KeyInit as _};
use aes::{Aes128, Block};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};

use crate::domain::bounds::BadInput;

/// Characters of a cursor: one block in base64.
const LENGTH: usize = 22;
/// What stands before the number, so that a block that we did not make is found out.
const MARK: [u8; 8] = *b"changes:";

/// The cursors of one log.
pub(super) struct Cursors(Aes128);

impl fmt::Debug for Cursors {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Cursors(_)")
    }
}

impl Cursors {
    /// Those of the log with this name.
    pub(super) fn of(feed_id: &str) -> Self {
        let digest = Sha256::new().chain_update(MARK).chain_update(feed_id).finalize();
        let mut key = [0; 16];
        key.copy_from_slice(&digest[..16]);
        Self(Aes128::new(&key.into()))
    }

    /// The cursor of the change with this number.
    pub(super) fn encode(&self, sequence: i64) -> String {
        let mut block = [0; 16];
        block[..8].copy_from_slice(&MARK);
        block[8..].copy_from_slice(&sequence.to_be_bytes());
        let mut block = Block::from(block);
        self.0.encrypt_block(&mut block);
        URL_SAFE_NO_PAD.encode(block)
    }

    /// The number of the change.
    ///
    /// # Errors
    /// `BadInput` for anything that this log never gave out.
    pub(super) fn decode(&self, field: &str, text: &str) -> Result<i64, BadInput> {
        let malformed = || BadInput::new(field, "is not a change cursor of this server");
        let mut bytes = [0; 18];
        let length = if text.len() == LENGTH { URL_SAFE_NO_PAD.decode_slice(text, &mut bytes).ok() } else { None };
        let Some([first @ .., _, _]) = length.filter(|length| *length == 16).map(|_| bytes) else {
            return Err(malformed());
        };
        let mut block = Block::from(first);
        self.0.decrypt_block(&mut block);
        let (mark, number) = block.split_at(8);
        let number = i64::from_be_bytes(number.try_into().map_err(|_| malformed())?);
        if mark == MARK && number >= 0 { Ok(number) } else { Err(malformed()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_good_for_its_own_log_alone() {
        let cursors = Cursors::of("abc");
        for sequence in [0, 7, i64::MAX] {
            let cursor = cursors.encode(sequence);
            assert_eq!(cursor.len(), LENGTH);
            assert_eq!(cursors.decode("after", &cursor), Ok(sequence));
            assert!(Cursors::of("abd").decode("after", &cursor).is_err());
        }
        let good = cursors.encode(7);
        let cut = &good[1..];
        for bad in
            ["", "7", "YWJjOi03", cut, &format!("{good}A"), &"A".repeat(LENGTH), &"A".repeat(1_000), &"é".repeat(11)]
        {
            assert!(cursors.decode("after", bad).is_err(), "{bad}");
        }
        assert!(cursors.decode("after", &cursors.encode(-1)).is_err());
    }

    /// Neighbours have nothing in common, in no place more often than by chance.
    #[test]
    fn a_cursor_tells_nothing_of_its_number() {
        let cursors = Cursors::of("abc");
        let texts: Vec<String> = (0..1_000).map(|sequence| cursors.encode(sequence)).collect();
        for place in 0..LENGTH - 1 {
            let same = texts.windows(2).filter(|pair| pair[0].as_bytes()[place] == pair[1].as_bytes()[place]).count();
            assert!(same < 60, "{same} of 999 are alike in place {place}");
        }
    }
}
