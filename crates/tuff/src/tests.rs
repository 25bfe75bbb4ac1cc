//! Every command has examples in its help, and each is one.

use crate::Cli;
use clap::{CommandFactory, Parser};

/// The words of a line as a shell would have them, without variables and patterns.
fn words(line: &str) -> Vec<String> {
    let (mut all, mut word, mut quote) = (vec![], None::<String>, None);
    for c in line.chars() {
        match (c, quote) {
            (c, Some(q)) if c == q => quote = None,
            ('\'' | '"', None) => {
                word.get_or_insert_default();
                quote = Some(c);
            }
            (c, None) if c.is_whitespace() => all.extend(word.take()),
            (c, _) => word.get_or_insert_default().push(c),
        }
    }
    assert_eq!(quote, None, "{line}");
    all.extend(word);
    all
}

/// The commands of `tuff` in a help text's examples.
fn examples(help: &str) -> Vec<Vec<String>> {
    let (_, after) = help.split_once("Examples:\n").unwrap_or_default();
    let lines = after.lines().take_while(|l| l.starts_with("  ")).map(str::trim).collect::<Vec<_>>();
    let lines = lines.join("\n").replace("\\\n", "");
    // What stands far after a command is about it.
    let commands = lines.lines().filter_map(|l| l.split("   ").next());
    let commands = commands.flat_map(|l| l.split("&&")).filter_map(|l| l.split('|').next());
    let own = |line: &str| {
        let is_variable = |w: &String| w.contains('=');
        let words: Vec<_> = words(line).into_iter().skip_while(is_variable).collect();
        words.first().is_some_and(|w| w == "tuff").then_some(words)
    };
    commands.filter_map(own).collect()
}

#[test]
fn every_command_has_examples_that_it_takes() {
    let mut count = 0;
    for command in Cli::command().get_subcommands().filter(|c| !c.is_hide_set()) {
        let name = command.get_name();
        let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        let all: Vec<_> = examples(&help).into_iter().filter(|e| e[1] == name).collect();
        assert!(!all.is_empty(), "tuff {name} --help has no example");
        for example in all {
            count += 1;
            if let Err(e) = Cli::try_parse_from(&example) {
                panic!("{}: {e}", example.join(" "));
            }
        }
        // A line that a terminal of 100 columns holds, or a little more.
        assert!(help.lines().all(|l| l.chars().count() <= 140), "tuff {name} --help");
    }
    assert!(count > 20, "{count}");
    Cli::command().debug_assert();
}

#[test]
fn an_example_is_read_as_a_shell_would() {
    let help = "Text.\n\nExamples:\n  A=1 tuff run --check \\\n      -- 'a b' \"c\" && tuff info | less\n  ls\n  tuff info     is short\n\nMore: tuff x";
    let words = |l: &[&str]| l.iter().map(|w| w.to_string()).collect::<Vec<_>>();
    assert_eq!(
        examples(help),
        [
            words(&["tuff", "run", "--check", "--", "a b", "c"]),
            words(&["tuff", "info"]),
            words(&["tuff", "info"])
        ]
    );
    assert!(examples("Examples of nothing").is_empty());
}
