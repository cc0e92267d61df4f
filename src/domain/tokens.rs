//! Bearer tokens: who signed one, and for how long it holds.
//!
//! A token is a compact JWS by the key of its issuer's `did:key`, opened as a signed claim is (`observations::jws`): the
//! header chooses nothing. Why one is refused is for the log alone.

use super::observations::json::{Json, Members};
use super::observations::{Invalid, date_ms, jws, needed};

/// Bytes of a token (8 KiB).
pub const TOKEN_BYTES: usize = 8 * 1_024;
/// By how much clocks may differ: between whoever made a token and us (60 s).
pub const LEEWAY_MS: i64 = 60_000;
/// How far ahead a token may expire (24 h).
pub const LONGEST_MS: i64 = 24 * 3_600_000;

/// What a token says that its issuer signed, for us.
#[derive(Debug, Clone, PartialEq)]
pub struct Token {
    /// The issuer.
    pub did: String,
    exp: f64,
    nbf: Option<f64>,
    iat: Option<f64>,
}

impl Token {
    /// Reads a token that is meant for this audience: its form and its signature. Whether it holds is asked at each use.
    ///
    /// # Errors
    /// `Invalid` for anything that is not such a token.
    pub fn open(token: &str, audience: &str) -> Result<Self, Invalid> {
        if token.len() > TOKEN_BYTES {
            return Err(Invalid(format!("must be at most {TOKEN_BYTES} bytes long")));
        }
        let claims = jws::open(token)?;
        if !is_for(&claims, audience) {
            return Err(Invalid("aud must name this server's audience".to_owned()));
        }
        let exp = date_ms(&claims, "exp")?.ok_or_else(|| Invalid("exp must be given".to_owned()))?;
        let (nbf, iat) = (date_ms(&claims, "nbf")?, date_ms(&claims, "iat")?);
        Ok(Self { did: needed(&claims, "iss")?, exp, nbf, iat })
    }

    /// Makes sure that it holds now; until when, in ms since the epoch. Leeway is for a token that comes: one that came in its
    /// time holds to its end and no longer.
    ///
    /// # Errors
    /// `Invalid` for one that has expired, that is not valid yet, or that would hold for too long.
    #[expect(clippy::cast_precision_loss, reason = "milliseconds are exact in a double for another 280,000 years")]
    pub fn holds(&self, now_ms: i64) -> Result<i64, Invalid> {
        let (now, leeway) = (now_ms as f64, LEEWAY_MS as f64);
        if now >= self.exp + leeway {
            return Err(Invalid("exp has passed".to_owned()));
        }
        if self.exp > now + LONGEST_MS as f64 + leeway {
            return Err(Invalid("exp must be at most 24 hours ahead".to_owned()));
        }
        if self.nbf.into_iter().chain(self.iat).any(|from| from > now + leeway) {
            return Err(Invalid("nbf and iat must not be ahead".to_owned()));
        }
        let until = if now < self.exp { self.exp } else { self.exp + leeway };
        // Between now and a day ahead.
        #[expect(clippy::cast_possible_truncation, reason = "it lies between now and a day ahead")]
        Ok(until as i64)
    }
}

/// `aud` is a text or a list of texts.
fn is_for(claims: &Members, audience: &str) -> bool {
    let is_ours = |value: &Json| matches!(value, Json::Text(text) if text == audience);
    match claims.get("aud") {
        Some(Json::List(list)) => list.iter().all(|value| matches!(value, Json::Text(_))) && list.iter().any(is_ours),
        Some(value) => is_ours(value),
        None => false,
    }
}
