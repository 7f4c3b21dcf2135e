//! The head of a journal file itself (`system.journal`): what it is and what it holds. Its entries are read by journalctl alone.
//!
//! Format: <https://systemd.io/JOURNAL_FILE_FORMAT/>. All numbers are little-endian; the fields used here are in every version.

/// The first bytes of every journal file.
pub const MAGIC: &[u8] = b"LPKSHHRH";

/// How many bytes of a file [`read`] needs.
pub const HEAD: usize = 208;

/// What a journal file says of itself. A file that is being written may say a little less than it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Journal {
    /// How many entries it holds.
    pub entries: u64,
    /// Receipt of its first and of its last entry, in microseconds since 1970; 0 while it has none.
    pub first_us: u64,
    pub last_us: u64,
    /// The machine that wrote it.
    pub machine: [u8; 16],
    /// journald has it open, or did not close it.
    pub online: bool,
    /// Bits that a reader must know: 1 xz, 2 lz4, 4 keyed hashes (v246), 8 zstd (v246), 16 compact (v252). An older journalctl refuses the file.
    pub needs: u32,
}

/// Is this the beginning of a journal file? The first 8 bytes are enough.
pub fn is_journal(head: &[u8]) -> bool {
    head.starts_with(MAGIC)
}

/// Reads the head of a journal file. `None` if it is none, or shorter than [`HEAD`].
pub fn read(head: &[u8]) -> Option<Journal> {
    let head = head.get(..HEAD).filter(|head| is_journal(head))?;
    let number = |at: usize| head.get(at..at + 8).and_then(|b| b.try_into().ok()).map(u64::from_le_bytes);
    Some(Journal {
        entries: number(152)?,
        first_us: number(184)?,
        last_us: number(192)?,
        machine: head.get(40..56)?.try_into().ok()?,
        online: head[16] == 1,
        needs: u32::from_le_bytes(head.get(12..16)?.try_into().ok()?),
    })
}
