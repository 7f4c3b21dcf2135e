//! Series as pictures: one a family, gaps as gaps, marks of the timeline above. The plotting library is given numbers and this program's own words; names of
//! series stand in the HTML beside.

use plotters::coord::Shift;
use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint, Ranged};
use plotters::prelude::*;

use super::{cites, panel};
use crate::render::html::Html;
use crate::render::metrics::computed;
use crate::render::number::grouped;
use crate::render::shown::rfc3339;
use crate::report::{GapRow, Plot, PlotMark, Plots, Records};

/// Pixels of a picture; twice of what it is shown at, since places are whole pixels.
const SIZE: (u32, u32) = (1_800, 420);
/// Colours that people with any colour vision can tell apart; the page gives each a dash of its own, and lighter ones in the dark.
const COLOURS: [RGBColor; 6] = [
    RGBColor(0x00, 0x72, 0xb2),
    RGBColor(0xd5, 0x5e, 0x00),
    RGBColor(0x00, 0x9e, 0x73),
    RGBColor(0xcc, 0x79, 0xa7),
    RGBColor(0xe6, 0x9f, 0x00),
    RGBColor(0x56, 0xb4, 0xe9),
];
const MESH: RGBColor = RGBColor(0xdd, 0xdd, 0xdd);
const INK: RGBColor = RGBColor(0x33, 0x33, 0x33);
const GAP: RGBColor = RGBColor(0x99, 0x99, 0x99);
/// Gaps that are named below a picture.
const GAPS: usize = 8;

/// All plots.
pub fn series(plots: &Plots, axis: Option<(i64, i64)>) -> Html {
    panel("series", "Series", |html| {
        for why in &plots.none {
            html.element("p", &[("class", "warn")], |html| {
                html.raw("<b>Not drawn:</b> ").text(why);
            });
        }
        let Some(axis) = axis.filter(|_| !plots.plots.is_empty()) else {
            html.raw("<p>No series has a sample here.</p>");
            return;
        };
        html.raw("<p>A line joins samples that follow each other; where nothing was scraped, and where a counter fell, there is none. Records of logs are points. ");
        html.raw(
            "Grey: nothing was scraped. Letters above: marks of the timeline (S start, L loaded, R ready, N not ready, O outage, T stop, F failure, G gap in a log).</p>",
        );
        for plot in &plots.plots {
            figure(html, plot, &plots.marks, axis);
        }
        if !plots.left_out.is_empty() {
            html.element("p", &[("class", "note")], |html| {
                html.raw("Left out: ")
                    .text(&plots.left_out.join(", "))
                    .raw(". <code>corr report RUN --series NAME</code> plots what is named.");
            });
        }
    })
}

fn figure(html: &mut Html, plot: &Plot, marks: &[PlotMark], axis: (i64, i64)) {
    html.element("figure", &[("class", "plot")], |html| {
        html.element("figcaption", &[], |html| {
            html.with_text("code", &[], &plot.family).raw(" ").with_text("span", &[("class", "note")], plot.what);
            html.raw(" <span class=\"note\">· ").text(&plot.capture).raw("</span>");
            if let Some(help) = &plot.help {
                html.raw("<br>").with_text("span", &[("class", "note")], help);
            }
        });
        match picture(plot, marks, axis) {
            Ok(svg) => {
                let label = format!("{} against time, {} lines", plot.family, plot.lines.len());
                html.element("div", &[("role", "img"), ("aria-label", &label)], |html| {
                    html.drawn(&svg);
                });
            }
            Err(why) => {
                html.element("p", &[("class", "warn")], |html| {
                    html.raw("it cannot be drawn: ").text(&why);
                });
            }
        }
        html.element("ul", &[("class", "legend")], |html| {
            for (i, line) in plot.lines.iter().enumerate() {
                html.element("li", &[], |html| {
                    key(html, i, line.joined);
                    html.raw(" ").text(&line.name).raw(" <span class=\"note\">").text(&grouped(line.samples)).raw(" samples");
                    if line.reduced {
                        html.raw(", of each 300th of the axis the first, least, greatest and last");
                    }
                    html.raw("</span> ");
                    cites::one(html, &line.cite, &Records::default());
                });
            }
        });
        if plot.lines_left_out > 0 {
            html.element("p", &[("class", "note")], |html| {
                html.text(&grouped(plot.lines_left_out)).raw(" more series of this family are left out, those that move first.");
            });
        }
        gaps(html, &plot.gaps, plot.gaps_left_out);
        if let Some(note) = &plot.note {
            html.with_text("p", &[("class", "note")], note);
        }
    });
}

