//! Tables for the API fuzzer (`fuzz/api`): the driver's commands and the structures that they lead to, each parameter
//! and member with its place in memory on 64-bit machines, its kind and its length; and functions that make a call of
//! words, or words of a call.

use super::registry::{Command, Decl, Feature, Registry, TypeKind};
use super::{Tables, legacy, sizes};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Commands that take what no driver can check: objects of another library, in this process; and those of Windows.
const FOREIGN: [&str; 13] = [
    "vkCreateXlibSurfaceKHR",
    "vkCreateWaylandSurfaceKHR",
    "vkCreateXcbSurfaceKHR",
    "vkCreateWin32SurfaceKHR",
    "vkGetFenceWin32HandleKHR",
    "vkGetMemoryWin32HandleKHR",
    "vkGetMemoryWin32HandlePropertiesKHR",
    "vkGetSemaphoreWin32HandleKHR",
    "vkImportFenceWin32HandleKHR",
    "vkImportSemaphoreWin32HandleKHR",
    "vkGetPhysicalDeviceXlibPresentationSupportKHR",
    "vkGetPhysicalDeviceWaylandPresentationSupportKHR",
    "vkGetPhysicalDeviceXcbPresentationSupportKHR",
];

struct Gathered<'r> {
    r: &'r Registry,
    provided: Vec<&'r Feature>,
    handles: Vec<String>,
    enums: Vec<String>,
    flags: Vec<String>,
    /// In the order of their numbers; those behind `done` have not been looked into.
    structs: Vec<String>,
}

fn number(all: &mut Vec<String>, name: &str) -> usize {
    all.iter().position(|n| n == name).unwrap_or_else(|| {
        all.push(name.to_string());
        all.len() - 1
    })
}

