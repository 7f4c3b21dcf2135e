//! Fuzz targets: what `check` says of any bytes, and that memory stays bounded by them.

#[path = "../../parsers/tests/any_bytes/check.rs"]
pub mod check;
#[path = "../../parsers/tests/any_bytes/seeds.rs"]
pub mod seeds;

use std::sync::OnceLock;

pub use libfuzzer_sys;
use peak_alloc::PeakAlloc;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Fixed cost of a check in bytes: tables that are made once, caches of regular expressions.
const FIXED: usize = 16 << 20;

/// Bytes of memory that a byte of input may take. A check holds all records of its input, some of them of one byte.
const EACH: usize = 512;

/// Runs the check of the target of this name.
pub fn run(name: &str, bytes: &[u8]) {
    static TARGET: OnceLock<check::Target> = OnceLock::new();
    let target = TARGET.get_or_init(|| {
        let found = check::Target::all().find(|target| target.name() == name);
        found.unwrap_or_else(|| panic!("{name} is in no table"))
    });
    let before = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    target.check(bytes);
    let took = MEMORY.peak_usage().saturating_sub(before);
    assert!(took <= FIXED + EACH * bytes.len(), "{took} bytes of memory for an input of {}", bytes.len());
}

/// The fuzz target of a name.
#[macro_export]
macro_rules! target {
    ($name:literal) => {
        $crate::libfuzzer_sys::fuzz_target!(|bytes: &[u8]| $crate::run($name, bytes));
    };
}
