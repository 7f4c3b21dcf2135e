//! Which lines differ between what stands in a block and what would be written?

/// Cells of the table of common lines; beyond, what differs is shown as removed and added whole.
const MOST: usize = 4_000_000;

/// Lines with `-` (would be lost), `+` (would be written) or a blank (both), the common ones only near those that differ.
pub fn lines(old: &str, new: &str) -> Vec<(char, String)> {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let head = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let (old_rest, new_rest) = (old.get(head..).unwrap_or_default(), new.get(head..).unwrap_or_default());
    let tail = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(a, b)| a == b).count();
    let (a, common) = old_rest.split_at(old_rest.len() - tail);
    let b = new_rest.get(..new_rest.len() - tail).unwrap_or_default();
    let mut marked: Vec<(char, &str)> = old.iter().take(head).map(|l| (' ', *l)).collect();
    marked.extend(middle(a, b));
    marked.extend(common.iter().map(|l| (' ', *l)));
    near(&marked)
}

fn middle<'t>(a: &[&'t str], b: &[&'t str]) -> Vec<(char, &'t str)> {
    let width = b.len() + 1;
    if (a.len() + 1).saturating_mul(width) > MOST {
        return a.iter().map(|l| ('-', *l)).chain(b.iter().map(|l| ('+', *l))).collect();
    }
    // How many lines the rests behind (i, j) have in common.
    let mut common = vec![0u32; (a.len() + 1) * width];
    let at = |i: usize, j: usize| i * width + j;
    let get = |common: &[u32], i: usize, j: usize| common.get(at(i, j)).copied().unwrap_or(0);
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            let longest =
                if a.get(i) == b.get(j) { get(&common, i + 1, j + 1) + 1 } else { get(&common, i + 1, j).max(get(&common, i, j + 1)) };
            if let Some(cell) = common.get_mut(at(i, j)) {
                *cell = longest;
            }
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut out = Vec::new();
    loop {
        match (a.get(i), b.get(j)) {
            (Some(x), Some(y)) if x == y => {
                out.push((' ', *x));
                (i, j) = (i + 1, j + 1);
            }
            (Some(x), y) if y.is_none() || get(&common, i + 1, j) >= get(&common, i, j + 1) => {
                out.push(('-', *x));
                i += 1;
            }
            (_, Some(y)) => {
                out.push(('+', *y));
                j += 1;
            }
            _ => return out,
        }
    }
}

/// Lines that differ, with two common ones on either side; `…` for what is left out.
fn near(marked: &[(char, &str)]) -> Vec<(char, String)> {
    let differs: Vec<usize> = marked.iter().enumerate().filter(|(_, (c, _))| *c != ' ').map(|(i, _)| i).collect();
    let mut out: Vec<(char, String)> = Vec::new();
    let mut behind = None;
    for (i, (c, line)) in marked.iter().enumerate() {
        let next = differs.partition_point(|d| *d + 2 < i);
        if differs.get(next).is_none_or(|d| *d > i + 2) {
            continue;
        }
        if behind.is_some_and(|b| b + 1 < i) || (behind.is_none() && i > 0) {
            out.push((' ', "…".to_string()));
        }
        behind = Some(i);
        out.push((*c, line.to_string()));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(old: &str, new: &str) -> String {
        lines(old, new).iter().map(|(c, l)| format!("{c}{l}\n")).collect()
    }

    #[test]
    fn what_differs_is_shown_with_its_neighbours() {
        assert_eq!(shown("a\nb\nc\nd\ne\nf\n", "a\nb\nc\nx\ne\nf\ng\n"), " …\n b\n c\n-d\n+x\n e\n f\n+g\n");
        assert_eq!(shown("same\n", "same\n"), "");
        assert_eq!(shown("", "new\n"), "+new\n");
        assert_eq!(shown("a\nb\nc\n", "b\nc\na\n"), "-a\n b\n c\n+a\n");
    }

    #[test]
    fn what_is_too_long_to_compare_is_shown_whole() {
        let old: String = (0..2500).map(|i| format!("o{i}\n")).collect();
        let new: String = (0..2500).map(|i| format!("n{i}\n")).collect();
        assert_eq!(lines(&old, &new).len(), 5000);
    }
}