impl Gathered<'_> {
    fn members(&self, name: &str) -> Option<&[Decl]> {
        match &self.r.types.get(name)?.kind {
            TypeKind::Struct { members, .. } | TypeKind::Union { members } => Some(members),
            _ => None,
        }
    }

    /// The kind of a base type, as the fuzzer's `Ty` spells it; `None` for what vk.xml says nothing of.
    fn ty(&mut self, d: &Decl) -> Option<String> {
        let by_name = match (d.name.as_str(), d.ty.as_str(), d.pointers) {
            ("pNext", _, 1) => "Next",
            ("pHostPointer", "void", 1) => "Host",
            ("pUserData", "void", 1) => "U64",
            ("sType", ..) => "SType",
            ("timeout", "uint64_t", 0) => "Timeout",
            ("fd" | "pFd", "int", _) => "Fd",
            (_, "VkAllocationCallbacks", 1) => "Callbacks",
            (_, "void", 1) if d.len.is_none() => "Blob",
            _ => "",
        };
        if !by_name.is_empty() {
            return Some(by_name.into());
        }
        Some(match d.ty.as_str() {
            "void" | "char" => if d.ty == "char" { "Char" } else { "Byte" }.into(),
            "uint8_t" | "int8_t" => "Byte".into(),
            "uint16_t" | "int16_t" => "U16".into(),
            "uint32_t" | "VkFlags" | "VkSampleMask" => "U32".into(),
            "int32_t" | "int" => "I32".into(),
            "uint64_t" | "VkDeviceSize" | "VkFlags64" => "U64".into(),
            "int64_t" => "I64".into(),
            "size_t" => "Usize".into(),
            "float" => "F32".into(),
            "double" => "F64".into(),
            "VkBool32" => "Bool".into(),
            "VkDeviceAddress" => "Address".into(),
            c => {
                let c = self.r.canonical_type(c).to_string();
                match &self.r.types.get(&c)?.kind {
                    TypeKind::Handle { .. } => format!("Handle({})", number(&mut self.handles, &c)),
                    TypeKind::Enum if c.contains("FlagBits") => {
                        format!("Flags({})", number(&mut self.flags, &c))
                    }
                    TypeKind::Enum => format!("Enum({})", number(&mut self.enums, &c)),
                    TypeKind::Bitmask { wide, bits } => {
                        let id = number(&mut self.flags, bits.as_ref().unwrap_or(&c));
                        format!("{}({id})", if *wide { "Flags64" } else { "Flags" })
                    }
                    TypeKind::Struct { .. } | TypeKind::Union { .. } => {
                        sizes::base(self.r, &c)?;
                        format!("Struct({})", number(&mut self.structs, &c))
                    }
                    TypeKind::FuncPointer => "Function".into(),
                    TypeKind::Base => return None,
                }
            }
        })
    }

    fn len(&self, d: &Decl, all: &[Decl]) -> Result<String, String> {
        let Some(len) = &d.len else { return Ok("Len::One".into()) };
        if len == "null-terminated" {
            return Ok("Len::Nul".into());
        }
        if let Some(at) = all.iter().position(|o| o.name == *len) {
            return Ok(format!("Len::Of({at})"));
        }
        if let Some((through, member)) = len.split_once("->") {
            let at = all.iter().position(|o| o.name == through).ok_or(len)?;
            let members = self.members(self.r.canonical_type(&all[at].ty)).ok_or(len)?;
            let to = members.iter().position(|m| m.name == member).ok_or(len)?;
            return Ok(format!("Len::In({at}, {to})"));
        }
        match d.name.as_str() {
            // In words.
            "pCode" => {
                Ok(format!("Len::Words({})", all.iter().position(|o| o.name == "codeSize").ok_or(len)?))
            }
            // One bit a sample, 64 of them at most.
            "pSampleMask" => Ok("Len::Two".into()),
            // Two UUIDs, of structures that the driver does not know.
            "pVersionData" => Ok("Len::One".into()),
            _ => Err(format!("{}: what is the length {len}?", d.name)),
        }
    }

    /// Rows of a structure's members or a command's parameters.
    fn rows(&mut self, all: &[Decl], kind: Rows) -> Result<Option<String>, String> {
        let (mut out, mut at) = (String::new(), 0usize);
        for d in all {
            let Some(ty) = self.ty(d) else { return Ok(None) };
            let (size, align) = match kind {
                Rows::Parameters => (8, 8),
                _ => match sizes::layout(self.r, d) {
                    Some(l) => l,
                    None => return Ok(None),
                },
            };
            at = at.next_multiple_of(align);
            let array = d.arrays.iter().try_fold(1, |n, a| Some(n * self.r.length(a)?)).ok_or("an array")?;
            let as_word = d.name == "pUserData" || matches!(ty.as_str(), "Next" | "Host" | "Callbacks");
            let mut pointers = if as_word { 0 } else { d.pointers };
            let (mut count, mut len) = (array, self.len(d, all)?);
            // As a parameter an array is a pointer.
            if kind == Rows::Parameters && !d.arrays.is_empty() {
                (pointers, count, len) = (1, 1, format!("Len::Fixed({array})"));
            }
            let out_ = !d.is_const && d.pointers > 0;
            let _ = write!(out, "m({:?},{at},{ty},{pointers},{out_},{count},{len}),", d.name);
            at += if kind == Rows::Union { 0 } else { size };
        }
        Ok(Some(out))
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Rows {
    Parameters,
    Struct,
    Union,
}

/// The Rust type by which a parameter or result is passed.
fn word(r: &Registry, d: &Decl) -> &'static str {
    if d.pointers > 0 || !d.arrays.is_empty() {
        return "u64";
    }
    match d.ty.as_str() {
        "float" => "f32",
        "void" => "()",
        "VkResult" | "int32_t" | "int" => "i32",
        t => match sizes::base(r, t) {
            Some((4, _)) => "u32",
            _ => "u64",
        },
    }
}

fn signature(r: &Registry, c: &Command) -> String {
    let args: Vec<String> =
        c.params.iter().enumerate().map(|(i, d)| format!("a{i}: {}", word(r, d))).collect();
    let ret = Decl { ty: c.ret.clone(), ..Default::default() };
    format!("{}({}) -> {};", c.name, args.join(", "), word(r, &ret))
}

