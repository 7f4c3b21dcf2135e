use super::*;
use crate::cases::cases;
use crate::layouts::{claim as share, look};

/// Sets of one case file, all layouts asked.
fn sets(below: &str) -> Option<Vec<(&'static str, Set)>> {
    let folder = cases("metrics/layouts")?;
    let candidate = look(&folder.join(below), below);
    Some(share(&[candidate]).sets)
}

#[test]
fn mappings() {
    for file in [
        "L01_narrow_map",
        "L02_narrow_json",
        "L03_narrow_list_struct",
        "L04_narrow_label_columns",
        "L05_wide",
        "L06_wide_elapsed_f32",
        "L08_nested_series",
    ] {
        let Some(sets) = sets(&format!("{file}.parquet")) else { return };
        for (name, set) in sets {
            println!("{file} {name}: {} {:?}", set.because, set.ties);
            let captures = read(&set).unwrap();
            let n: u64 = captures.iter().map(|c| (0..c.series.len()).map(|i| c.samples.len(i as u32)).sum::<u64>()).sum();
            println!("  {} captures, {} series, {n} samples, {:?}", captures.len(), captures[0].series.len(), captures[0].notes);
        }
    }
}
