//! Which name did the user mean?

/// Most names that are offered.
const MOST: usize = 3;

/// The candidates that a misspelled name is close to, best first, at most three; none if the name is one of them.
///
/// Close is: equal but for case, `-` and blanks in place of `_`, or a missing or extra plural `s`; the parts the same in another order;
/// a beginning of it of at least three letters; or few letters off for its length (about one in three, transpositions count once).
pub fn suggest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let wanted = plain(name);
    let mut scored: Vec<(usize, &str)> = Vec::new();
    for candidate in candidates {
        if candidate == name {
            return Vec::new();
        }
        if let Some(score) = distance(&wanted, &plain(candidate))
            && !scored.iter().any(|(_, known)| *known == candidate)
        {
            scored.push((score, candidate));
        }
    }
    scored.sort();
    scored.truncate(MOST);
    scored.into_iter().map(|(_, candidate)| candidate).collect()
}

/// The letters that matter: lower case, `_` between parts, no leading `#`.
fn plain(name: &str) -> String {
    let name = name.trim_start_matches('#').to_lowercase();
    name.chars().map(|c| if c.is_alphanumeric() { c } else { '_' }).collect()
}

/// 0 is nearest; `None` is not close.
fn distance(wanted: &str, candidate: &str) -> Option<usize> {
    if wanted == candidate || wanted.trim_end_matches('s') == candidate.trim_end_matches('s') {
        return Some(0);
    }
    let sorted = |text: &str| {
        let mut parts: Vec<String> = text.split('_').map(|part| part.trim_end_matches('s').to_string()).collect();
        parts.sort();
        parts
    };
    if sorted(wanted) == sorted(candidate) {
        return Some(1);
    }
    // Long names that share nothing are not worth the quadratic comparison.
    if wanted.len().abs_diff(candidate.len()) <= 4 && wanted.len() <= 64 {
        let off = strsim::damerau_levenshtein(wanted, candidate);
        if off <= wanted.chars().count().div_ceil(3).min(4) && off < candidate.chars().count() {
            return Some(1 + off);
        }
    }
    (wanted.chars().count() >= 3 && candidate.starts_with(wanted)).then_some(6)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: &[&str] =
        &["cached_tokens", "new_tokens", "token_usage", "prefill_batch", "decode_batch", "level", "rid", "queue_reqs", "kind"];

    #[test]
    fn close_names_are_offered() {
        let cases: &[(&str, &[&str])] = &[
            ("cached_token", &["cached_tokens"]),
            ("#cached-token", &["cached_tokens"]),
            ("Cached_Tokens", &["cached_tokens"]),
            ("tokens_cached", &["cached_tokens"]),
            ("chached_tokens", &["cached_tokens"]),
            ("usage_token", &["token_usage"]),
            ("prefil_batch", &["prefill_batch"]),
            ("prefill", &["prefill_batch"]),
            ("levle", &["level"]),
            ("queue", &["queue_reqs"]),
            ("rdi", &["rid"]),
        ];
        for (typed, want) in cases {
            assert_eq!(suggest(typed, NAMES.iter().copied()), *want, "{typed}");
        }
    }

    #[test]
    fn others_are_not() {
        for typed in ["zzz", "throughput", "", "x", "level", "le"] {
            assert_eq!(suggest(typed, NAMES.iter().copied()), Vec::<&str>::new(), "{typed}");
        }
        assert_eq!(suggest("ab1", ["ab2", "ab3", "ab4", "ab5", "ab2"]), ["ab2", "ab3", "ab4"]);
    }
}
