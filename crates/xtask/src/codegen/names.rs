//! How C names and types of Vulkan are spelled in Rust (as ash does).

use super::ash::Ash;
use super::registry::{Decl, Registry, TypeKind};
use heck::{ToShoutySnakeCase, ToSnakeCase};
use std::cell::RefCell;
use std::collections::HashMap;

pub struct Names<'r> {
    pub registry: &'r Registry,
    pub ash: &'r Ash,
    lifetimes: RefCell<HashMap<String, bool>>,
}

/// `vkCmdCopyBuffer2` → `cmd_copy_buffer2`.
pub fn command(name: &str) -> String {
    name.strip_prefix("vk").unwrap_or(name).to_snake_case()
}

/// `pNext` → `p_next`; Rust's own words get a suffix.
pub fn field(name: &str) -> String {
    match name.to_snake_case().as_str() {
        "type" => "ty".into(),
        "ref" => "reference".into(),
        s => s.into(),
    }
}

const VENDORS: &[&str] = &[
    "KHR", "EXT", "ARM", "NV", "AMD", "AMDX", "INTEL", "QCOM", "GOOGLE", "NVX", "VALVE", "HUAWEI", "LUNARG",
    "MESA", "SEC", "QNX", "IMG", "NN", "MSFT", "FUCHSIA", "ANDROID", "OHOS", "MTK",
];

pub fn vendor(name: &str) -> &'static str {
    VENDORS.iter().copied().filter(|v| name.ends_with(v)).max_by_key(|v| v.len()).unwrap_or("")
}

/// The name of a value inside its enum: `VK_ACCESS_3_FOO_BIT_KHR` of `VkAccessFlagBits3KHR` → `FOO`.
pub fn value(of: &str, name: &str) -> String {
    let tag = vendor(of);
    let stem = of.trim_end_matches(tag);
    let shouty = stem.to_shouty_snake_case();
    let stem = shouty.replace("_FLAG_BITS", "");
    let mut prefix = format!("{stem}_");
    if !name.starts_with(&prefix) {
        // VkAccessFlagBits3 → VK_ACCESS_3_
        let digits: String = stem.chars().rev().take_while(char::is_ascii_digit).collect();
        prefix = format!("{}_{}_", stem.trim_end_matches(|c: char| c.is_ascii_digit()), digits);
    }
    let mut rest = name.strip_prefix(&prefix).unwrap_or(name.trim_start_matches("VK_")).to_string();
    if !tag.is_empty() {
        rest = rest.trim_end_matches(&format!("_{tag}")).to_string();
    }
    rest = rest.replace("_BIT_", "_");
    let rest = rest.trim_end_matches("_BIT").to_string();
    if rest.starts_with(|c: char| c.is_ascii_digit()) { format!("TYPE_{rest}") } else { rest }
}

impl<'r> Names<'r> {
    pub fn new(registry: &'r Registry, ash: &'r Ash) -> Self {
        Names { registry, ash, lifetimes: RefCell::default() }
    }

    /// The Rust name of a Vulkan type, without path or lifetime: `VkFooFlagBits2KHR` → `FooFlags2KHR`.
    pub fn bare(&self, c: &str) -> String {
        if c.starts_with("PFN_") {
            return c.to_string();
        }
        c.strip_prefix("Vk").unwrap_or(c).replace("FlagBits", "Flags")
    }

    /// Whether the Rust type takes a lifetime.
    pub fn lifetime(&self, c: &str) -> bool {
        let canonical = self.registry.canonical_type(c);
        let bare = self.bare(c);
        if self.ash.has(&bare) {
            return self.ash.lifetime(&bare);
        }
        if let Some(&known) = self.lifetimes.borrow().get(canonical) {
            return known;
        }
        let answer = match self.registry.types.get(canonical).map(|t| &t.kind) {
            Some(TypeKind::Struct { members, .. } | TypeKind::Union { members }) => {
                members.iter().any(|m| m.pointers > 0 || self.lifetime(&m.ty))
            }
            _ => false,
        };
        self.lifetimes.borrow_mut().insert(canonical.to_string(), answer);
        answer
    }

    /// The Rust spelling of a base type; `elided` is the lifetime to write where one is needed.
    pub fn base(&self, c: &str, path: &str, elided: &str) -> String {
        match c {
            "void" => "c_void".into(),
            "char" => "c_char".into(),
            "int" => "c_int".into(),
            "float" => "f32".into(),
            "double" => "f64".into(),
            "size_t" => "usize".into(),
            "uint8_t" => "u8".into(),
            "uint16_t" => "u16".into(),
            "uint32_t" => "u32".into(),
            "uint64_t" => "u64".into(),
            "int8_t" => "i8".into(),
            "int16_t" => "i16".into(),
            "int32_t" => "i32".into(),
            "int64_t" => "i64".into(),
            _ => {
                let lifetime = if self.lifetime(c) { elided } else { "" };
                format!("{path}{}{lifetime}", self.bare(c))
            }
        }
    }

    /// The Rust type of a declaration. As a parameter an array is a pointer.
    pub fn ty(&self, d: &Decl, path: &str, elided: &str, parameter: bool) -> String {
        let mut t = self.base(&d.ty, path, elided);
        let star = if d.is_const { "*const " } else { "*mut " };
        for i in 0..d.pointers {
            // Of `const T* const*` and of `T**` alike every level is as const as the first.
            let _ = i;
            t = format!("{star}{t}");
        }
        for a in d.arrays.iter().rev() {
            let n = self.registry.length(a).map_or(a.clone(), |n| n.to_string());
            t = format!("[{t}; {n}]");
        }
        if parameter && !d.arrays.is_empty() {
            t = format!("{star}{t}");
        }
        t
    }

    /// A command's parameters as `name: type, …`.
    pub fn params(&self, params: &[Decl]) -> String {
        let p = params.iter().map(|d| format!("{}: {}", field(&d.name), self.ty(d, "vk::", "<'_>", true)));
        p.collect::<Vec<_>>().join(", ")
    }

    /// A command's return type as ` -> T`, empty for void.
    pub fn ret(&self, ret: &str) -> String {
        if ret == "void" { String::new() } else { format!(" -> {}", self.base(ret, "vk::", "<'_>")) }
    }
}
