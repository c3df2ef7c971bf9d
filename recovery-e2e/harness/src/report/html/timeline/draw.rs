//! The drawing of a timeline.

use super::super::markup::Markup;
use super::lanes::{Bar, Beside, End, Lane, Lanes, Span};

/// The height of a row of bars.
const ROW: usize = 20;

/// The height of a bar.
const BAR: usize = 12;

/// Between two lanes.
const GAP: usize = 8;

/// What the phases take above the lanes, and the axis below them.
const EDGE: usize = 24;

/// The narrowest phase whose name is written, for each of its characters, in percent.
const LETTER: f64 = 0.75;

/// The pattern of what is held; timelines refer to it, so it is in the page once.
pub fn add_patterns(page: &mut Markup) {
    page.own(concat!(
        r#"<svg class="patterns" width="0" height="0" aria-hidden="true"><defs>"#,
        r#"<pattern id="held" width="6" height="6" patternUnits="userSpaceOnUse" "#,
        r#"patternTransform="rotate(45)"><rect class="held-ground" width="6" height="6"/>"#,
        r#"<rect class="held-stripe" width="3" height="6"/></pattern></defs></svg>"#,
    ));
}

/// Adds the drawing.
pub fn add(page: &mut Markup, timeline: &Lanes) {
    let tops: Vec<usize> = tops(&timeline.lanes);
    let bottom = tops.last().copied().unwrap_or(EDGE);
    let height = (bottom + EDGE).to_string();
    let count: usize = timeline.lanes.iter().map(|lane| lane.bars.len()).sum();
    let label = format!("Timeline of {count} requests; the table below has the same data");
    let region =
        [("class", "timeline"), ("role", "region"), ("aria-label", "Timeline"), ("tabindex", "0")];
    page.element("div", &region, |scroller| {
        let names =
            [("class", "names"), ("width", "112"), ("height", &*height), ("aria-hidden", "true")];
        scroller.element("svg", &names, |svg| {
            for (lane, top) in timeline.lanes.iter().zip(&tops) {
                let y = (top + ROW / 2).to_string();
                svg.leaf("text", &[("x", "0"), ("y", &y)], lane.class.name());
            }
        });
        let plot =
            [("class", "plot"), ("height", &*height), ("role", "group"), ("aria-label", &label)];
        scroller.element("svg", &plot, |svg| {
            for (n, span) in timeline.phases.iter().enumerate() {
                phase(svg, span, n, bottom);
            }
            for (lane, top) in timeline.lanes.iter().zip(&tops) {
                let y = top.to_string();
                svg.void("line", &[("class", "rule"), ("x2", "100%"), ("y1", &y), ("y2", &y)]);
                lane.bars.iter().for_each(|of_lane| bar(svg, of_lane, *top));
            }
            axis(svg, &timeline.ticks, bottom);
        });
    });
    legend(page);
}

/// Where each lane begins, and where the last one ends.
fn tops(lanes: &[Lane]) -> Vec<usize> {
    let height = |lane: &Lane| lane.rows * ROW + GAP;
    let next = |top: &mut usize, lane: &Lane| {
        *top += height(lane);
        Some(*top)
    };
    [EDGE].into_iter().chain(lanes.iter().scan(EDGE, next)).collect()
}

/// Its ground from top to bottom, and its name where there is room for it.
fn phase(svg: &mut Markup, Span { from, to, title }: &Span, n: usize, bottom: usize) {
    let (x, width) = (percent(*from), percent(to - from));
    let ground = if n.is_multiple_of(2) { "phase" } else { "phase odd" };
    let height = bottom.to_string();
    svg.element("g", &[], |g| {
        g.leaf("title", &[], &format!("phase: {title}"));
        g.void("rect", &[("class", ground), ("x", &x), ("width", &width), ("height", &height)]);
        if to - from > (title.chars().count() as f64 + 1.0) * LETTER {
            g.leaf("text", &[("class", "phase-name"), ("x", &x), ("dx", "6"), ("y", "12")], title);
        }
    });
}

