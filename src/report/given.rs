//! How a run was given, as words of a shell: for commands that read it the same way again.

use std::path::PathBuf;

use crate::render::evidence::shell;
use crate::render::shown::rfc3339;

/// A run with what says how it is read.
#[derive(Clone, Debug, Default)]
pub struct Given {
    /// Run directory, files, globs: the first is the run, the others stand with `--also`.
    pub arguments: Vec<String>,
    pub tz: Vec<String>,
    pub format_of: Vec<String>,
    pub store: Option<PathBuf>,
}

impl Given {
    /// All arguments, for people.
    pub fn run(&self) -> String {
        self.arguments.join(" ")
    }

    /// `RUN --also RUN …` and how it is read: what every command that asks a run takes.
    pub fn words(&self) -> String {
        let mut words = shell(self.arguments.first().map_or("", String::as_str));
        flags(&mut words, "also", self.arguments.get(1..).unwrap_or_default());
        words + &self.show()
    }

    /// `corr sources`, which takes runs one after the other.
    pub fn sources(&self) -> String {
        let runs: Vec<String> = self.arguments.iter().map(|run| shell(run)).collect();
        format!("corr sources {}{}", runs.join(" "), self.show())
    }

    /// The flags alone, each with a blank before: for `corr show`, which finds the run by the path.
    pub fn show(&self) -> String {
        let mut words = String::new();
        flags(&mut words, "tz", &self.tz);
        flags(&mut words, "format-of", &self.format_of);
        flags(&mut words, "store", self.store().as_slice());
        words
    }

    /// The command that says what stands at a citation of a capture: it lists the samples of `path#name{labels}[target]@from..to`; of a scrape,
    /// `path[target]@at`, it is the one that cites it.
    pub fn opens(&self, citation: &str, window: Option<(i64, i64)>) -> String {
        let series = || {
            let (cited, _) = citation.rsplit_once("]@")?;
            Some(cited.split_once('#')?.1.rsplit_once('[')?.0)
        };
        match series() {
            Some(series) => format!("corr metrics {} {} --around {} --span 1ms --rows", self.words(), shell(series), shell(citation)),
            None => format!("corr ready {}{}", self.words(), window_flags(window)),
        }
    }

    fn store(&self) -> Option<String> {
        self.store.as_ref().map(|store| store.display().to_string())
    }
}

fn flags(words: &mut String, name: &str, values: &[String]) {
    for value in values {
        // A value that begins with `-` must touch its flag.
        let sign = if value.starts_with('-') { '=' } else { ' ' };
        words.push_str(&format!(" --{name}{sign}{}", shell(value)));
    }
}

/// A window as flags, with a blank before; nothing for the whole run.
pub fn window_flags(window: Option<(i64, i64)>) -> String {
    window.map_or(String::new(), |(from, to)| format!(" --since {} --until {}", rfc3339(from, 1), rfc3339(to, 1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_argument_is_a_word_and_each_flag_stands_where_it_is_taken() {
        let list = |all: &[&str]| all.iter().map(|s| s.to_string()).collect::<Vec<_>>();
        let given = Given {
            arguments: list(&["a run", "other", "-x"]),
            tz: list(&["Europe/Berlin", "-03:00"]),
            format_of: list(&["a.log=sglang"]),
            store: Some("kept here".into()),
        };
        let read = "--tz Europe/Berlin --tz=-03:00 --format-of a.log=sglang --store 'kept here'";
        assert_eq!(given.words(), format!("'a run' --also other --also=-x {read}"));
        assert_eq!(given.sources(), format!("corr sources 'a run' other -x {read}"));
        let plain = Given { arguments: list(&["r"]), ..Given::default() };
        assert_eq!(plain.words(), "r");
        let cited = "r/a.jsonl#x{b=\"c\"}[t]@1970-01-01T00:00:00Z..1970-01-01T00:00:01Z";
        assert_eq!(plain.opens(cited, None), format!("corr metrics r 'x{{b=\"c\"}}' --around '{cited}' --span 1ms --rows"));
        let ends = "--since 1970-01-01T00:00:00.000000000Z --until 1970-01-01T00:00:00.000000001Z";
        assert_eq!(plain.opens("r/a.jsonl[t]@1970-01-01T00:00:00Z", Some((0, 1))), format!("corr ready r {ends}"));
        assert_eq!(
            window_flags(Some((0, 1_500_000_000))),
            " --since 1970-01-01T00:00:00.000000000Z --until 1970-01-01T00:00:01.500000000Z"
        );
    }
}
