//! Between C and the driver's implementations: a function per command that turns raw parameters into the safe types of
//! `crates/icd/src/base/given.rs`, and methods that do the same for members of structures.

use super::Tables;
use super::entrypoints::{is_needed, object};
use super::names::{self, Names, field};
use super::registry::{Command, Decl, TypeKind};
use std::collections::BTreeSet;
use std::fmt::Write;

/// How a parameter arrives at the implementation.
enum Arrives {
    /// As in C.
    AsIs,
    /// Not at all: the driver does not use it, or another parameter contains it.
    Dropped,
    /// As this expression.
    As(String),
}

/// Whether a type is a structure that begins with `sType` and `pNext`.
fn tagged(n: &Names, c: &str) -> bool {
    match n.registry.types.get(n.registry.canonical_type(c)).map(|t| &t.kind) {
        Some(TypeKind::Struct { members, .. }) => members.first().is_some_and(|m| m.name == "sType"),
        _ => false,
    }
}

/// Whether a pointer leads to something whose type the driver knows.
fn known(n: &Names, d: &Decl) -> bool {
    let c = d.ty.as_str();
    let number = ["char", "int", "float", "double", "size_t"].contains(&c)
        || ["int", "uint"].iter().any(|k| c.starts_with(k) && c.ends_with("_t"));
    // Types of window systems have no definition here.
    number || n.registry.types.get(c).is_some_and(|t| t.kind != TypeKind::Base || c.starts_with("Vk"))
}

fn counts<'a>(c: &'a Command, p: &Decl) -> impl Iterator<Item = &'a Decl> {
    let name = p.name.clone();
    c.params.iter().filter(move |o| o.len.as_deref() == Some(&name))
}

/// The parameter whose object a command destroys.
fn destroyed(c: &Command) -> Option<usize> {
    let ends = c.name.starts_with("vkDestroy") || c.name == "vkFreeMemory";
    let last = c.params.iter().position(|p| p.ty == "VkAllocationCallbacks")?;
    ends.then(|| last - 1)
}

/// Whether the elements of a command's array are a number of bytes apart that the application chooses.
fn strided(c: &Command) -> bool {
    c.name.starts_with("vkCmdDrawMulti")
}

/// Parameters that a command reads and writes.
const READ_AND_WRITTEN: [(&str, &str); 2] = [
    ("vkRegisterCustomBorderColorEXT", "pIndex"),
    ("vkGetShaderInstrumentationValuesARM", "pMetricBlockCount"),
];

