//! Members of a request of which nothing is taken: runs of `image_data=None, return_logprob=False, …` which every request of a server prints alike. They
//! are half of the request log's bytes, so a run that was read once is known again by its bytes.
//!
//! What is remembered never changes what is read, only how soon: of such a member nothing is taken wherever it stands.

use std::cell::RefCell;

use crate::secret;

/// Runs that a thread remembers.
const SLOTS: usize = 64;
/// Shorter ones are read as soon; longer ones are of no real request.
const LENGTHS: std::ops::RangeInclusive<usize> = 48..=4096;

thread_local! {
    static RUNS: RefCell<[Option<Box<[u8]>>; SLOTS]> = const { RefCell::new([const { None }; SLOTS]) };
}

fn slot(first: &[u8; 8]) -> usize {
    (u64::from_le_bytes(*first).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58) as usize % SLOTS
}

/// Length of the known run with which `bytes`, where a member begins, begin: up to where the next member begins.
pub fn known(bytes: &[u8]) -> Option<usize> {
    let slot = slot(bytes.first_chunk()?);
    RUNS.with_borrow(|runs| runs[slot].as_ref().filter(|run| bytes.starts_with(run)).map(|run| run.len()))
}

/// Remembers a run of whole members of which nothing was taken, if it holds nothing else either: no digit, no quote, no credential.
pub fn learn(run: &[u8]) {
    let Some(first) = run.first_chunk() else { return };
    let is_plain = |b: &u8| b.is_ascii_alphabetic() || matches!(b, b'_' | b'=' | b',' | b' ' | b'[' | b']' | b'{' | b'}');
    if LENGTHS.contains(&run.len()) && run.ends_with(b", ") && run.iter().all(is_plain) && secret::find(run).is_empty() {
        RUNS.with_borrow_mut(|runs| runs[slot(first)] = Some(run.into()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_known_by_its_bytes() {
        let run = b"image_data=None, video_data=None, audio_data=None, modalities=None, ";
        assert_eq!(known(run), None);
        learn(run);
        assert_eq!(known(run), Some(run.len()));
        assert_eq!(known(&[&run[..], b"rid='a'"].concat()), Some(run.len()));
        assert_eq!(known(&run[..run.len() - 1]), None);
        let other = String::from_utf8_lossy(run).replace("audio", "radio");
        assert_eq!(known(other.as_bytes()), None);
    }

    #[test]
    fn what_holds_more_is_not_remembered() {
        for run in [
            "image_data=None, video_data=None, audio_data=None, t5_prompt=None, ",
            "image_data=None, video_data=None, audio_data=None, modalities=None,",
            "image_data=None, video_data=None, audio_data='x', modalities=None, ",
            "image_data=None, ",
        ] {
            learn(run.as_bytes());
            assert_eq!(known(run.as_bytes()), None, "{run}");
        }
    }
}
