//! Below the table: what shows each edge, what cannot be proven and what would prove it.

use std::collections::BTreeMap;
use std::io::{self, Write};

use corr_evidence::definition::Signal;
use corr_evidence::verdict::{Attribution, Counter, Missing, Proof, Verdict};

use super::json::reproduce;
use super::{Edged, UNPROVABLE, figure};
use crate::render::number::grouped;
use crate::render::paint::{Paint, Tone};
use crate::render::safe::terminal;

/// For people: with `explain` every edge's proofs, else what is missing, gathered.
pub fn text(edged: &Edged<'_>, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
    if edged.explain {
        for verdict in edged.verdicts() {
            writeln!(out)?;
            edge(edged, verdict, paint, out)?;
        }
        beside(edged, out)?;
        joins(edged, out)?;
        return warnings(edged, paint, out);
    }
    beside(edged, out)?;
    warnings(edged, paint, out)?;
    unprovable(edged, paint, out)
}

fn edge(edged: &Edged<'_>, verdict: &Verdict, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
    let Some(edge) = edged.evidence.edges.edges().get(verdict.edge) else { return Ok(()) };
    writeln!(out, "{}  {}  {}", paint.tone(Tone::Kind, &terminal(&edge.id)), terminal(&edge.title), verdict.activity.name())?;
    if let Some(why) = &verdict.why {
        writeln!(out, "  {}", terminal(why))?;
    }
    for found in &verdict.proofs {
        proof(edged, "shown by", found, paint, out)?;
    }
    counters(edged, verdict, paint, out)?;
    for found in &verdict.hints {
        proof(edged, "consistent with it, and no proof:", found, paint, out)?;
    }
    for disagreement in verdict.disagreements.iter().take(5) {
        let (_, one, cite) = &disagreement.one;
        let (_, other, other_cite) = &disagreement.other;
        writeln!(
            out,
            "  conflict for {}: {} ({}) against {} ({})",
            terminal(&disagreement.request),
            figure(*one),
            terminal(&edged.evidence.locator(*cite)),
            figure(*other),
            terminal(&edged.evidence.locator(*other_cite))
        )?;
    }
    to_whom("request", &verdict.request, out)?;
    to_whom("session", &verdict.session, out)?;
    let missing: Vec<String> = verdict.missing.iter().filter_map(|m| absent(edged, m)).collect();
    if !missing.is_empty() {
        writeln!(out, "  not there: {}", terminal(&missing.join("; ")))?;
    }
    for text in &edge.beware {
        writeln!(out, "  {} {}", paint.tone(Tone::Warn, "beware:"), terminal(text))?;
    }
    Ok(())
}

/// An instrument that could have shown an edge: `the request trace (not captured)`.
pub fn absent(edged: &Edged<'_>, missing: &Missing) -> Option<String> {
    let title = &edged.evidence.edges.instruments().get(missing.instrument)?.title;
    let cite = missing.cite.map_or(String::new(), |c| format!(" by {}", edged.evidence.locator(c)));
    Some(format!("{title} ({}{cite})", missing.why))
}

fn proof(edged: &Edged<'_>, how: &str, proof: &Proof, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
    let Some(signal) = edged.evidence.edges.get(proof.signal) else { return Ok(()) };
    writeln!(out, "  {how} {}: {}", terminal(&signal.id), terminal(&proof_words(edged, signal, proof)))?;
    let cites: Vec<String> = proof.cites.iter().map(|c| edged.evidence.locator(*c)).collect();
    if !cites.is_empty() {
        writeln!(out, "    {}", paint.tone(Tone::Dim, &terminal(&cites.join(" … "))))?;
    }
    if !signal.does_not_prove.is_empty() {
        writeln!(out, "    does not prove: {}", terminal(&signal.does_not_prove))?;
    }
    if let Some(command) = reproduce(edged, signal, proof) {
        writeln!(out, "    {}", paint.tone(Tone::Dim, &terminal(&command)))?;
    }
    Ok(())
}

/// Counters that are proof, and others that moved; of others that stood still how many there are. A gap is said once.
fn counters(edged: &Edged<'_>, verdict: &Verdict, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
    let direct = |c: &Counter| edged.evidence.edges.get(c.signal).is_some_and(|s| s.direct);
    let mut gaps: Vec<(&str, &str)> = Vec::new();
    for counter in verdict.counters.iter().filter(|c| direct(c) || c.moved()) {
        self::counter(edged, counter, paint, out)?;
        // Of what is not known its own words say why.
        let gap = counter.gap.as_deref().filter(|_| counter.inner.is_some()).map(|gap| (counter.endpoint.as_str(), gap));
        gaps.extend(gap.filter(|gap| !gaps.contains(gap)));
    }
    let others = || verdict.counters.iter().filter(|c| !direct(c) && !c.moved());
    let (still, unknown) = (others().filter(|c| c.inner.is_some()).count(), others().filter(|c| c.inner.is_none()).count());
    if still > 0 {
        writeln!(out, "  consistent with it, and no proof: {still} more counters, none of which moved")?;
    }
    if unknown > 0 {
        writeln!(out, "  consistent with it, and no proof: {unknown} more counters, of which nothing is known here")?;
    }
    for (endpoint, gap) in gaps {
        writeln!(out, "  {}: {}", terminal(endpoint), terminal(gap))?;
    }
    Ok(())
}

