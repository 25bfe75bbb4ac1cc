//! Marks as non-semantic instructions.

use super::edit::{Edit, literal, op};
use super::{MARK, MARKS_SET};
use crate::options::Result;
use crate::spirv::*;

const EXTENSION: &str = "SPV_KHR_non_semantic_info";

/// Inserts mark `i` at the word offset `places[i]`.
pub(super) fn insert(e: &mut Edit, places: &[u32]) -> Result<()> {
    if e.version() < 0x0001_0600 && !has_extension(e.m) {
        let at = e.places.extensions;
        e.insert(at, op(Op::Extension, &literal(EXTENSION)));
    }
    let set = e.id();
    let mut import = vec![set];
    import.extend(literal(MARKS_SET));
    let at = e.places.imports;
    e.insert(at, op(Op::ExtInstImport, &import));
    let void = e.basic_type(Op::TypeVoid, &[]);
    let uint = e.basic_type(Op::TypeInt, &[32, 0]);
    for (i, &at) in places.iter().enumerate() {
        let index = e.constant(uint, i as u32);
        let id = e.id();
        e.insert(at, op(Op::ExtInst, &[void, id, set, MARK, index]));
    }
    Ok(())
}

fn has_extension(m: &Module) -> bool {
    let mut at = 5;
    while at < m.words.len() {
        let i = m.inst(at as u32);
        match i.op {
            Op::Extension if i.string(1).is_ok_and(|s| s.0 == EXTENSION) => return true,
            Op::Capability | Op::Extension => {}
            _ => return false,
        }
        at += i.len();
    }
    false
}
