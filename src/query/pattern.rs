//! Do these words, in a row, stand in that text? And does a wildcard pattern fit?

use regex::bytes::Regex;

use super::expr::{Glob, Part};
use super::words::{self, Words};

/// What one word must be. Texts are lower case.
#[derive(Clone, Debug, PartialEq)]
pub enum WordTest {
    Exact(String),
    Prefix(String),
    Any,
    Glob(Vec<Part>),
}

impl WordTest {
    fn holds(&self, word: &[u8]) -> bool {
        match self {
            WordTest::Exact(lower) => words::same(word, lower),
            WordTest::Prefix(lower) => begins(word, lower),
            WordTest::Any => true,
            WordTest::Glob(parts) => {
                if word.is_ascii() {
                    return glob(parts, word);
                }
                let mut lower = String::with_capacity(word.len());
                words::push_lower(word, &mut lower);
                glob(parts, lower.as_bytes())
            }
        }
    }
}

/// Does a word, in lower case, begin with `lower`?
fn begins(word: &[u8], lower: &str) -> bool {
    if lower.is_ascii() {
        return word.get(..lower.len()).is_some_and(|start| start.eq_ignore_ascii_case(lower.as_bytes()));
    }
    let Ok(word) = std::str::from_utf8(word) else { return false };
    let mut chars = word.chars().map(words::lower_char);
    lower.chars().all(|c| chars.next() == Some(c))
}

/// The words that a text is.
pub fn phrase(text: &str) -> Vec<WordTest> {
    words::split(text).into_iter().map(WordTest::Exact).collect()
}

/// The words that a pattern is: wildcards count as letters, so `v1/dec*e` is `v1` and then a word `dec*e`.
pub fn glob_phrase(parts: &[Part]) -> Vec<WordTest> {
    let mut tests = Vec::new();
    let mut word = Vec::new();
    for part in parts {
        let Part::Text(text) = part else {
            word.push(part.clone());
            continue;
        };
        let mut at = 0;
        for (i, range) in words::words(text.as_bytes()).enumerate() {
            if i > 0 || range.start > 0 {
                flush(&mut word, &mut tests);
            }
            let mut lower = String::new();
            words::push_lower(&text.as_bytes()[range.clone()], &mut lower);
            word.push(Part::Text(lower));
            at = range.end;
        }
        if at < text.len() {
            flush(&mut word, &mut tests);
        }
    }
    flush(&mut word, &mut tests);
    tests
}

fn flush(word: &mut Vec<Part>, tests: &mut Vec<WordTest>) {
    if word.is_empty() {
        return;
    }
    let mut parts = Glob::new(word.drain(..)).parts;
    tests.push(match parts.as_mut_slice() {
        [Part::Any] => WordTest::Any,
        [Part::Text(text)] => WordTest::Exact(std::mem::take(text)),
        [Part::Text(text), Part::Any] => WordTest::Prefix(std::mem::take(text)),
        _ => WordTest::Glob(parts),
    });
}

/// Words to find in a row, ready to be looked for in many texts.
#[derive(Clone, Debug)]
pub struct Phrase {
    tests: Vec<WordTest>,
    /// Finds the longest ASCII word among them anywhere, part of a word or not: most texts have none and need not be split.
    hint: Option<Regex>,
}

impl Phrase {
    /// No words stand nowhere.
    pub fn new(tests: Vec<WordTest>) -> Phrase {
        let mut longest = "";
        for test in &tests {
            if let WordTest::Exact(text) | WordTest::Prefix(text) = test
                && text.is_ascii()
                && text.len() > longest.len()
            {
                longest = text;
            }
        }
        let hint = if longest.len() < 2 { None } else { Regex::new(&format!("(?i-u:{})", regex::escape(longest))).ok() };
        Phrase { tests, hint }
    }

    /// Do the words stand in `text`, one directly after the other?
    pub fn stands_in(&self, text: &[u8]) -> bool {
        self.hint.as_ref().is_none_or(|hint| hint.is_match(text)) && contains(text, &self.tests)
    }
}

