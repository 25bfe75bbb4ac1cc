//! Older commands built from the newest: parameters become members of the newer command's structures, by name.
//! Those that do not fit this scheme are written by hand in `crates/icd/src/legacy`.

use super::entrypoints::object;
use super::names::{self, Names, field};
use super::registry::{Command, Decl, TypeKind};
use std::fmt::Write;

/// Old command, new command, and what cannot be matched by name: (target parameter or member, Rust expression).
const LEGACY: &[(&str, &str, &[(&str, &str)])] = &[
    ("vkCmdCopyBuffer", "vkCmdCopyBuffer2", &[]),
    ("vkCmdCopyImage", "vkCmdCopyImage2", &[]),
    ("vkCmdBlitImage", "vkCmdBlitImage2", &[]),
    ("vkCmdCopyBufferToImage", "vkCmdCopyBufferToImage2", &[]),
    ("vkCmdCopyImageToBuffer", "vkCmdCopyImageToBuffer2", &[]),
    ("vkCmdResolveImage", "vkCmdResolveImage2", &[]),
    ("vkBindBufferMemory", "vkBindBufferMemory2", &[]),
    ("vkBindImageMemory", "vkBindImageMemory2", &[]),
    ("vkGetBufferMemoryRequirements", "vkGetBufferMemoryRequirements2", &[]),
    ("vkGetImageMemoryRequirements", "vkGetImageMemoryRequirements2", &[]),
    ("vkGetImageSubresourceLayout", "vkGetImageSubresourceLayout2", &[]),
    ("vkGetPhysicalDeviceFeatures", "vkGetPhysicalDeviceFeatures2", &[]),
    ("vkGetPhysicalDeviceProperties", "vkGetPhysicalDeviceProperties2", &[]),
    ("vkGetPhysicalDeviceFormatProperties", "vkGetPhysicalDeviceFormatProperties2", &[]),
    ("vkGetPhysicalDeviceImageFormatProperties", "vkGetPhysicalDeviceImageFormatProperties2", &[]),
    ("vkGetPhysicalDeviceMemoryProperties", "vkGetPhysicalDeviceMemoryProperties2", &[]),
    ("vkMapMemory", "vkMapMemory2", &[]),
    ("vkGetDeviceQueue", "vkGetDeviceQueue2", &[]),
    ("vkCmdBeginRenderPass", "vkCmdBeginRenderPass2", &[]),
    ("vkCmdNextSubpass", "vkCmdNextSubpass2", &[]),
    ("vkCmdEndRenderPass", "vkCmdEndRenderPass2", &[]),
    ("vkCmdPushConstants", "vkCmdPushConstants2", &[]),
    ("vkCmdPushDescriptorSetWithTemplate", "vkCmdPushDescriptorSetWithTemplate2", &[]),
    ("vkCmdDispatch", "vkCmdDispatchBase", &[]),
    ("vkCmdBindVertexBuffers", "vkCmdBindVertexBuffers2", &[]),
    ("vkCmdBindIndexBuffer", "vkCmdBindIndexBuffer2", &[("size", "vk::WHOLE_SIZE")]),
    (
        "vkCmdWriteTimestamp",
        "vkCmdWriteTimestamp2",
        &[("stage", "vk::PipelineStageFlags2::from_raw(pipeline_stage.as_raw().into())")],
    ),
    ("vkCmdResetEvent", "vkCmdResetEvent2", &[]),
];

fn row(name: &str) -> Option<&'static (&'static str, &'static str, &'static [(&'static str, &'static str)])> {
    LEGACY.iter().find(|(old, _, _)| *old == name)
}

/// The newer command that `name` can be generated from.
pub fn target(name: &str) -> Option<&'static str> {
    row(name).map(|r| r.1)
}

fn members<'r>(n: &Names<'r>, c: &str) -> Option<&'r [Decl]> {
    match &n.registry.types.get(n.registry.canonical_type(c))?.kind {
        TypeKind::Struct { members, .. } => Some(members),
        _ => None,
    }
}

struct Build<'n, 'r> {
    n: &'n Names<'r>,
    old: &'r Command,
    fixed: &'static [(&'static str, &'static str)],
    /// Statements before the call.
    before: String,
}

impl Build<'_, '_> {
    fn same(&self, a: &Decl, b: &Decl) -> bool {
        let r = self.n.registry;
        r.canonical_type(&a.ty) == r.canonical_type(&b.ty) && a.pointers == b.pointers
    }

