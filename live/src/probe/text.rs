//! A report for people.

use std::io::{self, Write};

use super::expect::{Expected, Verdict};
use super::seen::{Endpoint, Exposes};
use super::{Report, kv};

/// Writes a report. `families` lists every family.
pub fn write(report: &Report, families: bool, out: &mut dyn Write) -> io::Result<()> {
    for (i, endpoint) in report.endpoints.iter().enumerate() {
        if i > 0 {
            writeln!(out)?;
        }
        head(endpoint, out)?;
        if let Some(exposes) = &endpoint.exposes {
            body(exposes, families, out)?;
        }
    }
    if !report.expected.is_empty() {
        writeln!(out)?;
    }
    for expected in &report.expected {
        write_expected(expected, out)?;
    }
    Ok(())
}

fn head(endpoint: &Endpoint, out: &mut dyn Write) -> io::Result<()> {
    let mut name = endpoint.url.clone();
    if let Some(role) = &endpoint.role {
        let worker = endpoint.worker_id.as_ref().map_or_else(String::new, |w| format!("/{w}"));
        name = format!("{role}{worker} {name}");
    }
    let ms = endpoint.took_ns as f64 / 1e6;
    match &endpoint.failure {
        Some(failure) => writeln!(out, "{}: {} ({ms:.1} ms)", plain(&name), plain(&failure.what)),
        None => writeln!(out, "{}: {} bytes in {ms:.1} ms", plain(&name), kv::count(endpoint.bytes as f64)),
    }
}

fn body(exposes: &Exposes, all: bool, out: &mut dyn Write) -> io::Result<()> {
    for exporter in &exposes.exporters {
        let roles = if exporter.roles.is_empty() { String::new() } else { format!(" ({})", plain(&exporter.roles.join(", "))) };
        let name = format!("{}{roles}", exporter.name);
        writeln!(out, "  {name:<24} {:>4} families {:>6} series", exporter.families, exporter.series)?;
    }
    if exposes.bad_lines > 0 {
        writeln!(
            out,
            "  {} lines are no samples; {}",
            exposes.bad_lines,
            exposes.first_bad.as_deref().unwrap_or("the first is not known")
        )?;
    }
    if exposes.cut {
        writeln!(out, "  no `# EOF`: the body may be cut, and families missing")?;
    }
    let latency: Vec<_> = exposes.families.iter().filter(|f| f.latency).collect();
    if latency.is_empty() {
        writeln!(out, "  no latency family")?;
    }
    for family in latency {
        let observed = match family.observed {
            Some(n) => format!("observations in {n} of {}", family.label_sets),
            None => "no count served".to_string(),
        };
        writeln!(out, "  latency  {:<52} {} {} label sets, {observed}", plain(&family.name), family.kind.word(), family.label_sets)?;
    }
    for rank in &exposes.kv {
        let name = rank.name();
        writeln!(out, "  {}{}{}", plain(&name), if name.is_empty() { "" } else { ": " }, rank.line())?;
    }
    if exposes.kv.is_empty() {
        writeln!(out, "  KV: none of its gauges is served")?;
    }
    if all {
        for family in &exposes.families {
            let seen = if family.seen_as.is_empty() { String::new() } else { format!("  as {}", family.seen_as.join(", ")) };
            writeln!(out, "  family  {:<56} {:<10} {:>5} series{}", plain(&family.name), family.kind.word(), family.series, plain(&seen))?;
        }
    }
    Ok(())
}

fn write_expected(expected: &Expected, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}: {}", plain(&expected.name), expected.verdict.words())?;
    for found in &expected.found {
        let seen = if found.seen_as.is_empty() { String::new() } else { format!(" as {}", found.seen_as.join(", ")) };
        writeln!(out, "  {}: {} series{}", plain(&found.url), found.series, plain(&seen))?;
    }
    // Where it is found, its absence elsewhere is usual: it is of one role.
    let missing = if expected.verdict == Verdict::Found { &[][..] } else { &expected.missing };
    for missing in missing {
        writeln!(out, "  {}: {}", plain(&missing.url), missing.verdict.words())?;
        for reason in &missing.reasons {
            writeln!(out, "    {}", plain(&reason.to_string()))?;
        }
    }
    Ok(())
}

/// Without what a terminal would obey: servers choose names and labels.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control()
            || ('\u{200b}'..='\u{200f}').contains(&c)
            || ('\u{202a}'..='\u{202e}').contains(&c)
            || ('\u{2066}'..='\u{2069}').contains(&c)
        {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_of_a_server_do_not_reach_the_terminal() {
        assert_eq!(plain("a\u{1b}[31mb\u{202e}"), "a\\u{1b}[31mb\\u{202e}");
    }
}