fn contains(text: &[u8], tests: &[WordTest]) -> bool {
    let Some((first, rest)) = tests.split_first() else { return false };
    let mut found = words::words(text);
    while let Some(range) = found.next() {
        if first.holds(&text[range]) && follow(text, found.clone(), rest) {
            return true;
        }
    }
    false
}

fn follow(text: &[u8], mut found: Words, tests: &[WordTest]) -> bool {
    tests.iter().all(|test| found.next().is_some_and(|range| test.holds(&text[range])))
}

/// Does a wildcard pattern fit the whole text? ASCII case is ignored; for other letters both must be in lower case.
pub fn glob(parts: &[Part], text: &[u8]) -> bool {
    let (mut part, mut at) = (0, 0);
    // The last `*` passed, and where the text it took ends: one more byte of it is tried whenever the rest does not fit.
    let mut star: Option<(usize, usize)> = None;
    loop {
        let fits = match parts.get(part) {
            Some(Part::Any) => {
                star = Some((part, at));
                Some(0)
            }
            Some(Part::One) => text.get(at).map(|lead| char_len(*lead).min(text.len() - at)),
            Some(Part::Text(want)) => {
                text.get(at..at + want.len()).filter(|have| have.eq_ignore_ascii_case(want.as_bytes())).map(|_| want.len())
            }
            None if at == text.len() => return true,
            None => None,
        };
        if let Some(len) = fits {
            part += 1;
            at += len;
            continue;
        }
        match star {
            Some((before, taken)) if taken < text.len() => {
                let taken = taken + char_len(text[taken]).min(text.len() - taken);
                star = Some((before, taken));
                (part, at) = (before + 1, taken);
            }
            _ => return false,
        }
    }
}

fn char_len(lead: u8) -> usize {
    match lead {
        0xC2..=0xDF => 2,
        0xE0..=0xEF => 3,
        0xF0..=0xF4 => 4,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parts(pattern: &str) -> Vec<Part> {
        let part = |c| match c {
            '*' => Part::Any,
            '?' => Part::One,
            c => Part::Text(c.to_string()),
        };
        Glob::new(pattern.chars().map(part)).parts
    }

    fn finds(text: &str, pattern: &str) -> bool {
        let tests = glob_phrase(&parts(pattern));
        let found = Phrase::new(tests.clone()).stands_in(text.as_bytes());
        assert_eq!(found, contains(text.as_bytes(), &tests), "{pattern}");
        found
    }

    #[test]
    fn words_in_a_row() {
        let text = "POST /v1/completions from 10.0.0.1:30000, Größe=3";
        for pattern in ["v1/completions", "v1/comp*", "/v1/*/from", "10.0.0.1", "10.0.0.?", "po?t", "GRÖ*", "größe", "gr?ße", "*etions"]
        {
            assert!(finds(text, pattern), "{pattern}");
        }
        for pattern in ["v1/from", "comp", "v1*from", "10.0.1", "größe/3/*", "v1/completions*x", ""] {
            assert!(!finds(text, pattern), "{pattern}");
        }
    }

    /// The definition of a wildcard, without care for time.
    fn naive(pattern: &[char], text: &[char]) -> bool {
        match pattern.split_first() {
            None => text.is_empty(),
            Some(('*', rest)) => (0..=text.len()).any(|n| naive(rest, &text[n..])),
            Some(('?', rest)) => !text.is_empty() && naive(rest, &text[1..]),
            Some((c, rest)) => text.first().is_some_and(|t| t.eq_ignore_ascii_case(c)) && naive(rest, &text[1..]),
        }
    }

    proptest! {
        #[test]
        fn globs_agree_with_the_definition(pattern in "[abé*?]{0,6}", text in "[abAé]{0,7}") {
            let (p, t): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
            prop_assert_eq!(glob(&parts(&pattern), text.as_bytes()), naive(&p, &t));
        }
    }
}