fn counter(edged: &Edged<'_>, counter: &Counter, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
    let Some(signal) = edged.evidence.edges.get(counter.signal) else { return Ok(()) };
    let direct = if signal.direct { "counter" } else { "consistent with it, and no proof: counter" };
    writeln!(out, "  {direct} {}", terminal(&counter_words(signal, counter)))?;
    for cite in &counter.cites {
        writeln!(out, "    {}", paint.tone(Tone::Dim, &terminal(cite)))?;
    }
    Ok(())
}

fn to_whom(what: &str, of: &Attribution, out: &mut dyn Write) -> io::Result<()> {
    let lines = attributed(of);
    let Some((first, rest)) = lines.split_first() else { return Ok(()) };
    writeln!(out, "  {what}: {first}")?;
    for line in rest {
        writeln!(out, "    {}", terminal(line))?;
    }
    Ok(())
}

/// To whom it happened: of how many that is proven, why it is not of the others, and what would prove it. Empty where there is nobody.
pub fn attributed(of: &Attribution) -> Vec<String> {
    let (first, rest, needs) = match of {
        Attribution::Nothing => return Vec::new(),
        Attribution::Proven { k, n, rest, needs } => (format!("proven {k} of {n}"), rest, needs.as_deref()),
        Attribution::Unprovable { n, reasons, needs } => {
            (format!("{UNPROVABLE}{}", n.map_or(String::new(), |n| format!(" of {n}"))), reasons, Some(needs.as_str()))
        }
    };
    let reason = |(reason, count): (&String, &usize)| {
        let count = if *count > 0 { format!("{count} {UNPROVABLE}: ") } else { String::new() };
        format!("{count}{reason}")
    };
    let needs = needs.filter(|n| !n.is_empty()).map(|needs| format!("needs: {needs}"));
    [first].into_iter().chain(rest.iter().map(reason)).chain(needs).collect()
}

/// What a signal shows: `40 records of 40 requests, 1 024 tokens`, and which records of it are not those of the window, or are not counted.
pub fn proof_words(edged: &Edged<'_>, signal: &Signal, proof: &Proof) -> String {
    let amount = proof.amount.map_or(String::new(), |a| format!(", {} {}", figure(a), signal.counts));
    let requests = if proof.requests > 0 { format!(" of {} requests", grouped(proof.requests)) } else { String::new() };
    let mut text = format!("{} records{requests}{amount}", grouped(proof.records));
    if proof.outside > 0 {
        text.push_str(&format!("; {} of these records lie outside of the window", grouped(proof.outside)));
    }
    if proof.of_others > 0 {
        text.push_str(&format!("; {} more in the window are of requests that were first seen outside of it", grouped(proof.of_others)));
    }
    for copy in &proof.copies {
        let name = edged.evidence.sources.sources.get(*copy as usize).map_or("", |s| s.name.as_str());
        text.push_str(&format!("; {name} holds the same records, which are not counted again"));
    }
    text
}

/// What a counter did: its series, whose it is, and how much it counted.
pub fn counter_words(signal: &Signal, counter: &Counter) -> String {
    let unit = &signal.counts;
    let counted = match (counter.inner, counter.outer) {
        _ if counter.never_seen && counter.inner.is_some() => format!("0 {unit}, as no scrape has it while its family is there"),
        (Some(least), Some(most)) if least == most => format!("{} {unit}", figure(least)),
        (Some(least), Some(most)) => format!("at least {}, at most {} {unit}", figure(least), figure(most)),
        (Some(least), None) if least > 0.0 => format!("at least {} {unit}", figure(least)),
        (Some(_), None) => format!("0 {unit} between its first and its last sample"),
        (None, most) => {
            let most = most.map_or(String::new(), |most| format!(", at most {} {unit}", figure(most)));
            format!("unknown, not zero ({}){most}", counter.gap.as_deref().unwrap_or("no two samples of it"))
        }
    };
    let base = if counter.base > 0.0 { format!("; {} before the first sample of a process", figure(counter.base)) } else { String::new() };
    let whose = counter.worker.as_ref().map_or(counter.endpoint.clone(), |w| format!("{w} ({})", counter.endpoint));
    let resets = if counter.resets > 0 { format!("; reset {} times", counter.resets) } else { String::new() };
    format!("{} of {whose}: {counted}{base}{resets}", counter.series)
}

