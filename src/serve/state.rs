//! The run that is served: read once, and again when its files are others.

use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::board::Kept;
use super::brush::Columns;
use super::once::Once;
use crate::evidence;
use crate::metrics::asked::Asked as Captures;
use crate::query::extent;
use crate::query::sources::{self, Sources};
use crate::report::{self, Base, Given, Whole};
use crate::run::discover::Listing;
use crate::run::source::{NotRead, Stat};
use crate::run::{Options, Run};

/// What is served.
#[derive(Clone, Debug)]
pub struct Served {
    /// Run directory, files, globs, as given.
    pub arguments: Vec<String>,
    pub options: Options,
    /// Where the index is kept.
    pub store: Option<PathBuf>,
    /// Bodies and credentials are shown.
    pub bodies: bool,
    /// Nanoseconds since the epoch.
    pub wall: fn() -> i64,
}

/// The run as it was when it was read.
pub struct View {
    pub run: Run,
    pub sources: Sources,
    /// When it was read, UTC ns.
    pub at: i64,
    /// Which reading it is: the first is 1.
    pub number: u64,
    files: Vec<(PathBuf, Stat)>,
    /// All events by column.
    pub columns: Once<Columns>,
    captures: Once<Captures<'static>>,
    whole: Once<Whole<'static>>,
    extent: Once<(Option<i64>, Option<i64>)>,
}

impl View {
    /// The captures of the run.
    ///
    /// # Errors
    /// What `corr.toml` says of their clocks does not fit.
    pub fn captures(&self, served: &Served) -> anyhow::Result<Arc<Captures<'static>>> {
        self.captures.get(|| Ok(evidence::captures(&self.run, &served.options, served.store.as_deref())?.into_owned()))
    }

    /// What of the run is the same in every window.
    ///
    /// # Errors
    /// Those of [`View::captures`].
    pub fn whole(&self, served: &Served) -> anyhow::Result<Arc<Whole<'static>>> {
        let captures = self.captures(served)?;
        self.whole.get(|| Ok(Whole::gather(Base { run: &self.run, sources: &self.sources, captures: &captures }, &[])))
    }

    /// First and last stamp of the run.
    pub fn extent(&self) -> (Option<i64>, Option<i64>) {
        self.extent.get(|| Ok::<_, Infallible>(extent::extent(&self.sources.sources))).map_or((None, None), |extent| *extent)
    }

    /// The ends by which a window is closed.
    ///
    /// # Errors
    /// Those of [`View::captures`].
    pub fn ends(&self, served: &Served) -> anyhow::Result<(Option<i64>, Option<i64>)> {
        Ok(report::ends(self.extent(), &*self.captures(served)?))
    }
}

/// The view of now, shared by all who ask.
pub struct State {
    pub served: Served,
    pub reports: Kept,
    kept: Mutex<Option<(Arc<View>, Instant)>>,
}

/// Files are listed again after this long.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

impl Served {
    /// How the run was given.
    pub fn given(&self) -> Given {
        let Served { arguments, options, store, .. } = self;
        Given { arguments: arguments.clone(), tz: options.tz.clone(), format_of: options.format_of.clone(), store: store.clone() }
    }
}

impl State {
    pub fn new(served: Served) -> State {
        State { served, reports: Kept::default(), kept: Mutex::new(None) }
    }

    /// The run: as it was read if its files are the same still, else read again.
    ///
    /// # Errors
    /// Those of opening a run.
    pub fn view(&self) -> anyhow::Result<Arc<View>> {
        // A panic in here left what was kept before, which is whole.
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((view, looked)) = &*kept
            && looked.elapsed() < LOOK_AGAIN
        {
            return Ok(view.clone());
        }
        let listing = sources::files(&self.served.arguments, self.served.store.as_deref())?;
        let files = files(&listing);
        let number = match &mut *kept {
            Some((view, looked)) if view.files == files => {
                *looked = Instant::now();
                return Ok(view.clone());
            }
            Some((view, _)) => view.number + 1,
            None => 1,
        };
        let view = Arc::new(self.read(files, number)?);
        *kept = Some((view.clone(), Instant::now()));
        Ok(view)
    }

    fn read(&self, files: Vec<(PathBuf, Stat)>, number: u64) -> anyhow::Result<View> {
        let Served { arguments, options, store, wall, .. } = &self.served;
        let mut run = sources::looked_into(arguments, options, store.as_deref())?;
        let outside = leave_links(&mut run, arguments);
        let mut sources = sources::of(&run, options, store.as_deref())?;
        sources.sources.retain(|s| outside.iter().all(|o| o.name != s.name));
        for left in outside {
            if sources.not_read.iter().all(|n| n.name != left.name) {
                sources.not_read.push(left);
            }
        }
        let (columns, captures, whole, extent) = (Once::default(), Once::default(), Once::default(), Once::default());
        Ok(View { run, sources, at: wall(), number, files, columns, captures, whole, extent })
    }
}

fn files(listing: &Listing) -> Vec<(PathBuf, Stat)> {
    listing.files.iter().map(|f| (f.path.clone(), f.stat)).collect()
}

/// Takes files out of a run that are reached by a link out of it: whoever may write there would choose what is served. What the user named is inside.
fn leave_links(run: &mut Run, arguments: &[String]) -> Vec<NotRead> {
    let named: Vec<PathBuf> = arguments.iter().filter_map(|a| std::fs::canonicalize(base(a)).ok()).collect();
    let inside =
        |path: &Path| path.as_os_str() == "-" || std::fs::canonicalize(path).is_ok_and(|real| named.iter().any(|n| real.starts_with(n)));
    let mut left = Vec::new();
    run.sources.retain(|source| {
        let stays = inside(&source.path);
        if !stays {
            let next = "give the path that it links to as a further argument".into();
            left.push(NotRead { name: source.name.clone(), why: "a link out of the run, which is not served".into(), next, failure: true });
        }
        stays
    });
    run.claims.sets.retain(|(_, set)| set.files.iter().all(|part| inside(&part.path)));
    run.not_read.extend(left.iter().cloned());
    left
}

/// What an argument names: itself, or of a pattern the directory that stands before its first wildcard.
fn base(argument: &str) -> &Path {
    let path = Path::new(argument);
    if path.exists() {
        return path;
    }
    let wild = argument.find(['*', '?', '[', '{']).unwrap_or(argument.len());
    match argument.get(..wild).and_then(|a| a.rsplit_once('/')) {
        Some(("", _)) => Path::new("/"),
        Some((above, _)) => Path::new(above),
        None => Path::new("."),
    }
}
