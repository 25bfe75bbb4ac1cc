//! `crates/vk`: what Vulkan has and ash 0.38 (1.3.281) lacks, of core 1.4 and of the extensions named here.

use super::names::{self, Names, field};
use super::registry::{Decl, Feature, TypeKind};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Extensions newer than ash, or changed since, whose types we need: one line each.
pub const NEW_EXTENSIONS: &[&str] = &[
    "VK_ARM_data_graph",
    "VK_ARM_data_graph_instruction_set_tosa",
    "VK_ARM_data_graph_neural_accelerator_statistics",
    "VK_ARM_data_graph_optical_flow",
    "VK_ARM_performance_counters_by_region",
    "VK_ARM_scheduling_controls",
    "VK_ARM_shader_instrumentation",
    "VK_ARM_tensor_controls",
    "VK_ARM_tensors",
    "VK_EXT_depth_clamp_control",
    "VK_EXT_descriptor_heap",
    "VK_EXT_device_generated_commands",
    "VK_EXT_fragment_density_map_offset",
    "VK_EXT_multisampled_render_to_swapchain",
    "VK_EXT_ray_tracing_invocation_reorder",
    "VK_EXT_shader_float8",
    "VK_EXT_shader_long_vector",
    "VK_EXT_shader_replicated_composites",
    "VK_EXT_vertex_attribute_robustness",
    "VK_EXT_zero_initialize_device_memory",
    "VK_KHR_calibrated_timestamps",
    "VK_KHR_compute_shader_derivatives",
    "VK_KHR_depth_clamp_zero_one",
    "VK_KHR_dynamic_rendering_local_read",
    "VK_KHR_line_rasterization",
    "VK_KHR_maintenance5",
    "VK_KHR_maintenance6",
    "VK_KHR_maintenance7",
    "VK_KHR_maintenance8",
    "VK_KHR_maintenance9",
    "VK_KHR_maintenance10",
    "VK_KHR_maintenance11",
    "VK_KHR_copy_memory_indirect",
    "VK_KHR_device_address_commands",
    "VK_KHR_device_fault",
    "VK_KHR_extended_flags",
    "VK_KHR_internally_synchronized_queues",
    "VK_KHR_pipeline_binary",
    "VK_KHR_present_mode_fifo_latest_ready",
    "VK_KHR_robustness2",
    "VK_KHR_shader_bfloat16",
    "VK_KHR_shader_fma",
    "VK_KHR_shader_relaxed_extended_instruction",
    "VK_KHR_shader_untyped_pointers",
    "VK_KHR_swapchain_maintenance1",
    "VK_KHR_surface_maintenance1",
    "VK_KHR_unified_image_layouts",
    "VK_NV_cooperative_matrix2",
    "VK_NV_cooperative_vector",
    "VK_VALVE_fragment_density_map_layered",
];

struct Emit<'n, 'r> {
    n: &'n Names<'r>,
    sources: Vec<&'r Feature>,
    wanted: BTreeSet<String>,
}

impl Emit<'_, '_> {
    /// Marks a type and all that it is made of, as far as ash lacks them.
    fn want(&mut self, c: &str) {
        let n = self.n;
        let Some(t) = n.registry.types.get(c).filter(|_| c.starts_with("Vk")) else { return };
        if n.ash.has(&n.bare(c)) || !self.wanted.insert(c.to_string()) {
            return;
        }
        if let Some(alias) = &t.alias {
            self.want(alias);
        }
        match &t.kind {
            TypeKind::Struct { members, .. } | TypeKind::Union { members } => {
                for m in members {
                    self.want(&m.ty);
                }
            }
            TypeKind::Bitmask { bits: Some(bits), .. } => self.want(bits),
            _ => {}
        }
    }

    fn values(&self, out: &mut String, of: &str) {
        for v in self.n.registry.values(of, self.sources.iter().copied()) {
            let _ = writeln!(out, "    pub const {}: Self = Self({});", names::value(of, &v.name), v.value);
        }
    }

