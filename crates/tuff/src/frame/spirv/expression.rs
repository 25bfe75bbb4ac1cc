//! Operations as expressions.

use super::module::{Parts, id, ids, number};
use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::{GlslStd450Op as GLOp, ImageOperands, Op};

/// What operands are written as, in a function.
pub trait Names {
    /// An operand: a name, a constant, or an expression in its place.
    fn operand(&mut self, id: u32) -> String;
    /// What a pointer points to, as a place.
    fn place(&mut self, id: u32) -> String;
    /// The type of a value.
    fn type_of(&self, id: u32) -> Option<u32>;
}

/// An operand within an operation: what has operators stands in parentheses.
fn inner(n: &mut dyn Names, of: u32) -> String {
    closed(n.operand(of))
}

pub fn closed(text: String) -> String {
    let mut deep = 0;
    let open = text.chars().any(|c| {
        match c {
            '(' | '[' => deep += 1,
            ')' | ']' => deep -= 1,
            ' ' if deep == 0 => return true,
            _ => {}
        }
        false
    });
    if open { format!("({text})") } else { text }
}

fn binary(op: Op) -> Option<&'static str> {
    Some(match op {
        Op::IAdd | Op::FAdd => "+",
        Op::ISub | Op::FSub => "-",
        Op::IMul
        | Op::FMul
        | Op::VectorTimesScalar
        | Op::MatrixTimesScalar
        | Op::VectorTimesMatrix
        | Op::MatrixTimesVector
        | Op::MatrixTimesMatrix => "*",
        Op::UDiv | Op::SDiv | Op::FDiv => "/",
        Op::UMod | Op::SRem | Op::SMod => "%",
        Op::ShiftRightLogical | Op::ShiftRightArithmetic => ">>",
        Op::ShiftLeftLogical => "<<",
        Op::BitwiseOr => "|",
        Op::BitwiseXor => "^",
        Op::BitwiseAnd => "&",
        Op::LogicalEqual | Op::IEqual | Op::FOrdEqual | Op::FUnordEqual => "==",
        Op::LogicalNotEqual | Op::INotEqual | Op::FOrdNotEqual | Op::FUnordNotEqual => "!=",
        Op::LogicalOr => "||",
        Op::LogicalAnd => "&&",
        Op::UGreaterThan | Op::SGreaterThan | Op::FOrdGreaterThan | Op::FUnordGreaterThan => ">",
        Op::UGreaterThanEqual
        | Op::SGreaterThanEqual
        | Op::FOrdGreaterThanEqual
        | Op::FUnordGreaterThanEqual => ">=",
        Op::ULessThan | Op::SLessThan | Op::FOrdLessThan | Op::FUnordLessThan => "<",
        Op::ULessThanEqual | Op::SLessThanEqual | Op::FOrdLessThanEqual | Op::FUnordLessThanEqual => "<=",
        _ => return None,
    })
}

/// Functions that take their operands as they are.
fn function(op: Op) -> Option<&'static str> {
    Some(match op {
        Op::Dot => "dot",
        Op::Transpose => "transpose",
        Op::OuterProduct => "outerProduct",
        Op::FMod => "mod",
        Op::FRem => "rem",
        Op::Any => "any",
        Op::All => "all",
        Op::IsNan => "isnan",
        Op::IsInf => "isinf",
        Op::DPdx => "dFdx",
        Op::DPdy => "dFdy",
        Op::Fwidth => "fwidth",
        Op::DPdxFine => "dFdxFine",
        Op::DPdyFine => "dFdyFine",
        Op::FwidthFine => "fwidthFine",
        Op::DPdxCoarse => "dFdxCoarse",
        Op::DPdyCoarse => "dFdyCoarse",
        Op::FwidthCoarse => "fwidthCoarse",
        Op::BitFieldInsert => "bitfieldInsert",
        Op::BitFieldSExtract | Op::BitFieldUExtract => "bitfieldExtract",
        Op::BitReverse => "bitfieldReverse",
        Op::BitCount => "bitCount",
        _ => return None,
    })
}

