//! How often a caller may ask, where that is limited.
//!
//! Per caller the one number of a leaky bucket (GCRA): when, at the allowed rate, all that was asked so far would be
//! through. A caller may be a burst ahead of that. One that is not ahead need not be known, so the callers that are held
//! are few; when even those are too many, those that are not held share one bucket.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::caller::Caller;
use super::limits;
use crate::domain::viewer::Viewer;

/// Whose requests are counted together.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Key {
    Did(Arc<str>),
    Peer(IpAddr),
    /// All that there is no room to tell apart.
    Others,
}

/// A limit on each caller's requests.
#[derive(Debug)]
pub struct Rate {
    /// Between two requests at the allowed rate.
    every: Duration,
    /// How far ahead of that one may be.
    ahead: Duration,
    through: Mutex<HashMap<Key, Instant>>,
}

impl Rate {
    /// So many requests a second, and so many at once after a pause.
    #[must_use]
    pub fn new(per_second: u32, burst: u32) -> Self {
        let every = Duration::from_secs(1) / per_second.max(1);
        Self { every, ahead: every * burst.saturating_sub(1), through: Mutex::default() }
    }

    /// Counts a request of this caller.
    ///
    /// # Errors
    /// How long to wait before the next try: then nothing was counted.
    pub fn count(&self, viewer: &Viewer, caller: &Caller) -> Result<(), Duration> {
        let key = viewer.did().map_or(Key::Peer(caller.peer), |did| Key::Did(did.into()));
        self.count_at(key, Instant::now())
    }

    fn count_at(&self, mut key: Key, now: Instant) -> Result<(), Duration> {
        let mut through = self.through.lock().unwrap_or_else(PoisonError::into_inner);
        if through.len() >= limits::COUNTED_CALLERS && !through.contains_key(&key) {
            through.retain(|_, through| *through > now);
            if through.len() >= limits::COUNTED_CALLERS {
                key = Key::Others;
            }
        }
        let begins = through.get(&key).map_or(now, |through| now.max(*through));
        let early = begins.duration_since(now).saturating_sub(self.ahead);
        if early > Duration::ZERO {
            return Err(early);
        }
        through.insert(key, begins + self.every);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(number: u32) -> Key {
        Key::Peer(IpAddr::V4(number.into()))
    }

    #[test]
    fn a_burst_then_the_rate_each_caller_by_itself() {
        let (rate, start) = (Rate::new(10, 3), Instant::now());
        for _ in 0..3 {
            assert_eq!(rate.count_at(peer(1), start), Ok(()));
        }
        assert_eq!(rate.count_at(peer(1), start), Err(Duration::from_millis(100)));
        assert_eq!(rate.count_at(peer(2), start), Ok(()), "another caller");
        assert_eq!(rate.count_at(peer(1), start + Duration::from_millis(60)), Err(Duration::from_millis(40)));
        assert_eq!(
            rate.count_at(peer(1), start + Duration::from_millis(100)),
            Ok(()),
            "what was refused is not counted"
        );
        assert!(rate.count_at(peer(1), start + Duration::from_millis(100)).is_err());
        let rested = start + Duration::from_secs(10);
        assert_eq!([(); 3].map(|()| rate.count_at(peer(1), rested)), [Ok(()); 3]);
        assert!(rate.count_at(peer(1), rested).is_err(), "a long rest earns no more than a burst");
    }

    #[test]
    fn callers_are_held_while_they_are_ahead_and_never_too_many() {
        let (rate, start) = (Rate::new(1, 2), Instant::now());
        let callers = u32::try_from(limits::COUNTED_CALLERS).unwrap();
        for number in 0..callers {
            assert_eq!(rate.count_at(peer(number), start), Ok(()));
        }
        // No room: these share a bucket, the ones that are known keep theirs.
        assert_eq!([1, 2].map(|number| rate.count_at(peer(callers + number), start)), [Ok(()); 2]);
        assert!(rate.count_at(peer(callers + 3), start).is_err());
        assert_eq!(rate.count_at(peer(7), start), Ok(()));
        assert!(rate.through.lock().unwrap().len() <= limits::COUNTED_CALLERS + 1);
        // Once they rest there is room again.
        assert_eq!(rate.count_at(peer(callers + 3), start + Duration::from_secs(5)), Ok(()));
        assert_eq!(rate.through.lock().unwrap().len(), 1);
    }
}
