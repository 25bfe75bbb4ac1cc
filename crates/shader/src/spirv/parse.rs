//! One pass over the words: instruction boundaries, ids, decorations, functions.

use super::*;
use small_sort::SmallSort;

const MAGIC: u32 = 0x0723_0203;

pub(super) fn parse(mut words: Vec<u32>) -> Result<Module> {
    if words.len() < 5 {
        return Err(invalid(words.len(), "shorter than a header"));
    }
    match words[0] {
        MAGIC => {}
        m if m.swap_bytes() == MAGIC => words.iter_mut().for_each(|w| *w = w.swap_bytes()),
        _ => return Err(invalid(0, "no SPIR-V magic number")),
    }
    let (version, bound) = (words[1], words[3]);
    if !(0x0001_0000..=0x0001_06FF).contains(&version) {
        return Err(invalid(1, format!("version {version:#x} is not 1.0 to 1.6")));
    }
    if bound == 0 || bound > MAX_BOUND {
        return Err(invalid(3, format!("id bound {bound}")));
    }
    let mut m = Module {
        words,
        def: Vec::new(),
        flags: vec![0; bound as usize],
        capabilities: Vec::new(),
        extensions: Vec::new(),
        addressing: 0,
        memory: 0,
        entries: Vec::new(),
        modes: Vec::new(),
        globals: Vec::new(),
        functions: Vec::new(),
        ext_sets: Vec::new(),
        decorations: Vec::new(),
        names: Vec::new(),
    };
    let mut def = vec![0u32; bound as usize];
    let mut last_id = 0;
    let mut open: Option<Function> = None;
    let mut groups = false;
    let mut at = 5;
    while at < m.words.len() {
        let first = m.words[at];
        let (n, code) = ((first >> 16) as usize, first as u16);
        if n == 0 || at + n > m.words.len() {
            return Err(invalid(at, "an instruction runs past the end of the module"));
        }
        let shape = grammar::shape(code);
        let op = match grammar::op(code as u32) {
            Some(op) if shape != 0 => op,
            _ => return Err(invalid(at, format!("unknown opcode {code}"))),
        };
        if n < (shape >> 2) as usize {
            return Err(invalid(at, format!("{op:?} has only {n} words")));
        }
        let i = Code { op, w: &m.words[at..at + n], at };
        let at32 = at as u32;
        if shape & 2 != 0 {
            let id = i.w[1 + (shape & 1) as usize];
            if id == 0 || id >= bound {
                return Err(invalid(at, format!("result id {id} is out of bounds")));
            }
            if def[id as usize] != 0 {
                return Err(invalid(at, format!("id {id} is defined twice")));
            }
            def[id as usize] = at32;
            last_id = last_id.max(id);
        }
        match op {
            Op::Capability => m.capabilities.push(i.w[1]),
            Op::Extension => {
                i.string(1)?;
                m.extensions.push(at32);
            }
            Op::MemoryModel => (m.addressing, m.memory) = (i.w[1], i.w[2]),
            Op::ExtInstImport => {
                let set = match i.string(2)?.0.as_str() {
                    "GLSL.std.450" => ExtSet::Glsl450,
                    "NonSemantic.Shader.DebugInfo.100" => ExtSet::ShaderDebugInfo,
                    "NonSemantic.Tuff.Marks" => ExtSet::Marks,
                    "TOSA.001000.1" => ExtSet::Tosa,
                    s if s.starts_with("NonSemantic.") => ExtSet::NonSemantic,
                    _ => ExtSet::Unknown,
                };
                m.ext_sets.push((i.w[1], set));
            }
            Op::EntryPoint => {
                i.string(3)?;
                m.entries.push(at32);
            }
            Op::ExecutionMode | Op::ExecutionModeId => m.modes.push(at32),
            Op::Name => m.names.push(at32),
            Op::Decorate | Op::DecorateId | Op::DecorateString => {
                m.decorations.push(Deco {
                    target: i.w[1],
                    member: WHOLE,
                    kind: i.w[2],
                    value: i.get(3).unwrap_or(0),
                    at: at32,
                });
            }
            Op::MemberDecorate | Op::MemberDecorateString | Op::MemberDecorateIdEXT => {
                m.decorations.push(Deco {
                    target: i.w[1],
                    member: i.w[2],
                    kind: i.w[3],
                    value: i.get(4).unwrap_or(0),
                    at: at32,
                });
            }
            Op::GroupDecorate | Op::GroupMemberDecorate => groups = true,
            Op::Function => {
                if open.is_some() {
                    return Err(invalid(at, "OpFunction within a function"));
                }
                open = Some(Function { id: i.w[2], start: at32, end: 0 });
            }
            Op::FunctionEnd => match open.take() {
                Some(mut f) => {
                    f.end = at32 + n as u32;
                    m.functions.push(f);
                }
                None => return Err(invalid(at, "OpFunctionEnd without OpFunction")),
            },
            _ if open.is_none() && shape & 2 != 0 => m.globals.push(at32),
            _ => {}
        }
        at += n;
    }
    if let Some(f) = open {
        return Err(invalid(f.start as usize, "a function without an end"));
    }
    def.truncate(last_id as usize + 1);
    m.def = def;
    if groups {
        expand_groups(&mut m)?;
    }
    m.decorations.small_sort_by_key(|d| (d.target, d.member, d.kind, d.at));
    m.ext_sets.small_sort_by_key(|s| s.0);
    let words = &m.words;
    m.names.small_sort_by_key(|at| (words[*at as usize + 1], *at));
    for d in &m.decorations {
        if let Some(f) = m.flags.get_mut(d.target as usize) {
            *f |= DECORATED;
            if d.kind == Decoration::NoContraction as u32 {
                *f |= NO_CONTRACTION;
            }
            // A structure's members have theirs, of which nothing is computed.
            if d.kind == Decoration::RelaxedPrecision as u32 && d.member == WHOLE {
                *f |= RELAXED;
            }
        }
    }
    Ok(m)
}

/// Copies the decorations of decoration groups to their targets.
fn expand_groups(m: &mut Module) -> Result<()> {
    let mut extra = Vec::new();
    m.decorations.small_sort_by_key(|d| (d.target, d.member, d.kind, d.at));
    let mut at = 5;
    while at < m.words.len() {
        let i = m.inst(at as u32);
        let member = i.op == Op::GroupMemberDecorate;
        if member || i.op == Op::GroupDecorate {
            let first = m.decorations.partition_point(|d| (d.target, d.member) < (i.w[1], WHOLE));
            let n = m.decorations[first..].partition_point(|d| d.target == i.w[1]);
            let of_group = &m.decorations[first..first + n];
            for t in i.rest(2).chunks(if member { 2 } else { 1 }) {
                if member && t.len() != 2 {
                    return Err(i.bad("an odd number of operands"));
                }
                for d in of_group {
                    extra.push(Deco { target: t[0], member: if member { t[1] } else { WHOLE }, ..*d });
                }
                if extra.len() > 1 << 20 {
                    return Err(Error::TooLarge("decorations through groups".into()));
                }
            }
        }
        at += i.len();
    }
    m.decorations.append(&mut extra);
    Ok(())
}
