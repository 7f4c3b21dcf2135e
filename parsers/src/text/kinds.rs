//! Kinds of records that no format owns.

use crate::event::Kind;

pub static TEXT: Kind = Kind { name: "text", about: "a record that no known format explains; searchable as it stands", words: "" };
pub static BLANK: Kind = Kind { name: "blank", about: "an empty line", words: "" };
pub static MARKER: Kind =
    Kind { name: "marker", about: "a line of the envelope itself: boot marker, cursor, `-- No entries --`", words: "" };
pub static PROGRESS: Kind = Kind { name: "progress", about: "a progress bar (tqdm)", words: "" };
pub static TRACEBACK: Kind =
    Kind { name: "traceback", about: "a Python traceback that stands alone, without a record before it", words: "" };
pub static GLOG: Kind = Kind { name: "glog", about: "a line in glog format (Mooncake and other C++ libraries)", words: "" };
pub static NCCL: Kind = Kind { name: "nccl", about: "a line of NCCL", words: "" };
pub static PYTHON_WARNING: Kind = Kind { name: "python_warning", about: "`file.py:123: UserWarning: …` with its source line", words: "" };
pub static PYTHON_LOG: Kind = Kind { name: "python_log", about: "a line of another Python logger (flashinfer, vLLM, urllib3)", words: "" };
pub static LOG: Kind = Kind { name: "log", about: "a line of an unknown program that begins with a stamp that could be read", words: "" };

/// All of them.
pub static KINDS: &[&Kind] = &[&TEXT, &BLANK, &MARKER, &PROGRESS, &TRACEBACK, &GLOG, &NCCL, &PYTHON_WARNING, &PYTHON_LOG, &LOG];
