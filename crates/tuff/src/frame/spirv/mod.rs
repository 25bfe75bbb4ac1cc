//! SPIR-V as readable source, for modules that bring none: expressions in place of one line an id, structured control flow, names where the
//! module has them. It reads like GLSL and is meant for eyes: it need not compile.
//!
//! [`module`] gathers what is declared, [`types`] names types and lays out blocks, [`expression`] writes operations, [`flow`] statements,
//! [`branch`] those that choose.

mod branch;
mod expression;
mod flow;
pub mod module;
pub mod types;

use module::Parts;
use std::fmt::Write;

/// The source of all functions and declarations.
pub fn source(m: &Parts) -> String {
    let mut out = String::new();
    declarations(m, &mut out);
    for f in &m.functions {
        out.push('\n');
        flow::function(m, f, &mut out);
    }
    out
}

fn declarations(m: &Parts, out: &mut String) {
    for (id, members) in m.structs() {
        if m.is_block(id) || m.is_built_in(id) {
            continue;
        }
        let _ = writeln!(out, "struct {} {{", m.type_name(id));
        for (i, of) in members.iter().enumerate() {
            let _ = writeln!(out, "    {};", types::declared(m, *of, &m.member_name(id, i as u32)));
        }
        out.push_str("};\n");
    }
    for c in &m.spec_constants {
        let (ty, name) = (m.type_name(c.ty), m.name(c.id));
        let _ = writeln!(out, "layout(constant_id = {}) const {ty} {name} = {};", c.number, m.constant(c.id));
    }
    if let Some([x, y, z]) = m.workgroup {
        let _ = writeln!(out, "layout(local_size_x = {x}, local_size_y = {y}, local_size_z = {z}) in;");
    }
    for v in &m.globals {
        if m.is_built_in_variable(v.id) || !m.is_used(v.id) {
            continue;
        }
        let place = m.layout(v.id);
        let storage = v.storage_word();
        let qualifiers: String =
            [place.as_str(), storage].iter().filter(|s| !s.is_empty()).map(|s| format!("{s} ")).collect();
        let inner = m.pointee(v.ty);
        match m.block_of(inner) {
            Some(block) => {
                let _ = writeln!(out, "{qualifiers}{} {{", m.type_name(block));
                for (i, of) in m.members(block).iter().enumerate() {
                    let name = m.member_name(block, i as u32);
                    let _ = writeln!(out, "    {};", types::declared(m, *of, &name));
                }
                let _ = writeln!(out, "}} {}{};", m.name(v.id), types::dimensions(m, inner));
            }
            None => {
                let _ = writeln!(out, "{qualifiers}{};", types::declared(m, inner, &m.name(v.id)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::{Path, PathBuf};

    fn modules(folder: &Path, all: &mut Vec<PathBuf>) {
        for e in std::fs::read_dir(folder).unwrap().flatten().map(|e| e.path()) {
            if e.is_dir() && !e.ends_with("target") {
                modules(&e, all);
            } else if e.extension().is_some_and(|x| x == "spv") {
                all.push(e);
            }
        }
    }

    /// All modules of the repository become source: each function is there, and none is too large but those that are meant to be.
    #[test]
    fn every_module_becomes_source() {
        let mut all = vec![];
        modules(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")), &mut all);
        assert!(all.len() > 300, "{} modules", all.len());
        let mut broken = vec![];
        for path in &all {
            let Ok(m) = shader::Module::parse(shader::words(&std::fs::read(path).unwrap())) else { continue };
            let Some(parts) = Parts::of(&m) else { continue };
            let text = source(&parts);
            assert!(
                parts.functions.iter().all(|f| text.contains(&format!(" {}(", parts.name(f.id)))),
                "{path:?}"
            );
            assert_eq!(text.matches('{').count(), text.matches('}').count(), "{path:?}\n{text}");
            if text.contains("not structured") {
                broken.push(path.display().to_string());
            }
        }
        assert!(broken.len() * 50 < all.len(), "{broken:#?}");
    }

    /// A module's bytes may be any.
    #[test]
    fn bent_modules_do_no_harm() {
        let good = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/frame/plain.frag.spv")).unwrap();
        for k in 0..2000usize {
            let mut bytes = good.clone();
            let at = 20 + k * 37 % (bytes.len() - 20);
            bytes[at] ^= 1 << (k % 8);
            let Ok(m) = shader::Module::parse(shader::words(&bytes)) else { continue };
            if let Some(parts) = Parts::of(&m) {
                source(&parts);
            }
        }
    }
}
