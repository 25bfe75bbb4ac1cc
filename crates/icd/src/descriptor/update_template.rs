//! VkDescriptorUpdateTemplate.

use crate::base::answer::created;
use crate::base::given::{Call, Doomed, In, Out};
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
        for e in &self.entries {
            let Some(make) = descriptor_set::kind(e.descriptor_type) else { continue };
            let source = make(data.cast::<u8>().wrapping_add(e.offset));
            // SAFETY: the caller's: the data have what the entry says.
            unsafe { descriptor_set::put(layout, memory, e, source, replaced) };
        }
    }
}

pub(crate) fn create_descriptor_update_template(
    _: &Device,
    info: In<vk::DescriptorUpdateTemplateCreateInfo>,
    out: Out<vk::DescriptorUpdateTemplate>,
) -> vk::Result {
    let i = info;
    let entries = i.descriptor_update_entries().to_vec();
    created(out, Ok(DescriptorUpdateTemplate { entries, bind_point: i.pipeline_bind_point }))
}

pub(crate) fn destroy_descriptor_update_template(_: &Device, template: Doomed<DescriptorUpdateTemplate>) {
    template.destroy();
}

/// # Safety
/// `data` is what the template's entries say.
pub(crate) unsafe fn update_descriptor_set_with_template(
    device: &Device,
    set: vk::DescriptorSet,
    template: vk::DescriptorUpdateTemplate,
    data: *const c_void,
) {
    if let (Some(s), Some(t)) =
        (object::hold::<DescriptorSet>(set), device.object::<DescriptorUpdateTemplate>(template))
    {
        let mut replaced = Replaced::new();
        // SAFETY: the caller's.
        unsafe { t.apply(&s.layout, &s.memory, data, &mut replaced) };
        device.retire(replaced);
    }
}