/// A field of a vector, or a member or element of anything else.
pub fn part(m: &Parts, ty: Option<u32>, k: u32) -> (String, Option<u32>) {
    let Some((ty, i)) = ty.and_then(|t| Some((t, m.def(t)?))) else { return (format!("[{k}]"), None) };
    match i.class.opcode {
        Op::TypeVector if k < 4 => (format!(".{}", ["x", "y", "z", "w"][k as usize]), id(i, 0)),
        Op::TypeStruct => (format!(".{}", m.member_name(ty, k)), m.members(ty).get(k as usize).copied()),
        _ => (format!("[{k}]"), id(i, 0)),
    }
}

/// A pointer's place: the base, and what is chosen of it.
pub fn chain(m: &Parts, n: &mut dyn Names, i: &Instruction, pointer: bool) -> String {
    let mut all = ids(i);
    let Some(base) = all.next() else { return "?".into() };
    let mut text = n.place(base);
    let mut ty = n.type_of(base).map(|t| m.pointee(t));
    if pointer && let Some(first) = all.next() {
        text = format!("{text}[{}]", n.operand(first));
    }
    for k in all {
        let constant = m.def(k).filter(|c| c.class.opcode == Op::Constant).and_then(|c| number(c, 0));
        let def = ty.and_then(|t| m.def(t));
        match (constant, def.map(|d| d.class.opcode)) {
            (Some(k), Some(Op::TypeStruct | Op::TypeVector)) => {
                let (word, of) = part(m, ty, k);
                // Members of a block that is built in are known by their own names.
                let built_in = ty.is_some_and(|t| m.is_built_in(t));
                text = if built_in { word.trim_start_matches('.').into() } else { text + &word };
                ty = of;
            }
            _ => {
                text = format!("{text}[{}]", n.operand(k));
                ty = def.and_then(|d| id(d, 0));
            }
        }
    }
    text
}

/// What an operation computes.
pub fn of(m: &Parts, n: &mut dyn Names, i: &Instruction) -> String {
    let op = i.class.opcode;
    let ty = i.result_type.map_or(String::new(), |t| m.type_name(t));
    if let (Some(sign), Some(a), Some(b)) = (binary(op), id(i, 0), id(i, 1)) {
        return format!("{} {sign} {}", inner(n, a), inner(n, b));
    }
    if let Some(name) = function(op) {
        return call(n, name, &ids(i).collect::<Vec<_>>());
    }
    let a = id(i, 0).unwrap_or(0);
    match op {
        Op::FNegate | Op::SNegate => format!("-{}", inner(n, a)),
        Op::Not => format!("~{}", inner(n, a)),
        Op::LogicalNot => format!("!{}", inner(n, a)),
        Op::CopyObject | Op::CopyLogical => n.operand(a),
        Op::ConvertFToU
        | Op::ConvertFToS
        | Op::ConvertSToF
        | Op::ConvertUToF
        | Op::UConvert
        | Op::SConvert
        | Op::FConvert => format!("{ty}({})", n.operand(a)),
        Op::Bitcast => format!("bitcast<{ty}>({})", n.operand(a)),
        Op::CompositeConstruct => call(n, &ty, &ids(i).collect::<Vec<_>>()),
        Op::CompositeExtract => {
            let mut text = inner(n, a);
            let mut of = n.type_of(a);
            for k in (1..i.operands.len()).filter_map(|k| number(i, k)) {
                let (word, next) = part(m, of, k);
                text += &word;
                of = next;
            }
            text
        }
        Op::CompositeInsert => {
            let whole = id(i, 1).unwrap_or(0);
            let (mut path, mut of) = (String::new(), n.type_of(whole));
            for k in (2..i.operands.len()).filter_map(|k| number(i, k)) {
                let (word, next) = part(m, of, k);
                path += &word;
                of = next;
            }
            format!("with({}, {path} = {})", n.operand(whole), n.operand(a))
        }
        Op::VectorExtractDynamic => {
            format!("{}[{}]", inner(n, a), id(i, 1).map_or("?".into(), |k| n.operand(k)))
        }
        Op::VectorInsertDynamic => {
            let [part, at] = [1, 2].map(|k| id(i, k).map_or("?".into(), |k| n.operand(k)));
            format!("with({}, [{at}] = {part})", n.operand(a))
        }
        Op::VectorShuffle => shuffle(m, n, i, &ty),
        Op::Select => {
            let [c, a, b] = [0, 1, 2].map(|k| id(i, k).map_or("?".into(), |k| inner(n, k)));
            format!("{c} ? {a} : {b}")
        }
        Op::Load => n.place(a),
        Op::AccessChain | Op::InBoundsAccessChain => chain(m, n, i, false),
        Op::PtrAccessChain | Op::InBoundsPtrAccessChain => chain(m, n, i, true),
        Op::ArrayLength => {
            let member = number(i, 1).unwrap_or(0);
            let of = n.type_of(a).map(|t| m.pointee(t));
            format!("{}{}.length()", n.place(a), part(m, of, member).0)
        }
        Op::FunctionCall => {
            let arguments: Vec<u32> = ids(i).skip(1).collect();
            call(n, &m.name(a), &arguments)
        }
        Op::ExtInst => extended(m, n, i),
        Op::SampledImage => format!("{ty}({})", list(n, &ids(i).collect::<Vec<_>>())),
        Op::Image => n.operand(a),
        _ if format!("{op:?}").starts_with("Image") => image(n, i),
        _ if format!("{op:?}").starts_with("Atomic") => atomic(n, i),
        _ => {
            let name = format!("{op:?}");
            let mut name: String =
                name.strip_suffix("KHR").or(name.strip_suffix("EXT")).unwrap_or(&name).into();
            name[..1].make_ascii_lowercase();
            call(n, &name, &ids(i).collect::<Vec<_>>())
        }
    }
}

