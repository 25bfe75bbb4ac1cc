//! What a debugger shows of a moment: scopes of variables, and expressions.

use super::session::Session;
use super::state::{GLOBAL, Moment, Root};
use super::types::{Type, Value};
use rspirv::spirv::StorageClass;

/// A variable: name, value, id of its type.
pub type Variable = (String, Value, Option<u32>);

pub const LOCALS: &str = "Locals";
pub const INPUTS: &str = "Inputs";
pub const OUTPUTS: &str = "Outputs";
pub const PRIVATE: &str = "Globals";
pub const MEMORY: &str = "Memory accesses";
pub const IDS: &str = "SPIR-V ids";

impl Session {
    /// The scopes of a lane's frame, counted from the innermost.
    pub fn scopes(&self, when: Moment, level: usize) -> Vec<(&'static str, Vec<Variable>)> {
        let Some((frame, at)) = self.frame(when.lane, level) else { return vec![] };
        let state = &self.state;
        let module = &state.trace.module;
        let ty = |id: u32| match module.result_type(id) {
            Some(Type::Pointer(_, to)) => Some(*to),
            _ => None,
        };
        let name = |id: u32| {
            let block = || ty(id).and_then(|t| module.name(t));
            module.name(id).or_else(block).unwrap_or_else(|| format!("%{id}"))
        };
        let own = |classes: &[StorageClass]| -> Vec<Variable> {
            let of = |id: u32| (name(id), state.variable(GLOBAL, id, when), ty(id));
            state.globals(classes).into_iter().map(of).collect()
        };
        let inputs = state.globals(&[StorageClass::Input]).into_iter();
        let inputs: Vec<Variable> = inputs.map(|id| (name(id), state.input(id, when.lane), ty(id))).collect();
        let memory = state.accesses(when).into_iter().map(|(writes, path, value, ty)| {
            (format!("{path} ({})", if writes { "written" } else { "read" }), value, ty)
        });
        let all = [
            (LOCALS, state.locals(frame, at, when)),
            (INPUTS, inputs.into_iter().filter(|v| v.1.is_known()).collect()),
            (OUTPUTS, own(&[StorageClass::Output])),
            (PRIVATE, own(&[StorageClass::Private])),
            (MEMORY, memory.collect()),
            (IDS, state.ids(frame, when)),
        ];
        all.into_iter().filter(|s| s.0 == LOCALS || !s.1.is_empty()).collect()
    }

    /// The frame and the instruction of a level of a lane's stack.
    pub fn frame(&self, lane: usize, level: usize) -> Option<(u32, u32)> {
        let spot = self.spot(lane)?;
        self.levels(spot.frame, spot.at).get(level).map(|l| (l.frame, l.at))
    }

    pub fn type_name(&self, ty: Option<u32>) -> String {
        let module = &self.state.trace.module;
        ty.map_or(String::new(), |t| module.types.name(t, &|id| module.named(id)))
    }

    /// A variable, an id or a part of one: value and type.
    ///
    /// # Errors
    /// A line that says what is not there.
    pub fn evaluate(&self, text: &str, when: Moment) -> Result<(Value, String), String> {
        self.evaluate_at(text, when, 0).map(|(value, ty)| (value, self.type_name(ty)))
    }

    pub fn evaluate_at(
        &self,
        text: &str,
        when: Moment,
        level: usize,
    ) -> Result<(Value, Option<u32>), String> {
        let text = text.trim();
        let end = text.find(['.', '[']).unwrap_or(text.len());
        let (name, mut path) = text.split_at(end);
        let (frame, _) = self.frame(when.lane, level).ok_or("the lane does nothing")?;
        let (mut value, mut ty) =
            self.named(name, frame, when, level).ok_or_else(|| format!("there is no '{name}' here"))?;
        while !path.is_empty() {
            let part = match path.strip_prefix('[') {
                Some(rest) => {
                    let (index, rest) = rest.split_once(']').ok_or("a ] is missing")?;
                    path = rest;
                    let known = index.trim().parse().ok();
                    let index = known
                        .or_else(|| u32::try_from(self.evaluate_at(index, when, level).ok()?.0.int()?).ok());
                    vec![index.ok_or_else(|| format!("'{index:?}' is no index"))?]
                }
                None => {
                    let rest = path.strip_prefix('.').unwrap_or(path);
                    let end = rest.find(['.', '[']).unwrap_or(rest.len());
                    let (name, rest) = rest.split_at(end);
                    path = rest;
                    self.member(ty, name).ok_or_else(|| format!("there is no member '{name}'"))?
                }
            };
            let types = &self.state.trace.module.types;
            match part.as_slice() {
                [one] => {
                    value = match &value {
                        Value::Composite(parts) => parts
                            .get(*one as usize)
                            .cloned()
                            .ok_or_else(|| format!("there is no part {one}"))?,
                        _ => Value::Unknown,
                    };
                    ty = ty.and_then(|t| types.part(t, *one as usize));
                }
                several => {
                    value = Value::Composite(several.iter().map(|k| value.at(&[*k])).collect());
                    ty = None;
                }
            }
        }
        Ok((value, ty))
    }

    /// The indices that a member's name, or a swizzle, means.
    fn member(&self, ty: Option<u32>, name: &str) -> Option<Vec<u32>> {
        let module = &self.state.trace.module;
        let ty = ty?;
        match module.types.get(ty)? {
            Type::Struct(members) => {
                (0..members.len() as u32).find(|k| module.member(ty, *k) == name).map(|k| vec![k])
            }
            Type::Vector(_, n) => {
                let sets = ["xyzw", "rgba", "stpq"];
                let of = |c: char| sets.iter().find_map(|s| s.find(c)).map(|k| k as u32).filter(|k| k < n);
                let all: Option<Vec<u32>> = name.chars().map(of).collect();
                all.filter(|a| (1..=4).contains(&a.len()))
            }
            _ => None,
        }
    }

    fn named(&self, name: &str, frame: u32, when: Moment, level: usize) -> Option<(Value, Option<u32>)> {
        let state = &self.state;
        if let Some(id) = name.strip_prefix('%').and_then(|n| n.parse::<u32>().ok()) {
            state.trace.module.inst(id)?;
            let pointer = state.pointer(frame, id, when);
            if let (Root::Variable(..), Some(ty)) = (&pointer.root, state.pointee_type(&pointer)) {
                let value = state.pointee(&pointer, when);
                if value.is_known() {
                    return Some((value, Some(ty)));
                }
            }
            return Some((state.value(frame, id, when), state.trace.module.type_of(id)));
        }
        let scopes = self.scopes(when, level);
        let found = scopes.iter().filter(|s| s.0 != IDS).flat_map(|s| &s.1).find(|v| {
            // An access is called after its place, and what was done.
            v.0 == name || v.0.strip_suffix(" (read)").or(v.0.strip_suffix(" (written)")) == Some(name)
        });
        found.map(|v| (v.1.clone(), v.2))
    }
}
