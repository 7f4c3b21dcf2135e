//! Which records hold a word: a tantivy index of what is left of each record when everything that is known without it has been taken out.
//!
//! Three things are no terms, as they would be most of the index and are found without it:
//! * the words that every record of a kind has: they stand once in [`KindWords`], not once a record;
//! * numbers and their like: words that begin with a digit, and hex digits with a decimal one among them. A query for one scans the source, at the
//!   speed of memory;
//! * ids, and hex words of 12 digits and more: they stand in the id index.
//!
//! A record of which nothing is left is no document. Bodies and credentials never come here.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tantivy::directory::MmapDirectory;
use tantivy::schema::{Field, IndexRecordOption, NumericOptions, Schema, TantivyDocument, TextFieldIndexing, TextOptions};
use tantivy::tokenizer::{TextAnalyzer, TokenizerManager, WhitespaceTokenizer};
use tantivy::{Index, SingleSegmentIndexWriter};

use crate::query::words;

/// The budget that the writer is given, in bytes; what it takes is bounded by the part's size.
const HEAP: usize = 64 << 20;
/// Records of a kind that are looked at before its constant words are fixed.
const LEARN: usize = 64;
/// Hex words from this length on are ids, not numbers.
pub const ID_WORD: usize = 12;

/// Longer words are terms by their first bytes.
pub const LONGEST: usize = 1_000;

/// The constant words of a kind in one segment.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct KindWords {
    /// Sorted. Every row of the kind has all of them, but for the rows in `irregular`.
    pub words: Vec<String>,
    /// Rows of the kind that lack one of them; such rows are indexed in full.
    pub irregular: Vec<u32>,
}

/// What a word is to the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordClass {
    /// A term.
    Word,
    /// Hex digits with a decimal digit among them, short: not indexed.
    Number,
    /// Twelve or more hex digits with a decimal one: in the id index.
    Id,
}

/// A word as it is a term: its first bytes, whole characters.
pub fn first_bytes(word: &str) -> &str {
    if word.len() <= LONGEST { word } else { &word[..word.floor_char_boundary(LONGEST)] }
}

/// The class of a word.
pub fn class(word: &[u8]) -> WordClass {
    let mut made_of = 0;
    for b in word {
        match b {
            b'0'..=b'9' => made_of |= words::DECIMAL,
            b'a'..=b'f' | b'A'..=b'F' => {}
            _ => made_of |= words::LETTER,
        }
    }
    class_of(word, made_of)
}

/// The class of a word of which it is known what it is made of.
pub fn class_of(word: &[u8], made_of: u8) -> WordClass {
    let hex_with_decimal = made_of & words::DECIMAL != 0 && made_of & (words::LETTER | words::HIGH) == 0;
    match (hex_with_decimal, word.len() >= ID_WORD) {
        (true, true) => WordClass::Id,
        (true, false) => WordClass::Number,
        // Parts of stamps (`20T08`, `160201Z`) and quantities (`30ms`): nearly as many as numbers, and asked for as rarely.
        (false, _) if word.first().is_some_and(u8::is_ascii_digit) => WordClass::Number,
        _ => WordClass::Word,
    }
}

/// The text of a record without its numbers and ids, as one number: records of one number have the same words of class `Word`. A log has few such shapes, so what is to be indexed of a shape is worked out once.
///
/// Two shapes have one number by chance with a probability of 2^-64 a pair; the key is drawn anew for each part, so that nobody can write lines that do.
pub struct Shape {
    key: u64,
    /// A second key: no text makes a factor of [`fold`] zero but by chance.
    second: u64,
    state: u64,
}

