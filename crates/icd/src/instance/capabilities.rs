//! SPIR-V capabilities and extensions: a module may declare those that something which the device reports allows, by
//! vk.xml's lists. What the shader engine has besides is refused, for no application can have asked whether it is there.
//! Extensions that are none of Vulkan's say nothing about the device: what they bring is the shader engine's to refuse.

use crate::instance::extensions;
use crate::instance::features;
use crate::instance::generated::capabilities::{self, CAPABILITIES};
use crate::instance::physical_device::API_VERSION;
use crate::instance::physical_device::core_of;
use crate::instance::properties::PROPERTIES;
use crate::instance::structs::Value;
use std::sync::OnceLock;

/// What allows a capability.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Enable {
    Version(u32),
    Extension(&'static str),
    Feature(&'static str),
    /// A feature of this extension.
    FeatureOf(&'static str, &'static str),
    /// A member that has this bit, or is true.
    Property(&'static str, u64),
}

impl Enable {
    fn is_reported(self) -> bool {
        match self {
            Enable::Version(core) => core <= core_of(API_VERSION),
            Enable::Extension(name) => extensions::is_reported(name),
            Enable::Feature(name) => features::has(name),
            Enable::FeatureOf(extension, name) => extensions::is_reported(extension) && features::has(name),
            Enable::Property(member, bit) => PROPERTIES.iter().any(|(name, value)| {
                *name == member
                    && match value {
                        Value::Bool(is) => *is,
                        Value::U32(bits) => *bits as u64 & bit != 0,
                        _ => false,
                    }
            }),
        }
    }
}

/// Whether something reported allows the capability. Only those that modules ask for are looked up, each once.
fn is_reported(capability: u32) -> bool {
    static KNOWN: [OnceLock<bool>; CAPABILITIES.len()] = [const { OnceLock::new() }; CAPABILITIES.len()];
    // One number may have several names.
    CAPABILITIES.iter().zip(&KNOWN).any(|((number, _, enables), known)| {
        *number == Some(capability) && *known.get_or_init(|| enables.iter().any(|e| e.is_reported()))
    })
}

/// Fails on the first capability or extension of `module` that nothing reported allows.
pub(crate) fn check(module: &shader::Module) -> Result<(), shader::options::Error> {
    let refused = |what: &str, name: &str| {
        shader::options::Error::Unsupported(format!("{what} {name}, which the device does not report"))
    };
    if let Some(c) = module.capabilities().iter().find(|c| !is_reported(**c)) {
        return Err(refused("capability", &shader::capability::name(*c)));
    }
    let allowed = |name: &str| {
        let known = capabilities::EXTENSIONS.iter().find(|(known, _)| *known == name);
        known.is_none_or(|(_, enables)| enables.iter().any(|e| e.is_reported()))
    };
    module.extensions().find(|name| !allowed(name)).map_or(Ok(()), |name| Err(refused("extension", &name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `check` says of a module that declares `capability`, and what the engine says.
    fn accepted(capability: u32) -> bool {
        let words = [0x0723_0203, 0x0001_0600, 0, 1, 0, 2 << 16 | 17, capability, 3 << 16 | 14, 0, 1];
        let module = shader::Module::parse(&words).expect("a module that only declares");
        check(&module).is_ok() && shader::capability::engine_has(capability)
    }

    #[test]
    fn a_capability_is_accepted_if_and_only_if_something_reported_allows_it() {
        let (mut yes, mut no) = (0, 0);
        for (number, name, enables) in CAPABILITIES {
            let reported = enables.iter().any(|e| e.is_reported());
            // A name that the SPIR-V headers lack is of no version that modules can have.
            assert_eq!(*number, shader::capability::number(name), "{name}");
            let Some(number) = *number else {
                assert!(!reported, "{name} is reported, and has no number");
                continue;
            };
            assert_eq!(accepted(number), reported, "{name}: {enables:?}");
            yes += reported as u32;
            no += !reported as u32;
        }
        assert!(yes > 140 && no > 30, "{yes} accepted, {no} not");
    }

    /// Whether a module that declares the extension gets through.
    fn declares(extension: &str) -> bool {
        let mut name: Vec<u8> = extension.bytes().collect();
        name.resize(name.len() / 4 * 4 + 4, 0);
        let name: Vec<u32> =
            name.chunks_exact(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect();
        let mut words = vec![0x0723_0203, 0x0001_0600, 0, 1, 0, 2 << 16 | 17, 1];
        words.push((1 + name.len() as u32) << 16 | 10);
        words.extend(name);
        words.extend([3 << 16 | 14, 0, 1]);
        check(&shader::Module::parse(&words).expect("a module that only declares")).is_ok()
    }

    #[test]
    fn an_extension_is_accepted_unless_nothing_reported_allows_it() {
        for (name, enables) in capabilities::EXTENSIONS {
            let reported = enables.iter().any(|e| e.is_reported());
            assert_eq!(declares(name), reported, "{name}: {enables:?}");
        }
        for name in ["SPV_KHR_storage_buffer_storage_class", "SPV_GOOGLE_hlsl_functionality1", "SPV_NOBODY_s"]
        {
            assert!(declares(name), "{name}");
        }
        for name in ["SPV_NV_ray_tracing", "SPV_NV_mesh_shader", "SPV_AMD_shader_ballot"] {
            assert!(!declares(name), "{name}");
        }
    }

    #[test]
    fn capabilities_that_vulkan_does_not_have_are_not_accepted() {
        // Kernel, Groups, ImageRect, and an unassigned number.
        for number in [6, 18, 36, 0xFFFF] {
            assert!(!accepted(number), "{number}");
        }
    }

    #[test]
    fn what_is_known_not_to_be_reported_is_refused() {
        for name in ["FPGAKernelAttributesINTEL", "Kernel"] {
            assert!(!accepted(shader::capability::number(name).expect(name)), "{name}");
        }
        for name in [
            "Shader",
            "Float64",
            "GroupNonUniformQuad",
            "SparseResidency",
            "RoundingModeRTE",
            "DrawParameters",
        ] {
            assert!(accepted(shader::capability::number(name).expect(name)), "{name}");
        }
    }
}