fn bar(svg: &mut Markup, bar: &Bar, top: usize) {
    let Bar { at: Span { from, to, title }, row, end, held, fault, label } = bar;
    let middle = top + GAP / 2 + row * ROW + ROW / 2;
    let (y, height) = ((middle - BAR / 2).to_string(), BAR.to_string());
    let stretch = |svg: &mut Markup, class: &str, from: f64, to: f64| {
        let (x, width) = (percent(from), percent((to - from).max(0.0)));
        let place = [("x", &*x), ("y", &y), ("width", &width), ("height", &height)];
        let attributes: Vec<_> = [("class", class), ("rx", "2")].into_iter().chain(place).collect();
        svg.void("rect", &attributes);
    };
    svg.element("g", &[("role", "img")], |g| {
        g.leaf("title", &[], title);
        stretch(g, class(*end), *from, *to);
        if let Some((begin, end)) = held {
            stretch(g, "held", *begin, *end);
        }
        let y = middle.to_string();
        if let Some(at) = fault {
            g.void("circle", &[("class", "fault"), ("cx", &percent(*at)), ("cy", &y), ("r", "4")]);
        }
        if let Some((label, beside)) = label {
            let (anchor, x, dx) = match beside {
                Beside::Behind => ("behind", to, "7"),
                Beside::Before => ("before", from, "-7"),
                Beside::Upon => ("upon", from, "7"),
            };
            let class =
                if *end == End::Failed { format!("{anchor} bad") } else { anchor.to_owned() };
            let place = [("class", &*class), ("x", &percent(*x)), ("dx", dx), ("y", &y)];
            g.leaf("text", &place, label);
        }
    });
}

fn class(end: End) -> &'static str {
    match end {
        End::Answered => "bar answered",
        End::Failed => "bar failed",
        End::Aborted => "bar aborted",
        End::Open => "bar open",
    }
}

fn axis(svg: &mut Markup, ticks: &[(f64, f64)], bottom: usize) {
    let (foot, y) = ((bottom + 5).to_string(), (bottom + 15).to_string());
    let bottom = bottom.to_string();
    svg.void("line", &[("class", "axis"), ("x2", "100%"), ("y1", &bottom), ("y2", &bottom)]);
    for (n, (at, ms)) in ticks.iter().enumerate() {
        let x = percent(*at);
        let tick = [("class", "axis"), ("x1", &*x), ("x2", &x), ("y1", &bottom), ("y2", &foot)];
        svg.void("line", &tick);
        let is_first = n == 0;
        let class = if is_first { "tick first" } else { "tick" };
        let text = if is_first { "0 ms".to_owned() } else { short(*ms) };
        svg.leaf("text", &[("class", class), ("x", &x), ("y", &y)], &text);
    }
}

fn legend(page: &mut Markup) {
    page.element("p", &[("class", "legend"), ("aria-hidden", "true")], |p| {
        for (class, text) in [
            ("bar answered", "answered"),
            ("bar failed", "refused or broken"),
            ("bar aborted", "left by the browser"),
            ("bar open", "still open"),
            ("held", "held"),
        ] {
            key(p, text, |svg| {
                let place = [("class", class), ("y", "1"), ("width", "20"), ("height", "10")];
                svg.void("rect", &place);
            });
        }
        key(p, "a fault acted", |svg| {
            svg.void("circle", &[("class", "fault"), ("cx", "10"), ("cy", "6"), ("r", "4")]);
        });
    });
}

fn key(legend: &mut Markup, text: &str, shape: impl FnOnce(&mut Markup)) {
    legend.element("span", &[], |span| {
        span.element("svg", &[("width", "20"), ("height", "12")], shape);
        span.text(text);
    });
}

/// To a hundredth: finer than a pixel.
fn percent(value: f64) -> String {
    format!("{}%", short(value))
}

fn short(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
