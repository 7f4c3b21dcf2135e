//! Arrow IPC, stream or file, read as a stream of messages as far as they are whole. The arrow crate allocates what a message's header says before it
//! reads, and ends the process if that is more than there is: headers are compared with the file's length first.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Take};
use std::path::Path;

use arrow::ipc::reader::StreamReader;
use arrow::ipc::root_as_message;

use super::guard::guarded;

/// Messages that are whole.
pub type Messages = StreamReader<Take<BufReader<File>>>;

/// Opens a stream or file for some of its columns, or all. Beside it: what is wrong after the messages that are whole.
pub fn open(path: &Path, columns: Option<Vec<usize>>) -> Result<(Messages, Option<String>), String> {
    let mut file = File::open(path).map_err(|e| e.to_string())?;
    let (start, end, cut) = whole(&mut file).map_err(|e| e.to_string())?;
    file.seek(SeekFrom::Start(start)).map_err(|e| e.to_string())?;
    let messages = BufReader::with_capacity(1 << 17, file).take(end - start);
    Ok((guarded(|| StreamReader::try_new(messages, columns))?, cut))
}

/// Where whole messages begin and end, and why they end there if that is not their own end.
fn whole(file: &mut File) -> io::Result<(u64, u64, Option<String>)> {
    let length = file.metadata()?.len();
    let mut magic = [0; 8];
    file.read_exact(&mut magic)?;
    // A file is a stream between a mark and a footer.
    let start = if magic.starts_with(b"ARROW1") { 8 } else { 0 };
    let mut at = start;
    let mut header = Vec::new();
    loop {
        if at == length {
            // Writers that are killed leave no end mark.
            return Ok((start, at, None));
        }
        let cut = |why: &str| Ok((start, at, Some(format!("after byte {at}: {why}"))));
        let mut mark = [0; 8];
        file.seek(SeekFrom::Start(at))?;
        if length - at < 8 || file.read_exact(&mut mark).is_err() {
            return cut("a message is cut");
        }
        let [a, b, c, d, e, f, g, h] = mark;
        let size = u64::from(u32::from_le_bytes([e, f, g, h]));
        if [a, b, c, d] != [0xff; 4] {
            return cut("no message begins where one should");
        }
        if size == 0 {
            return Ok((start, at + 8, None));
        }
        if size > length - at - 8 {
            return cut("a message is cut");
        }
        header.clear();
        file.take(size).read_to_end(&mut header)?;
        let body = guarded(|| root_as_message(&header).map(|m| m.bodyLength()));
        let Some(body) = body.ok().and_then(|b| u64::try_from(b).ok()) else {
            return cut("a message's header is damaged");
        };
        match at.checked_add(8 + size).and_then(|n| n.checked_add(body)).filter(|next| *next <= length) {
            Some(next) => at = next,
            None => return cut("a message is cut"),
        }
    }
}
