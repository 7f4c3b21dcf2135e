//! Does the time grow faster than the input? Repeats inputs of the corpus, with their line ends and as one line, to two sizes; says where the
//! larger one took much more than its share. `cargo run --release --example scale [INPUTS_A_TARGET [KIB [TARGET…]]]`

use std::path::Path;
use std::time::Duration;

use corr_fuzz::check::Target;

/// The larger size has so many times the bytes of the smaller.
const TIMES: usize = 8;

/// The larger one may take so many times as long; what is fast anyway is not told.
const MOST: u32 = 20;
const FAST: Duration = Duration::from_millis(100);

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let most: usize = arguments.next().and_then(|n| n.parse().ok()).unwrap_or(20);
    let small_size: usize = arguments.next().and_then(|n| n.parse().ok()).unwrap_or(128usize) << 10;
    let only: Vec<String> = arguments.collect();
    for target in Target::all().filter(|t| only.is_empty() || only.contains(&t.name())) {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target.name());
        let mut files: Vec<_> = std::fs::read_dir(folder)?.map(|f| f.map(|f| f.path())).collect::<Result<_, _>>()?;
        files.sort();
        let step = (files.len() / most).max(1);
        let (mut tried, mut slow) = (0, 0);
        for file in files.iter().step_by(step) {
            let input = std::fs::read(file)?;
            if input.is_empty() {
                continue;
            }
            let one_line: Vec<u8> = input.iter().map(|b| if *b == b'\n' { b' ' } else { *b }).collect();
            for (form, piece) in [("lines", &input), ("one line", &one_line)] {
                let took = |size: usize| {
                    let bytes: Vec<u8> = piece.iter().copied().cycle().take(size).collect();
                    let began = on_cpu();
                    target.check(&bytes);
                    on_cpu().saturating_sub(began)
                };
                tried += 1;
                let small = took(small_size);
                let large = took(TIMES * small_size);
                if large > FAST && large > small * MOST {
                    slow += 1;
                    println!("{} {form}: {small:?}, {large:?}: {}", target.name(), file.display());
                }
            }
        }
        println!("{}: {tried} inputs, {slow} of which grow faster than their size", target.name());
    }
    Ok(())
}

/// Time of this thread on a CPU, so that it does not matter what else runs (Linux's first number of `schedstat`, ns).
fn on_cpu() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    Duration::from_nanos(text.split(' ').next().and_then(|ns| ns.parse().ok()).unwrap_or(0))
}
