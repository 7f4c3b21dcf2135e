//! A launch command taken apart: assignments of its environment, the program, its options.

/// One option or assignment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// `router-mode`, `DYN_LOG`: without dashes.
    pub name: String,
    /// `None`: a switch without a value.
    pub value: Option<String>,
    /// Lines between the command's first and this one.
    pub line: u64,
}

/// A command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Command {
    /// The module behind `-m`, else the first word that is none of the shell's.
    pub program: String,
    /// The words of the program and its arguments, without environment and shell.
    pub text: String,
    pub environment: Vec<Part>,
    pub options: Vec<Part>,
}

/// Commands with more words than this are cut.
const MAX_WORDS: usize = 4096;

/// Reads a command line as a shell splits it. Variables stay as they are written.
pub fn of_text(text: &str) -> Command {
    let words = words(text, 0);
    // `bash -lc 'COMMAND'`: what is run is the last word.
    if let [(shell, _), (flags, _), (inner, line), ..] = words.as_slice()
        && matches!(shell.rsplit('/').next(), Some("bash" | "sh"))
        && flags.starts_with('-')
        && flags.ends_with('c')
    {
        return of_words(&self::words(inner, *line));
    }
    of_words(&words)
}

/// Reads a command that is a list of words already.
pub fn of_list<'a>(words: impl IntoIterator<Item = &'a str>) -> Command {
    let words: Vec<(String, u64)> = words.into_iter().take(MAX_WORDS).enumerate().map(|(i, w)| (w.to_string(), i as u64)).collect();
    of_words(&words)
}

fn of_words(words: &[(String, u64)]) -> Command {
    let mut out = Command::default();
    let mut rest = words.iter().peekable();
    // Where the program's words begin: at the first that is no assignment, behind the shell's own commands.
    let mut first = 0;
    while let Some((word, line)) = rest.next() {
        if let Some(option) = word.strip_prefix("--").filter(|o| o.starts_with(|c: char| c.is_ascii_alphabetic())) {
            if let Some((name, value)) = option.split_once('=') {
                out.options.push(Part { name: name.into(), value: Some(value.into()), line: *line });
                continue;
            }
            let mut values = Vec::new();
            while let Some((value, _)) = rest.peek()
                && !value.starts_with("--")
                && !matches!(value.as_str(), ";" | "&&" | "|" | "&")
            {
                values.push(value.as_str());
                rest.next();
            }
            let value = (!values.is_empty()).then(|| values.join(" "));
            out.options.push(Part { name: option.into(), value, line: *line });
        } else if let Some((name, value)) = assignment(word) {
            if out.options.is_empty() && out.program.is_empty() {
                out.environment.push(Part { name: name.into(), value: Some(value.into()), line: *line });
            }
        } else if word == "-m" {
            if let Some((module, _)) = rest.next() {
                out.program = module.clone();
            }
        } else if matches!(word.as_str(), ";" | "&&") {
            // What came before was the shell's: `export PATH=…;`, `cd …&&`.
            if out.options.is_empty() {
                out.program.clear();
                first = words.len() - rest.len();
            }
        } else if out.program.is_empty() && !matches!(word.as_str(), "env" | "export" | "exec" | "cd") {
            out.program = word.clone();
            first = words.len() - rest.len() - 1;
        }
    }
    let own: Vec<&str> = words.iter().skip(first).map(|(word, _)| word.as_str()).collect();
    out.text = own.join(" ");
    out
}

fn assignment(word: &str) -> Option<(&str, &str)> {
    let (name, value) = word.split_once('=')?;
    let fits = name.starts_with(|c: char| c.is_ascii_uppercase() || c == '_');
    (fits && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')).then_some((name, value))
}

/// Words with the number of line ends before them.
fn words(text: &str, first: u64) -> Vec<(String, u64)> {
    let mut out: Vec<(String, u64)> = Vec::new();
    let mut word: Option<(String, u64)> = None;
    let mut quote: Option<char> = None;
    let mut line = first;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '\n' {
            line += 1;
        }
        let mut open = |c: Option<char>| word.get_or_insert_with(|| (String::new(), line)).0.extend(c);
        match (quote, c) {
            (Some(q), c) if c == q => quote = None,
            (Some('"'), '\\') if matches!(chars.peek(), Some('"' | '\\' | '$' | '`')) => open(chars.next()),
            (Some(_), c) => open(Some(c)),
            (None, '"' | '\'') => {
                quote = Some(c);
                open(None);
            }
            (None, '\\') => match chars.next() {
                Some('\n') => line += 1,
                next => open(next),
            },
            (None, c) if c.is_whitespace() || c == ';' => {
                out.extend(word.take());
                if c == ';' {
                    out.push((";".into(), line));
                }
            }
            (None, c) => open(Some(c)),
        }
        if out.len() >= MAX_WORDS {
            return out;
        }
    }
    out.extend(word);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(parts: &[Part]) -> Vec<String> {
        parts.iter().map(|p| format!("{}={}", p.name, p.value.as_deref().unwrap_or("-"))).collect()
    }

    #[test]
    fn a_shell_is_taken_off() {
        let command = of_text(
            "bash -lc 'export PATH=/x:$PATH; DYN_LOG=info,a=debug P=\"${A}/t\" $PY -m dynamo.frontend --http-port 8000 --router-mode kv --x'",
        );
        assert_eq!(command.program, "dynamo.frontend");
        assert_eq!(command.text, "$PY -m dynamo.frontend --http-port 8000 --router-mode kv --x");
        assert_eq!(pairs(&command.environment), ["PATH=/x:$PATH", "DYN_LOG=info,a=debug", "P=${A}/t"]);
        assert_eq!(pairs(&command.options), ["http-port=8000", "router-mode=kv", "x=-"]);
    }

    #[test]
    fn options_take_what_follows_them() {
        let command = of_list(["python", "-m", "r", "--prefill", "http://h", "31058", "--flag", "--n=-1", "--k", "-2"]);
        assert_eq!(pairs(&command.options), ["prefill=http://h 31058", "flag=-", "n=-1", "k=-2"]);
        let lines = of_text("env A=\"1\" \\\n  python -m m --b 2");
        assert_eq!((lines.options[0].line, lines.environment[0].line), (1, 0));
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_split(text in "[-a-zA-Z0-9=;'\"\\\\ \n]{0,80}") {
            let command = of_text(&text);
            proptest::prop_assert!(command.options.len() <= MAX_WORDS);
        }
    }
}
