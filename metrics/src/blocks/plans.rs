//! The blocks of series that were scraped together, once for all of them: a window's searches then stay in a few kilobytes, whichever series it is of.

use std::collections::HashMap;

use super::Block;

/// The blocks of a series: a stretch of the table of blocks, and as long a stretch of the places of values.
#[derive(Clone, Copy, Debug, Default)]
pub struct Plan {
    pub start: usize,
    pub end: usize,
    pub values: usize,
}

/// The table while it is made.
#[derive(Debug, Default)]
pub struct Plans {
    pub blocks: Vec<Block>,
    /// Start of the latest series with these first and last times and so many blocks.
    known: HashMap<(u64, u64, usize), usize>,
}

impl Plans {
    /// Where these blocks stand, from now on if they did not before; `values` is where their values begin.
    pub fn place(&mut self, of: &[Block], values: usize) -> Plan {
        let (Some(first), Some(last)) = (of.first(), of.last()) else { return Plan { start: 0, end: 0, values } };
        let key = (first.times, last.times, of.len());
        if let Some(&start) = self.known.get(&key)
            && self.blocks.get(start..start + of.len()) == Some(of)
        {
            return Plan { start, end: start + of.len(), values };
        }
        let start = self.blocks.len();
        self.blocks.extend_from_slice(of);
        self.known.insert(key, start);
        Plan { start, end: self.blocks.len(), values }
    }
}
