//! Where loaded formats stand while the program runs: each has a place in a table, and functions that look there.
//!
//! A [`Format`] holds plain functions, which is what makes the built-in ones fast. A user's format gets functions that know the number
//! of its place. A format is never unloaded; one that is declared in the same words again is the same.

use std::sync::{Mutex, OnceLock, PoisonError};

use super::check;
use super::compiled::Compiled;
use super::definition::{Definition, Part, Problem};
use crate::event::{Event, Kind, Outcome};
use crate::format::{Format, never_cut};

/// Most user formats that one process can load.
pub const MAX: usize = 64;

struct Loaded {
    definition: Definition,
    /// The definition as JSON, to tell it from others.
    written: String,
    compiled: Compiled,
    format: Format,
}

static TABLE: [OnceLock<&'static Loaded>; MAX] = [const { OnceLock::new() }; MAX];

/// Held while a format is put into the table.
static WRITING: Mutex<()> = Mutex::new(());

struct Functions {
    head: fn(&[u8]) -> bool,
    parse: for<'a> fn(&'a [u8], &mut Event<'a>) -> Outcome,
}

fn head<const N: usize>(line: &[u8]) -> bool {
    TABLE[N].get().is_some_and(|loaded| loaded.compiled.head(line))
}

fn parse<'a, const N: usize>(record: &'a [u8], event: &mut Event<'a>) -> Outcome {
    match TABLE[N].get() {
        Some(loaded) => loaded.compiled.parse(record, event),
        None => Outcome::Unparsed("a format that is not loaded"),
    }
}

macro_rules! functions {
    ($($n:literal)*) => { [$(Functions { head: head::<$n>, parse: parse::<$n> }),*] };
}

static FUNCTIONS: [Functions; MAX] = functions!(
    0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31
    32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63
);

fn all() -> impl Iterator<Item = &'static Loaded> {
    TABLE.iter().map_while(|place| place.get().copied())
}

/// Compiles a definition, tries it on its own samples, and makes it a format.
pub fn load(definition: &Definition) -> Result<&'static Format, Problem> {
    let _writing = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = all().find(|l| l.definition == *definition) {
        return Ok(&known.format);
    }
    let compiled = Compiled::new(definition)?;
    check::samples(definition, &compiled)?;
    let place = all().count();
    let (Some(functions), Some(cell)) = (FUNCTIONS.get(place), TABLE.get(place)) else {
        return Err(definition.problem(Part::Whole, format!("more than {MAX} user formats; remove some")));
    };
    let loaded: &'static Loaded = Box::leak(Box::new(Loaded {
        format: Format {
            name: leak(&definition.name),
            about: leak(definition.about.as_deref().unwrap_or("a format that a user declared")),
            shape: leak(&shape(definition)),
            head: functions.head,
            cut: never_cut,
            bodies_read: crate::format::all_bodies,
            parse: functions.parse,
            kinds: Box::leak(Box::new([compiled.kind])),
            samples: &[],
        },
        definition: definition.clone(),
        written: serde_json::to_string(definition).unwrap_or_default(),
        compiled,
    }));
    let _ = cell.set(loaded);
    Ok(&loaded.format)
}

fn shape(definition: &Definition) -> String {
    match &definition.pattern {
        Some(_) => format!("what `match` of the user format {} says", definition.name),
        None => format!("a JSON object with the keys of the user format {}", definition.name),
    }
}

/// Text that lives as long as the program.
pub(super) fn leak(text: &str) -> &'static str {
    Box::leak(text.to_owned().into_boxed_str())
}

/// All formats that were loaded.
pub fn loaded() -> impl Iterator<Item = &'static Format> {
    all().map(|l| &l.format)
}

/// The kinds of all formats that were loaded.
pub fn kinds() -> impl Iterator<Item = &'static Kind> {
    all().map(|l| l.compiled.kind)
}

/// What a format was declared as; `None` for a built-in one.
pub fn definition(format: &'static Format) -> Option<&'static Definition> {
    all().find(|l| std::ptr::eq(&l.format, format)).map(|l| &l.definition)
}

/// The definition of a user's format as JSON; `None` for a built-in one.
pub fn written(format: &'static Format) -> Option<&'static str> {
    all().find(|l| std::ptr::eq(&l.format, format)).map(|l| l.written.as_str())
}
