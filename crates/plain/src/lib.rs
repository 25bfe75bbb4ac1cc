//! What programs name (objects, labels, entry points, source files, messages), as it may be printed: a name is never more than a name.
//!
//! Whoever writes a name into a line, a table or a file takes the function of that kind here. Names come from strangers: one with a line
//! break would forge lines, one with an escape sequence would command the terminal, one that begins like a formula would be run by a
//! spreadsheet.

use std::borrow::Cow;
use std::fmt::Write;

/// Whether a character is not for a line of text: it moves the cursor, begins a line or turns the direction of what follows.
fn is_wild(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

fn push(out: &mut String, c: char) {
    let _ = match c {
        '\n' => out.write_str("\\n"),
        '\r' => out.write_str("\\r"),
        '\t' => out.write_str("\\t"),
        c if c < '\u{100}' => write!(out, "\\x{:02x}", c as u32),
        c => write!(out, "\\u{{{:x}}}", c as u32),
    };
}

/// Text with all of it escaped that is `wild`.
fn without(text: &str, wild: fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(wild) {
        return text.into();
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match wild(c) {
            true => push(&mut out, c),
            false => out.push(c),
        }
    }
    out.into()
}

/// Text for a line of a log, a table or a terminal, of which it is no more than a part.
pub fn line(text: &str) -> Cow<'_, str> {
    without(text, is_wild)
}

/// A message that may have several lines: those after the first are indented, so that none of them is taken for another message.
pub fn message(text: &str) -> String {
    text.trim_end().lines().map(source).collect::<Vec<_>>().join("\n    ")
}

/// A line of source code for a terminal: tabs stay.
pub fn source(line: &str) -> Cow<'_, str> {
    without(line, |c| is_wild(c) && c != '\t')
}

/// A path for a line.
pub fn path(path: &std::path::Path) -> String {
    line(&path.to_string_lossy()).into_owned()
}

/// A field of CSV (RFC 4180), in one line. What a spreadsheet would take for a formula begins with an apostrophe; numbers are no
/// text and do not come here.
pub fn csv(text: &str) -> String {
    let formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let text = format!("{}{}", if formula { "'" } else { "" }, line(text));
    match text.contains([',', '"', ';']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text,
    }
}

/// A string of JSON (RFC 8259), with its quotes.
pub fn json(text: &str) -> String {
    let mut s = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => s.extend(['\\', c]),
            c if is_wild(c) => drop(write!(s, "\\u{:04x}", c as u32)),
            c => s.push(c),
        }
    }
    s.push('"');
    s
}

/// Text in a cell of a table in Markdown: no markup, one line.
pub fn markdown(text: &str) -> String {
    let mut out = String::new();
    for c in line(text).chars() {
        match c {
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '&' => out += "&amp;",
            '\\' | '`' | '*' | '_' | '|' | '[' | ']' | '~' | '#' | '@' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}

/// Text for XML 1.0 and HTML, in attributes too: what XML cannot hold (control characters, U+FFFE and U+FFFF) becomes `?`.
pub fn xml(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            // In an attribute these would be read as a space.
            '\n' => out += "&#10;",
            '\t' => out += "&#9;",
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('?'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTILE: &str = "a\n\x1b[2Jtuff: \u{9b}31m\r\t\u{202e}<b>|\"&'`\u{7f}";

    #[test]
    fn a_line_is_one_line_and_commands_nothing() {
        assert_eq!(line(HOSTILE), "a\\n\\x1b[2Jtuff: \\x9b31m\\r\\t\\u{202e}<b>|\"&'`\\x7f");
        assert!(matches!(line("plain, ünïcödé 字 ✓"), Cow::Borrowed(_)));
        assert_eq!(source("\tx = 1;\x1b"), "\tx = 1;\\x1b");
        assert_eq!(message("a:\n  b\n\x1btuff: c\n"), "a:\n      b\n    \\x1btuff: c");
        assert_eq!(path(std::path::Path::new("/a\nb")), "/a\\nb");
    }

    #[test]
    fn fields_of_csv_are_no_formulas() {
        for (name, field) in [
            ("=1+2", "'=1+2"),
            ("+a", "'+a"),
            ("-a", "'-a"),
            ("@a", "'@a"),
            ("\t=1", "'\\t=1"),
            ("\r=1", "'\\r=1"),
            ("=\"a\",b", "\"'=\"\"a\"\",b\""),
            ("a;b", "\"a;b\""),
            ("a\nb", "a\\nb"),
            ("a = b", "a = b"),
        ] {
            assert_eq!(csv(name), field);
        }
    }

    #[test]
    fn markup_is_text() {
        assert_eq!(markdown("a|b <i>`x`\n*y*"), "a\\|b &lt;i&gt;\\`x\\`\\\\n\\*y\\*");
        assert_eq!(xml("<a b=\"&'\">\n\x1b"), "&lt;a b=&quot;&amp;&#39;&quot;&gt;&#10;?");
        assert_eq!(json("a\"\\\n\x1b\u{2028}"), "\"a\\\"\\\\\\u000a\\u001b\\u2028\"");
        assert!(!json(HOSTILE).contains(is_wild));
    }
}