fn arrives(n: &Names, c: &Command, at: usize) -> Arrives {
    let p = &c.params[at];
    let name = field(&p.name);
    let has_pointers = n.lifetime(&p.ty);
    if p.ty == "VkAllocationCallbacks" {
        return Arrives::Dropped;
    }
    if destroyed(c) == Some(at) {
        return Arrives::As(format!("Doomed::new({name})"));
    }
    if strided(c) && p.name == "stride" {
        return Arrives::Dropped;
    }
    if p.pointers == 0 && p.arrays.is_empty() {
        // A count whose arrays have it.
        let mut arrays = counts(c, p).peekable();
        let dropped = arrays.peek().is_some() && arrays.all(|a| a.pointers == 1 || a.is_const);
        return if dropped { Arrives::Dropped } else { Arrives::AsIs };
    }
    if !p.arrays.is_empty() {
        return Arrives::As(format!("&*{name}"));
    }
    if p.pointers > 1 {
        // An array of arrays, whose lengths are elsewhere.
        if let Some(len) = p.len.as_deref().filter(|l| p.is_const && c.params.iter().any(|o| o.name == *l)) {
            return Arrives::As(format!("array({name}, {} as usize)", field(len)));
        }
        let out = p.pointers == 2 && !p.is_const && p.ty == "void";
        return if out { Arrives::As(format!("Out::new({name})")) } else { Arrives::AsIs };
    }
    if p.is_const {
        return match p.len.as_deref() {
            Some("null-terminated") if p.optional => Arrives::As(format!("chain::string({name})")),
            Some("null-terminated") => Arrives::As(format!("chain::str({name})")),
            Some(len) if c.params.iter().any(|o| o.name == len) => {
                let count = field(len);
                if strided(c) {
                    return Arrives::As(format!("Strided::new({name}, {count} as usize, stride as usize)"));
                }
                Arrives::As(match (p.ty.as_str(), has_pointers) {
                    ("void", _) => format!("array({name}.cast::<u8>(), {count} as usize)"),
                    (_, true) => format!("In::array({name}, {count} as usize)"),
                    (_, false) => format!("array({name}, {count} as usize)"),
                })
            }
            Some(len) if len.contains("->") && !has_pointers && p.ty != "void" => {
                let (through, member) = len.split_once("->").unwrap_or_default();
                Arrives::As(format!("array({name}, (*{}).{} as usize)", field(through), field(member)))
            }
            None if p.ty != "void" && known(n, p) => Arrives::As(match (is_needed(p), has_pointers) {
                (true, true) => format!("In::new(&*{name})"),
                (true, false) => format!("&*{name}"),
                (false, true) => format!("{name}.as_ref().map(|p| In::new(p))"),
                (false, false) => format!("{name}.as_ref()"),
            }),
            _ => Arrives::AsIs,
        };
    }
    // What the command writes.
    match p.len.as_deref() {
        Some(len) => {
            let cast = if p.ty == "void" { ".cast::<u8>()" } else { "" };
            if let Some((through, member)) = len.split_once("->") {
                let len = format!("(*{}).{} as usize", field(through), field(member));
                return Arrives::As(format!("OutSlice::new({name}{cast}, {len})"));
            }
            match c.params.iter().find(|o| o.name == len) {
                Some(count) if count.pointers == 1 && counts(c, count).count() == 1 => {
                    Arrives::As(format!("List::new(&mut *{}, {name}{cast})", field(len)))
                }
                Some(count) if count.pointers == 0 => {
                    Arrives::As(format!("OutSlice::new({name}{cast}, {} as usize)", field(len)))
                }
                _ => Arrives::AsIs,
            }
        }
        // The count of a list, or of several.
        None if counts(c, p).count() == 1 => Arrives::Dropped,
        None if counts(c, p).count() > 1 || READ_AND_WRITTEN.contains(&(&c.name, &p.name)) => {
            Arrives::As(format!("&mut *{name}"))
        }
        // Of a structure that only its type tells.
        None if p.ty == "VkBaseOutStructure" => Arrives::AsIs,
        None if p.ty == "void" || !known(n, p) => Arrives::AsIs,
        None if tagged(n, &p.ty) => Arrives::As(match is_needed(p) {
            true => format!("Fill::new(&mut *{name})"),
            false => format!("{name}.as_mut().map(|p| Fill::new(p))"),
        }),
        None if is_needed(p) => Arrives::As(format!("Out::new({name})")),
        None => Arrives::As(format!("Out::optional({name})")),
    }
}

/// What the implementation of a command gets for the parameters from `first` on.
pub fn arguments(n: &Names, c: &Command, first: usize) -> Vec<String> {
    let of = |at| match arrives(n, c, at) {
        Arrives::AsIs => Some(field(&c.params[at].name)),
        Arrives::As(expression) => Some(expression),
        Arrives::Dropped => None,
    };
    (first..c.params.len()).filter_map(of).collect()
}

