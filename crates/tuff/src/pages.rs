//! Man pages and shells' completions, made of the same declarations as the command line itself.

use clap_complete::{Shell, generate_to};
use client::{Error, Result};
use std::fmt::Write;
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct Args {
    /// Output folder; it is created if it does not exist.
    folder: PathBuf,
}

/// Which shells have a place for completions of programs that are installed.
const SHELLS: [Shell; 3] = [Shell::Bash, Shell::Fish, Shell::Zsh];

/// Writes `tuff.1`, a page for each command (`tuff-run.1`), and each shell's file under the name that it looks for.
pub fn run(args: &Args, mut command: clap::Command) -> Result<()> {
    let at = |e: std::io::Error| Error::file(&args.folder, e);
    std::fs::create_dir_all(&args.folder).map_err(at)?;
    // No pages on how to ask for help.
    let pages = command.clone().disable_help_subcommand(true);
    for shell in SHELLS {
        generate_to(shell, &mut command, "tuff", &args.folder).map_err(at)?;
    }
    clap_mangen::generate_to(pages, &args.folder).map_err(at)?;
    // Without `help`, which has no page.
    let commands = command.get_subcommands().filter(|c| !c.is_hide_set() && c.get_name() != "help");
    for command in commands.map(|c| c.get_name()).chain([""]) {
        let name = if command.is_empty() { "tuff.1".into() } else { format!("tuff-{command}.1") };
        let path = args.folder.join(name);
        let page = std::fs::read_to_string(&path).map_err(at)?;
        std::fs::write(&path, page + &sections(command)).map_err(at)?;
    }
    Ok(())
}

/// Exit statuses by command, where they are not those of the others.
const STATUS: [(&str, &[(&str, &str)]); 11] = [
    ("", &[("0", "success"), ("1", "failure"), ("2", "wrong arguments; see each command's page for others")]),
    (
        "run",
        &[
            ("0", "the program succeeded, and what was asked for was measured"),
            ("1", "a check failed, or nothing was measured"),
            ("other", "the program's own"),
        ],
    ),
    (
        "sanitize",
        &[
            ("0", "the program succeeded"),
            ("1", "with --fail: there is a finding"),
            ("other", "the program's own"),
        ],
    ),
    (
        "coverage",
        &[
            ("0", "the program succeeded"),
            ("1", "with --fail-under: too few lines ran; or no shader has lines"),
            ("other", "the program's own"),
        ],
    ),
    (
        "debug",
        &[
            ("0", "the invocation was recorded"),
            ("1", "no shader has run for it, or the recording is damaged"),
        ],
    ),
    (
        "frames",
        &[
            ("0", "the program succeeded, and presented such a frame"),
            ("1", "no such frame was presented"),
            ("other", "the program's own"),
        ],
    ),
    ("frame", &[("0", "success"), ("1", "nothing was recorded, or the record cannot be read")]),
    (
        "top",
        &[
            ("0", "the process or program has ended well"),
            ("1", "no such process listens, or the program never created a device on Tuff"),
            ("other", "the program's own"),
        ],
    ),
    (
        "diff",
        &[
            ("0", "no cost exceeds its limit"),
            ("1", "one does, or a workload has vanished"),
            ("2", "the files cannot be compared"),
        ],
    ),
    (
        "compare",
        &[
            ("0", "no picture differs by more than allowed"),
            ("1", "one does, is missing or is new"),
            ("2", "files cannot be read"),
        ],
    ),
    (
        "shader",
        &[
            ("0", "success"),
            ("1", "a shader is dearer than its golden costs, or has none"),
            ("2", "a shader cannot be read or compiled"),
        ],
    ),
];

/// Files that programs and the driver read or write.
const FILES: [(&str, &str); 3] = [
    ("PREFIX/share/vulkan/icd.d/tuff_icd.*.json", "the driver's manifest, as VK_DRIVER_FILES takes it"),
    ("~/.local/state/tuff/cache.key", "the secret that signs pipeline caches (TUFF_CACHE_KEY)"),
    ("PREFIX/share/doc/tuff", "these commands' documents, and the licences"),
];

/// Text of Markdown as roff: links and code without their marks.
fn roff(markdown: &str) -> String {
    let mut text = String::new();
    let mut rest = markdown;
    while let Some((before, after)) = rest.split_once("](") {
        text += before;
        rest = after.split_once(')').map_or("", |(_, after)| after);
    }
    text += rest;
    let text = text.replace(['`', '['], "").replace('\\', "\\e").replace('-', "\\-");
    // A line that begins so would be a command.
    if text.starts_with(['.', '\'']) { format!("\\&{text}") } else { text }
}

/// The sections of a command's page that its declaration has not.
fn sections(command: &str) -> String {
    let mut out = String::from("\n");
    let mut section = |name: &str, rows: &mut dyn Iterator<Item = (String, String)>| {
        let _ = writeln!(out, ".SH \"{name}\"");
        rows.for_each(|(term, text)| {
            let _ = writeln!(out, ".TP\n\\fB{term}\\fR\n{text}");
        });
    };
    let common = [("0", "success"), ("1", "failure"), ("2", "wrong arguments")];
    let status = STATUS.iter().find(|s| s.0 == command).map_or(&common[..], |s| s.1);
    section("EXIT STATUS", &mut status.iter().map(|(code, text)| (roff(code), roff(text))));
    if command.is_empty() {
        let variable =
            |r: settings::Row| (format!("{}={}", r.name, roff(&r.form.replace("\\|", "|"))), roff(r.meaning));
        section("ENVIRONMENT", &mut settings::rows().into_iter().map(variable));
        section("FILES", &mut FILES.iter().map(|(path, text)| (roff(path), roff(text))));
    } else {
        let _ = writeln!(out, ".SH ENVIRONMENT\nThe driver's settings: see \\fBtuff\\fR(1).");
        let _ = writeln!(out, ".SH \"SEE ALSO\"\n\\fBtuff\\fR(1)");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;
    use std::collections::BTreeSet;

    #[test]
    fn a_page_for_each_command_that_help_names() {
        let folder = client::scratch("pages").unwrap();
        let command = crate::Cli::command();
        let named = command.get_subcommands().filter(|c| !c.is_hide_set());
        let mut wanted: BTreeSet<String> = named.map(|c| format!("tuff-{}.1", c.get_name())).collect();
        assert!(wanted.len() > 5);
        wanted.extend(["tuff.1", "tuff.bash", "tuff.fish", "_tuff"].map(String::from));
        run(&Args { folder: folder.clone() }, command).unwrap();
        let made = std::fs::read_dir(&folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
        assert_eq!(made.collect::<BTreeSet<_>>(), wanted);
        let page = std::fs::read_to_string(folder.join("tuff-run.1")).unwrap();
        assert!(page.contains("\\-\\-counters"), "{page}");
        assert!(page.contains(".SH \"EXIT STATUS\"\n.TP\n\\fB0\\fR\n"), "{page}");
        let page = std::fs::read_to_string(folder.join("tuff.1")).unwrap();
        for row in settings::rows() {
            assert!(page.contains(&format!("\\fB{}=", row.name)), "{}: {page}", row.name);
        }
        assert!(!page.contains("](") && page.contains(".SH \"FILES\"\n"), "{page}");
        // What is said of a command is said of one that there is.
        for (name, _) in STATUS {
            assert!(name.is_empty() || crate::Cli::command().find_subcommand(name).is_some(), "{name}");
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
