//! An instance, a device and a queue: all that a headless program needs.

use crate::library::name;
use crate::{Error, Library, Result};
use ash::vk;
use std::ffi::CStr;
use std::rc::Rc;

/// One device of the first (or a chosen) driver, with a queue that draws (where the driver has one) and computes.
pub struct Context {
    pub device: ash::Device,
    pub queue: vk::Queue,
    /// Another of the same family, if there is one.
    pub second: Option<vk::Queue>,
    pub physical: vk::PhysicalDevice,
    pub properties: vk::PhysicalDeviceProperties,
    pub driver_name: String,
    pub driver_info: String,
    /// The queue draws.
    pub graphics: bool,
    pub memory: vk::PhysicalDeviceMemoryProperties,
    pub instance: ash::Instance,
    pub(crate) pool: vk::CommandPool,
    pub(crate) fence: vk::Fence,
    library: Library,
}

impl Context {
    /// Opens the first device that the environment's driver shows.
    pub fn open() -> Result<Rc<Self>> {
        Self::with(Library::any()?)
    }

    /// As [`Context::open`], with mesh shaders, transform feedback and ray tracing besides where the driver has them.
    pub fn staged() -> Result<Rc<Self>> {
        Self::made(Library::any()?, &[], &[], std::ptr::null_mut(), true)
    }

    /// As [`Context::staged`], with surfaces that no screen shows, and swapchains.
    pub fn presenting() -> Result<Rc<Self>> {
        let surfaces = [ash::khr::surface::NAME, ash::ext::headless_surface::NAME];
        Self::made(Library::any()?, &surfaces, &[ash::khr::swapchain::NAME], std::ptr::null_mut(), true)
    }

    /// As [`Context::staged`], with labels of VK_EXT_debug_utils.
    pub fn labelled() -> Result<Rc<Self>> {
        Self::made(Library::any()?, &[ash::ext::debug_utils::NAME], &[], std::ptr::null_mut(), true)
    }

    /// Opens the first device of `library`, enabling every core feature up to Vulkan 1.3 that it reports.
    pub fn with(library: Library) -> Result<Rc<Self>> {
        Self::extended(library, &[], std::ptr::null_mut())
    }

    /// As [`Context::with`], with device extensions and their features: `features` is null or a structure of
    /// VkDeviceCreateInfo's chain (with more after it).
    pub fn extended(
        library: Library,
        extensions: &[&CStr],
        features: *mut vk::BaseOutStructure<'_>,
    ) -> Result<Rc<Self>> {
        Self::of_instance(library, &[], extensions, features)
    }

    /// As [`Context::extended`], with extensions of the instance.
    pub fn of_instance(
        library: Library,
        instance_extensions: &[&CStr],
        extensions: &[&CStr],
        features: *mut vk::BaseOutStructure<'_>,
    ) -> Result<Rc<Self>> {
        Self::made(library, instance_extensions, extensions, features, false)
    }