/// How a line, or a point of it, looks.
fn key(html: &mut Html, i: usize, joined: bool) {
    let colour = COLOURS.get(i % COLOURS.len()).map_or(String::new(), |RGBColor(r, g, b)| format!("#{r:02X}{g:02X}{b:02X}"));
    html.element("svg", &[("class", "key"), ("viewBox", "0 0 34 10"), ("aria-hidden", "true")], |html| {
        match (joined, i % 3) {
            (true, _) => html.empty("polyline", &[("points", "1,5 33,5"), ("fill", "none"), ("stroke", &colour), ("stroke-width", "3")]),
            (false, 0) => html.empty("circle", &[("cx", "17"), ("cy", "5"), ("r", "4"), ("fill", &colour)]),
            (false, 1) => html.empty("polygon", &[("points", "17,0 22,9 12,9"), ("fill", &colour)]),
            (false, _) => html.empty("path", &[("d", "M13 1 L21 9 M21 1 L13 9"), ("stroke", &colour), ("stroke-width", "2")]),
        };
    });
}

fn gaps(html: &mut Html, gaps: &[GapRow], left_out: u64) {
    if gaps.is_empty() {
        return;
    }
    html.element("p", &[("class", "note")], |html| {
        html.raw("Nothing was scraped: ");
        for (i, gap) in gaps.iter().take(GAPS).enumerate() {
            html.raw(if i > 0 { "; " } else { "" }).text(&gap.words).raw(": ").text(&gap.cause);
        }
        let more = gaps.len().saturating_sub(GAPS) as u64 + left_out;
        if more > 0 {
            html.raw("; and ").text(&grouped(more)).raw(" more");
        }
        if left_out > 0 {
            html.raw(", of which the ").text(&grouped(left_out)).raw(" shortest are not drawn");
        }
    });
}

/// An SVG of a plot.
fn picture(plot: &Plot, marks: &[PlotMark], axis: (i64, i64)) -> Result<String, String> {
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        draw(&root, plot, marks, axis).map_err(|error| error.to_string())?;
        root.present().map_err(|error| error.to_string())?;
    }
    Ok(svg)
}

type Area<'s> = DrawingArea<SVGBackend<'s>, Shift>;

fn draw(root: &Area<'_>, plot: &Plot, marks: &[PlotMark], axis: (i64, i64)) -> Result<(), Box<dyn std::error::Error>> {
    // Seconds since the axis began: what is drawn needs no more digits than that.
    let seconds = |at: i64| at.saturating_sub(axis.0) as f64 / 1e9;
    let length = seconds(axis.1).max(1e-9);
    let Some((low, high)) = range(plot) else { return Err("its values are too large for one axis".into()) };
    let ticks = ticks(axis);
    let points: Vec<f64> = ticks.iter().map(|at| seconds(*at)).collect();
    let step = ticks.iter().zip(ticks.iter().skip(1)).map(|(a, b)| b.saturating_sub(*a)).next().unwrap_or(1_000_000_000);
    let mut chart = ChartBuilder::on(root)
        .margin_top(34)
        .margin_right(28)
        .margin_left(4)
        .x_label_area_size(44)
        .y_label_area_size(130)
        .build_cartesian_2d(Axis { from: 0.0, to: length, points }, Axis { from: low, to: high, points: levels(low, high) })?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .bold_line_style(MESH.stroke_width(2))
        .light_line_style(MESH.mix(0.0))
        .axis_style(INK.stroke_width(2))
        .label_style(("sans-serif", 24).into_font().color(&INK))
        .y_label_formatter(&|value| computed(*value))
        .x_label_formatter(&|at| clock(axis.0.saturating_add((*at * 1e9).round() as i64), step))
        .draw()?;
    let inside = |at: i64| seconds(at).clamp(0.0, length);
    for gap in &plot.gaps {
        let corners = [(inside(gap.from), low), (inside(gap.to), high)];
        chart.draw_series([Rectangle::new(corners, GAP.mix(0.25).filled())])?;
    }
    let mut lettered = i32::MIN;
    for mark in marks.iter().filter(|mark| (axis.0..=axis.1).contains(&mark.at)) {
        let at = inside(mark.at);
        chart.draw_series([PathElement::new(vec![(at, low), (at, high)], INK.mix(0.35).stroke_width(2))])?;
        let (x, _) = chart.backend_coord(&(at, high));
        // Letters over one another say nothing; the lines stand.
        if x < lettered.saturating_add(20) {
            continue;
        }
        lettered = x;
        root.draw(&Text::new(letter(mark.name), (x - 7, 6), ("sans-serif", 24).into_font().color(&INK)))?;
    }
    for (i, (line, colour)) in plot.lines.iter().zip(COLOURS.iter().cycle()).enumerate() {
        for piece in &line.pieces {
            let points: Vec<(f64, f64)> = piece.iter().map(|(at, value)| (seconds(*at), *value)).collect();
            if line.joined && points.len() > 1 {
                chart.draw_series([PathElement::new(points, colour.stroke_width(4))])?;
                continue;
            }
            match i % 3 {
                0 => chart.draw_series(points.iter().map(|point| Circle::new(*point, 5, colour.filled())))?,
                1 => chart.draw_series(points.iter().map(|point| TriangleMarker::new(*point, 7, colour.filled())))?,
                _ => chart.draw_series(points.iter().map(|point| Cross::new(*point, 5, colour.stroke_width(3))))?,
            };
        }
    }
    Ok(())
}

