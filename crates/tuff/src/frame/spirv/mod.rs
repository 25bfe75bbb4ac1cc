//! SPIR-V as readable source, for modules that bring none: expressions in place of one line an id, structured control flow, names where the
//! module has them. It reads like GLSL and is meant for eyes: it need not compile.
//!
//! [`module`] gathers what is declared, [`types`] names types and lays out blocks, [`expression`] writes operations, [`flow`] statements.

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
        let qualifiers: String = [place.as_str(), storage].iter().filter(|s| !s.is_empty()).map(|s| format!("{s} ")).collect();
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
