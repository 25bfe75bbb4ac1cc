//! Functions that a compiler has inlined, by what debug information says (DebugScope, DebugInlinedAt).

use super::module::{Line, Module, Place, debug_info};

/// Inlined functions within one another that are followed.
const MAX: usize = 64;

/// The functions that an instruction is of, from the innermost: name, and the line of the call in the next function outwards as the entry
/// after it. Empty if its function is all.
pub fn inlined(module: &Module, place: &Place) -> Vec<(String, Option<Line>)> {
    let mut all = vec![];
    if place.inlined == 0 {
        return all;
    }
    let (mut scope, mut at) = (place.scope, place.inlined);
    let mut call = None;
    for _ in 0..MAX {
        all.push((function(module, scope), call));
        let Some((debug_info::INLINED_AT, o)) = module.debug_of(at) else { break };
        let line = o.first().and_then(|l| module.number(*l)).unwrap_or(0) as u32;
        scope = o.get(1).copied().unwrap_or(0);
        let file = place.line.map_or(0, |l| l.file);
        call = Some(Line { file, line });
        at = o.get(2).copied().unwrap_or(0);
        if at == 0 {
            all.push((function(module, scope), call));
            break;
        }
    }
    all
}

/// The name of the function that a scope lies in.
fn function(module: &Module, mut scope: u32) -> String {
    for _ in 0..MAX {
        match module.debug_of(scope) {
            Some((debug_info::FUNCTION, o)) => {
                let name = o.first().and_then(|n| module.string(*n)).unwrap_or_default();
                return name.split('(').next().unwrap_or_default().into();
            }
            Some((debug_info::LEXICAL_BLOCK, o)) => scope = o.get(3).copied().unwrap_or(0),
            _ => break,
        }
    }
    String::new()
}
