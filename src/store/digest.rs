//! Are a source's bytes still those that were indexed? XXH3 with 128 bits, told in hex.
//!
//! It guards against a file that was rewritten, cut or rotated, not against somebody who wants to deceive: who can write the log can write anything
//! into it. It runs as fast as memory is read, which is most of what re-indexing after growth costs; it is fed while records are read, from the cache.

use twox_hash::xxhash3_128;

/// The digest of bytes that come piece by piece.
pub struct Digest(xxhash3_128::Hasher);

impl Digest {
    pub fn new() -> Digest {
        Digest(xxhash3_128::Hasher::new())
    }

    pub fn add(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
    }

    pub fn hex(&self) -> String {
        hex(self.0.finish_128())
    }
}

/// The digest of bytes at hand.
pub fn of(bytes: &[u8]) -> String {
    hex(xxhash3_128::Hasher::oneshot(bytes))
}

fn hex(digest: u128) -> String {
    format!("{digest:032x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_and_the_whole_have_one_digest() {
        let bytes: Vec<u8> = (0..70_000u32).map(|i| (i * i >> 7) as u8).collect();
        let mut digest = Digest::new();
        bytes.chunks(1_013).for_each(|piece| digest.add(piece));
        assert_eq!(digest.hex(), of(&bytes));
        // The algorithm's own example of nothing at all.
        assert_eq!(of(b""), "99aa06d3014798d86001c324468d497f");
    }
}