impl Shape {
    /// Adds a word, or text of which all words are of class `Word`.
    pub fn text(&mut self, text: &[u8]) {
        let second = self.second.wrapping_add((text.len() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut state = self.state;
        let mut rest = text;
        while rest.len() > 16
            && let Some((pair, behind)) = rest.split_first_chunk::<16>()
        {
            let pair = u128::from_le_bytes(*pair);
            state = fold(pair as u64 ^ state, (pair >> 64) as u64 ^ second);
            rest = behind;
        }
        // The last bytes, some of them twice: lengths that differ are told apart by the key.
        let (a, b) = match (rest.first_chunk::<8>(), text.last_chunk::<8>()) {
            (Some(first), Some(last)) => (u64::from_le_bytes(*first), u64::from_le_bytes(*last)),
            _ => match (rest.first_chunk::<4>(), rest.last_chunk::<4>(), text.last_chunk::<8>()) {
                (_, _, Some(last)) => (0, u64::from_le_bytes(*last)),
                (Some(first), Some(last), None) => (u64::from(u32::from_le_bytes(*first)), u64::from(u32::from_le_bytes(*last))),
                _ => (rest.iter().fold(0, |n, b| n << 8 | u64::from(*b)), 0),
            },
        };
        self.state = fold(a ^ state, b ^ second);
    }

    /// Adds something that stands for some words, always the same.
    pub fn number(&mut self, number: u64) {
        self.state = mix(self.state ^ number);
    }

    /// Adds that something stands here which has no word of class `Word`: a number, an id, the edge of what is withheld.
    pub fn gap(&mut self) {
        self.state = mix(self.state ^ 0x5851_f42d_4c95_7f2d);
    }

    fn clear(&mut self) {
        self.state = self.key;
    }
}

/// One step of a hash by folded multiplication (as in wyhash).
fn mix(x: u64) -> u64 {
    fold(x ^ 0x2d35_8dcc_aa6c_78a5, 0x8bb8_4b93_962e_acc9)
}

fn fold(a: u64, b: u64) -> u64 {
    let wide = u128::from(a) * u128::from(b);
    wide as u64 ^ (wide >> 64) as u64
}

/// What is indexed of a shape.
struct Known {
    shape: u64,
    /// The words that are no constant words of the kind.
    line: String,
    /// It lacks one of the kind's constant words.
    irregular: bool,
    rows: Rows,
}

/// Rows of one shape in rising order, as the distances between them, seven bits a byte.
#[derive(Default)]
struct Rows {
    bytes: Vec<u8>,
    count: u32,
    last: u32,
}

impl Rows {
    fn push(&mut self, row: u32) {
        let mut distance = row - self.last;
        while distance >= 0x80 {
            self.bytes.push(distance as u8 | 0x80);
            distance >>= 7;
        }
        self.bytes.push(distance as u8);
        self.last = row;
        self.count += 1;
    }

    fn each(bytes: &[u8], mut hit: impl FnMut(u32)) {
        let (mut row, mut distance, mut shift) = (0u32, 0u32, 0);
        for byte in bytes {
            distance |= u32::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
            shift += 7;
            if byte & 0x80 == 0 {
                row = row.wrapping_add(distance);
                hit(row);
                (distance, shift) = (0, 0);
            }
        }
    }
}

/// Rows of the shapes that have one document for all of them: a u32 count, the u32 ends of each shape's rows, then the rows.
#[derive(Default)]
struct Shapes {
    ends: Vec<u32>,
    bytes: Vec<u8>,
}

impl Shapes {
    fn write(&self, path: &Path) -> std::io::Result<()> {
        let mut out = (self.ends.len() as u32).to_le_bytes().to_vec();
        self.ends.iter().for_each(|end| out.extend_from_slice(&end.to_le_bytes()));
        out.extend_from_slice(&self.bytes);
        std::fs::write(path, out)
    }
}

/// The file of [`Shapes`] beside tantivy's.
const SHAPES_FILE: &str = "shapes.bin";
/// A document's `row` from here on is the number of a shape.
const SHAPE_ROW: u64 = 1 << 32;

/// Shapes that are remembered; a power of two.
const SHAPES: usize = 1 << 13;
/// Longer lines are no use to remember.
const LONGEST_KNOWN: usize = 512;

/// The schema: terms, and the row as a column.
fn schema() -> (Schema, Field, Field) {
    let mut builder = Schema::builder();
    let indexing = TextFieldIndexing::default().set_tokenizer("terms").set_index_option(IndexRecordOption::Basic).set_fieldnorms(false);
    let words = builder.add_text_field("words", TextOptions::default().set_indexing_options(indexing));
    let row = builder.add_u64_field("row", NumericOptions::default().set_fast());
    (builder.build(), words, row)
}

fn tokenizers() -> TokenizerManager {
    let manager = TokenizerManager::default();
    manager.register("terms", TextAnalyzer::builder(WhitespaceTokenizer::default()).build());
    manager
}

/// The words of one record, sorted and distinct, as ranges into one string.
#[derive(Default)]
struct WordSet {
    text: String,
    spans: Vec<(u32, u32)>,
}

impl WordSet {
    fn clear(&mut self) {
        self.text.clear();
        self.spans.clear();
    }

    fn get(&self, i: usize) -> &str {
        let (from, to) = self.spans[i];
        &self.text[from as usize..to as usize]
    }

    fn sort(&mut self) {
        let text = &self.text;
        self.spans.sort_unstable_by(|a, b| text[a.0 as usize..a.1 as usize].cmp(&text[b.0 as usize..b.1 as usize]));
        self.spans.dedup_by(|a, b| text[a.0 as usize..a.1 as usize] == text[b.0 as usize..b.1 as usize]);
    }
}

enum Learning {
    /// Rows seen so far, with their words.
    Seen(Vec<(u32, Vec<String>)>),
    Learnt(Learnt),
}

struct Learnt {
    words: HashSet<String>,
    /// How many they are.
    constant: usize,
    irregular: Vec<u32>,
}

/// Builds the word index of one segment.
pub struct WordIndexBuilder {
    writer: SingleSegmentIndexWriter,
    words: Field,
    row: Field,
    kinds: Vec<Option<Learning>>,
    set: WordSet,
    line: String,
    /// The shape of the record at hand.
    pub shape: Shape,
    known: Vec<Option<Known>>,
    shapes: Shapes,
    dir: PathBuf,
}

impl WordIndexBuilder {
    /// Makes the index in an empty directory.
    pub fn create(dir: &Path) -> tantivy::Result<WordIndexBuilder> {
        let (schema, words, row) = schema();
        let directory = MmapDirectory::open(dir)?;
        let writer = Index::builder().schema(schema).tokenizers(tokenizers()).single_segment_index_writer(directory, HEAP)?;
        let keys = RandomState::new();
        let (key, second) = (keys.hash_one(0u64), keys.hash_one(1u64));
        let mut known = Vec::new();
        known.resize_with(SHAPES, || None);
        let shape = Shape { key, second, state: key };
        Ok(WordIndexBuilder {
            writer,
            words,
            row,
            kinds: Vec::new(),
            set: WordSet::default(),
            line: String::new(),
            shape,
            known,
            shapes: Shapes::default(),
            dir: dir.to_path_buf(),
        })
    }

    /// Starts a record.
    pub fn begin(&mut self) {
        self.set.clear();
        self.shape.clear();
    }

    /// Ends the record if its shape, which is complete, is known; `false`: its words are needed.
    pub fn end_known(&mut self, row: u32, kind: u16) -> tantivy::Result<bool> {
        let shape = self.key(kind);
        let Some(known) = self.known[shape as usize % SHAPES].as_mut().filter(|k| k.shape == shape) else { return Ok(false) };
        if known.irregular
            && let Some(Some(Learning::Learnt(learnt))) = self.kinds.get_mut(usize::from(kind))
        {
            learnt.irregular.push(row);
        }
        if !known.line.is_empty() {
            known.rows.push(row);
        }
        Ok(true)
    }

    /// Remembers a shape in the place of another, whose rows are written down.
    fn remember(&mut self, known: Known) -> tantivy::Result<()> {
        let place = known.shape as usize % SHAPES;
        match self.known[place].replace(known) {
            Some(old) => self.settle(old),
            None => Ok(()),
        }
    }

    /// Indexes the rows of a shape: one document for all of them.
    fn settle(&mut self, known: Known) -> tantivy::Result<()> {
        let value = match known.rows.count {
            0 => return Ok(()),
            1 => u64::from(known.rows.last),
            _ => {
                self.shapes.bytes.extend_from_slice(&known.rows.bytes);
                self.shapes.ends.push(self.shapes.bytes.len() as u32);
                SHAPE_ROW + self.shapes.ends.len() as u64 - 1
            }
        };
        add(&mut self.writer, self.words, self.row, &known.line, value)
    }

    fn key(&self, kind: u16) -> u64 {
        mix(self.shape.state ^ u64::from(kind) << 48)
    }

    /// Adds one word of class `Word`, lower-cased, to the record.
    pub fn word(&mut self, word: &str) {
        let from = self.set.text.len() as u32;
        self.set.text.push_str(word);
        self.set.spans.push((from, self.set.text.len() as u32));
    }

    /// Ends the record of this row and kind. Rows come in rising order.
    ///
    /// `alike`: all that is indexed of records of this shape is in the words.
    pub fn end(&mut self, row: u32, kind: u16, alike: bool) -> tantivy::Result<()> {
        let shape = self.key(kind);
        let kind = usize::from(kind);
        if self.kinds.len() <= kind {
            self.kinds.resize_with(kind + 1, || None);
        }
        match self.kinds[kind].get_or_insert_with(|| Learning::Seen(Vec::new())) {
            Learning::Learnt(learnt) => {
                self.line.clear();
                self.set.sort();
                let mut constant = 0;
                for i in 0..self.set.spans.len() {
                    let word = self.set.get(i);
                    if learnt.words.contains(word) {
                        constant += 1;
                    } else {
                        push_word(&mut self.line, word);
                    }
                }
                let irregular = constant != learnt.constant;
                if irregular {
                    learnt.irregular.push(row);
                    self.line.clear();
                    for i in 0..self.set.spans.len() {
                        push_word(&mut self.line, self.set.get(i));
                    }
                }
                if !alike || self.line.len() > LONGEST_KNOWN {
                    return add(&mut self.writer, self.words, self.row, &self.line, u64::from(row));
                }
                let mut rows = Rows::default();
                if !self.line.is_empty() {
                    rows.push(row);
                }
                let line = self.line.clone();
                self.remember(Known { shape, line, irregular, rows })
            }
            Learning::Seen(seen) => {
                self.set.sort();
                seen.push((row, (0..self.set.spans.len()).map(|i| self.set.get(i).to_string()).collect()));
                if seen.len() == LEARN { self.learn(kind) } else { Ok(()) }
            }
        }
    }

    /// Fixes a kind's constant words and indexes what was seen of it.
    fn learn(&mut self, kind: usize) -> tantivy::Result<()> {
        let Some(Learning::Seen(seen)) = self.kinds[kind].take() else { return Ok(()) };
        let mut constant: Vec<String> = seen.first().map(|s| s.1.clone()).unwrap_or_default();
        for (_, words) in &seen[1..] {
            constant.retain(|w| words.binary_search(w).is_ok());
        }
        for (row, words) in &seen {
            self.line.clear();
            for word in words.iter().filter(|w| constant.binary_search(w).is_err()) {
                push_word(&mut self.line, word);
            }
            add(&mut self.writer, self.words, self.row, &self.line, u64::from(*row))?;
        }
        let learnt = Learnt { constant: constant.len(), words: constant.into_iter().collect(), irregular: Vec::new() };
        self.kinds[kind] = Some(Learning::Learnt(learnt));
        Ok(())
    }

    /// Writes the index; gives the constant words by kind.
    pub fn finish(mut self) -> tantivy::Result<Vec<KindWords>> {
        for kind in 0..self.kinds.len() {
            if let Some(Learning::Seen(seen)) = &self.kinds[kind] {
                if seen.is_empty() {
                    continue;
                }
                if seen.len() == 1 {
                    // One record has no constant words: it is indexed in full.
                    let Some(Learning::Seen(seen)) = self.kinds[kind].take() else { continue };
                    for (row, words) in &seen {
                        self.line.clear();
                        words.iter().for_each(|w| push_word(&mut self.line, w));
                        add(&mut self.writer, self.words, self.row, &self.line, u64::from(*row))?;
                    }
                    continue;
                }
                self.learn(kind)?;
            }
        }
        for known in std::mem::take(&mut self.known).into_iter().flatten() {
            self.settle(known)?;
        }
        self.shapes.write(&self.dir.join(SHAPES_FILE))?;
        self.writer.finalize()?;
        let out = self.kinds.into_iter().map(|kind| match kind {
            Some(Learning::Learnt(learnt)) => {
                let mut words: Vec<String> = learnt.words.into_iter().collect();
                words.sort_unstable();
                KindWords { words, irregular: learnt.irregular }
            }
            _ => KindWords::default(),
        });
        Ok(out.collect())
    }
}

fn push_word(line: &mut String, word: &str) {
    if !line.is_empty() {
        line.push(' ');
    }
    line.push_str(word);
}

fn add(writer: &mut SingleSegmentIndexWriter, words: Field, row_field: Field, line: &str, row: u64) -> tantivy::Result<()> {
    if line.is_empty() {
        return Ok(());
    }
    let mut document = TantivyDocument::default();
    document.add_text(words, line);
    document.add_u64(row_field, row);
    writer.add_document(document)
}

/// A segment's word index, open for reading.
pub struct WordIndex {
    index: Index,
    words: Field,
    shape_ends: Vec<u32>,
    shape_rows: Vec<u8>,
}

impl WordIndex {
    /// Opens the index of a directory.
    pub fn open(dir: &Path) -> tantivy::Result<WordIndex> {
        let mut index = Index::open_in_dir(dir)?;
        index.set_tokenizers(tokenizers());
        let words = index.schema().get_field("words")?;
        let damaged = || tantivy::TantivyError::InternalError(format!("{SHAPES_FILE} is damaged"));
        let bytes = std::fs::read(dir.join(SHAPES_FILE))?;
        let number = |at: usize| bytes.get(at..at + 4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
        let count = number(0).ok_or_else(damaged)? as usize;
        let shape_rows = bytes.get(4 + 4 * count..).ok_or_else(damaged)?.to_vec();
        let shape_ends: Vec<u32> = (1..=count).filter_map(|i| number(4 * i)).collect();
        if !shape_ends.is_sorted() || shape_ends.last().copied().unwrap_or(0) as usize != shape_rows.len() {
            return Err(damaged());
        }
        Ok(WordIndex { index, words, shape_ends, shape_rows })
    }

    fn rows_of_shape(&self, shape: usize) -> &[u8] {
        let Some(end) = self.shape_ends.get(shape) else { return &[] };
        let start = shape.checked_sub(1).map_or(0, |before| self.shape_ends[before]);
        &self.shape_rows[start as usize..*end as usize]
    }

    /// Calls `hit` for every row, in no order, whose document has the term (`prefix`: a term that begins so).
    pub fn rows(&self, term: &str, prefix: bool, mut hit: impl FnMut(u32)) -> tantivy::Result<()> {
        use tantivy::{DocSet, TERMINATED};
        for segment in self.index.searchable_segments()? {
            let reader = tantivy::SegmentReader::open(&segment)?;
            let rows = reader.fast_fields().u64("row")?.first_or_default_col(0);
            let inverted = reader.inverted_index(self.words)?;
            let mut read = |info: &tantivy::postings::TermInfo| -> tantivy::Result<()> {
                let mut postings = inverted.read_postings_from_terminfo(info, IndexRecordOption::Basic)?;
                let mut doc = postings.doc();
                while doc != TERMINATED {
                    let value = rows.get_val(doc);
                    match value.checked_sub(SHAPE_ROW) {
                        None => hit(value as u32),
                        Some(shape) => Rows::each(self.rows_of_shape(shape as usize), &mut hit),
                    }
                    doc = postings.advance();
                }
                Ok(())
            };
            if !prefix {
                if let Some(info) = inverted.terms().get(term.as_bytes())? {
                    read(&info)?;
                }
                continue;
            }
            let mut stream = inverted.terms().range().ge(term.as_bytes()).into_stream()?;
            while let Some((key, info)) = stream.next() {
                if !key.starts_with(term.as_bytes()) {
                    break;
                }
                read(info)?;
            }
        }
        Ok(())
    }
}
