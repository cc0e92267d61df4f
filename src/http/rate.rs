//! How often a caller may ask, where that is limited.
//!
//! Per caller the one number of a leaky bucket (GCRA): when, at the allowed rate, all that was asked so far would be
//! through. A caller may be a burst ahead of that. One that is not ahead need not be known, so the callers that are held
//! are few; when even those are too many, those that are not held share one bucket.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
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
    /// As `peer` says.
    Peer(IpAddr),
    /// All that there is no room to tell apart.
    Others,
}

/// One peer's part of its address: of IPv6 the first half, for the rest is its own to choose (RFC 4291, 2.5.4).
fn peer(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX))),
        address @ IpAddr::V4(_) => address,
    }
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
        let key = viewer.did().map_or(Key::Peer(peer(caller.peer)), |did| Key::Did(did.into()));
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

    fn caller(number: u32) -> Key {
        Key::Peer(IpAddr::V4(number.into()))
    }

    #[test]
    fn an_ipv6_peer_is_its_network() {
        let of = |text: &str| peer(text.parse().unwrap());
        assert_eq!(of("2001:db8:1:2::3"), of("2001:db8:1:2:ffff::"));
        assert_ne!(of("2001:db8:1:2::3"), of("2001:db8:1:3::3"));
        assert_eq!(of("::ffff:192.0.2.1"), of("192.0.2.1"));
        assert_ne!(of("::ffff:192.0.2.1"), of("::ffff:192.0.2.2"));
    }

    #[test]
    fn a_burst_then_the_rate_each_caller_by_itself() {
        let (rate, start) = (Rate::new(10, 3), Instant::now());
        for _ in 0..3 {
            assert_eq!(rate.count_at(caller(1), start), Ok(()));
        }
        assert_eq!(rate.count_at(caller(1), start), Err(Duration::from_millis(100)));
        assert_eq!(rate.count_at(caller(2), start), Ok(()), "another caller");
        assert_eq!(rate.count_at(caller(1), start + Duration::from_millis(60)), Err(Duration::from_millis(40)));
        assert_eq!(
            rate.count_at(caller(1), start + Duration::from_millis(100)),
            Ok(()),
            "what was refused is not counted"
        );
        assert!(rate.count_at(caller(1), start + Duration::from_millis(100)).is_err());
        let rested = start + Duration::from_secs(10);
        assert_eq!([(); 3].map(|()| rate.count_at(caller(1), rested)), [Ok(()); 3]);
        assert!(rate.count_at(caller(1), rested).is_err(), "a long rest earns no more than a burst");
    }

    #[test]
    fn callers_are_held_while_they_are_ahead_and_never_too_many() {
        let (rate, start) = (Rate::new(1, 2), Instant::now());
        let callers = u32::try_from(limits::COUNTED_CALLERS).unwrap();
        for number in 0..callers {
            assert_eq!(rate.count_at(caller(number), start), Ok(()));
        }
        // No room: these share a bucket, the ones that are known keep theirs.
        assert_eq!([1, 2].map(|number| rate.count_at(caller(callers + number), start)), [Ok(()); 2]);
        assert!(rate.count_at(caller(callers + 3), start).is_err());
        assert_eq!(rate.count_at(caller(7), start), Ok(()));
        assert!(rate.through.lock().unwrap().len() <= limits::COUNTED_CALLERS + 1);
        // Once they rest there is room again.
        assert_eq!(rate.count_at(caller(callers + 3), start + Duration::from_secs(5)), Ok(()));
        assert_eq!(rate.through.lock().unwrap().len(), 1);
    }
}