/// Shares, and what was held against each other.
fn beside(edged: &Edged<'_>, out: &mut dyn Write) -> io::Result<()> {
    if !edged.only.is_empty() {
        return Ok(());
    }
    if !edged.judged.shares.is_empty() || !edged.judged.comparisons.is_empty() {
        writeln!(out)?;
    }
    for share in &edged.judged.shares {
        let quotient = if share.below > 0.0 { format!("{:.3}", share.above / share.below) } else { "-".into() };
        writeln!(
            out,
            "{}: {quotient} = {} of {} tokens, {} requests: {}",
            terminal(&share.of.id),
            figure(share.above),
            figure(share.below),
            grouped(share.requests as u64),
            terminal(&share.of.says)
        )?;
        cites(edged, &share.cites, out)?;
    }
    for found in &edged.judged.comparisons {
        let differ = found.requests - found.agree;
        let conflict = if differ > 0 && found.of.independent { "conflict: " } else { "" };
        writeln!(
            out,
            "{}: {conflict}{} of {} requests agree ({} against {}): {}",
            terminal(&found.of.id),
            grouped(found.agree as u64),
            grouped(found.requests as u64),
            figure(found.left),
            figure(found.right),
            terminal(&found.of.says)
        )?;
        for one in found.differ.iter().take(if edged.explain { 5 } else { 1 }) {
            writeln!(
                out,
                "  {}: {} ({}) against {} ({})",
                terminal(&one.request),
                figure(one.left),
                terminal(&edged.evidence.locator(one.left_cite)),
                figure(one.right),
                terminal(&edged.evidence.locator(one.right_cite))
            )?;
        }
    }
    Ok(())
}

fn cites(edged: &Edged<'_>, cites: &[corr_evidence::ledger::Cite], out: &mut dyn Write) -> io::Result<()> {
    let cites: Vec<String> = cites.iter().take(2).map(|c| edged.evidence.locator(*c)).collect();
    if cites.is_empty() { Ok(()) } else { writeln!(out, "  {}", terminal(&cites.join(" … "))) }
}

/// How many requests of one source another one knows, and ids that clients used more than once.
fn joins(edged: &Edged<'_>, out: &mut dyn Write) -> io::Result<()> {
    if !edged.only.is_empty() {
        return Ok(());
    }
    let evidence = edged.evidence;
    let name = |l: usize| {
        let source = evidence.ledgers.get(l).and_then(|l| evidence.sources.sources.get(l.source as usize));
        source.map_or(String::new(), |s| terminal(&s.name).into_owned())
    };
    if !edged.judged.joins.is_empty() {
        writeln!(out)?;
    }
    for join in &edged.judged.joins {
        writeln!(out, "joined by id: {} of {} requests of {} are in {}", join.common, join.requests, name(join.of), name(join.with))?;
    }
    for (x, requests) in &edged.judged.shared {
        let names: Vec<&str> = requests.iter().filter_map(|no| Some(evidence.identity.requests.get(*no)?.name())).collect();
        writeln!(
            out,
            "x-request-id {} is borne by {} requests ({}): that one is a retry of another is {UNPROVABLE}",
            terminal(x),
            requests.len(),
            terminal(&names.join(", "))
        )?;
    }
    Ok(())
}

/// Rules of the trade that this run would let someone fall for.
fn warnings(edged: &Edged<'_>, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
    let meant = |edge: Option<usize>| edged.only.is_empty() || edge.is_some_and(|e| edged.only.contains(&e));
    let mut first = true;
    for warning in edged.judged.warnings.iter().filter(|w| meant(w.edge)) {
        if std::mem::take(&mut first) {
            writeln!(out)?;
        }
        let edge = warning.edge.and_then(|e| edged.evidence.edges.edges().get(e)).map_or("run", |e| e.id.as_str());
        writeln!(out, "{} {}: {}", paint.tone(Tone::Warn, "beware"), terminal(edge), terminal(&warning.says))?;
        cites(edged, &warning.cites, out)?;
    }
    Ok(())
}

/// What is unprovable: by `request` or `session` and the one measurement that would prove it, the edges that need it.
pub fn needed<'e>(edged: &'e Edged<'_>) -> BTreeMap<(&'static str, &'e str), Vec<&'e str>> {
    let mut by: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
    for verdict in edged.verdicts() {
        for (what, of) in [("request", &verdict.request), ("session", &verdict.session)] {
            let needs = match of {
                Attribution::Proven { needs, .. } => needs.as_deref(),
                Attribution::Unprovable { needs, .. } => Some(needs.as_str()),
                Attribution::Nothing => None,
            };
            if let Some(needs) = needs {
                by.entry((what, needs)).or_default().push(edged.id(verdict));
            }
        }
    }
    by
}

/// Each measurement that is missing, once, with the edges that need it.
fn unprovable(edged: &Edged<'_>, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
    let by = needed(edged);
    if by.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    for ((what, needs), edges) in by {
        writeln!(out, "{} by {what}: {}", paint.tone(Tone::Bad, UNPROVABLE), terminal(&edges.join(", ")))?;
        writeln!(out, "  needs: {}", terminal(needs))?;
    }
    let run = edged.source;
    writeln!(out)?;
    writeln!(out, "`corr edges {run} --explain` gives every proof with its citations and what is not there")
}

/// A word as a shell takes it.
pub fn shell(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:@%,".contains(c);
    if !word.is_empty() && word.chars().all(plain) { word.to_string() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}
