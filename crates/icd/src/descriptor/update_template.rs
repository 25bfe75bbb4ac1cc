//! VkDescriptorUpdateTemplate.

use crate::base::answer::created;
use crate::base::chain;
use crate::base::object::{self, Object};
use crate::descriptor::descriptor_layout::SetLayout;
use crate::descriptor::descriptor_set::{self, DescriptorSet, Replaced};
use crate::device::Device;
use machine::descriptor::SetMemory;
use std::ffi::c_void;

pub struct DescriptorUpdateTemplate {
    entries: Vec<vk::DescriptorUpdateTemplateEntry>,
    /// Of templates for push descriptors.
    pub(crate) bind_point: vk::PipelineBindPoint,
}

impl Object for DescriptorUpdateTemplate {
    type Handle = vk::DescriptorUpdateTemplate;
}

impl DescriptorUpdateTemplate {
    /// Writes what the entries find in `data`.
    ///
    /// # Safety
    /// `data` is null or has what the entries say.
    pub(crate) unsafe fn apply(
        &self,
        layout: &SetLayout,
        memory: &SetMemory,
        data: *const c_void,
        replaced: &mut Replaced,
    ) {
        if data.is_null() {
            return;
        }
        // SAFETY: the caller keeps what is asked for above.
        unsafe {
            for e in &self.entries {
                let Some(make) = descriptor_set::kind(e.descriptor_type) else { continue };
                let source = make(data.cast::<u8>().add(e.offset));
                descriptor_set::put(
                    layout,
                    memory,
                    e.dst_binding,
                    e.dst_array_element,
                    e.descriptor_count,
                    e.descriptor_type,
                    source,
                    e.stride,
                    replaced,
                );
            }
        }
    }
}

pub(crate) unsafe fn create_descriptor_update_template(
    _: &Device,
    info: *const vk::DescriptorUpdateTemplateCreateInfo,
    _: *const vk::AllocationCallbacks,
    out: *mut vk::DescriptorUpdateTemplate,
) -> vk::Result {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let i = &*info;
        let entries = chain::slice(i.p_descriptor_update_entries, i.descriptor_update_entry_count).to_vec();
        created(out, Ok(DescriptorUpdateTemplate { entries, bind_point: i.pipeline_bind_point }))
    }
}

pub(crate) unsafe fn destroy_descriptor_update_template(
    _: &Device,
    template: vk::DescriptorUpdateTemplate,
    _: *const vk::AllocationCallbacks,
) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        object::destroy::<DescriptorUpdateTemplate>(template);
    }
}

pub(crate) unsafe fn update_descriptor_set_with_template(
    device: &Device,
    set: vk::DescriptorSet,
    template: vk::DescriptorUpdateTemplate,
    data: *const c_void,
) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        if let (Some(s), Some(t)) =
            (object::hold::<DescriptorSet>(set), object::get::<DescriptorUpdateTemplate>(template))
        {
            let mut replaced = Replaced::new();
            t.apply(&s.layout, &s.memory, data, &mut replaced);
            device.retire(replaced);
        }
    }
}
