//! VK_EXT_shader_module_identifier and VK_EXT_pipeline_properties: what names modules and pipelines, and pipelines of modules that are gone.

use crate::gpu::Gpu;
use ash::vk;

const FAIL: vk::PipelineCreateFlags = vk::PipelineCreateFlags::FAIL_ON_PIPELINE_COMPILE_REQUIRED;

type Properties = unsafe extern "system" fn(
    vk::Device,
    *const vk::PipelineInfoKHR,
    *mut vk::PipelinePropertiesIdentifierEXT,
) -> vk::Result;

/// A compute pipeline of what the stage has.
fn pipeline(
    g: &Gpu,
    layout: vk::PipelineLayout,
    stage: vk::PipelineShaderStageCreateInfo,
    flags: vk::PipelineCreateFlags,
) -> Result<vk::Pipeline, vk::Result> {
    let stage = stage.stage(vk::ShaderStageFlags::COMPUTE).name(c"main");
    let info = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout).flags(flags)];
    // SAFETY: handles are alive, structures outlive the call.
    unsafe { g.device.create_compute_pipelines(vk::PipelineCache::null(), &info, None) }
        .map(|p| p[0])
        .map_err(|(_, e)| e)
}

#[test]
fn modules_and_pipelines_have_names() {
    let mut features =
        vk::PhysicalDeviceShaderModuleIdentifierFeaturesEXT::default().shader_module_identifier(true);
    let mut pipelines =
        vk::PhysicalDevicePipelinePropertiesFeaturesEXT::default().pipeline_properties_identifier(true);
    features.p_next = (&raw mut pipelines).cast();
    let names = [vk::EXT_SHADER_MODULE_IDENTIFIER_NAME, c"VK_EXT_pipeline_properties"];
    let g = Gpu::with(&names, &mut features);
    let identifiers = ash::ext::shader_module_identifier::Device::new(&g.instance, &g.device);
    let identifiers = identifiers.fp();
    // A shader that no other test of this process compiles.
    let code = shader::words(include_bytes!("shaders/identifiers.comp.spv"));
    let other = shader::words(include_bytes!("shaders/cores.comp.spv"));
    let [info, else_info] = [&code, &other].map(|c| vk::ShaderModuleCreateInfo::default().code(c));
    let id = |i: &vk::ShaderModuleIdentifierEXT| i.identifier[..i.identifier_size as usize].to_vec();
    // SAFETY: handles are alive, structures outlive the calls.
    unsafe {
        let d = &g.device;
        let module = d.create_shader_module(&info, None).unwrap();
        let (mut of_module, mut of_info, mut of_other) = Default::default();
        (identifiers.get_shader_module_identifier_ext)(d.handle(), module, &mut of_module);
        (identifiers.get_shader_module_create_info_identifier_ext)(d.handle(), &info, &mut of_info);
        (identifiers.get_shader_module_create_info_identifier_ext)(d.handle(), &else_info, &mut of_other);
        assert_eq!(id(&of_module), id(&of_info));
        assert_ne!(id(&of_module), id(&of_other));
        let layout = d.create_pipeline_layout(&Default::default(), None).unwrap();
        let name = id(&of_module);
        let named = |name: &[u8]| {
            let mut i = vk::PipelineShaderStageModuleIdentifierCreateInfoEXT::default().identifier(name);
            pipeline(&g, layout, vk::PipelineShaderStageCreateInfo::default().push_next(&mut i), FAIL)
        };
        // Nothing is compiled for a name.
        assert_eq!(named(&name), Err(vk::Result::PIPELINE_COMPILE_REQUIRED));
        let whole = vk::PipelineShaderStageCreateInfo::default().module(module);
        let first = pipeline(&g, layout, whole, Default::default()).unwrap();
        let again = pipeline(&g, layout, whole, Default::default()).unwrap();
        let strict = pipeline(&g, layout, whole, FAIL).unwrap();
        d.destroy_shader_module(module, None);
        let of_name = named(&name).unwrap();
        for bad in [&id(&of_other)[..], &name[..7], &[7; 32]] {
            assert_eq!(named(bad), Err(vk::Result::PIPELINE_COMPILE_REQUIRED), "{bad:?}");
        }
        let get =
            g.instance.get_device_proc_addr(d.handle(), c"vkGetPipelinePropertiesEXT".as_ptr()).unwrap();
        let get: Properties = std::mem::transmute(get);
        let identify = |p| {
            let mut out = vk::PipelinePropertiesIdentifierEXT::default();
            let info = vk::PipelineInfoKHR::default().pipeline(p);
            assert_eq!(get(d.handle(), &info, &mut out), vk::Result::SUCCESS);
            out.pipeline_identifier
        };
        assert_eq!(identify(first), identify(again));
        assert_eq!(identify(strict), identify(of_name));
        let stage = vk::ShaderModuleCreateInfo::default().code(&other);
        let module = d.create_shader_module(&stage, None).unwrap();
        let whole = vk::PipelineShaderStageCreateInfo::default().module(module);
        let another = pipeline(&g, layout, whole, Default::default()).unwrap();
        assert_ne!(identify(first), identify(another));
        [first, again, strict, of_name, another].into_iter().for_each(|p| d.destroy_pipeline(p, None));
        d.destroy_shader_module(module, None);
        d.destroy_pipeline_layout(layout, None);
    }
}