    /// The number of a value of an enum that `whom` needs. A wanted extension may speak of objects of one that is not.
    fn number(&self, of: &str, value: &str, whom: &str) -> Result<i64, String> {
        let registry = self.n.registry;
        let all = self.sources.iter().copied().chain(registry.extensions.values());
        let found = registry.values(of, all).into_iter().find(|v| v.name == value);
        found.map(|v| v.value).ok_or_else(|| format!("{whom}: no {value}"))
    }

    fn members(&self, members: &[Decl]) -> String {
        let member = |d: &Decl| format!("    pub {}: {},\n", field(&d.name), self.n.ty(d, "", "<'a>", false));
        members.iter().map(member).collect()
    }

    fn define(&self, out: &mut String, c: &str) -> Result<(), String> {
        let n = self.n;
        if c.contains("FlagBits") {
            return Ok(()); // FlagBits and Flags share one Rust type, defined with Flags
        }
        let name = n.bare(c);
        let t = &n.registry.types[c];
        let a = if n.lifetime(c) { "<'a>" } else { "" };
        if let Some(alias) = &t.alias {
            let _ = writeln!(out, "pub type {name}{a} = {}{a};", n.bare(alias));
            return Ok(());
        }
        // Defined in vk.xml under the promoted name, in ash under the extension's.
        let older = n.registry.types.values().find(|o| {
            o.alias.is_some() && n.registry.canonical_type(&o.name) == c && n.ash.has(&n.bare(&o.name))
        });
        if let Some(older) = older {
            let _ = writeln!(out, "pub type {name}{a} = ash::vk::{}{a};", n.bare(&older.name));
            return Ok(());
        }
        let link =
            format!("#[doc = \"<https://registry.khronos.org/vulkan/specs/latest/man/html/{c}.html>\"]\n");
        match &t.kind {
            TypeKind::Handle { object_type, .. } => {
                let number = self.number("VkObjectType", object_type, c)?;
                let _ = writeln!(
                    out,
                    "{link}#[repr(transparent)]\n#[derive(Eq, PartialEq, Ord, PartialOrd, Clone, Copy, Hash, Debug, Default)]\n\
                     pub struct {name}(u64);\nimpl Handle for {name} {{\n\
                     const TYPE: ObjectType = ObjectType::from_raw({number});\n\
                     fn as_raw(self) -> u64 {{ self.0 }}\nfn from_raw(x: u64) -> Self {{ Self(x) }}\n}}\n\
                     impl {name} {{ pub const fn null() -> Self {{ Self(0) }} }}"
                );
            }
            TypeKind::Enum => {
                let _ = writeln!(
                    out,
                    "{link}#[repr(transparent)]\n#[derive(Eq, PartialEq, Ord, PartialOrd, Clone, Copy, Hash, Debug, Default)]\n\
                     pub struct {name}(pub(crate) i32);\nimpl {name} {{\n\
                     pub const fn from_raw(x: i32) -> Self {{ Self(x) }}\n\
                     pub const fn as_raw(self) -> i32 {{ self.0 }}"
                );
                self.values(out, c);
                out.push_str("}\n");
            }
            TypeKind::Bitmask { wide, bits } => {
                let raw = if *wide { "Flags64" } else { "Flags" };
                let _ = writeln!(
                    out,
                    "{link}#[repr(transparent)]\n#[derive(PartialEq, Eq, PartialOrd, Ord, Clone, Copy, Hash, Debug)]\n\
                     pub struct {name}(pub(crate) {raw});\nash::vk_bitflags_wrapped!({name}, {raw});\nimpl {name} {{"
                );
                if let Some(bits) = bits {
                    self.values(out, bits);
                }
                out.push_str("}\n");
            }
            TypeKind::Struct { members, .. } => {
                if members.iter().any(|m| m.bits) {
                    return Err(format!("{c} has bit fields, which the generator does not know"));
                }
                let marker = if a.is_empty() { "" } else { "    pub _marker: PhantomData<&'a ()>,\n" };
                let stype = members.first().and_then(|m| m.value.clone());
                let anonymous = a.replace("'a", "'_");
                let body = self.members(members);
                let _ = writeln!(
                    out,
                    "{link}#[repr(C)]\n#[derive(Copy, Clone)]\npub struct {name}{a} {{\n{body}{marker}}}\n\
                     impl Default for {name}{anonymous} {{\nfn default() -> Self {{\n\
                     // SAFETY: zero is a value of every member: numbers, null pointers and handles.\n\
                     let zero: Self = unsafe {{ core::mem::zeroed() }};"
                );
                match stype {
                    Some(stype) => {
                        let number = self.number("VkStructureType", &stype, c)?;
                        let _ = write!(
                            out,
                            "Self {{ s_type: Self::STRUCTURE_TYPE, ..zero }}\n}}\n}}\n\
                             // SAFETY: the members are those of vk.xml, in order.\n\
                             unsafe impl TaggedStructure for {name}{anonymous} {{\n\
                             const STRUCTURE_TYPE: StructureType = StructureType::from_raw({number});\n}}\n\
                             unsafe impl Send for {name}{anonymous} {{}}\nunsafe impl Sync for {name}{anonymous} {{}}\n"
                        );
                    }
                    None => out.push_str("zero\n}\n}\n"),
                }
            }
            TypeKind::Union { members } => {
                let marker = if a.is_empty() { "" } else { "    pub _marker: PhantomData<&'a ()>,\n" };
                let _ = writeln!(
                    out,
                    "{link}#[repr(C)]\n#[derive(Copy, Clone)]\npub union {name}{a} {{\n{}{marker}}}",
                    self.members(members)
                );
            }
            TypeKind::FuncPointer | TypeKind::Base => {
                return Err(format!("{c}: a kind the generator does not know"));
            }
        }
        Ok(())
    }
}

