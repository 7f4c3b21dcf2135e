//! Throughput of the index and of questions, on generated scheduler log: `cargo bench -p corr-benches --bench throughput`.
//!
//! Bytes are those of the log: what a question answered by the index reads is far less.

// The comparison uses the rest of it.
#[allow(dead_code)]
mod log;

use std::path::{Path, PathBuf};

use clap::Parser as _;
use corr::cli::{Cli, run};
use divan::Bencher;
use divan::counter::BytesCount;

const SIZE: u64 = 64 << 20;

fn main() {
    divan::main();
}

/// A directory with the log, and an index of it in `store`.
struct Made {
    dir: tempfile::TempDir,
}

impl Made {
    fn new(indexed: bool) -> Made {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let mut file = std::io::BufWriter::new(std::fs::File::create(dir.path().join("scheduler.log")).expect("a new file"));
        log::write(&mut file, SIZE, 7, log::Requests::Full).expect("room for the log");
        drop(file);
        let made = Made { dir };
        if indexed {
            corr(&["index", made.log(), "--store", made.store()]);
        }
        made
    }

    fn log(&self) -> &str {
        text(self.dir.path().join("scheduler.log"))
    }

    fn store(&self) -> &str {
        text(self.dir.path().join("store"))
    }
}

/// Paths live as long as the process: a few per bench.
fn text(path: PathBuf) -> &'static str {
    Box::leak(path.display().to_string().into_boxed_str())
}

/// Runs a command line in this process, as `main` does, without printing.
fn corr(args: &[&str]) -> usize {
    let cli = Cli::parse_from([&["corr"], args].concat());
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let code = run(cli, &mut out, &mut err, 0).expect("an answer");
    assert_eq!(code, 0, "{}", String::from_utf8_lossy(&err));
    out.len()
}

fn ask(bencher: Bencher, indexed: bool, question: &[&str]) {
    let made = Made::new(indexed);
    let args = [&["query", made.log(), "--store", made.store()], question].concat();
    bencher.counter(BytesCount::new(SIZE)).bench_local(|| corr(&args));
}

#[divan::bench(sample_count = 5)]
fn index(bencher: Bencher) {
    let made = Made::new(false);
    assert!(Path::new(made.log()).is_file());
    bencher.counter(BytesCount::new(SIZE)).bench_local(|| corr(&["index", made.log(), "--store", made.store(), "--rebuild"]));
}

#[divan::bench(sample_count = 20)]
fn query_rare_id_by_index(bencher: Bencher) {
    ask(bencher, true, &[log::RARE_RID]);
}

#[divan::bench(sample_count = 20)]
fn query_word_by_index(bencher: Bencher) {
    ask(bencher, true, &[log::MEDIUM_WORD]);
}

#[divan::bench(sample_count = 20)]
fn query_column_by_index(bencher: Bencher) {
    ask(bencher, true, &["kind:prefill_batch cached_tokens:>0"]);
}

#[divan::bench(sample_count = 20)]
fn query_rare_word_by_scan(bencher: Bencher) {
    ask(bencher, false, &[log::RARE_WORD]);
}

#[divan::bench(sample_count = 20)]
fn query_word_by_scan(bencher: Bencher) {
    ask(bencher, false, &[log::MEDIUM_WORD]);
}

#[divan::bench(sample_count = 3)]
fn query_field_by_scan(bencher: Bencher) {
    ask(bencher, false, &["kind:prefill_batch cached_tokens:>0"]);
}
