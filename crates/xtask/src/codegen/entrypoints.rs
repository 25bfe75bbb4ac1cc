//! The driver's entry points: one `extern "system"` function per command, and the table that proc-address
//! queries search.

use super::Tables;
use super::calls;
use super::legacy;
use super::names::{self, Names, field};
use super::registry::{Command, Decl};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

pub struct Output {
    pub entrypoints: String,
    pub legacy: String,
    pub imp: String,
    pub present: usize,
    pub missing: Vec<String>,
}

/// Commands whose first handle may be null or is consumed: they get it raw.
const RAW: &[&str] = &["vkGetInstanceProcAddr", "vkDestroyInstance", "vkDestroyDevice"];

/// Commands, besides those on queues, of which a failure inside the driver loses the device.
const LOSING: &[&str] = &[
    "vkDeviceWaitIdle",
    "vkWaitForFences",
    "vkGetFenceStatus",
    "vkWaitSemaphores",
    "vkGetSemaphoreCounterValue",
    "vkSignalSemaphore",
    "vkGetQueryPoolResults",
    "vkGetEventStatus",
];

/// How commands begin that make something, and may say that there is no memory for it.
const MAKING: [&str; 9] = [
    "vkCreate",
    "vkAllocate",
    "vkBeginCommandBuffer",
    "vkEndCommandBuffer",
    "vkQueueSubmit",
    "vkBind",
    "vkImport",
    "vkMergePipelineCaches",
    "vkSetDebugUtils",
];

/// Whether a parameter leads to something that the command can't do without. Arrays with a count are empty if they are null.
pub fn is_needed(d: &Decl) -> bool {
    let one = d.pointers > 0 && d.len.is_none() && d.ty != "VkAllocationCallbacks";
    (one || !d.arrays.is_empty()) && !d.optional
}

/// The Rust object behind a command's first parameter, and the level it is looked up at.
pub fn object(c: &Command) -> (Option<&'static str>, &'static str) {
    let first = c.params.first().map(|p| p.ty.as_str()).unwrap_or_default();
    let (object, level) = match first {
        "VkInstance" => ("crate::instance::Instance", "Instance"),
        "VkPhysicalDevice" => ("crate::instance::physical_device::PhysicalDevice", "PhysicalDevice"),
        "VkDevice" => ("crate::device::Device", "Device"),
        "VkQueue" => ("crate::device::queue::Queue", "Device"),
        "VkCommandBuffer" => ("crate::record::command_buffer::CommandBuffer", "Device"),
        _ => return (None, "Global"),
    };
    if RAW.contains(&c.name.as_str()) {
        return (None, level);
    }
    (Some(object), level)
}

#[derive(Default)]
struct Provider {
    core: u32,
    extensions: BTreeSet<usize>,
}

fn thunk(n: &Names, c: &Command, path: &str) -> String {
    let (object, _) = object(c);
    let fallback = match c.ret.as_str() {
        "VkResult" if c.params[0].ty == "VkQueue" || LOSING.contains(&c.name.as_str()) => {
            "vk::Result::ERROR_DEVICE_LOST"
        }
        "VkResult" => "vk::Result::ERROR_UNKNOWN",
        "void" => "()",
        _ => "Default::default()",
    };
    let skip = usize::from(object.is_some());
    // The implementations in the room of entry points are called from here.
    let mut args: Vec<String> = match path.starts_with("crate::entry") {
        true => calls::arguments(n, c, skip),
        false => c.params.iter().skip(skip).map(|p| field(&p.name)).collect(),
    };
    let rust = names::command(&c.name);
    let call = match object {
        Some(object) => {
            args.insert(0, "this".into());
            let handle = field(&c.params[0].name);
            format!(
                "guard::on::<{object}, _>(c\"{}\", {handle}, {fallback}, |this| {path}::{rust}({}))",
                c.name,
                args.join(", ")
            )
        }
        None => format!("guard::raw(c\"{}\", {fallback}, || {path}::{rust}({}))", c.name, args.join(", ")),
    };
    // What makes something is not begun while there is no memory.
    let makes = c.ret == "VkResult" && MAKING.iter().any(|begin| c.name.starts_with(begin));
    let short = if makes {
        "if crate::base::alloc::is_short() { return vk::Result::ERROR_OUT_OF_HOST_MEMORY; }\n"
    } else {
        ""
    };
    let nulls: Vec<String> =
        c.params.iter().filter(|d| is_needed(d)).map(|d| format!("{}.is_null()", field(&d.name))).collect();
    let missing = if nulls.is_empty() {
        String::new()
    } else {
        format!("if {} {{ return guard::missing(c\"{}\", {fallback}); }}\n", nulls.join(" || "), c.name)
    };
    format!(
        "pub unsafe extern \"system\" fn {}({}){} {{\n{missing}{short}// SAFETY: the caller keeps Vulkan's valid usage.\nunsafe {{ {call} }}\n}}\n",
        c.name,
        n.params(&c.params),
        n.ret(&c.ret)
    )
}

