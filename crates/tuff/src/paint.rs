//! Colour on a terminal, and columns with their headings: for what `annotate` and `shader` print.

use shader::instrument::Source;
use std::fmt::Write;
use std::io::IsTerminal;

#[derive(Clone, Copy, Debug, PartialEq, clap::ValueEnum)]
pub enum When {
    Auto,
    Always,
    Never,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tone {
    Head,
    /// Of what is shown: half of the dearest and more, a tenth and more, less, nothing.
    Hot,
    Warm,
    Plain,
    Cold,
}

impl Tone {
    /// Of a value among values of which the largest is `most`.
    pub fn of(value: f64, most: f64) -> Tone {
        match value / most {
            _ if value <= 0.0 => Tone::Cold,
            share if share >= 0.5 => Tone::Hot,
            share if share >= 0.1 => Tone::Warm,
            _ => Tone::Plain,
        }
    }
}

/// Whether there is colour.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Paint(pub bool);

impl Paint {
    /// For standard output. `Auto`: on a terminal that is not dumb, unless NO_COLOR is set (no-color.org).
    pub fn new(when: When) -> Paint {
        let set = |name: &str| std::env::var_os(name).is_some_and(|v| !v.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|t| t == "dumb");
        Paint(match when {
            When::Always => true,
            When::Never => false,
            When::Auto => std::io::stdout().is_terminal() && !set("NO_COLOR") && !dumb,
        })
    }

    pub fn paint(self, tone: Tone, text: &str) -> String {
        let code = match tone {
            _ if !self.0 || text.is_empty() => return text.into(),
            Tone::Head => "1",
            Tone::Hot => "1;31",
            Tone::Warm => "33",
            Tone::Plain => return text.into(),
            Tone::Cold => "2",
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }
}

/// Columns of numbers: each with a heading, a word a line, as wide as its longest word and number.
pub struct Columns {
    heads: Vec<Vec<String>>,
    widths: Vec<usize>,
}

impl Columns {
    /// `widest`: of each column's numbers.
    pub fn new<'a>(names: impl IntoIterator<Item = &'a str>, widest: impl Fn(usize) -> usize) -> Columns {
        let words = |n: &str| n.split_whitespace().map(str::to_string).collect::<Vec<_>>();
        let heads: Vec<_> = names.into_iter().map(words).collect();
        let width = |(k, words): (usize, &Vec<String>)| {
            words.iter().map(|w| w.chars().count()).max().unwrap_or(0).max(widest(k))
        };
        let widths = heads.iter().enumerate().map(width).collect();
        Columns { heads, widths }
    }

    /// The lines of headings, which end at the bottom.
    pub fn head(&self) -> Vec<String> {
        let lines = self.heads.iter().map(Vec::len).max().unwrap_or(0);
        let line = |i: usize| {
            let word = |words: &Vec<String>| {
                (i + words.len()).checked_sub(lines).and_then(|k| words.get(k)).cloned().unwrap_or_default()
            };
            self.row(&self.heads.iter().map(word).collect::<Vec<_>>())
        };
        (0..lines).map(line).collect()
    }

    /// Cells, each at its column's right; those that are missing are blank.
    pub fn row(&self, cells: &[String]) -> String {
        let mut out = String::new();
        for (k, w) in self.widths.iter().enumerate() {
            let cell = cells.get(k).map_or("", String::as_str);
            let _ = write!(out, "  {cell:>w$}");
        }
        out
    }
}

/// A line of a listing: its cells, and how dear it is.
pub type Line = (Vec<String>, f64);

/// A source file with numbers beside its rows, by row from 1. Rows are called what compilers call them.
pub fn listing(
    of: &Source,
    names: &[&str],
    lines: &std::collections::BTreeMap<u32, Line>,
    paint: Paint,
) -> String {
    let widest =
        |k: usize| lines.values().filter_map(|l| Some(l.0.get(k)?.chars().count())).max().unwrap_or(0);
    let columns = Columns::new(names.iter().copied(), widest);
    let mut out = format!("{}\n", paint.paint(Tone::Head, &plain::line(&of.file)));
    for head in columns.head() {
        let _ = writeln!(out, "{} |", paint.paint(Tone::Head, &head));
    }
    let most = lines.values().map(|l| l.1).fold(0.0, f64::max);
    for (i, (source, (_, number))) in of.text.lines().zip(of.rows()).enumerate() {
        let (cells, tone) = match lines.get(&(i as u32 + 1)) {
            Some((cells, heat)) => (&cells[..], Tone::of(*heat, most)),
            None => (&[][..], Tone::Cold),
        };
        let source = plain::source(source);
        let (numbers, rest) = (columns.row(cells), format!("{number:>5} {source}"));
        let _ = writeln!(out, "{} |{}", paint.paint(tone, &numbers), paint.paint(tone, &rest));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_stand_over_their_columns() {
        let columns = Columns::new(["Executed warps", "FMA", "a very long way"], |k| [3, 6, 1][k]);
        let cell = |s: &str| s.to_string();
        let rows = [columns.head(), vec![columns.row(&[cell("12"), cell("123456"), cell("7")])]].concat();
        assert_eq!(
            rows,
            [
                "                       a",
                "                    very",
                "  Executed          long",
                "     warps     FMA   way",
                "        12  123456     7",
            ]
        );
        assert_eq!(columns.row(&[]), " ".repeat(24));
    }

    #[test]
    fn only_what_is_asked_for_has_colour() {
        assert_eq!(Paint(false).paint(Tone::Hot, "x"), "x");
        assert_eq!(Paint(true).paint(Tone::Hot, "x"), "\x1b[1;31mx\x1b[0m");
        assert_eq!(Paint(true).paint(Tone::Plain, "x"), "x");
        assert_eq!(
            [50.0, 49.0, 10.0, 9.0, 0.0].map(|v| Tone::of(v, 100.0)),
            [Tone::Hot, Tone::Warm, Tone::Warm, Tone::Plain, Tone::Cold]
        );
        // Tests' standard output is no terminal.
        assert_eq!(Paint::new(When::Always), Paint(true));
        assert_eq!(Paint::new(When::Never), Paint(false));
    }

    #[test]
    fn a_files_control_characters_stay_off_the_terminal() {
        let lines = [(2, (vec!["5".to_string()], 1.0))].into();
        let of = Source { file: "x\n.frag".into(), text: "a\x1b[2Jb\n\tc".into() };
        let text = listing(&of, &["FMA"], &lines, Paint(false));
        assert_eq!(text, "x\\n.frag\n  FMA |\n      |    1 a\\x1b[2Jb\n    5 |    2 \tc\n");
    }
}
