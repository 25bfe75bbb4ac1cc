use super::Rule;
use crate::advise::case::{Change, part, with_draws};
use crate::advise::facts::{Draw, Stream};
use crate::advise::{Case, Item};
use counters::model::LINE;
use counters::{Counts, Phase, Unit};

pub const RULE: Rule = Rule {
    id: "unused-attributes",
    title: "Vertices have bytes that the shader does not read",
    threshold: "a draw's shader reads less than 75 % of the bytes of a vertex buffer's stride, and its vertices have at least 16 KiB",
    why: "Vertices are fetched by cache line. Bytes of attributes that the shader does not read, or of padding, come along and cost as much \
          bandwidth as those that it reads. A depth or shadow pass that only needs positions is the usual case.",
    cure: "Put attributes that not all passes read into vertex buffers of their own: positions in one, the others in a second one. Leave out \
           unused attributes and padding.",
    source: "Attribute layout",
    find,
};

const READ: f64 = 0.75;
const BYTES: u64 = 16 << 10;

/// Cache lines that one vertex takes of a buffer.
pub struct Fetching {
    /// Of vertices side by side.
    pub dense: f64,
    /// Of a vertex alone: on average over where it lies.
    pub alone: f64,
    /// If only what is read were there.
    pub read: f64,
}

/// Bytes of a vertex that the shader reads.
fn read(d: &Draw, s: &Stream) -> u64 {
    let of = d.attributes.iter().filter(|a| a.binding == s.binding && a.read);
    of.map(|a| a.bytes as u64).sum()
}

pub fn fetching(d: &Draw, s: &Stream) -> Fetching {
    let line = LINE as f64;
    let of = d.attributes.iter().filter(|a| a.binding == s.binding && a.read);
    let first = of.clone().map(|a| a.offset).min().unwrap_or(0) as f64;
    let last = of.map(|a| a.offset + a.bytes).max().unwrap_or(0) as f64;
    let alone = (last - first + line - 4.0) / line;
    // Lines between two vertices that lie far apart are not fetched.
    let dense = (s.stride as f64 / line).min(alone);
    Fetching { dense, alone, read: read(d, s) as f64 / line }
}

/// The draw fetches this part of the lines of its vertices' attributes: all that it reads before rasterisation.
pub fn fetch(c: &mut Counts, by: f64) {
    for u in
        [Unit::LsReadPartial, Unit::LsL2ReadBeats, Unit::LsExtReadBeats, Unit::L2ReadLookups, Unit::ExtReads]
    {
        c[(Phase::Binning, u)] = part(c[(Phase::Binning, u)], by);
    }
}

fn find(rule: &'static Rule, case: &Case) -> Vec<Item> {
    let mut items = vec![];
    for p in &case.facts.passes {
        let wasteful = |d: &Draw, s: &Stream| {
            let many = d.vertices.distinct * s.stride as u64 >= BYTES;
            many && !s.per_instance && (read(d, s) as f64) < READ * s.stride as f64
        };
        let some = |n: &usize| p.draws[*n].streams.iter().any(|s| wasteful(&p.draws[*n], s));
        let draws: Vec<usize> = (0..p.draws.len()).filter(some).collect();
        if draws.is_empty() {
            continue;
        }
        let was = case.counts(p);
        let now = with_draws(was, p, &draws, |n, c| {
            let d = &p.draws[n];
            let each = d.streams.iter().filter(|s| !s.per_instance);
            let lines: f64 = each.clone().map(|s| fetching(d, s).dense).sum();
            let packed = |s: &Stream| if wasteful(d, s) { fetching(d, s).read } else { fetching(d, s).dense };
            fetch(c, each.map(packed).sum::<f64>() / lines.max(1e-9));
        });
        let gain = case.gain(
            &[Change { pass: p, was, now }],
            "the draws' attribute traffic if vertices were as large as what is read of them, in the schedule",
        );
        let about = draws.iter().map(|n| {
            let d = &p.draws[*n];
            let each = d.streams.iter().filter(|s| wasteful(d, s));
            let each: Vec<String> = each
                .map(|s| format!("binding {}: reads {} of {} bytes", s.binding, read(d, s), s.stride))
                .collect();
            let unread = d.attributes.iter().filter(|a| !a.read);
            let unread: Vec<String> = unread.map(|a| format!("{} ({})", a.location, a.format)).collect();
            let unread = if unread.is_empty() {
                String::new()
            } else {
                format!("; unread locations {}", unread.join(", "))
            };
            case.draw(p, *n, format!("{} vertices; {}{unread}", d.vertices.distinct, each.join(", ")))
        });
        items.push(Item {
            rule,
            says: format!(
                "{} less than 75 % of the bytes of a vertex.",
                case.draws_of(p, draws.len(), "reads", "read")
            ),
            cure: None,
            about: about.collect(),
            more: 0,
            lines: vec![],
            gain,
        });
    }
    items
}