    fn made(
        library: Library,
        instance_extensions: &[&CStr],
        extensions: &[&CStr],
        more: *mut vk::BaseOutStructure<'_>,
        staged: bool,
    ) -> Result<Rc<Self>> {
        let application =
            vk::ApplicationInfo::default().application_name(c"tuff-client").api_version(vk::API_VERSION_1_3);
        let names: Vec<_> = instance_extensions.iter().map(|e| e.as_ptr()).collect();
        let info =
            vk::InstanceCreateInfo::default().application_info(&application).enabled_extension_names(&names);
        // SAFETY: plain Vulkan calls in the order that the specification asks for, with structs that outlive them.
        unsafe {
            let instance =
                library.entry.create_instance(&info, None).map_err(Error::vk("vkCreateInstance"))?;
            let devices =
                instance.enumerate_physical_devices().map_err(Error::vk("vkEnumeratePhysicalDevices"))?;
            let Some(&physical) = devices.first() else {
                return Err(Error("the driver shows no device".into()));
            };
            let mut driver = vk::PhysicalDeviceDriverProperties::default();
            let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut driver);
            instance.get_physical_device_properties2(physical, &mut properties);
            let properties = properties.properties;
            let families = instance.get_physical_device_queue_family_properties(physical);
            let family = families
                .iter()
                .position(|f| f.queue_flags.contains(vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE))
                .or_else(|| families.iter().position(|f| f.queue_flags.contains(vk::QueueFlags::COMPUTE)))
                .ok_or_else(|| Error("no queue family computes".into()))? as u32;

            let graphics = families[family as usize].queue_flags.contains(vk::QueueFlags::GRAPHICS);

            let mut features13 = vk::PhysicalDeviceVulkan13Features::default();
            let mut features12 = vk::PhysicalDeviceVulkan12Features::default();
            let mut features11 = vk::PhysicalDeviceVulkan11Features::default();
            let mut features =
                vk::PhysicalDeviceFeatures2::default().push_next(&mut features11).push_next(&mut features12);
            if properties.api_version >= vk::API_VERSION_1_3 {
                features = features.push_next(&mut features13);
            }
            let mut names: Vec<_> = extensions.iter().map(|e| e.as_ptr()).collect();
            // Other features of theirs need others.
            let mut mesh =
                vk::PhysicalDeviceMeshShaderFeaturesEXT::default().task_shader(true).mesh_shader(true);
            let mut feedback =
                vk::PhysicalDeviceTransformFeedbackFeaturesEXT::default().transform_feedback(true);
            let mut structures =
                vk::PhysicalDeviceAccelerationStructureFeaturesKHR::default().acceleration_structure(true);
            let mut queries = vk::PhysicalDeviceRayQueryFeaturesKHR::default().ray_query(true);
            let mut traces =
                vk::PhysicalDeviceRayTracingPipelineFeaturesKHR::default().ray_tracing_pipeline(true);
            let (mut has_mesh, mut has_feedback) = (false, false);
            let (mut has_structures, mut has_queries, mut has_traces) = (false, false, false);
            if staged {
                let has = instance
                    .enumerate_device_extension_properties(physical)
                    .map_err(Error::vk("vkEnumerateDeviceExtensionProperties"))?;
                let has = |n: &CStr| has.iter().any(|e| name(&e.extension_name).as_bytes() == n.to_bytes());
                has_mesh = has(vk::EXT_MESH_SHADER_NAME);
                has_feedback = has(vk::EXT_TRANSFORM_FEEDBACK_NAME);
                names.extend(has_mesh.then(|| vk::EXT_MESH_SHADER_NAME.as_ptr()));
                names.extend(has_feedback.then(|| vk::EXT_TRANSFORM_FEEDBACK_NAME.as_ptr()));
                let structures =
                    [ash::khr::acceleration_structure::NAME, ash::khr::deferred_host_operations::NAME];
                let [queries, traces] = [ash::khr::ray_query::NAME, ash::khr::ray_tracing_pipeline::NAME];
                // Some drivers have ray tracing pipelines alone.
                has_structures = structures.into_iter().all(&has) && (has(queries) || has(traces));
                has_queries = has_structures && has(queries);
                has_traces = has_structures && has(traces);
                if has_structures {
                    names.extend(structures.map(CStr::as_ptr));
                }
                names.extend(has_queries.then_some(queries.as_ptr()));
                names.extend(has_traces.then_some(traces.as_ptr()));
            }
            instance.get_physical_device_features2(physical, &mut features);
            let count = families[family as usize].queue_count.min(2) as usize;
            let queues = [vk::DeviceQueueCreateInfo::default()
                .queue_family_index(family)
                .queue_priorities(&[1.0; 2][..count])];
            let mut create = vk::DeviceCreateInfo::default()
                .queue_create_infos(&queues)
                .enabled_extension_names(&names)
                .push_next(&mut features);
            if has_mesh {
                create = create.push_next(&mut mesh);
            }
            if has_feedback {
                create = create.push_next(&mut feedback);
            }
            if has_queries {
                create = create.push_next(&mut queries);
            }
            if has_structures {
                create = create.push_next(&mut structures);
            }
            if has_traces {
                create = create.push_next(&mut traces);
            }
            if !more.is_null() {
                let mut last = more;
                while !(*last).p_next.is_null() {
                    last = (*last).p_next;
                }
                (*last).p_next = create.p_next.cast_mut().cast();
                create.p_next = more.cast();
            }
            let device =
                instance.create_device(physical, &create, None).map_err(Error::vk("vkCreateDevice"))?;
            let queue = device.get_device_queue(family, 0);
            let second = (count > 1).then(|| device.get_device_queue(family, 1));
            let pool = device
                .create_command_pool(
                    &vk::CommandPoolCreateInfo::default()
                        .queue_family_index(family)
                        .flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER),
                    None,
                )
                .map_err(Error::vk("vkCreateCommandPool"))?;
            let fence = device
                .create_fence(&vk::FenceCreateInfo::default(), None)
                .map_err(Error::vk("vkCreateFence"))?;
            let memory = instance.get_physical_device_memory_properties(physical);
            Ok(Rc::new(Self {
                device,
                queue,
                second,
                physical,
                properties,
                driver_name: name(&driver.driver_name),
                driver_info: name(&driver.driver_info),
                graphics,
                memory,
                instance,
                pool,
                fence,
                library,
            }))
        }
    }

    /// The device's name as programs see it.
    pub fn device_name(&self) -> String {
        name(&self.properties.device_name)
    }

    /// The library's global commands, for instance extensions.
    pub fn entry(&self) -> &ash::Entry {
        &self.library.entry
    }

    /// An instance's command by its name, for extensions that ash does not know.
    pub fn instance_function(&self, name: &CStr) -> vk::PFN_vkVoidFunction {
        // SAFETY: a live instance; the name is terminated.
        unsafe { self.library.entry.get_instance_proc_addr(self.instance.handle(), name.as_ptr()) }
    }

    /// Device extensions by name.
    pub fn extensions(&self) -> Vec<String> {
        // SAFETY: a live physical device.
        let list = unsafe { self.instance.enumerate_device_extension_properties(self.physical) };
        list.unwrap_or_default().iter().map(|e| name(&e.extension_name)).collect()
    }

    /// An error unless the device has an extension.
    pub fn needs(&self, extension: &CStr) -> Result<()> {
        let extension = extension.to_string_lossy();
        match self.extensions().iter().any(|e| *e == extension) {
            true => Ok(()),
            false => Err(Error(format!("{}{extension}", crate::pictures::MISSING))),
        }
    }

    /// A memory type among `bits` that has all of `flags`.
    pub fn memory_type(&self, bits: u32, flags: vk::MemoryPropertyFlags) -> Result<u32> {
        (0..self.memory.memory_type_count)
            .find(|&i| {
                bits & (1 << i) != 0 && self.memory.memory_types[i as usize].property_flags.contains(flags)
            })
            .ok_or_else(|| Error(format!("no memory type with {flags:?} among {bits:#x}")))
    }

    /// The layout of a set of these bindings, and that of a pipeline with this set alone.
    pub fn layouts(
        &self,
        bindings: &[vk::DescriptorSetLayoutBinding],
        flags: vk::DescriptorSetLayoutCreateFlags,
    ) -> Result<(vk::DescriptorSetLayout, vk::PipelineLayout)> {
        self.layouts_of(&vk::DescriptorSetLayoutCreateInfo::default().bindings(bindings).flags(flags))
    }

    /// As [`Context::layouts`], of a layout with a chain.
    pub fn layouts_of(
        &self,
        info: &vk::DescriptorSetLayoutCreateInfo,
    ) -> Result<(vk::DescriptorSetLayout, vk::PipelineLayout)> {
        // SAFETY: structures that outlive the calls.
        unsafe {
            let set = self.device.create_descriptor_set_layout(info, None);
            let sets = [set.map_err(Error::vk("vkCreateDescriptorSetLayout"))?];
            let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&sets);
            let pipeline = self.device.create_pipeline_layout(&info, None);
            Ok((sets[0], pipeline.map_err(Error::vk("vkCreatePipelineLayout"))?))
        }
    }

    /// Records a command buffer with `record`. It can be submitted many times, and is freed with the context's pool.
    pub fn record(&self, record: impl FnOnce(&ash::Device, vk::CommandBuffer)) -> Result<vk::CommandBuffer> {
        // SAFETY: the pool is live and used by this thread alone (the context is not Send).
        unsafe {
            let buffers = self
                .device
                .allocate_command_buffers(
                    &vk::CommandBufferAllocateInfo::default().command_pool(self.pool).command_buffer_count(1),
                )
                .map_err(Error::vk("vkAllocateCommandBuffers"))?;
            let buffer = buffers[0];
            self.device
                .begin_command_buffer(buffer, &vk::CommandBufferBeginInfo::default())
                .map_err(Error::vk("vkBeginCommandBuffer"))?;
            record(&self.device, buffer);
            self.device.end_command_buffer(buffer).map_err(Error::vk("vkEndCommandBuffer"))?;
            Ok(buffer)
        }
    }

    /// Submits `commands` and waits until it has run.
    pub fn submit_and_wait(&self, commands: vk::CommandBuffer) -> Result<()> {
        let buffers = [commands];
        let submit = [vk::SubmitInfo::default().command_buffers(&buffers)];
        let fences = [self.fence];
        // SAFETY: all handles live in this context; the fence is unsignalled between calls.
        unsafe {
            self.device.queue_submit(self.queue, &submit, self.fence).map_err(Error::vk("vkQueueSubmit"))?;
            self.device.wait_for_fences(&fences, true, u64::MAX).map_err(Error::vk("vkWaitForFences"))?;
            self.device.reset_fences(&fences).map_err(Error::vk("vkResetFences"))
        }
    }

    /// Records, submits, waits and frees.
    pub fn run(&self, record: impl FnOnce(&ash::Device, vk::CommandBuffer)) -> Result<()> {
        let commands = self.record(record)?;
        let result = self.submit_and_wait(commands);
        self.free(commands);
        result
    }

    /// Gives a command buffer of [`Context::record`] back.
    pub fn free(&self, commands: vk::CommandBuffer) {
        // SAFETY: it came from this pool and no submission of it is pending (submissions are waited for).
        unsafe { self.device.free_command_buffers(self.pool, &[commands]) }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: buffers and kernels hold an Rc of the context, so nothing made from it is left.
        unsafe {
            let _ = self.device.device_wait_idle();
            self.device.destroy_fence(self.fence, None);
            self.device.destroy_command_pool(self.pool, None);
            self.device.destroy_device(None);
            self.instance.destroy_instance(None);
        }
    }
}
