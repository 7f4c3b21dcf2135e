//! One pass over a record for all of a format's words.

use aho_corasick::{AhoCorasick, AhoCorasickBuilder, MatchKind};

/// Searches for words that stand in this crate's source.
///
/// It cannot fail: a search is refused only when its automaton has more than 2^31 states, each byte of a pattern gives one, and no byte that
/// was read is in a pattern.
#[expect(clippy::expect_used, reason = "the patterns are known at compile time, and each table is searched by a test")]
pub fn for_words(kind: MatchKind, words: impl IntoIterator<Item = &'static str>) -> AhoCorasick {
    AhoCorasickBuilder::new().match_kind(kind).build(words).expect("a table of words is far below the limit of states")
}
