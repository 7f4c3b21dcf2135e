//! A capture whose blocks of samples lie elsewhere, each by itself: what it says beside them, and the blocks that a question reads.
//!
//! Which blocks these are is not foreseen: a question is asked of what is there, what it missed is brought, and it is asked again, until it misses
//! nothing. The last answer is that of the whole capture.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use super::bytes::{Put, Take};
use super::{FORMAT, KeptError, facts};
use crate::READER_VERSION;
use crate::blocks::{Missing, Store};
use crate::model::Capture;

/// Bytes of the hash that all ends with.
const HASH: usize = 32;

/// What a capture says beside its samples, where they lie, and a hash of them. The names of its files are left out.
///
/// # Errors
/// `InvalidInput` for samples that were lost.
pub fn tables(capture: &Capture) -> io::Result<Vec<u8>> {
    if let Some(damage) = capture.samples.damage() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, damage.to_string()));
    }
    let mut out = Put::default();
    out.0.extend_from_slice(&FORMAT.to_le_bytes());
    out.0.extend_from_slice(&READER_VERSION.to_le_bytes());
    out.fixed(capture.samples.area_len());
    let mut samples = blake3::Hasher::new();
    capture.samples.area().for_each(|piece| {
        samples.update(piece);
    });
    out.0.extend_from_slice(samples.finalize().as_bytes());
    capture.samples.put_index(&mut out);
    facts::put(capture, &[], &mut out)?;
    let hash = blake3::hash(&out.0);
    out.0.extend_from_slice(hash.as_bytes());
    Ok(out.0)
}

/// What the blocks of a capture are kept under, no negative number: of a capture that says or has anything else it is another.
pub fn key(tables: &[u8]) -> i64 {
    tables.last_chunk().map_or(0, |last| i64::from_le_bytes(*last) & i64::MAX)
}

/// The blocks of samples, by their offset.
pub fn blocks(capture: &Capture) -> impl Iterator<Item = (u64, &[u8])> {
    capture.samples.apart()
}

/// The capture of what [`tables`] wrote, of whose blocks some are there. The others that are asked for are added to `missing`; an answer for which it
/// is not empty says nothing.
///
/// # Errors
/// [`KeptError`], for tables that are not, byte for byte, what this version wrote.
pub fn open(tables: &[u8], there: &BTreeMap<u64, Arc<[u8]>>, missing: &Missing) -> Result<Capture, KeptError> {
    let damaged = KeptError::Damaged("its tables");
    let (body, hash) =
        tables.len().checked_sub(HASH).and_then(|at| tables.split_at_checked(at)).ok_or(KeptError::Damaged("its end is missing"))?;
    if *blake3::hash(body).as_bytes() != hash {
        return Err(damaged);
    }
    let mut from = Take(body);
    if from.bytes(4) != Some(&FORMAT.to_le_bytes()) || from.bytes(4) != Some(&READER_VERSION.to_le_bytes()) {
        return Err(KeptError::Version);
    }
    let store = from.fixed().filter(|_| from.bytes(HASH).is_some()).and_then(|len| Store::take_index_apart(&mut from, len, there, missing));
    store.and_then(|store| facts::take(&mut from, store)).ok_or(damaged)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::Builder;
    use crate::coverage::{Ask, of_endpoints};
    use crate::model::{Clock, Labels, Precision, StampOf};
    use crate::window::Window;
    use crate::window::counter;
    use crate::window::scrapes::Scrapes;

    /// Two endpoints with a gap and a reset, in many blocks.
    fn capture() -> Capture {
        let mut builder = Builder::new("test", Clock::Wall, StampOf::Request);
        for name in ["a", "b"] {
            let endpoint = builder.endpoint(name);
            for number in 0..4 {
                let id = builder.series(endpoint, &format!("n{number}_total"), &Labels::default(), Precision::F64);
                for at in (0..2_000i64).filter(|at| !(700..720).contains(at)) {
                    builder.push(id, at * 1_000, (at % 1_500) as f64 * f64::from(number + 1));
                }
            }
        }
        builder.finish()
    }

    #[test]
    fn asked_again_until_nothing_is_missing_the_answer_is_that_of_the_whole() {
        let whole = capture();
        let written = tables(&whole).expect("tables");
        let all: BTreeMap<u64, Arc<[u8]>> = blocks(&whole).map(|(at, bytes)| (at, Arc::from(bytes))).collect();
        assert_eq!(all.values().map(|b| b.len() as u64).sum::<u64>(), whole.samples.area_len());
        let window = Window::new(1_400_000, 1_600_000).expect("a window");
        let ask = Ask { window: (600_000, 800_000), ..Ask::default() };
        let answer = |capture: &Capture| {
            let of = |id| counter::of_store(&mut capture.samples.cursor(), id, window, Precision::F64, &Scrapes::every(1_000));
            format!("{:?} {:?} {:?}", of(0), of(5), of_endpoints(capture, &ask))
        };
        let (mut there, mut rounds) = (BTreeMap::new(), 0);
        let found = loop {
            let missing = Missing::default();
            let part = open(&written, &there, &missing).expect("tables");
            let found = answer(&part);
            if missing.offsets().is_empty() {
                break found;
            }
            there.extend(missing.offsets().into_iter().map(|at| (at, all[&at].clone())));
            rounds += 1;
        };
        assert_eq!(found, answer(&whole));
        assert!(rounds > 0 && rounds < 6, "{rounds}");
        assert!(there.len() * 2 < all.len(), "{} of {}", there.len(), all.len());
    }

    #[test]
    fn other_bytes_are_refused() {
        let written = tables(&capture()).expect("tables");
        for at in (0..written.len()).step_by(7) {
            let mut other = written.clone();
            other[at] ^= 1;
            assert!(open(&other, &BTreeMap::new(), &Missing::default()).is_err(), "{at}");
            assert!(open(&written[..at], &BTreeMap::new(), &Missing::default()).is_err(), "{at}");
        }
    }
}
