//! Docker's own log files, and `docker logs -t`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;

use super::{every_line, stamped};
use crate::format::{Content, Cut, Entry, Envelope};
use crate::record::{line_len, trim_end};

/// `/var/lib/docker/containers/ID/ID-json.log`.
pub static JSON_FILE: Envelope = Envelope {
    name: "docker-json",
    about: "Docker's json-file log: one object a line, or a part of 16 KiB of one",
    shape: "objects with `\"log\"`, `\"stream\"` and `\"time\"`",
    begins: every_line,
    read: read_json,
    least: 1,
    respells: true,
    marks: None,
    cuts: true,
    yearless: false,
};

/// `docker logs -t`, `kubectl logs --timestamps`.
pub static TIMESTAMPS: Envelope = Envelope {
    name: "docker-timestamps",
    about: "docker logs -t, kubectl logs --timestamps: a stamp of nine digits before every line",
    shape: "`YYYY-MM-DDTHH:MM:SS.nnnnnnnnnZ ` and the line",
    begins: every_line,
    read: |bytes, at, entry| super::line(bytes, at, entry, timestamped),
    least: 1,
    respells: true,
    marks: None,
    cuts: false,
    yearless: false,
};

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    log: Cow<'a, str>,
    #[serde(borrow)]
    stream: Cow<'a, str>,
    #[serde(borrow)]
    time: Cow<'a, str>,
    /// What `--log-opt labels=`, `env=` and `tag=` ask for.
    #[serde(default)]
    attrs: BTreeMap<String, String>,
}

fn read_json(bytes: &[u8], at: usize, entry: &mut Entry) -> usize {
    let len = line_len(&bytes[at..]);
    let line = trim_end(&bytes[at..at + len]);
    if line.is_empty() {
        entry.content = Content::Bare;
        return len;
    }
    entry.content = Content::Broken("no line of Docker's json-file");
    if line[0] != b'{' || memchr::memmem::find(line, b"\"log\"").is_none() {
        return len;
    }
    let found = match serde_json::from_slice::<Line<'_>>(line) {
        Ok(found) => found,
        Err(error) => {
            // Docker was killed, or the copy ends here. What there is of the text is read, so that what is withheld of it stays so.
            if error.is_eof()
                && let Some(text) = super::torn(line, b"\"log\"")
            {
                entry.text = text;
                entry.meta.loss = Some("the object ends early");
                entry.meta.cut = Cut::Certain;
                entry.content = Content::Payload;
            }
            return len;
        }
    };
    let stream = match &*found.stream {
        "stdout" => "stdout",
        "stderr" => "stderr",
        _ => return len,
    };
    let Some(stamp) = stamped::read(found.time.as_bytes()) else { return len };
    entry.content = Content::Payload;
    entry.meta.stamp = Some(stamp);
    entry.meta.stream = stream;
    let text = found.log.as_bytes();
    entry.text.extend_from_slice(trim_end(text));
    if !text.ends_with(b"\n") {
        entry.meta.cut = Cut::Certain;
        entry.text.clear();
        entry.text.extend_from_slice(text);
    }
    for (name, value) in found.attrs {
        if name == "tag" {
            super::say(&mut entry.meta.ident, value.as_bytes());
        }
        super::keep_any(entry, &name, &value);
    }
    len
}

fn timestamped(line: &[u8], entry: &mut Entry) -> Option<()> {
    // `docker compose logs --no-log-prefix -t` of some versions leaves a blank before it.
    let (line, blank) = line.strip_prefix(b" ").map_or((line, 0), |line| (line, 1));
    let (mut stamp, len) = stamped::nine_digits(line)?;
    stamp.at = blank;
    entry.meta.stamp = Some(stamp);
    stamped::append(line.get(len..).unwrap_or(&[]), &mut entry.text);
    Some(())
}