/// Seconds since the report's axis began, or values, labelled at points that are chosen here: those of the plotting library are without end, or tens of
/// thousands, where two numbers next to each other are all there is to show.
struct Axis {
    from: f64,
    to: f64,
    points: Vec<f64>,
}

impl Ranged for Axis {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (left, right): (i32, i32)) -> i32 {
        left + ((value - self.from) / (self.to - self.from) * f64::from(right - left)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.points.clone()
    }

    fn range(&self) -> std::ops::Range<f64> {
        self.from..self.to
    }
}

fn letter(mark: &str) -> &'static str {
    match mark {
        "start" => "S",
        "ready" => "R",
        "stop" => "T",
        "failure" => "F",
        "gap" => "G",
        "loaded" => "L",
        "not ready" => "N",
        "outage" => "O",
        _ => "·",
    }
}

/// From the least to the greatest value; from zero where none is below. `None` where that is no number.
fn range(plot: &Plot) -> Option<(f64, f64)> {
    let values = || plot.lines.iter().flat_map(|line| line.pieces.iter().flatten()).map(|point| point.1);
    let low = values().fold(0.0f64, f64::min);
    let high = values().fold(f64::MIN, f64::max).max(low);
    let top = if high > low { low + (high - low) * 1.05 } else { low + low.abs().max(1.0) };
    (top - low).is_finite().then_some((low, top))
}

/// Labels of values, at most.
const LEVELS: u8 = 5;

/// Values that are labelled: round ones.
fn levels(low: f64, high: f64) -> Vec<f64> {
    let length = high - low;
    let exponent = (length / f64::from(LEVELS)).log10().floor();
    // By a power of ten that is whole: 3 / 10 is 0.3, and 3 × 0.1 is not.
    let power = 10f64.powf(exponent.abs());
    let of = |whole: f64| if exponent < 0.0 { whole / power } else { whole * power };
    let Some(unit) = [1.0, 2.0, 5.0, 10.0].into_iter().find(|unit| length / of(*unit) <= f64::from(LEVELS)) else { return vec![low] };
    let first = (low / of(unit)).ceil();
    let all = (0..=LEVELS).map(|i| of((first + f64::from(i)) * unit));
    let mut points: Vec<f64> = all.filter(|value| (low..=high).contains(value)).collect();
    points.dedup();
    points
}

const SECOND: i64 = 1_000_000_000;
const STEPS: &[i64] = &[
    1_000_000,
    10_000_000,
    100_000_000,
    SECOND,
    2 * SECOND,
    5 * SECOND,
    10 * SECOND,
    30 * SECOND,
    60 * SECOND,
    120 * SECOND,
    300 * SECOND,
    600 * SECOND,
    1_800 * SECOND,
    3_600 * SECOND,
    7_200 * SECOND,
    21_600 * SECOND,
    86_400 * SECOND,
    7 * 86_400 * SECOND,
];
/// Labels that stand beside each other.
const TICKS: i64 = 9;

