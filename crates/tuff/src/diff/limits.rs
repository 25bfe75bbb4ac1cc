//! What counters may grow by: `--max-increase`, and the TOML file of `--thresholds`.

use super::file::{Counters, ELAPSED};
use super::shaders::COUNTERS;
use client::Error;
use counters::catalogue;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// Short names for what one asks for most.
const SHORT: [(&str, &str); 10] = [
    ("fma", "TuffFmaInstr"),
    ("cvt", "TuffCvtInstr"),
    ("sfu", "TuffSfuInstr"),
    ("ls", "MaliLSIssueCy"),
    ("tex", "TuffTexFilterOps"),
    ("cycles", "MaliGPUActiveCy"),
    ("read", "MaliExtBusRdBy"),
    ("write", "MaliExtBusWrBy"),
    ("warps", "MaliFragWarp"),
    ("time", ELAPSED),
];

/// Of one counter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limit {
    /// Percent of what it was before.
    pub max_increase: Option<f64>,
    /// Growth by no more than this is always allowed, however many percent it is.
    #[serde(default)]
    pub slack: f64,
    /// It must not be more than this, whatever it was.
    pub max: Option<f64>,
}

/// `fma = 2` or `fma = { max_increase = 2, slack = 100, max = 5_000_000 }`.
#[derive(Deserialize)]
#[serde(untagged, expecting = "a number of percent, or a table of max_increase, slack and max")]
enum Written {
    Percent(f64),
    Whole(Limit),
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct Thresholds {
    counters: BTreeMap<String, Written>,
    total: BTreeMap<String, Written>,
    frame: BTreeMap<String, Written>,
    workloads: Vec<Rule>,
    shaders: Vec<Rule>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    #[serde(rename = "match")]
    part: String,
    counters: BTreeMap<String, Written>,
}

type ByCounter = BTreeMap<String, Limit>;

/// Limits by counter's machine name.
#[derive(Default)]
pub struct Limits {
    everywhere: ByCounter,
    /// In place of `everywhere`'s, for the totals.
    total: ByCounter,
    /// The same for the worst frame.
    frame: ByCounter,
    /// By parts of shaders' names; of several the last.
    shaders: Vec<(String, ByCounter)>,
    /// In place of `everywhere`'s, for workloads whose line has this in it; of several the last.
    workloads: Vec<(String, ByCounter)>,
}

impl Limits {
    /// `options` are NAME=PERCENT, and go before the file's `[counters]`; `known` are the counters of a file.
    pub fn new(thresholds: Option<&Path>, options: &[String], known: &Counters) -> client::Result<Limits> {
        let mut all = match thresholds {
            Some(path) => {
                let say = |e: String| Error::file(path, e);
                let text = std::fs::read_to_string(path).map_err(|e| say(e.to_string()))?;
                Limits::parse(&text, known).map_err(say)?
            }
            None => Limits::default(),
        };
        for option in options {
            let (name, percent) = option
                .split_once('=')
                .ok_or_else(|| Error(format!("--max-increase {option}: expected NAME=PERCENT")))?;
            let percent: f64 = percent
                .trim_end_matches('%')
                .parse()
                .map_err(|_| Error(format!("--max-increase {option}: {percent} is not a number")))?;
            let limit = Limit { max_increase: Some(percent), ..Limit::default() };
            valid(name, &limit).map_err(|e| Error(format!("--max-increase {e}")))?;
            all.everywhere.insert(find(name, known).map_err(Error)?, limit);
        }
        Ok(all)
    }

    fn parse(text: &str, known: &Counters) -> Result<Limits, String> {
        let file: Thresholds = toml::from_str(text).map_err(|e| e.to_string())?;
        let by = |list: BTreeMap<String, Written>, find: &dyn Fn(&str) -> Result<String, String>| {
            let mut all = ByCounter::new();
            for (name, written) in list {
                let limit = match written {
                    Written::Percent(p) => Limit { max_increase: Some(p), ..Limit::default() },
                    Written::Whole(limit) => limit,
                };
                valid(&name, &limit)?;
                if all.insert(find(&name)?, limit).is_some() {
                    return Err(format!("{name} occurs twice in one table, under two names"));
                }
            }
            Ok::<ByCounter, String>(all)
        };
        let by_counter = |list| by(list, &|name| find(name, known));
        let rules = file.workloads.into_iter().map(|r| Ok((r.part, by_counter(r.counters)?)));
        let of_shader = |name: &str| match COUNTERS.contains(&name) {
            true => Ok(name.to_string()),
            false => Err(format!("{name} is no counter of a shader: {}", COUNTERS.join(", "))),
        };
        let shaders = file.shaders.into_iter().map(|r| Ok((r.part, by(r.counters, &of_shader)?)));
        Ok(Limits {
            workloads: rules.collect::<Result<_, String>>()?,
            everywhere: by_counter(file.counters)?,
            total: by_counter(file.total)?,
            frame: by_counter(file.frame)?,
            shaders: shaders.collect::<Result<_, String>>()?,
        })
    }