fn list(n: &mut dyn Names, of: &[u32]) -> String {
    of.iter().map(|a| n.operand(*a)).collect::<Vec<_>>().join(", ")
}

fn call(n: &mut dyn Names, name: &str, of: &[u32]) -> String {
    format!("{name}({})", list(n, of))
}

fn shuffle(m: &Parts, n: &mut dyn Names, i: &Instruction, ty: &str) -> String {
    const LETTERS: [&str; 4] = ["x", "y", "z", "w"];
    let (Some(a), Some(b)) = (id(i, 0), id(i, 1)) else { return "?".into() };
    let size = |v: u32, n: &dyn Names| n.type_of(v).and_then(|t| number(m.def(t)?, 1)).unwrap_or(4);
    let first = size(a, n);
    let all: Vec<u32> = (2..i.operands.len()).filter_map(|k| number(i, k)).collect();
    let letters = |by: u32| -> String {
        all.iter().map(|k| LETTERS.get(k.wrapping_sub(by) as usize).copied().unwrap_or("x")).collect()
    };
    if all.iter().all(|k| *k < first || *k == u32::MAX) {
        return format!("{}.{}", inner(n, a), letters(0));
    }
    if all.iter().all(|k| *k >= first) {
        return format!("{}.{}", inner(n, b), letters(first));
    }
    // Runs of one source each.
    let mut parts: Vec<(bool, String)> = vec![];
    for k in &all {
        let second = *k >= first && *k != u32::MAX;
        let letter = LETTERS.get((if second { k - first } else { *k }) as usize).copied().unwrap_or("x");
        match parts.last_mut() {
            Some((of, text)) if *of == second => text.push_str(letter),
            _ => parts.push((second, letter.into())),
        }
    }
    let parts: Vec<String> = parts
        .into_iter()
        .map(|(second, l)| format!("{}.{l}", inner(n, if second { b } else { a })))
        .collect();
    format!("{ty}({})", parts.join(", "))
}

