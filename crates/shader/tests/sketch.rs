//! What shaders are known by when they have changed: modules of crates/tuff/tests/diff.

use shader::Module;
use shader::instrument::{Entry, HASHES, Sketch, sketch};
use std::path::Path;

fn of(name: &str) -> Sketch {
    let at = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../tuff/tests/diff/{name}.spv"));
    let bytes = std::fs::read(at).unwrap();
    sketch(&Module::parse(shader::words(&bytes)).unwrap(), Entry::Named("main", None)).unwrap()
}

/// `after` has two more operations than `before` and the same bindings; `trips` is another shader.
#[test]
fn an_edited_shader_is_more_alike_than_another() {
    let [before, after, trips] = ["before", "after", "trips"].map(of);
    assert!(before.hashes.is_sorted() && before.hashes.len() <= HASHES && before.hashes.len() > 8);
    assert_eq!(before.interface, after.interface);
    assert_eq!(before.likeness(&before), 1.0);
    let [edited, other] = [before.likeness(&after), before.likeness(&trips)];
    assert!(edited > 0.4 && edited < 1.0 && other < edited - 0.1, "{edited} {other}");
    assert_eq!(after.likeness(&before), edited);
}
