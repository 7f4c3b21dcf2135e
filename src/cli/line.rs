//! A command line that is printed so that it can be given again: of the same runs, read in the same way.

use clap::ValueEnum as _;

use super::flags::{Reading, Runs, Scope, Series};
use super::timeline::{Asking, Marks};
use crate::render::evidence::shell;
use crate::render::shown::rfc3339;

/// Words as a shell takes them.
#[derive(Clone, Debug)]
pub struct Line(String);

impl Line {
    /// Begins with a command as it stands.
    pub fn of(command: &str) -> Line {
        Line(command.to_string())
    }

    pub fn text(self) -> String {
        self.0
    }

    pub fn word(mut self, word: &str) -> Line {
        self.0.push(' ');
        self.0.push_str(&shell(word));
        self
    }

    pub fn words(self, words: &[String]) -> Line {
        words.iter().fold(self, |line, word| line.word(word))
    }

    /// A flag without a value.
    pub fn on(mut self, flag: &str) -> Line {
        self.0.push_str(&format!(" --{flag}"));
        self
    }

    /// A flag for each of some values.
    pub fn flag<S: AsRef<str>>(mut self, flag: &str, values: &[S]) -> Line {
        for value in values {
            let value = value.as_ref();
            // A value that begins with `-` must touch its flag.
            let between = if value.starts_with('-') { '=' } else { ' ' };
            self.0.push_str(&format!(" --{flag}{between}{}", shell(value)));
        }
        self
    }

    pub fn runs(self, runs: &Runs) -> Line {
        self.word(&runs.run).flag("also", &runs.also)
    }

    /// A window by its ends, UTC ns: whatever said where it lies, here it is in full.
    pub fn window(self, closed: Option<(i64, i64)>) -> Line {
        match closed {
            None => self,
            Some((from, to)) => self.flag("since", &[rfc3339(from, 1)]).flag("until", &[rfc3339(to, 1)]),
        }
    }

    pub fn scope(self, scope: &Scope) -> Line {
        self.flag("session", scope.session.as_slice()).flag("request", scope.request.as_slice())
    }

    pub fn reading(self, reading: &Reading) -> Line {
        let store = reading.store.as_ref().map(|store| store.display().to_string());
        self.flag("tz", &reading.tz).flag("format-of", &reading.format_of).flag("store", store.as_slice())
    }

    /// What was asked, but for how many rows of it.
    pub fn asking(self, asking: &Asking, series: Option<&Series>) -> Line {
        let Asking { runs, query, when, around, scope, marks, all, limit: _, reading } = asking;
        let mut line = self.word(&runs.run);
        let query = query.join(" ");
        if !query.is_empty() {
            // One that begins with `-` would be taken for a flag.
            line = line.word(&if query.starts_with('-') { format!("({query})") } else { query });
        }
        line = line.flag("also", &runs.also);
        line = line.flag("since", when.since.as_slice()).flag("until", when.until.as_slice()).flag("window", when.window.as_slice());
        if around.around.is_some() {
            line = line.flag("around", around.around.as_slice()).flag("span", &[&around.span]);
        }
        line = line.scope(scope);
        if let Some(series) = series {
            line = line.flag("metrics", &series.metrics).flag("map", &series.map);
        }
        if let Some(when) = marks.to_possible_value().filter(|_| *marks != Marks::Auto) {
            line = line.flag("marks", &[when.get_name()]);
        }
        if *all {
            line = line.on("all");
        }
        line.reading(reading)
    }

    /// How many rows, where they are not as many as the command shows by itself.
    pub fn limit(self, limit: usize, usual: usize) -> Line {
        if limit == usual { self } else { self.flag("limit", &[limit.to_string()]) }
    }
}

/// The runs as arguments of any command that asks them, read in the same way.
pub fn source(runs: &Runs, reading: &Reading) -> String {
    Line(shell(&runs.run)).flag("also", &runs.also).reading(reading).text()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_as_a_shell_takes_them() {
        let runs = Runs { run: "a b".into(), also: vec!["-c".into()] };
        let reading = Reading { store: Some("s".into()), tz: vec!["x=UTC".into()], format_of: vec!["a*=sglang".into()] };
        let line = Line::of("corr edges").runs(&runs).window(Some((0, 1))).reading(&reading).on("explain").text();
        let ends = "--since 1970-01-01T00:00:00.000000000Z --until 1970-01-01T00:00:00.000000001Z";
        assert_eq!(line, format!("corr edges 'a b' --also=-c {ends} --tz x=UTC --format-of 'a*=sglang' --store s --explain"));
        assert_eq!(source(&runs, &reading), "'a b' --also=-c --tz x=UTC --format-of 'a*=sglang' --store s");
    }
}
