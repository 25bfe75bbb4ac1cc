//! What validation layers say, by example and by driver.

use std::collections::{BTreeMap, BTreeSet};

/// By the message's name: by example, the drivers that it was said of, and its text there.
#[derive(Default)]
pub struct All(BTreeMap<String, BTreeMap<String, (BTreeSet<String>, String)>>);

/// A line of an example's output that begins a message: `ERROR: [number][name] : text`. Its name, with what kind it is.
fn message(line: &str) -> Option<(String, &str)> {
    let (kind, rest) = line.split_once(": [")?;
    let kind = matches!(kind, "ERROR" | "WARNING").then_some(kind)?;
    let (head, text) = rest.split_once("] : ")?;
    let name = head.split_once("][").map_or(head, |(_, name)| name);
    Some((format!("{kind} {name}"), text))
}

impl All {
    /// Takes the messages of an example's output.
    pub fn add(&mut self, example: &str, driver: &str, said: &str) {
        for (name, text) in said.lines().filter_map(message) {
            let by_example = self.0.entry(name).or_default();
            let entry = by_example.entry(example.into()).or_insert_with(|| (BTreeSet::new(), text.into()));
            entry.0.insert(driver.into());
        }
    }

    pub fn print(&self) {
        println!("\nmessages of the validation layers: {}", if self.0.is_empty() { "none" } else { "" });
        for (name, examples) in &self.0 {
            println!("{name}");
            for (example, (drivers, text)) in examples {
                let drivers: Vec<_> = drivers.iter().map(String::as_str).collect();
                println!("    {example} ({}): {:.220}", drivers.join(", "), text);
            }
        }
    }

    /// Messages that were said of one driver's run of an example and of no other's.
    pub fn of_one_alone(&self, driver: &str) -> Vec<String> {
        let all = self.0.iter().flat_map(|(name, examples)| examples.iter().map(move |e| (name, e)));
        let alone = all.filter(|(_, (_, (drivers, _)))| drivers.len() == 1 && drivers.contains(driver));
        alone.map(|(name, (example, _))| format!("{example}: {name}")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_have_names() {
        let mut all = All::default();
        all.add("a", "tuff", "ERROR: [12][VUID-x] : bad\nINFO: [1][y] : no\nelse\nWARNING: [3] : so");
        all.add("a", "lavapipe", "ERROR: [12][VUID-x] : bad");
        all.add("b", "tuff", "ERROR: [12][VUID-x] : bad");
        assert_eq!(all.of_one_alone("tuff"), ["b: ERROR VUID-x", "a: WARNING 3"]);
        assert!(all.of_one_alone("lavapipe").is_empty());
    }
}
