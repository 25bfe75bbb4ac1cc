//! Tables of feature and property structures (member names and offsets), and of the extensions reported.

use super::Tables;
use super::names::Names;
use super::registry::{Decl, Registry, TypeKind};
use std::collections::HashMap;
use std::fmt::Write;

/// Which core version and which extensions define each structure.
fn providers(r: &Registry) -> HashMap<&str, (u32, Vec<&str>)> {
    let mut map: HashMap<&str, (u32, Vec<&str>)> = HashMap::new();
    for f in r.cores.iter().chain(r.extensions.values()) {
        for t in &f.types {
            let p = map.entry(r.canonical_type(t)).or_default();
            if f.version == 0 {
                p.1.push(&f.name);
            } else if p.0 == 0 || f.version < p.0 {
                p.0 = f.version;
            }
        }
    }
    map
}

/// Size, alignment and kind of a scalar.
fn scalar(n: &Names, c: &str) -> Option<(usize, &'static str)> {
    Some(match c {
        "uint8_t" => (1, "U8"),
        "char" => (1, "Char"),
        "uint32_t" | "VkBool32" | "VkFlags" | "VkSampleMask" => (4, "U32"),
        "int32_t" => (4, "I32"),
        "float" => (4, "F32"),
        "uint64_t" | "int64_t" | "VkDeviceSize" | "VkFlags64" | "size_t" | "VkDeviceAddress" => (8, "U64"),
        _ => match &n.registry.types.get(n.registry.canonical_type(c))?.kind {
            TypeKind::Enum => (4, "U32"),
            TypeKind::Bitmask { wide: true, .. } => (8, "U64"),
            TypeKind::Bitmask { wide: false, .. } => (4, "U32"),
            _ => return None,
        },
    })
}

struct Layout {
    text: String,
    offset: usize,
    align: usize,
}

impl Layout {
    fn place(&mut self, size: usize, align: usize) -> usize {
        let at = self.offset.next_multiple_of(align);
        self.offset = at + size;
        self.align = self.align.max(align);
        at
    }

    fn member(&mut self, n: &Names, m: &Decl) -> Result<(), String> {
        let mut count = 1;
        for a in &m.arrays {
            count *= n.registry.length(a).ok_or_else(|| format!("{}: length {a}", m.name))?;
        }
        if m.pointers > 0 {
            self.place(8 * count, 8);
            return Ok(());
        }
        if let Some((size, kind)) = scalar(n, &m.ty) {
            let at = self.place(size * count, size);
            let _ = write!(
                self.text,
                "Member {{ name: \"{}\", offset: {at}, kind: Number::{kind}, count: {count} }}, ",
                m.name
            );
            return Ok(());
        }
        let Some(TypeKind::Struct { members, .. }) =
            n.registry.types.get(n.registry.canonical_type(&m.ty)).map(|t| &t.kind)
        else {
            return Err(format!("{}: type {}", m.name, m.ty));
        };
        let mut inner = Layout { text: String::new(), offset: 0, align: 1 };
        for i in members {
            inner.member(n, i)?;
        }
        let size = inner.offset.next_multiple_of(inner.align);
        let start = self.place(size * count, inner.align);
        let alike = members.iter().all(|i| i.ty == members[0].ty && i.arrays.is_empty());
        match scalar(n, &members[0].ty) {
            // Extents and versions: one value of several numbers.
            Some((_, kind)) if alike && members.len() < 5 => {
                let _ = write!(
                    self.text,
                    "Member {{ name: \"{}\", offset: {start}, kind: Number::{kind}, count: {} }}, ",
                    m.name,
                    members.len() * count
                );
            }
            _ => {
                let mut flat = Layout { text: String::new(), offset: start, align: 1 };
                for i in members {
                    flat.member(n, i)?;
                }
                self.text += &flat.text;
            }
        }
        Ok(())
    }
}

fn members_text(n: &Names, members: &[Decl]) -> Result<String, String> {
    let mut l = Layout { text: String::new(), offset: 0, align: 1 };
    for m in members {
        // sType and pNext take their room but are nobody's property.
        if m.name == "sType" {
            l.place(4, 4);
        } else {
            l.member(n, m)?;
        }
    }
    Ok(l.text)
}