fn extended(m: &Parts, n: &mut dyn Names, i: &Instruction) -> String {
    let (Some(set), Some(k)) = (id(i, 0), number(i, 1)) else { return "?".into() };
    let arguments: Vec<u32> = ids(i).skip(1).collect();
    if m.imports.get(&set).map(String::as_str) != Some("GLSL.std.450") {
        return call(n, &format!("ext{k}"), &arguments);
    }
    let name = GLOp::from_u32(k).map_or_else(|| format!("ext{k}"), |op| format!("{op:?}"));
    let name = match name.as_str() {
        "InverseSqrt" => "inversesqrt".into(),
        "FindILsb" => "findLSB".into(),
        "FindSMsb" | "FindUMsb" => "findMSB".into(),
        "MatrixInverse" => "inverse".into(),
        "FaceForward" => "faceforward".into(),
        "SmoothStep" => "smoothstep".into(),
        "InterpolateAtCentroid" | "InterpolateAtSample" | "InterpolateAtOffset" => {
            let mut name = name;
            name[..1].make_ascii_lowercase();
            name
        }
        _ if name.starts_with("Pack") || name.starts_with("Unpack") => {
            let mut name = name;
            name[..1].make_ascii_lowercase();
            name
        }
        _ => {
            // The kind of number shows in its operands.
            let typed =
                ["FAbs", "SAbs", "FSign", "SSign", "FMin", "UMin", "SMin", "NMin", "FMax", "UMax", "SMax"];
            let more = ["NMax", "FClamp", "UClamp", "SClamp", "NClamp", "FMix", "IMix"];
            let short = typed.iter().chain(&more).any(|t| *t == name);
            if short { name[1..].to_lowercase() } else { name.to_lowercase() }
        }
    };
    call(n, &name, &arguments)
}

fn image(n: &mut dyn Names, i: &Instruction) -> String {
    let name = format!("{:?}", i.class.opcode);
    let sampled = name.contains("Sample");
    let at = i.operands.iter().position(|o| matches!(o, Operand::ImageOperands(_)));
    let mask = at.map(|at| match &i.operands[at] {
        Operand::ImageOperands(m) => *m,
        _ => ImageOperands::NONE,
    });
    let before = at.unwrap_or(i.operands.len());
    let plain: Vec<u32> = (0..before).filter_map(|k| id(i, k)).collect();
    let more: Vec<u32> = (before..i.operands.len()).filter_map(|k| id(i, k)).collect();
    let mask = mask.unwrap_or(ImageOperands::NONE);
    let has = |m: ImageOperands| mask.contains(m);
    let base = match () {
        _ if name.contains("Gather") => "textureGather",
        _ if name.contains("Fetch") => "texelFetch",
        _ if name == "ImageRead" => "imageLoad",
        _ if name == "ImageWrite" => "imageStore",
        _ if name.contains("QuerySize") => "textureSize",
        _ if name.contains("QueryLod") => "textureQueryLod",
        _ if name.contains("QueryLevels") => "textureQueryLevels",
        _ if name.contains("QuerySamples") => "textureSamples",
        _ if sampled && has(ImageOperands::GRAD) => "textureGrad",
        _ if sampled && has(ImageOperands::LOD) => "textureLod",
        _ => "texture",
    };
    let proj = if name.contains("Proj") { base.replacen("texture", "textureProj", 1) } else { base.into() };
    let offset = has(ImageOperands::CONST_OFFSET) || has(ImageOperands::OFFSET);
    let whole = if offset { format!("{proj}Offset") } else { proj };
    let arguments: Vec<u32> = plain.into_iter().chain(more).collect();
    call(n, &whole, &arguments)
}

fn atomic(n: &mut dyn Names, i: &Instruction) -> String {
    let name = format!("{:?}", i.class.opcode);
    let name = match name.as_str() {
        "AtomicIAdd" | "AtomicFAddEXT" => "atomicAdd".into(),
        "AtomicISub" => "atomicSub".into(),
        "AtomicIIncrement" => "atomicIncrement".into(),
        "AtomicIDecrement" => "atomicDecrement".into(),
        "AtomicUMin" | "AtomicSMin" => "atomicMin".into(),
        "AtomicUMax" | "AtomicSMax" => "atomicMax".into(),
        "AtomicCompareExchange" => "atomicCompSwap".into(),
        other => format!("a{}", &other[1..]),
    };
    let place = id(i, 0).map_or("?".into(), |p| n.place(p));
    // After the pointer come scope and semantics: one each, of an exchange by comparison a second semantics.
    let skip = if name == "atomicCompSwap" { 4 } else { 3 };
    let values: Vec<u32> = (skip..i.operands.len()).filter_map(|k| id(i, k)).collect();
    match values.is_empty() {
        true => format!("{name}({place})"),
        false => format!("{name}({place}, {})", list(n, &values)),
    }
}
