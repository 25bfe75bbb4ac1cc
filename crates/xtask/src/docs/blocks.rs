//! The commands of a page: its fenced blocks of `sh`, and what comments above a fence say of them.

/// When a command is run.
#[derive(Clone, Debug, PartialEq)]
pub enum How {
    /// By `cargo xtask test` too.
    Quick,
    /// By `cargo xtask docs` alone.
    Slow,
    /// Where the packages are installed: by `cargo xtask dist --try`.
    Installed,
    /// Nowhere, for a reason.
    NotRun(String),
}

#[derive(Debug, PartialEq)]
pub struct Line {
    /// Where in the page, from 1.
    pub number: usize,
    /// One command, with the lines that a backslash joins to it.
    pub text: String,
    pub how: How,
}

#[derive(Debug, PartialEq)]
pub struct Block {
    pub lines: Vec<Line>,
}

/// A comment: `<!-- HOW -->` or ``<!-- HOW `beginning of a command` -->``, where HOW is `slow`, `installed` or `not run`, with a
/// colon and the reason behind it.
struct Note {
    number: usize,
    how: How,
    /// All commands of the block, or those that begin so.
    beginning: Option<String>,
}

/// The blocks of a page. An error names a line: a comment that says nothing known, has no reason, or fits no command.
pub fn parse(page: &str) -> Result<Vec<Block>, String> {
    let mut blocks = Vec::new();
    let mut notes: Vec<Note> = Vec::new();
    let mut lines = page.lines().enumerate().map(|(i, l)| (i + 1, l));
    while let Some((number, line)) = lines.next() {
        if let Some(note) = note(number, line)? {
            notes.push(note);
        } else if line == "```sh" {
            let body: Vec<_> = lines.by_ref().take_while(|(_, l)| *l != "```").collect();
            blocks.push(block(&body, std::mem::take(&mut notes))?);
        } else if let Some(note) = notes.first() {
            return Err(format!("{}: no block of sh below this comment", note.number));
        } else if line.starts_with("```") {
            // Other languages: up to their ends.
            lines.by_ref().find(|(_, l)| *l == "```");
        }
    }
    match notes.first() {
        Some(note) => Err(format!("{}: no block of sh below this comment", note.number)),
        None => Ok(blocks),
    }
}

fn note(number: usize, line: &str) -> Result<Option<Note>, String> {
    let Some(text) = line.trim().strip_prefix("<!-- ").and_then(|l| l.strip_suffix(" -->")) else {
        return Ok(None);
    };
    let Some(kind) = ["slow", "installed", "not run"].into_iter().find(|k| text.starts_with(k)) else {
        return Ok(None);
    };
    let rest = &text[kind.len()..];
    let (beginning, reason) = match rest.trim_start().strip_prefix('`').and_then(|r| r.split_once('`')) {
        Some((beginning, reason)) => (Some(beginning.to_string()), reason),
        None => (None, rest),
    };
    let reason = reason.trim_start_matches(':').trim();
    if reason.is_empty() {
        return Err(format!("{number}: no reason: <!-- {kind}: REASON -->"));
    }
    let how = match kind {
        "slow" => How::Slow,
        "installed" => How::Installed,
        _ => How::NotRun(reason.into()),
    };
    Ok(Some(Note { number, how, beginning }))
}

fn block(body: &[(usize, &str)], notes: Vec<Note>) -> Result<Block, String> {
    let mut lines: Vec<Line> = Vec::new();
    let mut joined = false;
    for (number, text) in body {
        match lines.last_mut().filter(|_| joined) {
            Some(last) => last.text += &format!("\n{text}"),
            None => lines.push(Line { number: *number, text: text.to_string(), how: How::Quick }),
        }
        joined = text.ends_with('\\');
    }
    lines.retain(|l| !l.text.trim().is_empty() && !l.text.starts_with('#'));
    for note in notes {
        let fits = |l: &&mut Line| note.beginning.as_ref().is_none_or(|b| l.text.starts_with(b));
        let mut found = lines.iter_mut().filter(fits).peekable();
        if found.peek().is_none() {
            return Err(format!("{}: no command begins with {:?}", note.number, note.beginning));
        }
        found.for_each(|l| l.how = note.how.clone());
    }
    Ok(Block { lines })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_above_a_fence_say_how_its_commands_are_run() {
        let page = "# A page\n```c\nint x;\n```\n\n```sh\na b   # why\n\nc \\\n  d\n```\n\
            <!-- slow: takes long, by `x` -->\n<!-- not run `f`: no network, says `y` -->\n```sh\n# a remark\ne\nf g\n```\n<!-- measured -->\n\
            <!-- installed: it is about packages -->\n```sh\nh\n```\n";
        let line = |number, text: &str, how| Line { number, text: text.into(), how };
        let not_run = How::NotRun("no network, says `y`".into());
        let expected = [
            vec![line(7, "a b   # why", How::Quick), line(9, "c \\\n  d", How::Quick)],
            vec![line(16, "e", How::Slow), line(17, "f g", not_run)],
            vec![line(22, "h", How::Installed)],
        ];
        assert_eq!(parse(page).unwrap(), expected.map(|lines| Block { lines }));
    }

    #[test]
    fn comments_that_say_nothing_are_errors() {
        assert_eq!(
            parse("<!-- not run -->\n```sh\na\n```\n").unwrap_err(),
            "1: no reason: <!-- not run: REASON -->"
        );
        assert!(
            parse("<!-- slow `b`: long -->\n```sh\na\n```\n")
                .unwrap_err()
                .starts_with("1: no command begins")
        );
        assert!(parse("\n<!-- slow: long -->\ntext\n").unwrap_err().starts_with("2: no block of sh"));
        assert!(parse("<!-- slow: long -->").is_err());
    }
}