    /// There are any.
    pub fn any(&self) -> bool {
        let rules = self.workloads.iter().chain(&self.shaders).map(|w| &w.1);
        let all = [&self.everywhere, &self.total, &self.frame].into_iter().chain(rules);
        all.into_iter().any(|l| !l.is_empty())
    }

    /// The rules that no workload's line has a part of.
    pub fn unmatched<'a>(&self, lines: impl Iterator<Item = &'a str> + Clone) -> Vec<&str> {
        let of_none = |part: &&str| !lines.clone().any(|l| l.contains(*part));
        self.workloads.iter().map(|w| w.0.as_str()).filter(of_none).collect()
    }

    /// The rules that no shader's name has a part of.
    pub fn unmatched_shaders<'a>(&self, names: impl Iterator<Item = &'a str> + Clone) -> Vec<&str> {
        let of_none = |part: &&str| !names.clone().any(|n| n.contains(*part));
        self.shaders.iter().map(|w| w.0.as_str()).filter(of_none).collect()
    }

    /// Of a shader by its name.
    pub fn of_shader(&self, name: &str) -> ByCounter {
        let rules = self.shaders.iter().filter(|(part, _)| name.contains(part.as_str()));
        rules.flat_map(|(_, limits)| limits.clone()).collect()
    }

    /// Of the worst frame.
    pub fn of_frame(&self) -> ByCounter {
        let mut all = self.everywhere.clone();
        // A frame has no time from begin to end.
        all.remove(ELAPSED);
        all.extend(self.frame.clone());
        all
    }

    pub fn of_total(&self) -> ByCounter {
        let mut all = self.everywhere.clone();
        all.extend(self.total.clone());
        all
    }

    /// Of a workload by its line.
    pub fn of_workload(&self, line: &str) -> ByCounter {
        let mut all = self.everywhere.clone();
        let rules = self.workloads.iter().filter(|(part, _)| line.contains(part.as_str()));
        rules.for_each(|(_, limits)| all.extend(limits.clone()));
        all
    }
}

fn valid(name: &str, limit: &Limit) -> Result<(), String> {
    let numbers = [limit.max_increase, Some(limit.slack), limit.max];
    if numbers.iter().flatten().any(|n| !n.is_finite() || *n < 0.0) {
        return Err(format!("{name}: a limit must be a number of at least 0"));
    }
    match limit.max_increase.is_none() && limit.max.is_none() {
        true => Err(format!("{name}: neither max_increase nor max is given")),
        false => Ok(()),
    }
}

/// Whether a name has this part, and the part begins where one of the name's words does (TuffFmaInstr: Tuff, Fma, Instr; a
/// number is a word): a slip of the pen is not to be another counter's limit.
fn has_part(name: &str, part: &str) -> bool {
    let begins = |i: usize| {
        let (before, here) = (name[..i].chars().next_back(), name[i..].chars().next());
        let digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
        before.is_none() || here.is_some_and(char::is_uppercase) || digit(here) && !digit(before)
    };
    let lower = name.to_lowercase();
    lower.match_indices(part).any(|(i, _)| name.is_char_boundary(i) && begins(i))
}

