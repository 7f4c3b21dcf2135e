//! For people: a section a question.

use std::io::{self, Write};

use super::{Answer, fact_name, range, reasons, requests, shown, values, verdict, whose};
use crate::diff::facts::State;
use crate::diff::figures;
use crate::diff::reps::{Found, Verdict};
use crate::diff::{Name, Windowed, facts};
use crate::render::evidence::shell;
use crate::render::metrics::{computed, seconds};
use crate::render::paint::{Paint, Tone};
use crate::render::safe::terminal;
use crate::render::shown::rfc3339;

/// So many series that only one run has are written; `--all` writes all.
const ALONE: usize = 20;

/// A longer value is cut; JSON has it.
const MAX_VALUE: usize = 200;

pub fn write(answer: &Answer<'_>, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
    for which in Name::BOTH {
        writeln!(out, "{}  {}", which.letter(), paint.tone(Tone::Place, &terminal(&answer.side(which).run)))?;
    }
    windows(answer, paint, out)?;
    facts(answer, paint, out)?;
    verdicts(answer, paint, out)?;
    metrics(answer, paint, out)?;
    support(answer, paint, out)?;
    alternatives(answer, paint, out)
}

fn head(title: &str, rest: &str, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out)?;
    let rest = if rest.is_empty() { String::new() } else { format!("  {rest}") };
    writeln!(out, "{}{rest}", paint.tone(Tone::Kind, title))
}

fn cut(text: &str) -> String {
    let safe = terminal(text);
    if safe.chars().count() <= MAX_VALUE { safe.into_owned() } else { format!("{}…", safe.chars().take(MAX_VALUE).collect::<String>()) }
}

fn windows(answer: &Answer<'_>, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
    head("WINDOWS", &terminal(&answer.a.window.asked), paint, out)?;
    for which in Name::BOTH {
        let window = &answer.side(which).window;
        let at = match window.span {
            Some((from, to)) => {
                format!("{} to {}, {}", rfc3339(from, 1_000_000), rfc3339(to, 1_000_000), seconds(to.saturating_sub(from)))
            }
            None => "nothing has a stamp".into(),
        };
        writeln!(out, "  {}  {at}; {}", which.letter(), requests(window))?;
        writeln!(out, "     found: {}", terminal(&window.how))?;
        scraped(window, paint, out)?;
    }
    Ok(())
}

fn scraped(window: &Windowed, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
    if window.scraped.is_empty() {
        return writeln!(out, "     scraped: no metrics were captured");
    }
    for one in &window.scraped {
        let of = if window.flags.is_empty() { "what the capture covers" } else { "the window" };
        let share = one.fraction.map_or("unknown".to_string(), |f| format!("{} % of {of}", computed((f * 1000.0).floor() / 10.0)));
        let target = if one.target.is_empty() { &one.capture } else { &one.target };
        let gap = one.gap.as_ref().map_or(String::new(), |gap| format!("; {gap}"));
        let line = format!("scraped: {target} {share}, {} scrapes{gap}", one.scrapes);
        let tone = if one.fraction == Some(1.0) { Tone::Dim } else { Tone::Warn };
        writeln!(out, "     {}", paint.tone(tone, &terminal(&line)))?;
    }
    Ok(())
}

fn facts(answer: &Answer<'_>, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
    let counts = answer.diff.counts();
    let of = |state: State| counts.get(&state).copied().unwrap_or(0);
    let mut parts = vec![format!("{} differ", of(State::Differs))];
    for (state, words) in [
        (State::OnlyA, "not said in B"),
        (State::OnlyB, "not said in A"),
        (State::Bounds, "only bounded"),
        (State::ByNature, "differ by nature"),
        (State::Equal, "equal"),
    ] {
        if of(state) > 0 {
            parts.push(format!("{} {words}", of(state)));
        }
    }
    let hidden = !answer.all && of(State::Bounds) + of(State::ByNature) + of(State::Equal) > 0;
    let more = if hidden { "; --all lists all" } else { "" };
    head("FACTS", &format!("{}{more}", parts.join(", ")), paint, out)?;
    for fact in answer.diff.facts.iter().filter(|f| answer.shows_fact(f)) {
        let state = if fact.state == State::Differs { String::new() } else { format!("  {}", fact.state.name()) };
        writeln!(out, "  {}{}", paint.tone(Tone::Kind, &terminal(&fact_name(fact))), paint.tone(Tone::Dim, &state))?;
        for which in Name::BOTH {
            side_of_fact(fact, which, paint, out)?;
        }
        if let Some(needs) = &fact.needs {
            writeln!(out, "    would be found in: {}", terminal(needs))?;
        }
    }
    if answer.diff.facts.iter().any(|f| answer.shows_fact(f)) {
        let commands: Vec<String> = Name::BOTH.iter().map(|n| format!("corr facts {}", shell(&answer.side(*n).run))).collect();
        writeln!(out, "  {}", paint.tone(Tone::Dim, &terminal(&commands.join("; "))))?;
    }
    Ok(())
}