    /// An expression for a scalar, array or embedded structure that the new command wants.
    fn value(&mut self, want: &Decl) -> Option<String> {
        if let Some((_, expression)) = self.fixed.iter().find(|(name, _)| *name == want.name) {
            return Some(expression.to_string());
        }
        if let Some(have) = self.old.params.iter().find(|p| p.name == want.name) {
            let name = field(&have.name);
            if self.same(have, want) {
                return Some(name);
            }
            if have.pointers == 1 {
                return self.convert(have, want);
            }
            // Flags that grew from 32 to 64 bits.
            let ty = self.n.base(&want.ty, "vk::", "");
            return Some(format!("{ty}::from_raw({name}.as_raw().into())"));
        }
        let r = self.n.registry;
        let pointee = self.old.params.iter().find(|p| {
            p.pointers == 1
                && p.is_const
                && want.pointers == 0
                && r.canonical_type(&p.ty) == r.canonical_type(&want.ty)
        });
        pointee.map(|p| format!("*{}", field(&p.name)))
    }

    /// An array of older structures as one of newer ones with the same members.
    fn convert(&mut self, have: &Decl, want: &Decl) -> Option<String> {
        let (from, to) = (members(self.n, &have.ty)?, members(self.n, &want.ty)?);
        let name = field(&have.name);
        let count = field(have.len.as_deref()?);
        let copied: String = to
            .iter()
            .filter(|m| from.iter().any(|f| f.name == m.name))
            .map(|m| format!("{0}: x.{0}, ", field(&m.name)))
            .collect();
        let _ = writeln!(
            self.before,
            "let {name}: Vec<_> = crate::base::chain::slice({name}, {count}).iter().map(|x| {} {{ {copied} ..Default::default() }}).collect();",
            self.n.base(&want.ty, "vk::", "")
        );
        // Of no array there is none, whatever its count says.
        let _ = writeln!(self.before, "let {count} = {name}.len() as u32;");
        Some(format!("{name}.as_ptr()"))
    }
}

/// The conversion function of one old command.
pub fn generate(n: &Names, old: &Command) -> Result<String, String> {
    let (_, target, fixed) = row(&old.name).ok_or_else(|| format!("{} is no legacy command", old.name))?;
    let new = n.registry.canonical_command(target).ok_or_else(|| format!("no {target} in vk.xml"))?;
    let mut b = Build { n, old, fixed, before: String::new() };
    let mut after = String::new();
    let mut args = vec!["this".to_string()];
    for p in new.params.iter().skip(1) {
        if let Some(v) = b.value(p) {
            args.push(v);
            continue;
        }
        let local = field(p.name.trim_start_matches('p'));
        let info = (p.pointers == 1).then(|| members(n, &p.ty)).flatten();
        match info {
            Some(fields) if p.is_const && fields.first().is_some_and(|f| f.name == "sType") => {
                let mut text = String::new();
                for f in fields.iter().filter(|f| f.name != "sType" && f.name != "pNext") {
                    if let Some(v) = b.value(f) {
                        let name = field(&f.name);
                        let _ = if v == name { write!(text, "{v}, ") } else { write!(text, "{name}: {v}, ") };
                    }
                }
                let ty = n.base(&p.ty, "vk::", "");
                let _ = writeln!(b.before, "let {local} = {ty} {{ {text} ..Default::default() }};");
                args.push(format!("&{local}"));
            }
            Some(fields) if !p.is_const => {
                let r = n.registry;
                let (out, member) = old
                    .params
                    .iter()
                    .filter(|o| o.pointers == 1 && !o.is_const)
                    .find_map(|o| {
                        let m = fields.iter().find(|m| r.canonical_type(&m.ty) == r.canonical_type(&o.ty))?;
                        Some((field(&o.name), field(&m.name)))
                    })
                    .ok_or_else(|| format!("{}: nothing takes {}", old.name, p.name))?;
                let _ = writeln!(b.before, "let mut {local} = {}::default();", n.base(&p.ty, "vk::", ""));
                let _ = writeln!(after, "*{out} = {local}.{member};");
                args.push(format!("&mut {local}"));
            }
            _ if p.pointers > 0 => args.push("std::ptr::null()".into()),
            _ if new.params.iter().any(|o| o.len.as_deref() == Some(&p.name)) => args.push("1".into()),
            _ => args.push("Default::default()".into()),
        }
    }
    let (object, _) = object(old);
    let mut params = format!("this: &{}", object.unwrap_or("()"));
    if old.params.len() > 1 {
        let _ = write!(params, ", {}", n.params(&old.params[1..]));
    }
    let call = format!("super::imp::{}({})", names::command(target), args.join(", "));
    let body = match (after.is_empty(), new.ret.as_str()) {
        (true, _) => format!("{}{call}", b.before),
        (false, "void") => format!("{}{call};\n{after}", b.before),
        (false, _) => format!("{}let result = {call};\n{after}result", b.before),
    };
    Ok(format!(
        "pub(crate) unsafe fn {}({params}){} {{\n// SAFETY: the caller keeps Vulkan's valid usage.\nunsafe {{\n{body}\n}}\n}}\n\n",
        names::command(&old.name),
        n.ret(&old.ret)
    ))
}
