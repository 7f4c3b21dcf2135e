//! A run: its sources, what declares things about them, their owners and clocks.

pub mod bytes;
pub mod captures;
pub mod clocks;
pub mod coverage;
pub mod declared;
pub mod discover;
pub mod events;
pub mod formats;
pub mod journal;
pub mod layout;
pub mod missing;
pub mod owners;
pub mod sample;
pub mod source;
pub mod timing;
pub mod versions;

use std::path::{Path, PathBuf};

use corr_metrics::layouts::Claims;
use declared::Declared;
use discover::{DiscoverError, Listing, Looked};
use source::{NotRead, Source};

/// What the user says of a run beside its paths.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// `--tz ZONE` for all naive sources, or `--tz SOURCE=ZONE` (a key or a glob over keys) for some; in the order given.
    pub tz: Vec<String>,
    /// `--format-of SOURCE=FORMAT`.
    pub format_of: Vec<String>,
}

/// Why a run could not be opened at all.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error(transparent)]
    Discover(#[from] DiscoverError),
    #[error(transparent)]
    Declared(#[from] declared::DeclaredError),
    #[error("{0}")]
    Option(String),
}

/// A run, looked into: every file has a class; event sources have layout, owner and clock.
#[derive(Debug)]
pub struct Run {
    /// Directory that source keys are relative to.
    pub root: PathBuf,
    /// The run was given as one directory.
    pub is_directory: bool,
    /// The arguments as given.
    pub arguments: Vec<String>,
    /// Every file that was looked into, sorted by key.
    pub sources: Vec<Source>,
    /// Files that were not read, with the reason.
    pub not_read: Vec<NotRead>,
    /// What `corr.toml` says.
    pub declared: Declared,
    /// Which files are metric captures.
    pub claims: corr_metrics::layouts::Claims,
}

impl Run {
    /// A run of which nothing is there any more.
    pub fn gone(arguments: &[String]) -> Run {
        Run {
            root: PathBuf::from(arguments.first().map_or("", String::as_str)),
            is_directory: false,
            arguments: arguments.to_vec(),
            sources: Vec::new(),
            not_read: Vec::new(),
            declared: Declared::default(),
            claims: Claims::default(),
        }
    }
}

/// Lists a run's files and reads its `corr.toml`, without looking into the files.
pub fn list(arguments: &[String]) -> Result<(Listing, Declared), OpenError> {
    let listing = discover::list(arguments)?;
    let declared = Declared::read(listing.root.as_deref())?;
    Ok((listing, declared))
}

/// Opens a run: lists it, looks into every file, finds owners and clocks.
pub fn open(arguments: &[String], options: &Options) -> Result<Run, OpenError> {
    let (listing, declared) = list(arguments)?;
    let mut run = Run {
        root: listing.root.clone().unwrap_or_else(|| Path::new("").to_path_buf()),
        is_directory: listing.is_directory,
        arguments: arguments.to_vec(),
        sources: Vec::new(),
        not_read: listing.not_read.clone(),
        declared,
        claims: Claims::default(),
    };
    let files: Vec<(&str, &str)> = listing.files.iter().map(|f| (f.key.as_str(), f.name.as_str())).collect();
    let all = run.declared.forced(options, &files).map_err(OpenError::Option)?;
    let forced = |found: &discover::Found| run.declared.forced_layout(&found.key, &found.name, &all);
    let (claims, damaged) = captures::claim(&listing.files, &|found| !matches!(forced(found), Ok(None)));
    let layouts = captures::layouts(&claims);
    for found in &listing.files {
        let forced = forced(found).map_err(OpenError::Option)?;
        if let Some(why) = damaged.get(&found.path) {
            let next = "copy it again; a writer that was killed leaves such a file".into();
            run.not_read.push(NotRead { name: found.name.clone(), why: why.clone(), next, failure: true });
            continue;
        }
        let looked = match layouts.get(&found.path) {
            Some(layout) => discover::metrics(found, layout),
            None => discover::look(found, forced.as_ref(), run.declared.formats()),
        };
        match looked {
            Looked::Source(source) => run.sources.push(*source),
            Looked::NotRead(not_read) => run.not_read.push(not_read),
        }
    }
    run.claims = claims;
    discover::mark_duplicates(&mut run.sources);
    owners::assign(&mut run);
    clocks::find(&mut run, options).map_err(OpenError::Option)?;
    Ok(run)
}
