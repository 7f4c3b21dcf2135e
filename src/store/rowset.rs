//! A set of rows of one segment, and whether it is the answer or only holds it.

/// Rows as bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowSet {
    bits: Vec<u64>,
    len: usize,
    /// Every row in it matches. Otherwise every match is in it, and each row must be looked at.
    pub exact: bool,
}

impl RowSet {
    /// No row of `len`.
    pub fn none(len: usize) -> RowSet {
        RowSet { bits: vec![0; len.div_ceil(64)], len, exact: true }
    }

    /// All rows.
    pub fn all(len: usize) -> RowSet {
        let mut set = RowSet { bits: vec![u64::MAX; len.div_ceil(64)], len, exact: true };
        set.trim();
        set
    }

    /// All rows, of which each must be looked at.
    pub fn unknown(len: usize) -> RowSet {
        RowSet { exact: false, ..RowSet::all(len) }
    }

    /// Clears the bits behind the last row.
    fn trim(&mut self) {
        let used = self.len % 64;
        if used > 0
            && let Some(last) = self.bits.last_mut()
        {
            *last &= (1 << used) - 1;
        }
    }

    /// Adds a row; rows behind the end are left out.
    pub fn insert(&mut self, row: usize) {
        if row < self.len {
            self.bits[row / 64] |= 1 << (row % 64);
        }
    }

    /// Adds rows; those behind the end are left out.
    pub fn insert_all(&mut self, rows: std::ops::Range<usize>) {
        let (mut row, end) = (rows.start, rows.end.min(self.len));
        while row < end {
            if row.is_multiple_of(64) && end - row >= 64 {
                self.bits[row / 64] = u64::MAX;
                row += 64;
            } else {
                self.insert(row);
                row += 1;
            }
        }
    }

    /// Takes a row out.
    pub fn remove(&mut self, row: usize) {
        if row < self.len {
            self.bits[row / 64] &= !(1 << (row % 64));
        }
    }

    /// Is the row in it?
    pub fn contains(&self, row: usize) -> bool {
        row < self.len && self.bits[row / 64] >> (row % 64) & 1 == 1
    }

    /// Rows in both; exact if both are.
    pub fn intersect(&mut self, other: &RowSet) {
        self.bits.iter_mut().zip(&other.bits).for_each(|(a, b)| *a &= b);
        self.exact &= other.exact;
    }

    /// Rows in either; exact if both are.
    pub fn unite(&mut self, other: &RowSet) {
        self.bits.iter_mut().zip(&other.bits).for_each(|(a, b)| *a |= b);
        self.exact &= other.exact;
    }

    /// The other rows. Only of an exact set is that an answer: of any other it is every row.
    pub fn complement(mut self) -> RowSet {
        if !self.exact {
            return RowSet::unknown(self.len);
        }
        self.bits.iter_mut().for_each(|b| *b = !*b);
        self.trim();
        self
    }

    /// Keeps the first `rows` rows.
    pub fn truncate(&mut self, rows: usize) {
        for row in rows..self.len {
            if row % 64 == 0 {
                self.bits[row / 64..].fill(0);
                break;
            }
            self.remove(row);
        }
    }

    /// How many rows there are in the segment.
    pub fn len(&self) -> usize {
        self.len
    }

    /// How many rows are in it.
    pub fn count(&self) -> usize {
        self.bits.iter().map(|b| b.count_ones() as usize).sum()
    }

    /// No row is in it.
    pub fn is_empty(&self) -> bool {
        self.bits.iter().all(|b| *b == 0)
    }

    /// The rows, rising.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.bits.iter().enumerate().flat_map(|(i, bits)| {
            let mut rest = *bits;
            std::iter::from_fn(move || {
                if rest == 0 {
                    return None;
                }
                let at = rest.trailing_zeros() as usize;
                rest &= rest - 1;
                Some(i * 64 + at)
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_of_odd_length() {
        let mut a = RowSet::none(130);
        [0, 63, 64, 129, 500].iter().for_each(|r| a.insert(*r));
        assert_eq!(a.iter().collect::<Vec<_>>(), [0, 63, 64, 129]);
        assert_eq!(a.clone().complement().count(), 126);
        let mut b = RowSet::all(130);
        b.truncate(64);
        assert_eq!(b.count(), 64);
        b.intersect(&a);
        assert_eq!(b.iter().collect::<Vec<_>>(), [0, 63]);
        let mut c = RowSet::none(130);
        c.insert_all(60..131);
        assert_eq!((c.count(), c.contains(59), c.contains(60), c.contains(129)), (70, false, true, true));
        assert!(!RowSet::unknown(3).complement().exact);
        assert_eq!(RowSet::unknown(3).complement().count(), 3);
    }
}