/// Instants that are labelled: round ones.
fn ticks((from, to): (i64, i64)) -> Vec<i64> {
    let length = to.saturating_sub(from);
    let step = STEPS.iter().copied().find(|step| length / step <= TICKS).unwrap_or(length.max(1));
    let first = from.saturating_add(step - 1).div_euclid(step).saturating_mul(step);
    (0..=TICKS + 1).map(|i| first.saturating_add(i.saturating_mul(step))).take_while(|at| *at <= to).collect()
}

/// The time of day, or the day where ticks are that far apart.
fn clock(at: i64, step: i64) -> String {
    let text = rfc3339(at, if step < SECOND { 1_000_000 } else { SECOND });
    let (day, time) = text.split_once('T').unwrap_or(("", &text));
    if step >= 86_400 * SECOND { day.to_string() } else { time.trim_end_matches('Z').to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_few() {
        let from = 1_795_980_000 * SECOND + 300_000_000;
        let found = ticks((from, from + 95 * SECOND));
        assert_eq!(found.first().map(|at| at % (10 * SECOND)), Some(0));
        assert!((5..=10).contains(&found.len()), "{found:?}");
        assert_eq!(clock(from, 100_000_000), "19:20:00.300");
        assert!(ticks((0, i64::MAX)).len() <= 11);
    }

    #[test]
    fn values_that_no_axis_holds_are_said() {
        use crate::report::PlotLine;
        let drawn = |values: &[f64]| {
            let piece = (0i64..).map(|i| i * SECOND).zip(values.iter().copied()).collect();
            let line = PlotLine { pieces: vec![piece], joined: true, ..PlotLine::default() };
            picture(&Plot { lines: vec![line], ..Plot::default() }, &[], (0, 20 * SECOND))
        };
        let refused = Err("its values are too large for one axis".to_string());
        assert_eq!(drawn(&[0.0, f64::MAX]), refused);
        assert_eq!(drawn(&[f64::MAX]), refused);
        assert_eq!(drawn(&[-1e308, 1e308]), refused);
        assert_eq!(drawn(&[1.0, f64::INFINITY]), refused);
        // 1.05 times as much is a number still.
        assert!(drawn(&[0.0, 1.7e308]).is_ok_and(|svg| svg.contains("#0072B2")));
        assert!(drawn(&[-f64::MAX]).is_ok());
        // Numbers next to each other have few labels too.
        for values in [[-471.3671552180965f64; 2], [-3.7584839754678915e261; 2], [1e-300; 2], [5e-324, 0.0]] {
            let svg = drawn(&[values[0], values[1].next_up()]).expect("a picture");
            assert!(svg.matches("<text").count() < 20, "{values:?}");
        }
    }

    #[test]
    fn values_are_labelled_at_round_ones() {
        assert_eq!(levels(0.0, 105.0), [0.0, 50.0, 100.0]);
        assert_eq!(levels(0.0, 1.0), [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]);
        assert_eq!(levels(0.0, 0.315), [0.0, 0.1, 0.2, 0.3]);
        assert_eq!(levels(-1.3, 2.4), [-1.0, 0.0, 1.0, 2.0]);
        assert_eq!(levels(0.0, 8_400.0), [0.0, 2_000.0, 4_000.0, 6_000.0, 8_000.0]);
        assert_eq!(levels(1.0, 1.0f64.next_up()).len(), 2);
        for (low, high) in [(0.0, 1.7e308), (-1e300, (-1e300f64).next_up()), (0.0, 5e-324), (-f64::MAX, 0.0)] {
            assert!((1..=6).contains(&levels(low, high).len()), "{low} {high} {:?}", levels(low, high));
        }
    }

    #[test]
    fn a_gap_is_no_line() {
        use crate::report::PlotLine;
        let pieces = vec![vec![(0, 1.0), (SECOND, 2.0)], vec![(8 * SECOND, 3.0), (9 * SECOND, 4.0)], vec![(12 * SECOND, 1.0)]];
        let line = PlotLine { pieces, joined: true, ..PlotLine::default() };
        let gap = GapRow { from: SECOND, to: 8 * SECOND, ..GapRow::default() };
        let plot = Plot { lines: vec![line], gaps: vec![gap], ..Plot::default() };
        let svg = picture(&plot, &[], (0, 20 * SECOND)).expect("a picture");
        assert_eq!(svg.matches("stroke=\"#0072B2\"").count(), 2, "{svg}");
        assert_eq!((svg.matches("<circle").count(), svg.matches("fill=\"#999999\"").count()), (1, 1));
        assert!(!svg.contains("<script") && svg.starts_with("<svg"));
    }
}
