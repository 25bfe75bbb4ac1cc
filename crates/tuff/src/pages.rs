//! Man pages and shells' completions, made of the same declarations as the command line itself.

use clap_complete::{Shell, generate_to};
use client::{Error, Result};
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
    clap_mangen::generate_to(pages, &args.folder).map_err(at)
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
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
