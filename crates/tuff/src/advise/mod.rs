//! `tuff advise`: what to change in a captured program, why that costs time on a Mali, and what it would gain.
//!
//! Each rule looks at the facts and counts of a capture ([`case`]). What a change gains is not guessed from percentages: the counts are changed as
//! the cure would change them, and the schedule is run again (docs/advise.md).

mod case;
mod facts;
mod json;
mod lines;
mod markdown;
mod rules;
mod sarif;
mod text;

pub use case::Case;
pub use json::json;

use client::{Error, Result};
use lines::Line;
use rules::Rule;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
#[command(after_help = "Examples:
  tuff run --capture frames -- vkcube --c 20
  tuff advise frames
  tuff advise frames --rule overdraw --rule barriers
  tuff advise frames --markdown advice.md --sarif advice.sarif
  tuff advise --rules                             prints the rules with their reasons and thresholds

Gains are times of the modelled GPU (docs/model.md). An item whose gain is below 0.5 % of the captured time, traffic and memory
is not printed without --all.")]
pub struct Args {
    /// The folder of `run --capture`.
    #[arg(required_unless_present = "rules")]
    capture: Option<PathBuf>,
    /// Only these rules.
    #[arg(long, value_name = "RULE")]
    rule: Vec<String>,
    /// Also print items of little gain.
    #[arg(long)]
    all: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// Write the advice as Markdown.
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// Write the advice as SARIF 2.1.0, for code review tools.
    #[arg(long, value_name = "FILE")]
    sarif: Option<PathBuf>,
    /// Print all rules with their reasons and thresholds.
    #[arg(long)]
    rules: bool,
}

/// What the model expects of a change.
#[derive(Clone, Debug, Default)]
pub struct Gain {
    /// Nanoseconds of the captured time.
    pub ns: f64,
    /// To and from external memory.
    pub bytes: f64,
    /// That need not be allocated.
    pub memory: f64,
    /// How that was estimated.
    pub how: &'static str,
}

/// What an item is about.
#[derive(Clone, Debug)]
pub struct About {
    /// `draw`, `pass`, `dispatch`, `image`, `barrier` or `submission`.
    pub kind: &'static str,
    /// The application's; empty if it gave none.
    pub label: String,
    pub name: String,
    /// What it is a part of.
    pub of: String,
    pub detail: String,
    pub workload: Option<usize>,
    pub draw: Option<usize>,
}

/// Something to change.
pub struct Item {
    pub rule: &'static Rule,
    /// What is there, in a sentence.
    pub says: String,
    /// What to do about it, if that differs from the rule's.
    pub cure: Option<String>,
    pub about: Vec<About>,
    /// How many more there are.
    pub more: usize,
    pub lines: Vec<Line>,
    pub gain: Gain,
}

/// Draws, images and barriers that an item names.
const NAMED: usize = 5;

/// Below this share of the captured time, of the traffic and of the images' memory, an item is small.
const SMALL: f64 = 0.005;

/// The advice of a capture, what gains most first.
pub struct Advice {
    pub case: Case,
    pub items: Vec<Item>,
    /// How many gain too little to be printed.
    pub small: usize,
}

impl Advice {
    /// Of these rules, or of all; `all`: items that gain little too.
    pub fn of(folder: &Path, rules: &[String], all: bool) -> Result<Advice> {
        if let Some(unknown) = rules.iter().find(|r| !rules::ALL.iter().any(|a| a.id == **r)) {
            let known: Vec<_> = rules::ALL.iter().map(|r| r.id).collect();
            return Err(Error(format!(
                "--rule {unknown}: no rule is called that; the rules are {}",
                known.join(", ")
            )));
        }
        let case = Case::read(folder)?;
        let wanted = rules::ALL.iter().filter(|r| rules.is_empty() || rules.iter().any(|w| w == r.id));
        let mut items: Vec<Item> = wanted.flat_map(|r| (r.find)(r, &case)).collect();
        for i in &mut items {
            i.more += i.about.len().saturating_sub(NAMED);
            i.about.truncate(NAMED);
        }
        let images: u64 = case.facts.images.iter().map(|i| i.bytes()).sum();
        let share = |of: f64, all: f64| if all > 0.0 { of / all } else { 0.0 };
        let weight = |i: &Item| {
            let g = &i.gain;
            [
                share(g.ns, case.whole as f64),
                share(g.bytes, case.bytes as f64),
                share(g.memory, images as f64),
            ]
        };
        let count = items.len();
        items.retain(|i| {
            let least = if all { 0.0 } else { SMALL };
            weight(i).iter().any(|w| *w > least)
        });
        let small = count - items.len();
        items.sort_by(|a, b| {
            let [a, b] = [weight(a), weight(b)].map(|w| w.map(|n| n.max(0.0)));
            // Time first; what saves none by what else it saves.
            let key = |[ns, bytes, memory]: [f64; 3]| [if ns > SMALL { ns } else { 0.0 }, bytes, memory];
            key(b).partial_cmp(&key(a)).unwrap_or(std::cmp::Ordering::Equal)
        });
        Ok(Advice { case, items, small })
    }
}

fn write(file: &Option<PathBuf>, text: impl FnOnce() -> String) -> Result<()> {
    match file {
        Some(to) => std::fs::write(to, text()).map_err(|e| Error::file(to, e)),
        None => Ok(()),
    }
}

pub fn run(args: &Args) -> Result<()> {
    let Some(capture) = args.capture.as_ref().filter(|_| !args.rules) else {
        print!("{}", text::rules(rules::ALL));
        return Ok(());
    };
    let folder = match capture.is_dir() {
        true => capture.clone(),
        false => capture.parent().map(Path::to_path_buf).unwrap_or_default(),
    };
    let advice = Advice::of(&folder, &args.rule, args.all)?;
    write(&args.markdown, || markdown::markdown(&advice))?;
    write(&args.sarif, || sarif::sarif(&advice))?;
    match args.json {
        true => println!("{}", json(&advice)),
        false => print!("{}", text::text(&advice)),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{rules, text};

    const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/advise.md");
    const BEGIN: &str = "<!-- rules: written by `TUFF_BLESS=1 cargo test -p tuff advise` -->\n";
    const END: &str = "<!-- end of rules -->";

    #[test]
    fn the_page_has_all_rules() {
        let page = std::fs::read_to_string(PAGE).unwrap();
        let (before, rest) = page.split_once(BEGIN).unwrap();
        let (_, after) = rest.split_once(END).unwrap();
        let now = format!("{before}{BEGIN}{}{END}{after}", text::table(rules::ALL));
        if std::env::var_os("TUFF_BLESS").is_some() {
            return std::fs::write(PAGE, &now).unwrap();
        }
        assert_eq!(page, now, "TUFF_BLESS=1 writes the table");
    }

    #[test]
    fn rules_have_names_of_their_own_and_plain_sentences() {
        for (n, r) in rules::ALL.iter().enumerate() {
            assert!(rules::ALL[..n].iter().all(|e| e.id != r.id), "{}", r.id);
            assert!(r.id.bytes().all(|b| b.is_ascii_lowercase() || b == b'-'), "{}", r.id);
            for text in [r.why, r.cure] {
                assert!(text.ends_with('.') && !text.contains('\n'), "{}: {text}", r.id);
            }
        }
    }
}