/// The machine name that `name` stands for: a short name, a counter of the file or of the catalogue, or a part of only one of them.
fn find(name: &str, known: &Counters) -> Result<String, String> {
    let lower = name.to_lowercase();
    if let Some((_, full)) = SHORT.iter().find(|(s, _)| *s == lower) {
        return Ok(full.to_string());
    }
    // A file of limits is for many programs: some have not all counters.
    let names = known.keys().map(String::as_str).chain(catalogue::reported().iter().map(|c| c.machine));
    let names: std::collections::BTreeSet<&str> = names.collect();
    if let Some(k) = names.iter().find(|k| k.to_lowercase() == lower) {
        return Ok(k.to_string());
    }
    let like: Vec<&&str> = names.iter().filter(|k| has_part(k, &lower)).collect();
    match like[..] {
        [one] => Ok(one.to_string()),
        [] => Err(format!("no counter is called {name}")),
        _ => Err(format!(
            "{name} is ambiguous: {} counters match, among them {} and {}",
            like.len(),
            like[0],
            like[1]
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Limits, String> {
        Limits::parse(text, &Counters::new())
    }

    #[test]
    fn counters_are_found_by_short_names_and_parts() {
        let known = Counters::from([("OwnWarp".to_string(), 0.0), ("OwnLane".to_string(), 0.0)]);
        assert_eq!(find("FMA", &known).unwrap(), "TuffFmaInstr");
        assert_eq!(find("ownwarp", &known).unwrap(), "OwnWarp");
        assert_eq!(find("lan", &known).unwrap(), "OwnLane");
        assert_eq!(find("samplesPassed", &known).unwrap(), "TuffSamplesPassed");
        // In the middle of its words it is not what was meant: TuffNarrowInstr has "fna".
        assert!(find("nlan", &known).is_err() && find("fna", &known).is_err());
        assert_eq!(find("malifragwarp", &known).unwrap(), "MaliFragWarp");
        assert!(find("own", &known).is_err() && find("nothing", &known).is_err());
    }

    #[test]
    fn short_names_are_counters() {
        for (short, full) in SHORT.iter().filter(|(_, full)| *full != ELAPSED) {
            assert!(catalogue::by_machine(full).is_some(), "{short}: {full}");
        }
    }

    #[test]
    fn the_more_particular_rule_counts() {
        let limits = parse(
            "[counters]\nfma = 1\ntime = { max_increase = 2.5, slack = 1000 }\n[total]\nfma = { max = 9 }\n\
             [[workloads]]\nmatch = 'shadow'\ncounters = { fma = 10 }\n\
             [[workloads]]\nmatch = 'shadows of'\ncounters = { fma = 20 }\n",
        )
        .unwrap();
        let fma = |of: ByCounter| of["TuffFmaInstr"];
        let percent = |p| Limit { max_increase: Some(p), ..Limit::default() };
        assert_eq!(fma(limits.of_workload("0.0 sky")), percent(1.0));
        assert_eq!(fma(limits.of_workload("0.0 shadow 1")), percent(10.0));
        assert_eq!(fma(limits.of_workload("0.0 shadows of all")), percent(20.0));
        assert_eq!(fma(limits.of_total()), Limit { max: Some(9.0), ..Limit::default() });
        let shaders =
            parse("[[shaders]]\nmatch = 'lit'\ncounters = { cycles = 3, registers = { max = 32 } }").unwrap();
        assert_eq!(shaders.of_shader("fragment lit.frag (main)")["cycles"], percent(3.0));
        assert!(shaders.any() && shaders.of_shader("vertex main").is_empty());
        assert_eq!(shaders.unmatched_shaders(["vertex main"].into_iter()), ["lit"]);
        let time = Limit { max_increase: Some(2.5), slack: 1000.0, max: None };
        assert_eq!(limits.of_total()[ELAPSED], time);
        assert_eq!(limits.of_workload("0.0 shadow 1")[ELAPSED], time);
    }

    #[test]
    fn what_is_no_limit_is_told() {
        for (text, why) in [
            ("[counter]\nfma = 1", "unknown field `counter`"),
            ("[counters]\nfma = -1", "fma: a limit must be a number of at least 0"),
            ("[counters]\nfma = nan", "a number of at least 0"),
            ("[counters]\nfma = 'much'", "a number of percent, or a table of max_increase, slack and max"),
            ("[counters]\nfma = { most = 1 }", "a table of max_increase, slack and max"),
            ("[counters]\nfma = { slack = 1 }", "fma: neither max_increase nor max is given"),
            ("[counters]\nunheard = 1", "no counter is called unheard"),
            ("[counters]\nfma = 1\nTuffFmaInstr = 1", "twice in one table"),
            ("[[workloads]]\ncounters = { fma = 1 }", "missing field `match`"),
            (
                "[[shaders]]\nmatch = 'a'\ncounters = { time = 1 }",
                "time is no counter of a shader: cycles, arithmetic",
            ),
        ] {
            let said = parse(text).err().unwrap_or_else(|| panic!("accepted: {text}"));
            assert!(said.contains(why), "{text}: {said}");
        }
    }
}
