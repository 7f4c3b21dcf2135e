//! Which formats did users declare, in a run's `corr.toml` or for all their runs, and do these hold on their own samples?
//!
//! docs/user-formats.md has the language. What is wrong with a definition is said with its file and line, and nothing is read then: a
//! format that silently does not load would look like a log without events.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use corr_parsers::declared::{self, Definition, Part, Problem};
use corr_parsers::format::Format;
use corr_parsers::record;
use serde::Deserialize;
use serde::de::IgnoredAny;
use toml::Spanned;

use super::declared::DeclaredError;

/// A text with definitions in it.
#[derive(Clone, Copy)]
pub struct Text<'t> {
    /// Its file, as shown in errors.
    pub path: &'t str,
    pub text: &'t str,
}

/// Formats and where each was declared.
#[derive(Clone, Debug, Default)]
pub struct Formats {
    formats: Vec<&'static Format>,
    /// Of the files beside `corr.toml` that these came from: their hashes tell a store that they changed.
    pub fingerprint: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    format: Vec<Definition>,
}

impl Formats {
    /// In the order in which their heads are tried.
    pub fn all(&self) -> &[&'static Format] {
        &self.formats
    }

    /// Those of the user's own directory, which hold for every run; one that the run declares under the same name replaces them.
    pub fn with_users(self) -> Result<Formats, DeclaredError> {
        match directory() {
            Some(dir) => self.with_directory(&dir),
            None => Ok(self),
        }
    }

    /// Adds the `*.toml` files of a directory. None is no error.
    fn with_directory(mut self, dir: &Path) -> Result<Formats, DeclaredError> {
        let wrong = |path: &Path, error: &dyn std::fmt::Display| DeclaredError {
            path: path.display().to_string(),
            error: format!("{error}; correct or remove it"),
        };
        let entries = match std::fs::read_dir(dir) {
            Ok(entries) => entries,
            Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => return Ok(self),
            Err(e) => return Err(wrong(dir, &e)),
        };
        let mut paths: Vec<PathBuf> = entries.flatten().map(|e| e.path()).filter(|p| p.extension().is_some_and(|e| e == "toml")).collect();
        paths.sort();
        let of_run = self.formats.len();
        let mut hasher = blake3::Hasher::new();
        for path in &paths {
            let text = std::fs::read_to_string(path).map_err(|e| wrong(path, &e))?;
            let shown = path.display().to_string();
            let source = Text { path: &shown, text: &text };
            let file: File = toml::from_str(&text).map_err(|e| source.error(e.span().map(|s| s.start), e.message()))?;
            let definitions = file.format.into_iter().enumerate();
            let replaced = |name: &str| self.formats[..of_run].iter().any(|f| f.name == name);
            let kept: Vec<(usize, Definition)> = definitions.filter(|(_, d)| !replaced(&d.name)).collect();
            for (_, definition) in &kept {
                hasher.update(serde_json::to_string(definition).unwrap_or_default().as_bytes());
            }
            self.add(kept, source)?;
        }
        if self.formats.len() > of_run {
            self.fingerprint = hasher.finalize().to_hex().to_string();
        }
        Ok(self)
    }

    /// Loads the definitions of one text, each with its place in it.
    pub fn add(&mut self, definitions: Vec<(usize, Definition)>, source: Text<'_>) -> Result<(), DeclaredError> {
        for (place, definition) in definitions {
            let blame = |problem: Problem| source.error(source.place(place, &problem.part), &problem.to_string());
            if self.formats.iter().any(|f| f.name == definition.name) {
                return Err(blame(definition.problem(Part::Key("name"), "a format of this name is declared already; choose another")));
            }
            let format = declared::load(&definition).map_err(blame)?;
            self.formats.push(format);
            self.shadowed(&definition).map_err(blame)?;
        }
        Ok(())
    }

    /// Is each sample of the format that was added last taken by it, and not by one that is tried before it?
    fn shadowed(&self, definition: &Definition) -> Result<(), Problem> {
        let order = declared::ordered(corr_parsers::FORMATS.to_vec(), &self.formats);
        for (i, sample) in definition.samples.iter().enumerate().filter(|(_, s)| s.taken) {
            let first = record::head_format(sample.text.as_bytes(), &order);
            if let Some(other) = first.filter(|f| f.name != definition.name) {
                let next = format!("make the `match` or `keys` of {} say more, or declare it behind this one", other.name);
                return Err(
                    definition.problem(Part::Sample(i, Some("text")), format!("it is taken by {} before this format; {next}", other.name))
                );
            }
        }
        Ok(())
    }
}

/// `$XDG_CONFIG_HOME/corr/formats`, else `~/.config/corr/formats`.
fn directory() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let config = set("XDG_CONFIG_HOME").or_else(|| Some(set("HOME")?.join(".config")))?;
    Some(config.join("corr").join("formats"))
}

/// What tells a store that a format was declared in other words: a hash of its definition. `None` for a built-in format.
pub fn fingerprint(format: &'static Format) -> Option<String> {
    declared::written(format).map(|written| blake3::hash(written.as_bytes()).to_hex().to_string())
}

type Keys = BTreeMap<String, Spanned<IgnoredAny>>;

/// Where the parts of definitions stand in their text.
#[derive(Deserialize)]
struct Keyed {
    format: Vec<Keys>,
}

#[derive(Deserialize)]
struct Sampled {
    format: Vec<Samples>,
}

#[derive(Deserialize)]
struct Samples {
    #[serde(default)]
    samples: Vec<Keys>,
}

impl Text<'_> {
    fn error(&self, at: Option<usize>, error: &str) -> DeclaredError {
        let path = match at {
            Some(at) => format!("{}:{}", self.path, super::declared::line_of(self.text, at)),
            None => self.path.to_string(),
        };
        DeclaredError { path, error: error.to_string() }
    }

    /// The byte where a part of the definition at this place stands: the part's own, or the nearest that is known.
    fn place(&self, format: usize, part: &Part) -> Option<usize> {
        let keys =
            toml::from_str::<Keyed>(self.text).ok().and_then(|mut k| (format < k.format.len()).then(|| k.format.swap_remove(format)));
        let keys = keys.unwrap_or_default();
        let of_key = |key: &str| keys.get(key).map(|k| k.span().start);
        let found = match part {
            Part::Whole => None,
            Part::Key(key) => of_key(key),
            Part::Sample(i, key) => {
                let sampled = toml::from_str::<Sampled>(self.text).ok();
                let sample = sampled.as_ref().and_then(|s| s.format.get(format)?.samples.get(*i));
                let own = key.and_then(|key| sample?.get(key)).or_else(|| sample?.get("text"));
                own.map(|k| k.span().start).or_else(|| of_key("samples"))
            }
        };
        found.or_else(|| of_key("name"))
    }
}

#[cfg(test)]
mod tests;