fn side_of_fact(fact: &facts::Compared, which: Name, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
    if fact.of(which).is_empty() {
        return writeln!(out, "    {}  {}", which.letter(), values(fact, which));
    }
    for valued in fact.of(which) {
        let workers: Vec<&str> = valued.workers.iter().map(String::as_str).collect();
        let whose = if workers.is_empty() { String::new() } else { format!("  {}", workers.join(", ")) };
        let at = match &valued.cites[..] {
            [] => String::new(),
            [one] => one.cite.at(),
            [first, rest @ ..] => format!("{} +{}", first.cite.at(), rest.len()),
        };
        let place = paint.tone(Tone::Place, &terminal(&at));
        writeln!(out, "    {}  {}{}  {}  {place}", which.letter(), cut(&valued.value.to_string()), terminal(&whose), valued.basis.name())?;
    }
    Ok(())
}

fn verdicts(answer: &Answer<'_>, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
    let all = &answer.diff.verdicts;
    let differ = all.iter().filter(|v| !v.differs.is_empty()).count();
    let more = if !answer.all && differ < all.len() { "; --all lists all" } else { "" };
    head("VERDICTS", &format!("{differ} of {} edges differ{more}", all.len()), paint, out)?;
    for compared in all.iter().filter(|v| answer.all || !v.differs.is_empty()) {
        let what = if compared.differs.is_empty() { "equal".to_string() } else { compared.differs.join(", ") };
        writeln!(out, "  {}  {}: {what}", paint.tone(Tone::Kind, &terminal(&compared.edge)), terminal(&compared.title))?;
        for which in Name::BOTH {
            let said = compared.of(which);
            writeln!(out, "    {}  {}", which.letter(), terminal(&verdict(said)))?;
            let Some(said) = said else { continue };
            if let Some(why) = &said.why {
                writeln!(out, "       {}", terminal(why))?;
            }
            for line in reasons(said, &compared.differs) {
                writeln!(out, "       {}", terminal(&line))?;
            }
            for proof in &said.proofs {
                let line = format!("{}: {}", proof.signal, proof.cites.join(" … "));
                writeln!(out, "       {}", paint.tone(Tone::Place, &terminal(&line)))?;
            }
            for counter in said.counters.iter().filter(|c| c.moved()) {
                writeln!(out, "       {}", paint.tone(Tone::Place, &terminal(&counter.cites.join(" … "))))?;
            }
            writeln!(out, "       {}", paint.tone(Tone::Dim, &terminal(&said.reproduce)))?;
        }
    }
    Ok(())
}

fn metrics(answer: &Answer<'_>, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
    let all = &answer.diff.figures;
    let (both, single): (Vec<&figures::Compared>, Vec<&figures::Compared>) = all.iter().partition(|f| f.a.is_some() && f.b.is_some());
    let differ = both.iter().filter(|f| f.differs()).count();
    let unknown = both.iter().filter(|f| f.is_unknown()).count();
    let mut parts =
        vec![format!("{} series in both runs: {differ} differ, {} show no difference", both.len(), both.len() - differ - unknown)];
    if unknown > 0 {
        parts.push(format!("{unknown} unknown"));
    }
    let (a, b) = (single.iter().filter(|f| f.a.is_some()).count(), single.iter().filter(|f| f.b.is_some()).count());
    if a + b > 0 {
        parts.push(format!("{a} only in A, {b} only in B"));
    }
    let more = if !answer.all && differ < both.len() { "; --all lists all" } else { "" };
    let rest = if all.is_empty() { "no series of either run was asked for or found".into() } else { format!("{}{more}", parts.join(", ")) };
    head("METRICS", &rest, paint, out)?;
    for compared in both.iter().filter(|f| answer.shows_figure(f)) {
        series(compared, paint, out)?;
    }
    for (i, compared) in single.iter().enumerate() {
        if i == ALONE && !answer.all {
            writeln!(out, "  {} more series that only one run has; --all lists all", single.len() - i)?;
            break;
        }
        alone(compared, paint, out)?;
    }
    for (letter, families) in [("A", &answer.diff.alone.a), ("B", &answer.diff.alone.b)] {
        if !families.is_empty() {
            let list: Vec<&str> = families.iter().map(String::as_str).collect();
            writeln!(out, "  families of throughput and latency only in {letter}: {}", terminal(&list.join(", ")))?;
        }
    }
    Ok(())
}

