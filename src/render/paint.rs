//! Colour, where it is wanted. Nothing is said by colour alone.

use std::io::IsTerminal;

/// When to colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum When {
    #[default]
    Auto,
    Always,
    Never,
}

/// What a piece of text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    Dim,
    Place,
    Kind,
    Warn,
    Bad,
}

impl Tone {
    /// The tone of a level's name.
    pub fn of_level(level: &str) -> Tone {
        if level == "warn" { Tone::Warn } else { Tone::Bad }
    }
}

/// Colours text or leaves it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Paint {
    on: bool,
}

impl Paint {
    /// By the user's choice, NO_COLOR, CLICOLOR_FORCE, TERM and whether standard output is a terminal.
    pub fn new(when: When) -> Paint {
        let set = |name: &str| std::env::var_os(name).is_some_and(|v| !v.is_empty());
        let on = match when {
            When::Always => true,
            When::Never => false,
            When::Auto if set("NO_COLOR") => false,
            When::Auto if std::env::var_os("CLICOLOR_FORCE").is_some_and(|v| v != "0" && !v.is_empty()) => true,
            When::Auto => std::io::stdout().is_terminal() && std::env::var_os("TERM").is_none_or(|t| t != "dumb"),
        };
        Paint { on }
    }

    /// The text in a tone.
    pub fn tone(&self, tone: Tone, text: &str) -> String {
        if !self.on {
            return text.to_string();
        }
        let code = match tone {
            Tone::Dim => "2",
            Tone::Place => "35",
            Tone::Kind => "36",
            Tone::Warn => "33",
            Tone::Bad => "1;31",
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }
}