/// The function that calls an implementation with safe types.
pub fn adapter(n: &Names, tables: &Tables, c: &Command) -> String {
    let module = &tables.modules[&c.name];
    let rust = names::command(&c.name);
    let (object, _) = object(c);
    let own: Vec<String> = object.iter().map(|_| "this".to_string()).collect();
    let param = |(at, p): (usize, &Decl)| match object.filter(|_| at == 0) {
        Some(object) => format!("this: &{object}"),
        None => {
            let name = if p.ty == "VkAllocationCallbacks" { "_".into() } else { field(&p.name) };
            format!("{name}: {}", n.ty(p, "vk::", "<'_>", true))
        }
    };
    let params: Vec<String> = c.params.iter().enumerate().map(param).collect();
    let args: Vec<String> = own.iter().cloned().chain(arguments(n, c, own.len())).collect();
    format!(
        "#[inline]\npub(crate) unsafe fn {rust}({}){} {{\n// SAFETY: the application keeps Vulkan's valid usage, as the caller promises.\n\
         unsafe {{ crate::{module}::{rust}({}) }}\n}}\n\n",
        params.join(", "),
        n.ret(&c.ret),
        args.join(", ")
    )
}

/// The name of a member's method: `ppEnabledLayerNames` → `enabled_layer_names`.
fn method(m: &Decl) -> String {
    let stem = m.name.trim_start_matches('p');
    match field(stem).as_str() {
        // Methods of `In` itself.
        name @ ("find" | "plain" | "iter" | "at") => format!("{name}_member"),
        name => name.into(),
    }
}

/// The method that reads a member that is a pointer, or a structure with pointers, of a structure in `In`.
fn reader(n: &Names, m: &Decl, all: &[Decl]) -> Option<String> {
    let at = field(&m.name);
    let has_pointers = n.lifetime(&m.ty);
    let base = n.base(&m.ty, "vk::", "<'a>");
    if m.name == "pNext" || !m.arrays.is_empty() || m.bits {
        return None;
    }
    if m.pointers == 0 {
        let is_struct = matches!(
            n.registry.types.get(n.registry.canonical_type(&m.ty)).map(|t| &t.kind),
            Some(TypeKind::Struct { .. })
        );
        // SAFETY of the text: what can be reached from the whole can be reached from its parts.
        return (is_struct && has_pointers).then(|| {
            format!(
                "pub fn {}(self) -> In<'a, {base}> {{ unsafe {{ In::new(&self.plain().{at}) }} }}\n",
                method(m)
            )
        });
    }
    let count = m.len.as_deref().and_then(|l| all.iter().find(|o| o.name == l)).filter(|o| o.pointers == 0);
    let cast = |o: &Decl| if o.ty == "size_t" { "" } else { " as usize" };
    let count = count.map(|o| format!("self.{}{}", field(&o.name), cast(o)));
    let (ty, body) = match (m.pointers, m.is_const, m.len.as_deref(), count) {
        (1, true, Some("null-terminated"), _) => {
            ("Option<&'a CStr>".into(), format!("chain::string(self.{at})"))
        }
        (1, true, Some(_), Some(count)) => match (m.ty.as_str(), has_pointers) {
            ("void", _) => ("&'a [u8]".into(), format!("array(self.{at}.cast(), {count})")),
            (_, true) => (format!("In<'a, [{base}]>"), format!("In::array(self.{at}, {count})")),
            (_, false) => (format!("&'a [{base}]"), format!("array(self.{at}, {count})")),
        },
        (2, true, Some(_), Some(count)) if m.strings => {
            ("In<'a, [*const c_char]>".into(), format!("In::array(self.{at}, {count})"))
        }
        (1, true, None, _) if m.ty != "void" && known(n, m) => match has_pointers {
            true => (format!("Option<In<'a, {base}>>"), format!("self.{at}.as_ref().map(|p| In::new(p))")),
            false => (format!("Option<&'a {base}>"), format!("self.{at}.as_ref()")),
        },
        (1, false, Some(_), Some(count)) if m.ty != "void" && !has_pointers => {
            (format!("OutSlice<'a, {base}>"), format!("OutSlice::new(self.{at}, {count})"))
        }
        (1, false, None, _) if m.ty != "void" && known(n, m) && !has_pointers => {
            (format!("Option<Out<'a, {base}>>"), format!("Out::optional(self.{at})"))
        }
        _ => return None,
    };
    Some(match m.conditional {
        true => format!(
            "/// # Safety\n/// Under the conditions of this call `{}` is valid.\npub unsafe fn {}(self) -> {ty} {{ unsafe {{ {body} }} }}\n",
            m.name,
            method(m)
        ),
        false => format!("pub fn {}(self) -> {ty} {{ unsafe {{ {body} }} }}\n", method(m)),
    })
}