pub fn generate(r: &Registry, tables: &Tables) -> Result<String, String> {
    let has = |name: &str| {
        tables.modules.contains_key(name)
            || legacy::target(name).is_some_and(|t| tables.modules.contains_key(t))
    };
    let commands: Vec<&Command> = r
        .commands
        .values()
        .filter(|c| c.alias.is_none() && has(&c.name) && !FOREIGN.contains(&c.name.as_str()))
        .collect();
    let provided: Vec<&Feature> =
        r.cores.iter().chain(tables.extensions.iter().filter_map(|e| r.extensions.get(e))).collect();
    let types: BTreeSet<&str> = provided.iter().flat_map(|f| &f.types).map(|t| r.canonical_type(t)).collect();
    let mut t = Gathered { r, provided, handles: vec![], enums: vec![], flags: vec![], structs: vec![] };
    let stype = number(&mut t.enums, "VkStructureType");
    let mut rows = vec![];
    for c in &commands {
        let parameters = t.rows(&c.params, Rows::Parameters)?.ok_or_else(|| format!("{}: a type", c.name))?;
        rows.push(parameters);
    }
    // What may stand in a chain is led to by none but the chain.
    for name in &types {
        if let Some(TypeKind::Struct { extends, .. }) = r.types.get(*name).map(|t| &t.kind)
            && !extends.is_empty()
            && sizes::base(r, name).is_some()
        {
            number(&mut t.structs, name);
        }
    }
    let numbers: BTreeMap<String, i64> = r
        .values("VkStructureType", r.cores.iter().chain(r.extensions.values()))
        .into_iter()
        .map(|v| (v.name, v.value))
        .collect();
    let mut structs = String::new();
    let mut next = 0;
    while next < t.structs.len() {
        let name = t.structs[next].clone();
        next += 1;
        let (members, extends, kind) = match &r.types[&name].kind {
            TypeKind::Struct { members, extends } => (members, extends.as_slice(), Rows::Struct),
            TypeKind::Union { members } => (members, &[][..], Rows::Union),
            _ => return Err(format!("{name} is no structure")),
        };
        let members_rows = t.rows(members, kind)?.unwrap_or_default();
        let size = sizes::base(r, &name).map_or(0, |l| l.0);
        let s_type = members.first().and_then(|m| numbers.get(m.value.as_ref()?));
        let extends: Vec<String> = extends
            .iter()
            .filter_map(|e| t.structs.iter().position(|s| s == r.canonical_type(e)))
            .map(|e| e.to_string())
            .collect();
        let _ = writeln!(
            structs,
            "Struct{{name:{name:?},size:{size},union:{},s_type:{},extends:&[{}],members:&[{members_rows}]}},",
            kind == Rows::Union,
            s_type.copied().unwrap_or(-1),
            extends.join(",")
        );
    }
    let mut out = String::from(
        "// Generated by `cargo xtask codegen` from vk.xml and the driver's tables: do not edit.\n\n\
         use crate::table::{Command, Enum, Flags as Bits, Len, Member, Struct, Ty, Ty::*};\n\n\
         const fn m(name: &'static str, at: u32, ty: Ty, pointers: u8, out: bool, count: u32, len: Len) -> Member {\n\
         Member { name, at, ty, pointers, out, count, len }\n}\n\n",
    );
    let list = |names: &[String]| names.iter().map(|n| format!("{n:?},\n")).collect::<String>();
    let _ = writeln!(out, "pub static HANDLES: &[&str] = &[{}];\n", list(&t.handles));
    out += "#[rustfmt::skip]\npub static ENUMS: &[Enum] = &[\n";
    for (id, e) in t.enums.iter().enumerate() {
        let values = r.values(e, t.provided.iter().copied());
        let mut values: Vec<i64> = values.iter().map(|v| v.value).collect();
        values.dedup();
        // Those are in the structures' rows.
        if id == stype {
            values.clear();
        }
        let values: Vec<String> = values.iter().map(|v| v.to_string()).collect();
        let _ = writeln!(out, "Enum{{name:{e:?},values:&[{}]}},", values.join(","));
    }
    out += "];\n\n#[rustfmt::skip]\npub static FLAGS: &[Bits] = &[\n";
    for e in &t.flags {
        let mask = r.values(e, t.provided.iter().copied()).iter().fold(0, |m, v| m | v.value);
        let _ = writeln!(out, "Bits{{name:{e:?},mask:{mask:#x}}},");
    }
    let _ = writeln!(out, "];\n\n#[rustfmt::skip]\npub static STRUCTS: &[Struct] = &[\n{structs}];\n");
    out += "#[rustfmt::skip]\npub static COMMANDS: &[Command] = &[\n";
    for (id, (c, rows)) in commands.iter().zip(&rows).enumerate() {
        let names: Vec<String> = r
            .commands
            .keys()
            .filter(|n| **n != c.name && r.canonical_command(n).is_some_and(|k| k.name == c.name))
            .map(|n| format!("{n:?}"))
            .collect();
        let fails = c.ret == "VkResult";
        let _ = writeln!(
            out,
            "Command{{name:{:?},aliases:&[{}],fails:{fails},params:&[{rows}],call:call::{},record:record::{} as *const ()}}, // {id}",
            c.name,
            names.join(","),
            c.name,
            c.name
        );
    }
    out += "];\n\ncrate::thunks! {\n";
    for (id, c) in commands.iter().enumerate() {
        let _ = writeln!(out, "    {id} {}", signature(r, c));
    }
    out += "}\n";
    Ok(out)
}
