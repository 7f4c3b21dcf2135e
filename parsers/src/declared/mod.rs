//! Formats that users declare: a pattern or JSON keys, what their parts are, and samples that must parse as they say. See README.md beside this file.
//!
//! A [`Definition`] is data. [`load`] compiles it, tries it on its own samples, and gives a [`Format`] like any other: nothing outside this
//! folder knows that its functions look into a table.

mod check;
mod compiled;
mod definition;
mod json_form;
mod registry;
mod stamps;
#[cfg(test)]
mod tests;
mod text_form;

pub use definition::{Definition, OneOrMany, Part, Problem, Sample, Scalar};
pub use registry::{MAX, definition, kinds, load, loaded, written};

use crate::format::Format;
use crate::records;

/// The order in which heads are tried: a user's format before the built-in ones that it is declared `over`, all others behind the
/// built-in ones, and the general JSON format last.
///
/// `built_in`: as detection ranked them. Without user formats their order stays as it is.
pub fn ordered(built_in: Vec<&'static Format>, user: &[&'static Format]) -> Vec<&'static Format> {
    if user.is_empty() {
        return built_in;
    }
    let over = |format: &'static Format| definition(format).map_or(&[][..], |d| &d.over[..]);
    let beaten = |f: &&'static Format| user.iter().any(|u| over(u).iter().any(|name| name == f.name));
    let general = |f: &&'static Format| f.name == records::JSON.name;
    let of = |test: &dyn Fn(&&'static Format) -> bool| built_in.iter().copied().filter(|f| test(f)).collect::<Vec<_>>();
    let mut order = of(&|f| !beaten(f) && !general(f));
    order.extend(user.iter().copied().filter(|u| !over(u).is_empty()));
    order.extend(of(&|f| beaten(f) && !general(f)));
    order.extend(user.iter().copied().filter(|u| over(u).is_empty()));
    order.extend(of(&|f| general(f)));
    order
}