/// The method that fills an array member of a structure in `Fill`, whose count is another member.
fn lister(n: &Names, m: &Decl, all: &[Decl]) -> Option<String> {
    let count = m.len.as_deref().and_then(|l| all.iter().find(|o| o.name == l && o.pointers == 0))?;
    let fills =
        !m.is_const && m.pointers == 1 && !["void", "char"].contains(&m.ty.as_str()) && !count.is_const;
    fills.then(|| {
        let (base, number) = (n.base(&m.ty, "vk::", "<'b>"), n.base(&count.ty, "vk::", ""));
        let number = if number == "u32" { String::new() } else { format!(", {number}") };
        format!(
            "pub fn {}(&mut self) -> List<'_, {}{number}> {{ let s = &mut **self; unsafe {{ List::new(&mut s.{}, s.{}) }} }}\n",
            method(m),
            base.replace("<'b>", "<'a>"),
            field(&count.name),
            field(&m.name)
        )
    })
}

/// Readers of the members of all structures that the driver may be given. `bindings`: the text of crate `vk`, which defines
/// what ash does not.
pub fn readers(n: &Names, tables: &Tables, bindings: &str) -> String {
    let r = n.registry;
    let mut wanted: BTreeSet<&str> = BTreeSet::new();
    let extensions = tables.extensions.iter().filter_map(|e| r.extensions.get(e));
    for f in r.cores.iter().chain(extensions) {
        wanted.extend(f.types.iter().map(|t| r.canonical_type(t)));
    }
    let mut out = String::from(
        "// Generated by `cargo xtask codegen` from vk.xml: do not edit.\n\
         // Members of the application's structures that are pointers or have them.\n\n\
         #![allow(dead_code, reason = \"the driver does not read all of them\")]\n\
         #![allow(deprecated, clippy::wrong_self_convention, reason = \"methods are named after members\")]\n\n\
         use crate::base::chain;\nuse crate::base::given::{Fill, In, List, Out, OutSlice, array};\nuse std::ffi::{CStr, c_char};\n\n\
         // SAFETY (all of them): a structure in `In` has pointers that are null or lead to what vk.xml says, arrays of the\n\
         // length that it says; members that it promises this of only under conditions have methods that are unsafe.\n\n",
    );
    for c in &r.order {
        let Some(TypeKind::Struct { members, .. }) =
            r.types.get(c).filter(|t| t.alias.is_none()).map(|t| &t.kind)
        else {
            continue;
        };
        let bare = n.bare(c);
        let defined = n.ash.has(&bare)
            || ["struct", "type"].iter().any(|k| bindings.contains(&format!("pub {k} {bare}<'a>")));
        if !wanted.contains(c.as_str()) || !n.lifetime(c) || !defined {
            continue;
        }
        let methods: String = members.iter().filter_map(|m| reader(n, m, members)).collect();
        if !methods.is_empty() {
            let _ = writeln!(out, "impl<'a> In<'a, vk::{bare}<'a>> {{\n{methods}}}\n");
        }
        // Structures that the driver fills are in the chains of others.
        let lists: String = members.iter().filter_map(|m| lister(n, m, members)).collect();
        if !lists.is_empty() && bare.contains("Properties") {
            let _ = writeln!(out, "impl<'a> Fill<'_, vk::{bare}<'a>> {{\n{lists}}}\n");
        }
    }
    out
}
