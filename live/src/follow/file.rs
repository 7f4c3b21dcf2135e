//! One file's thread: what is there, then what is added.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use corr_parsers::clock::Rule;
use tokio::sync::mpsc::Sender;

use super::back;
use super::message::{Fault, Message};
use super::tail::{EVERY, Seen, Tail};
use crate::clock::Clock;

/// Stops the threads of files.
#[derive(Default)]
pub struct Flag(pub Arc<AtomicBool>);

impl Drop for Flag {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A file's thread.
pub struct File {
    pub source: u32,
    pub units: Vec<String>,
    pub owner: Option<String>,
    pub rule: Option<Rule>,
    pub clock: Clock,
}

impl File {
    /// Follows a path on a thread of its own, until `over` is set or nobody listens.
    pub fn spawn(self, path: &Path, to: Sender<Message>, over: Arc<AtomicBool>) {
        let (path, source) = (path.to_owned(), self.source);
        let sender = to.clone();
        let thread = std::thread::Builder::new().name("corr-tail".into()).spawn(move || self.run(&path, &to, &over));
        if let Err(error) = thread {
            // Rare enough to be told by the only way that does not wait: an empty channel takes it.
            let _ = sender.try_send(Message::Fault { source, what: Fault::Unreadable(error.to_string()) });
            let _ = sender.try_send(Message::CaughtUp { source });
        }
    }

    fn run(self, path: &Path, to: &Sender<Message>, over: &AtomicBool) {
        let source = self.source;
        let clock = self.clock;
        let mut gone = false;
        let mut tail = Tail::new(path);
        let send = |seen: Seen, old: bool| to.blocking_send(Message::Tail { source, seen, received: clock.wall(), old }).is_err();
        let past = |file: &mut std::fs::File, len: u64| {
            let past = back::look(file, len, &self.units, self.owner.as_deref(), self.rule);
            // What cannot be read here will be said by the first look.
            let Ok(past) = past else { return len };
            let _ = to.blocking_send(Message::Past { source, layout: past.layout, shift: past.shift });
            past.from
        };
        tail.begin(past, &mut |seen| gone |= send(seen, true));
        // All of it, in as many looks as that takes.
        let mut more = true;
        while more && !gone {
            more = false;
            tail.look(&mut |seen| {
                more |= matches!(seen, Seen::Bytes { .. });
                gone |= send(seen, true);
            });
        }
        let _ = to.blocking_send(Message::CaughtUp { source });
        while !gone && !over.load(Ordering::Relaxed) {
            std::thread::sleep(EVERY);
            tail.look(&mut |seen| gone |= send(seen, false));
        }
    }
}
