//! VkShaderModule: SPIR-V, parsed and checked when the module is made.

use crate::base::answer::{Answer, created};
use crate::base::chain;
use crate::base::hash;
use crate::base::object::{self, Object};
use crate::device::Device;
pub(crate) use crate::device::code::Code;
use std::sync::Arc;

pub struct ShaderModule {
    pub(crate) code: Arc<Code>,
}

impl Object for ShaderModule {
    type Handle = vk::ShaderModule;
}

/// The line and code for a shader that can't be compiled.
pub(crate) fn failed(doing: &str, e: &shader::options::Error) -> vk::Result {
    crate::base::debug::log_error(&format!("{doing}: {e}"));
    vk::Result::ERROR_INVALID_SHADER_NV
}

unsafe fn parse(info: &vk::ShaderModuleCreateInfo) -> Answer<Arc<Code>> {
    // SAFETY: valid usage: the structure's pointers and its chain lead to what they are said to.
    unsafe {
        // `code_size` is in bytes; what is not a whole word is cut and then missed by the parser.
        // A copy: its hash is that of the words that are parsed, whatever the program does to its own meanwhile.
        let words = chain::copied(info.p_code, info.code_size / 4)?;
        parse_words(words, "vkCreateShaderModule")
    }
}

fn parse_words(words: Vec<u32>, doing: &str) -> Answer<Arc<Code>> {
    // SAFETY: the bytes of the words.
    let bytes = unsafe { std::slice::from_raw_parts(words.as_ptr().cast::<u8>(), size_of_val(&words[..])) };
    let hash = hash::bytes(bytes);
    let module = shader::Module::parse(words).map_err(|e| failed(doing, &e))?;
    let allowed = crate::instance::capabilities::check(&module);
    Ok(Arc::new(Code { module, hash, allowed }))
}

/// SPIR-V that is no module's, of which the device has all capabilities. `doing`: for messages.
pub(crate) fn of_words(words: &[u32], doing: &str) -> Answer<Arc<Code>> {
    let code = parse_words(words.to_vec(), doing)?;
    code.allowed.as_ref().map_err(|e| failed(doing, e))?;
    Ok(code)
}

pub(crate) unsafe fn create_shader_module(
    _: &Device,
    info: *const vk::ShaderModuleCreateInfo,
    _: *const vk::AllocationCallbacks,
    out: *mut vk::ShaderModule,
) -> vk::Result {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe { created(out, parse(&*info).map(|code| ShaderModule { code })) }
}

pub(crate) unsafe fn destroy_shader_module(
    _: &Device,
    module: vk::ShaderModule,
    _: *const vk::AllocationCallbacks,
) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        object::destroy::<ShaderModule>(module);
    }
}

/// The code of a stage, of which the device has all capabilities.
pub(crate) unsafe fn of_stage(stage: &vk::PipelineShaderStageCreateInfo) -> Answer<Arc<Code>> {
    // SAFETY: valid usage: the structure's pointers and its chain lead to what they are said to.
    unsafe {
        let code = code_of(stage)?;
        code.allowed.as_ref().map_err(|e| failed("a pipeline's stage", e))?;
        Ok(code)
    }
}

/// A module, or SPIR-V in its chain (VK_KHR_maintenance5).
unsafe fn code_of(stage: &vk::PipelineShaderStageCreateInfo) -> Answer<Arc<Code>> {
    // SAFETY: valid usage: the structure's pointers and its chain lead to what they are said to.
    unsafe {
        if stage.module != vk::ShaderModule::null() {
            let module = object::get::<ShaderModule>(stage.module).ok_or(vk::Result::ERROR_UNKNOWN)?;
            return Ok(module.code.clone());
        }
        match chain::find::<vk::ShaderModuleCreateInfo>(stage.p_next) {
            Some(info) => parse(info),
            None => Err(crate::base::answer::invalid(
                "a pipeline's stage has neither a module nor SPIR-V in its chain",
            )),
        }
    }
}