pub fn generate(n: &Names) -> Result<String, String> {
    let r = n.registry;
    let providers = providers(r);
    let stype: HashMap<String, i64> = r
        .values("VkStructureType", r.cores.iter().chain(r.extensions.values()))
        .into_iter()
        .map(|v| (v.name, v.value))
        .collect();
    let (mut features, mut properties) = (String::new(), String::new());
    for name in &r.order {
        let t = &r.types[name];
        let TypeKind::Struct { members, extends } = &t.kind else { continue };
        let is = |what: &str| extends.iter().any(|e| e == what);
        let Some(&number) = members.first().and_then(|m| m.value.as_ref()).and_then(|v| stype.get(v)) else {
            continue;
        };
        let Some((core, extensions)) = providers.get(name.as_str()) else { continue };
        let head = format!("s_type: {number}, core: {core}, extensions: &{extensions:?}");
        if is("VkPhysicalDeviceFeatures2") {
            if members.iter().skip(2).any(|m| m.ty != "VkBool32") {
                return Err(format!("{name} has members that are no VkBool32"));
            }
            let list: Vec<&str> = members.iter().skip(2).map(|m| m.name.as_str()).collect();
            let _ = writeln!(features, "FeatureStruct {{ {head}, name: \"{name}\", members: &{list:?} }},");
        } else if is("VkPhysicalDeviceProperties2") {
            let list = members_text(n, members).map_err(|e| format!("{name}.{e}"))?;
            let _ = writeln!(properties, "PropertyStruct {{ {head}, members: &[{list}] }},");
        }
    }
    let core = |name: &str| match &r.types[name].kind {
        TypeKind::Struct { members, .. } => Ok(members),
        _ => Err(format!("{name} is no struct")),
    };
    let core_features: Vec<&str> =
        core("VkPhysicalDeviceFeatures")?.iter().map(|m| m.name.as_str()).collect();
    let core_properties = members_text(n, core("VkPhysicalDeviceProperties")?)?;
    Ok(format!(
        "// Generated by `cargo xtask codegen` from vk.xml: do not edit.\n\n\
         use crate::instance::structs::{{FeatureStruct, Member, Number, PropertyStruct}};\n\n\
         /// `VK_HEADER_VERSION` of the vk.xml this was made from.\n\
         pub(crate) const HEADER_VERSION: u32 = {};\n\n\
         /// Members of `VkPhysicalDeviceFeatures`.\n\
         pub(crate) static CORE_FEATURES: &[&str] = &{core_features:?};\n\n\
         /// Members of `VkPhysicalDeviceProperties`, with those of its parts.\n\
         pub(crate) static CORE_PROPERTIES: &[Member] = &[{core_properties}];\n\n\
         /// Structures that extend `VkPhysicalDeviceFeatures2`.\n\
         pub(crate) static FEATURE_STRUCTS: &[FeatureStruct] = &[\n{features}];\n\n\
         /// Structures that extend `VkPhysicalDeviceProperties2`.\n\
         pub(crate) static PROPERTY_STRUCTS: &[PropertyStruct] = &[\n{properties}];\n",
        r.header_version
    ))
}

/// The core version an extension was promoted to, through its successors; 0 for none.
fn promoted(r: &Registry, name: &str) -> u32 {
    match r.extensions.get(name).and_then(|e| e.promoted_to.as_deref()) {
        Some(to) => match to.strip_prefix("VK_VERSION_1_") {
            Some(minor) => 100 + minor.parse::<u32>().unwrap_or(0),
            None => promoted(r, to),
        },
        None => 0,
    }
}

pub fn extensions(n: &Names, tables: &Tables) -> Result<String, String> {
    let r = n.registry;
    let mut out = String::from(
        "// Generated by `cargo xtask codegen` from vk.xml and extensions.tsv: do not edit.\n\n\
         use crate::instance::extensions::Extension;\n\n\
         /// The extensions reported, sorted by name: a place in this table is an extension's id.\n\
         pub(crate) static EXTENSIONS: &[Extension] = &[\n",
    );
    let mut required = String::new();
    let mut ids = String::new();
    for (id, name) in tables.extensions.iter().enumerate() {
        let e = r.extensions.get(name).ok_or_else(|| format!("extensions.tsv: no {name} in vk.xml"))?;
        let _ = writeln!(
            out,
            "Extension {{ name: c\"{name}\", spec_version: {}, instance: {} }},",
            e.spec_version, e.is_instance
        );
        let _ = writeln!(ids, "pub(crate) const {}: usize = {id};", name.to_uppercase());
        let features: Vec<&str> = e.features.iter().map(|(m, _)| m.as_str()).collect();
        if !features.is_empty() {
            let _ = writeln!(required, "(\"{name}\", &{features:?}),");
        }
    }
    let _ = write!(
        out,
        "];\n\n/// Features that an extension requires; of those between commas one.\n#[cfg(test)]\n\
         pub(crate) static REQUIRED_FEATURES: &[(&str, &[&str])] = &[\n{required}"
    );
    let _ = write!(
        out,
        "];\n\n/// Each extension's place in the table.\n#[allow(dead_code)]\npub(crate) mod id {{\n{ids}}}\n"
    );
    out.push_str("\n/// Extensions promoted to core 1.1 to 1.4: a 1.4 device can have them all.\n");
    out.push_str("#[cfg(test)]\npub(crate) static PROMOTED: &[&str] = &[\n");
    for name in r.extensions.keys() {
        if (101..=104).contains(&promoted(r, name)) {
            let _ = writeln!(out, "\"{name}\",");
        }
    }
    out.push_str("];\n");
    Ok(out)
}