fn series(compared: &figures::Compared, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
    let (Some(a), Some(b)) = (&compared.a, &compared.b) else { return Ok(()) };
    let other = if whose(a) == whose(b) { String::new() } else { format!(" and {}", whose(b)) };
    writeln!(out, "  {}  {}{}", paint.tone(Tone::Kind, &terminal(&a.spelled)), terminal(&whose(a)), terminal(&other))?;
    if a.spelled != b.spelled {
        writeln!(out, "    in B {} ({})", terminal(&b.spelled), terminal(&compared.how))?;
    }
    for which in Name::BOTH {
        let Some(figure) = compared.of(which) else { continue };
        writeln!(out, "    {}  {}", which.letter(), terminal(&figure.says))?;
        for note in &figure.notes {
            writeln!(out, "       {}", paint.tone(Tone::Warn, &terminal(note)))?;
        }
        writeln!(out, "       {}", paint.tone(Tone::Dim, &terminal(&figure.reproduce)))?;
    }
    for quantity in &compared.quantities {
        let of = |q: &Option<figures::Quantity>| range(q.as_ref().and_then(|q| q.range));
        let line = format!("{}: A {}, B {}: {}", quantity.name, of(&quantity.a), of(&quantity.b), shown(quantity.shown));
        writeln!(out, "    {}", if quantity.shown.differs() { paint.tone(Tone::Warn, &line) } else { line })?;
    }
    Ok(())
}

fn alone(compared: &figures::Compared, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
    for which in Name::BOTH {
        let Some(figure) = compared.of(which) else { continue };
        let title = format!("{}  {}", figure.spelled, whose(figure));
        let says = terminal(&figure.says);
        writeln!(out, "  only in {}  {}: {says}; {}", which.letter(), terminal(&title), terminal(&compared.how))?;
        writeln!(out, "       {}", paint.tone(Tone::Dim, &terminal(&figure.reproduce)))?;
    }
    Ok(())
}

fn support(answer: &Answer<'_>, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
    let support = &answer.diff.support;
    head("WHAT IT SUPPORTS", "", paint, out)?;
    if answer.diff.is_empty() {
        writeln!(out, "  no differences: no fact, verdict or figure of what was compared is shown to differ")?;
    }
    writeln!(out, "  {}", terminal(&support.says))?;
    if !support.lacks.is_empty() {
        let what = if support.repeated.is_some() { "but" } else { "to say more it lacks" };
        for lack in &support.lacks {
            writeln!(out, "  {what}: {}", terminal(lack))?;
        }
    }
    match &support.repeated {
        Some(found) => repeated(answer, found, paint, out),
        None => Ok(()),
    }
}

fn repeated(answer: &Answer<'_>, found: &Found, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
    let consistent = |v: &Verdict| matches!(v, Verdict::More | Verdict::Less);
    let mixed = found.rows.iter().filter(|r| !consistent(&r.verdict)).count();
    for row in found.rows.iter().filter(|r| answer.all || consistent(&r.verdict)) {
        let says = match row.verdict {
            Verdict::More => format!("consistent over {}: B more in each", found.design.words()),
            Verdict::Less => format!("consistent over {}: B less in each", found.design.words()),
            Verdict::Mixed { more, less, none, unknown } => {
                format!("not consistent: B more in {more}, less in {less}, no difference shown in {none}, unknown in {unknown}")
            }
        };
        let one = found.design.pairs.len() == 1;
        let says = if one { says.replacen("consistent over", "in", 1).replace(" in each", "") } else { says };
        let title = format!("{}  {}", row.what, row.quantity);
        writeln!(out, "  {}: {says}", paint.tone(Tone::Kind, &terminal(&title)))?;
        for (pair, compared) in found.design.pairs.iter().zip(&row.pairs) {
            let run = |i: usize| found.reps.get(i).map_or(String::new(), |r| format!("{} (order {})", r.run, r.order));
            let line =
                format!("A {} {}, B {} {}: {}", run(pair.a), range(compared.a), run(pair.b), range(compared.b), shown(compared.shown));
            writeln!(out, "    {}", terminal(&line))?;
            for command in compared.reproduce.iter().flatten() {
                writeln!(out, "       {}", paint.tone(Tone::Dim, &terminal(command)))?;
            }
        }
    }
    if !answer.all && mixed > 0 {
        writeln!(out, "  {mixed} figures are not consistent over all repetitions; --all lists them")?;
    }
    Ok(())
}

fn alternatives(answer: &Answer<'_>, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
    let all = &answer.diff.alternatives;
    if all.is_empty() {
        return Ok(());
    }
    head("WHAT ELSE MAY BE BEHIND IT", "", paint, out)?;
    for one in all {
        let how = if one.applies { paint.tone(Tone::Warn, "applies") } else { "not excluded".to_string() };
        writeln!(out, "  {how}  {}: {}", one.id, terminal(&one.says))?;
        if !one.cites.is_empty() {
            let cites = one.cites.iter().take(6).cloned().collect::<Vec<_>>().join(" … ");
            let more = if one.cites.len() > 6 { format!(" +{}", one.cites.len() - 6) } else { String::new() };
            writeln!(out, "    {}", paint.tone(Tone::Place, &terminal(&format!("{cites}{more}"))))?;
        }
    }
    Ok(())
}