/// The text of `crates/vk/src/generated.rs`.
pub fn generate(n: &Names) -> Result<String, String> {
    let r = n.registry;
    let mut sources: Vec<&Feature> = r.cores.iter().collect();
    for name in NEW_EXTENSIONS {
        sources.push(r.extensions.get(*name).ok_or_else(|| format!("no extension {name} in vk.xml"))?);
    }
    let mut e = Emit { n, sources, wanted: BTreeSet::new() };
    for s in e.sources.clone() {
        for t in &s.types {
            e.want(t);
        }
        for c in s.commands.iter().filter_map(|c| r.canonical_command(c)) {
            for p in &c.params {
                e.want(&p.ty);
            }
        }
    }
    let mut out = String::from(
        "// Generated by `cargo xtask codegen` from vk.xml: do not edit.\n\n\
         #![allow(non_camel_case_types, clippy::missing_safety_doc)]\n\n\
         use ash::vk::*;\nuse core::ffi::{c_char, c_void};\nuse core::marker::PhantomData;\n\n",
    );
    for c in &r.order {
        if e.wanted.contains(c) {
            e.define(&mut out, c)?;
        }
    }
    out.push_str("\n// Values that newer versions and extensions add to enums of ash, under their C names without VK_.\n");
    let newest = e.sources.iter().filter(|f| f.version == 104 || f.version == 0);
    let mut seen = BTreeSet::new();
    for (of, v) in newest.flat_map(|f| &f.values) {
        let ty = n.bare(of);
        if n.ash.has(&ty) && seen.insert(v.name.clone()) {
            let name = v.name.trim_start_matches("VK_");
            let _ = writeln!(out, "pub const {name}: {ty} = {ty}::from_raw({});", v.value);
        }
    }
    Ok(out)
}

/// All formats of the registry by name, in order of their values; pure additions of vendors' extensions among them.
pub fn formats(registry: &super::registry::Registry) -> String {
    let all = registry.cores.iter().chain(registry.extensions.values());
    let mut values = registry.values("VkFormat", all);
    values.retain(|v| v.value > 0 && v.name.starts_with("VK_FORMAT_"));
    values.sort_by_key(|v| v.value);
    values.dedup_by_key(|v| v.value);
    let rows: String = values
        .iter()
        .map(|v| {
            format!("(\"{}\", Format::from_raw({})),\n", v.name.trim_start_matches("VK_FORMAT_"), v.value)
        })
        .collect();
    format!(
        "// Generated by `cargo xtask codegen` from vk.xml: do not edit.\n\n\
         use ash::vk::Format;\n\n\
         /// Every format of the registry: its name without `VK_FORMAT_`, its value.\n\
         pub const FORMATS: &[(&str, Format)] = &[\n{rows}];\n"
    )
}
