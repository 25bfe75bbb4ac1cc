//! README's table of settings.

use crate::{
    CACHE_KEY, CAPTURE, CAPTURE_FRAMES, CONFORMANCE, COUNTERS, DEBUG, DEBUG_AT, DEVICE_TYPE, FRAME,
    FRAME_MIB, FRAME_NUMBERS, FRAMES, GPU, INSTRUMENT, INTERFACES, JIT, JIT_DUMP, Kind, LISTEN, LOG,
    PROCESSES, RAYS, REFRESH, SANITIZE, SHADER_DUMP, SIMD, THREADS, TRACE, UNDEFINED, Variable, WATCHDOG_MS,
};
use std::fmt::Write;

/// The table stands between these lines.
pub const README_BEGIN: &str = "<!-- settings: written by `cargo xtask codegen` -->\n";
pub const README_END: &str = "<!-- end of settings -->\n";

/// A variable for a reader.
pub struct Row {
    pub name: &'static str,
    /// What stands after the `=`; `\|` for "or".
    pub form: String,
    /// In Markdown.
    pub meaning: &'static str,
}

fn row<K: Kind>(v: &Variable<K>) -> Row {
    Row { name: v.name, form: v.kind.form(), meaning: v.meaning }
}

/// All variables, in README's order.
pub fn rows() -> [Row; 29] {
    [
        row(&THREADS),
        row(&LOG),
        row(&WATCHDOG_MS),
        row(&SIMD),
        row(&JIT),
        row(&GPU),
        row(&RAYS),
        row(&DEVICE_TYPE),
        row(&CONFORMANCE),
        row(&COUNTERS),
        row(&CAPTURE),
        row(&INSTRUMENT),
        row(&SANITIZE),
        row(&DEBUG),
        row(&DEBUG_AT),
        row(&CAPTURE_FRAMES),
        row(&FRAMES),
        row(&FRAME_NUMBERS),
        row(&FRAME),
        row(&FRAME_MIB),
        row(&UNDEFINED),
        row(&PROCESSES),
        row(&LISTEN),
        row(&SHADER_DUMP),
        row(&JIT_DUMP),
        row(&CACHE_KEY),
        row(&REFRESH),
        row(&TRACE),
        row(&INTERFACES),
    ]
}

/// README with the table between its marks; `None` where it has no marks.
pub fn readme_with_table(readme: &str) -> Option<String> {
    let begin = readme.find(README_BEGIN)? + README_BEGIN.len();
    let end = begin + readme[begin..].find(README_END)?;
    let mut table = String::from("| variable | meaning |\n|---|---|\n");
    for r in rows() {
        let _ = writeln!(table, "| `{}={}` | {} |", r.name, r.form, r.meaning);
    }
    Some(format!("{}{table}{}", &readme[..begin], &readme[end..]))
}
