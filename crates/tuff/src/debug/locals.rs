//! Which variables and ids an invocation has at a moment.

use super::module::debug_info;
use super::state::{MAX_DEPTH, Moment, State};
use super::types::Value;
use rspirv::spirv::{Op, StorageClass};

impl State {
    /// Variables outside functions of a storage class, that the module names or the program decorates.
    pub fn globals(&self, classes: &[StorageClass]) -> Vec<u32> {
        let module = self.module();
        let mut all: Vec<u32> = vec![];
        for place in module.places.values().take_while(|p| p.function == 0) {
            let i = &place.inst;
            if i.class.opcode == Op::Variable
                && let Some(id) = i.result_id
                && self.class(id).is_some_and(|c| classes.contains(&c))
            {
                all.push(id);
            }
        }
        all
    }

    /// The variables of a frame that are in scope at an instruction: name, value, type.
    pub fn locals(&self, frame: u32, at: u32, when: Moment) -> Vec<(String, Value, Option<u32>)> {
        let module = self.module();
        let Some(here) = module.places.get(&at) else { return vec![] };
        let mut all: Vec<(String, Value, Option<u32>)> = vec![];
        // When each of these got its value, by DebugValue.
        let mut told: Vec<usize> = vec![];
        let mut shown: Vec<u32> = vec![];
        let Some(start) = module.def.get(&here.function) else { return vec![] };
        let body = module.places.range(start..).take_while(|p| p.1.function == here.function);
        for (place_at, place) in body {
            let i = &place.inst;
            if let Some((what, o)) = module.debug_operands(i)
                && let (Some(local), Some(&of)) = (o.first().and_then(|l| module.locals.get(l)), o.get(1))
                && matches!(what, debug_info::DECLARE | debug_info::VALUE)
            {
                shown.push(of);
                if !self.in_scope(local.scope, here.scope) || place.inlined != here.inlined {
                    continue;
                }
                let step = self.trace.last(frame, *place_at, when.lane, when.end);
                let (at, value) = if what == debug_info::DECLARE {
                    let pointer = self.pointer(frame, of, when);
                    (0, (self.pointee(&pointer, when), self.pointee_type(&pointer)))
                } else if let Some(step) = step {
                    // As it was when it was told: an id of a loop may have another value since.
                    (step, (self.value(frame, of, Moment { end: step, ..when }), module.type_of(of)))
                } else {
                    continue;
                };
                match all.iter().position(|l| l.0 == local.name) {
                    Some(k) if what == debug_info::VALUE => {
                        if told[k] <= at {
                            (all[k].1, all[k].2) = value;
                            told[k] = at;
                        }
                    }
                    _ => {
                        all.push((local.name.clone(), value.0, value.1));
                        told.push(at);
                    }
                }
            }
        }
        let body = module.places.range(start..).take_while(|p| p.1.function == here.function);
        for (_, place) in body {
            let (i, op) = (&place.inst, place.inst.class.opcode);
            let Some(id) = i.result_id else { continue };
            if shown.contains(&id) || !matches!(op, Op::Variable | Op::FunctionParameter) {
                continue;
            }
            let Some(name) = module.name(id) else { continue };
            let (value, ty) = if self.is_pointer(id) {
                let pointer = self.pointer(frame, id, when);
                (self.pointee(&pointer, when), self.pointee_type(&pointer))
            } else {
                (self.value(frame, id, when), i.result_type)
            };
            all.push((name, value, ty));
        }
        all
    }

    /// `outer` is `inner` or one that holds it.
    fn in_scope(&self, outer: u32, inner: u32) -> bool {
        let mut here = inner;
        for _ in 0..MAX_DEPTH {
            if here == outer || inner == 0 {
                return true;
            }
            here = match self.module().debug_of(here) {
                Some((debug_info::LEXICAL_BLOCK, o)) => o.get(3).copied().unwrap_or(0),
                Some((debug_info::FUNCTION, o)) => o.get(5).copied().unwrap_or(0),
                _ => return false,
            };
        }
        false
    }

    /// The ids of a frame that have values, in the order of the module.
    pub fn ids(&self, frame: u32, when: Moment) -> Vec<(String, Value, Option<u32>)> {
        let mut at: Vec<u32> = self.trace.executed().filter(|e| e.0 == frame).map(|e| e.1).collect();
        at.sort_unstable();
        let mut all = vec![];
        for at in at {
            let i = &self.module().places[&at].inst;
            let Some(id) = i.result_id else { continue };
            if self.trace.last(frame, at, when.lane, when.end).is_none() {
                continue;
            }
            let value = self.value(frame, id, when);
            if value.is_known() {
                let name = self.module().name(id).map_or(String::new(), |n| format!(" {n}"));
                all.push((format!("%{id}{name}"), value, i.result_type));
            }
        }
        all
    }
}
