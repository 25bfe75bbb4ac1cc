//! VkShaderModule: SPIR-V, parsed and checked when the module is made.

use crate::base::answer::{Answer, created};
use crate::base::chain;
use crate::base::given::{Call, Doomed, Fill, In, Out};
use crate::base::hash;
use crate::base::object::Object;
use crate::device::Device;
pub(crate) use crate::device::code::Code;
use parking_lot::Mutex;
use std::collections::VecDeque;
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

fn parse(info: In<vk::ShaderModuleCreateInfo>) -> Answer<Arc<Code>> {
    // `code_size` is in bytes; what is not a whole word is cut and then missed by the parser.
    // A copy: its hash is that of the words that are parsed, whatever the program does to its own meanwhile.
    // SAFETY: `code_size` bytes (valid usage), of which any are words.
    let words = unsafe { chain::copied(info.p_code, info.code_size / 4)? };
    parse_words(words, "vkCreateShaderModule")
}

/// Of the words' bytes.
fn hash_of(words: &[u32]) -> u128 {
    // SAFETY: the bytes of the words.
    hash::bytes(unsafe { std::slice::from_raw_parts(words.as_ptr().cast::<u8>(), size_of_val(words)) })
}

fn parse_words(words: Vec<u32>, doing: &str) -> Answer<Arc<Code>> {
    let hash = hash_of(&words);
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

pub(crate) fn create_shader_module(
    _: &Device,
    info: In<vk::ShaderModuleCreateInfo>,
    out: Out<vk::ShaderModule>,
) -> vk::Result {
    created(out, parse(info).map(|code| ShaderModule { code }))
}

pub(crate) fn destroy_shader_module(_: &Device, module: Doomed<ShaderModule>) {
    module.destroy();
}

/// The code of a stage, of which the device has all capabilities.
pub(crate) fn of_stage(stage: In<vk::PipelineShaderStageCreateInfo>) -> Answer<Arc<Code>> {
    let code = code_of(stage)?;
    code.allowed.as_ref().map_err(|e| failed("a pipeline's stage", e))?;
    Ok(code)
}

/// Modules of which the process keeps the code after their identifier was asked for: pipelines may be made of it, though the modules are gone.
const IDENTIFIED: usize = 512;
static KNOWN: Mutex<VecDeque<Arc<Code>>> = Mutex::new(VecDeque::new());

fn identify(mut out: Fill<vk::ShaderModuleIdentifierEXT>, hash: u128) {
    out.identifier_size = size_of_val(&hash) as u32;
    out.identifier[..size_of_val(&hash)].copy_from_slice(&hash.to_be_bytes());
}

pub(crate) fn get_shader_module_identifier_ext(
    device: &Device,
    module: vk::ShaderModule,
    out: Fill<vk::ShaderModuleIdentifierEXT>,
) {
    let Some(module) = device.object::<ShaderModule>(module) else { return };
    identify(out, module.code.hash);
    let mut known = KNOWN.lock();
    known.retain(|c| c.hash != module.code.hash);
    known.truncate(IDENTIFIED - 1);
    known.push_front(module.code.clone());
}

pub(crate) fn get_shader_module_create_info_identifier_ext(
    _: &Device,
    info: In<vk::ShaderModuleCreateInfo>,
    out: Fill<vk::ShaderModuleIdentifierEXT>,
) {
    // SAFETY: `code_size` bytes (valid usage), of which any are words.
    let Ok(words) = (unsafe { chain::copied(info.p_code, info.code_size / 4) }) else { return };
    identify(out, hash_of(&words));
}

/// The code that an identifier names, as long as the process has it.
fn identified(identifier: &[u8]) -> Answer<Arc<Code>> {
    let hash = identifier.try_into().map(u128::from_be_bytes).ok();
    let known = KNOWN.lock();
    let found = known.iter().find(|c| Some(c.hash) == hash);
    found.cloned().ok_or(vk::Result::PIPELINE_COMPILE_REQUIRED)
}

/// A module, SPIR-V in its chain (VK_KHR_maintenance5), or what names a module (VK_EXT_shader_module_identifier).
fn code_of(stage: In<vk::PipelineShaderStageCreateInfo>) -> Answer<Arc<Code>> {
    if stage.module == vk::ShaderModule::null()
        && let Some(i) = stage.find::<vk::PipelineShaderStageModuleIdentifierCreateInfoEXT>()
        && i.identifier_size > 0
    {
        return identified(i.identifier());
    }
    of_module(stage, stage.module, stage.find(), "a pipeline's stage")
}

/// A module, or SPIR-V in a chain (VK_KHR_maintenance5). `what` has it, for messages.
fn of_module<'a>(
    call: impl Call<'a>,
    module: vk::ShaderModule,
    inline: Option<In<vk::ShaderModuleCreateInfo>>,
    what: &str,
) -> Answer<Arc<Code>> {
    if module != vk::ShaderModule::null() {
        return Ok(call.object::<ShaderModule>(module).ok_or(vk::Result::ERROR_UNKNOWN)?.code.clone());
    }
    match inline {
        Some(info) => parse(info),
        None => {
            Err(crate::base::answer::invalid(&format!("{what} has neither a module nor SPIR-V in its chain")))
        }
    }
}

/// The code of a data graph, of which the device has all capabilities.
pub(crate) fn of_graph(
    info: In<vk::DataGraphPipelineCreateInfoARM>,
    module: vk::ShaderModule,
) -> Answer<Arc<Code>> {
    let code = of_module(info, module, info.find(), "a data graph")?;
    code.allowed.as_ref().map_err(|e| failed("a data graph", e))?;
    Ok(code)
}