/// Whether a `depends` expression (`,` or, `+` and, parentheses) holds for core 1.4 and these extensions.
pub fn satisfied(depends: &str, extensions: &[String]) -> bool {
    fn or(s: &mut &str, have: &dyn Fn(&str) -> bool) -> bool {
        let mut any = and(s, have);
        while let Some(rest) = s.strip_prefix(',') {
            *s = rest;
            any |= and(s, have);
        }
        any
    }
    fn and(s: &mut &str, have: &dyn Fn(&str) -> bool) -> bool {
        let mut all = one(s, have);
        while let Some(rest) = s.strip_prefix('+') {
            *s = rest;
            all &= one(s, have);
        }
        all
    }
    fn one(s: &mut &str, have: &dyn Fn(&str) -> bool) -> bool {
        if let Some(rest) = s.strip_prefix('(') {
            *s = rest;
            let inner = or(s, have);
            *s = s.strip_prefix(')').unwrap_or(s);
            return inner;
        }
        let end = s.find([',', '+', '(', ')']).unwrap_or(s.len());
        let (name, rest) = s.split_at(end);
        *s = rest;
        have(name)
    }
    let have = |name: &str| match name.strip_prefix("VK_VERSION_1_") {
        Some(minor) => minor.parse::<u32>().is_ok_and(|m| m <= 4),
        None => name.is_empty() || extensions.iter().any(|e| e == name),
    };
    or(&mut &*depends, &have)
}

pub fn generate(n: &Names, tables: &Tables) -> Result<Output, String> {
    let r = n.registry;
    // Every name by which a command can be asked for, and what makes it available.
    let mut providers: BTreeMap<&str, Provider> = BTreeMap::new();
    for core in &r.cores {
        for c in &core.commands {
            let p = providers.entry(c).or_default();
            if p.core == 0 || core.version < p.core {
                p.core = core.version;
            }
        }
    }
    for (id, name) in tables.extensions.iter().enumerate() {
        let e = r.extensions.get(name).ok_or_else(|| format!("extensions.tsv: no {name} in vk.xml"))?;
        if !satisfied(&e.requires, &tables.extensions) {
            return Err(format!("extensions.tsv: {name} needs {}", e.requires));
        }
        for c in &e.commands {
            let depends = e.depends.get(c).map_or("", |d| d.as_str());
            // What it has together with an absent extension is there only if somebody wrote it all the same.
            if !satisfied(depends, &tables.extensions) && !tables.modules.contains_key(c) {
                continue;
            }
            providers.entry(c).or_default().extensions.insert(id);
        }
    }
    for c in tables.modules.keys() {
        let known = r.commands.get(c).ok_or_else(|| format!("commands.tsv: no {c} in vk.xml"))?;
        if let Some(alias) = &known.alias {
            return Err(format!("commands.tsv: {c} is now {alias}; name that"));
        }
    }
    let mut out = String::from(
        "// Generated by `cargo xtask codegen` from vk.xml and commands.tsv: do not edit.\n\n\
         #![allow(non_snake_case, unused_imports)]\n\n\
         use crate::base::{chain, guard};\nuse crate::entry::proc_addr::{Entry, Level};\nuse crate::instance::generated::extensions::id as ext;\nuse std::ffi::{c_char, c_int, c_void};\n\n",
    );
    let mut written = BTreeSet::new();
    let mut missing = BTreeSet::new();
    let mut converted = String::new();
    let mut entries = String::new();
    let mut present = 0;
    for (name, provider) in &providers {
        let Some(c) = r.canonical_command(name) else { continue };
        let own = tables.modules.get(&c.name);
        let path = match own {
            Some(m) if m.starts_with("entry::") => format!("crate::{m}"),
            Some(_) => "crate::legacy::generated::imp".to_string(),
            None if legacy::target(&c.name).is_some_and(|t| tables.modules.contains_key(t)) => {
                "crate::legacy::generated::legacy".to_string()
            }
            None => {
                missing.insert(c.name.clone());
                continue;
            }
        };
        if written.insert(c.name.clone()) {
            out += &thunk(n, c, &path);
            if own.is_none() {
                converted += &legacy::generate(n, c)?;
            }
        }
        present += 1;
        let id = |&e: &usize| format!("ext::{}", tables.extensions[e].to_uppercase());
        let extensions: Vec<String> = provider.extensions.iter().map(id).collect();
        let _ = writeln!(
            entries,
            "Entry {{ name: c\"{name}\", function: {} as *const (), level: Level::{}, core: {}, extensions: &[{}] }},",
            c.name,
            object(c).1,
            provider.core,
            extensions.join(", ")
        );
    }
    let _ = writeln!(
        out,
        "\n/// All commands, sorted by name.\npub(crate) static ENTRIES: &[Entry] = &[\n{entries}];"
    );
    let mut imp = String::from(
        "// Generated by `cargo xtask codegen` from vk.xml and commands.tsv: do not edit.\n\
         // The implementation of each command, by the parameters that it has in C.\n\n\
         #![allow(unused_unsafe, reason = \"some commands have numbers alone\")]\n\
         #![allow(dead_code, clippy::needless_borrow, clippy::unnecessary_cast, clippy::too_many_arguments)]\n\n\
         use crate::base::chain;\nuse crate::base::given::{Doomed, Fill, In, List, Out, OutSlice, Strided, array};\nuse std::ffi::{c_char, c_int, c_void};\n\n",
    );
    // The room of entry points is above all others.
    for c in tables.modules.iter().filter(|(_, m)| !m.starts_with("entry::")).map(|(c, _)| c) {
        imp += &calls::adapter(n, tables, &r.commands[c]);
    }
    let legacy = format!(
        "// Generated by `cargo xtask codegen` from vk.xml: do not edit.\n\
         // Older commands in terms of the newest form of each.\n\n\
         use std::ffi::{{c_char, c_void}};\n\n{converted}"
    )
    .replace(
        "use std::ffi::{c_char, c_void};",
        if converted.contains("c_void") { "use std::ffi::c_void;" } else { "" },
    );
    Ok(Output { entrypoints: out, legacy, imp, present, missing: missing.into_iter().collect() })
}
