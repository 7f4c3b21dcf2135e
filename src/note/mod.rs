//! An incident note: a block of a Markdown file that corr writes and refreshes, and everything around it that is the user's.
//!
//! `block` finds blocks and tells whether somebody edited one, `diff` shows what would be lost; `body` and
//! `slack` say what stands in a block. Nothing here asks what time it is: the same run and the same question give the same bytes.

pub mod block;
pub mod body;
pub mod diff;
pub mod slack;
