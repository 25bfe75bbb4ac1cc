//! The device, and words in and out of it.
#![allow(dead_code, reason = "each test uses a part")]

use wgpu::util::DeviceExt;

pub struct Gpu {
    pub device: wgpu::Device,
    pub queue: wgpu::Queue,
}

/// Tuff by wgpu. The test that calls it must be alone in its process: it sets the environment that the loader reads.
pub fn open() -> Gpu {
    open_with(wgpu::Features::empty(), wgpu::Limits::default()).expect("WebGPU's own features")
}

/// The same with these features and limits; `None`: the adapter lacks a feature.
pub fn open_with(features: wgpu::Features, limits: wgpu::Limits) -> Option<Gpu> {
    let icd = client::drivers::tuff_icd();
    // SAFETY: this test is alone in its process, and no other thread runs yet that reads the environment.
    unsafe {
        std::env::set_var("VK_ICD_FILENAMES", &icd);
        std::env::set_var("VK_DRIVER_FILES", &icd);
        std::env::set_var("NODEVICE_SELECT", "1");
        // As `tuff run` does: wgpu hides a driver without a version.
        std::env::set_var("TUFF_CONFORMANCE", "1.4.0.0");
    }
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
    descriptor.backends = wgpu::Backends::VULKAN;
    let instance = wgpu::Instance::new(descriptor);
    let adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::VULKAN));
    let [adapter] = &adapters[..] else { panic!("{} adapters from {}", adapters.len(), icd.display()) };
    let info = adapter.get_info();
    println!("{} ({} {})", info.name, info.driver, info.driver_info);
    assert_eq!(info.device_type, wgpu::DeviceType::Cpu);
    if std::env::var_os("TUFF_ICD").is_none() {
        assert!(info.name.contains("Tuff"), "{}", info.name);
    }
    if !adapter.features().contains(features) {
        return None;
    }
    let wanted = wgpu::DeviceDescriptor {
        required_features: features,
        required_limits: limits,
        // SAFETY: what is experimental has rules of its own, which these tests keep.
        experimental_features: unsafe { wgpu::ExperimentalFeatures::enabled() },
        ..Default::default()
    };
    let (device, queue) =
        pollster::block_on(adapter.request_device(&wanted)).expect("features and limits that it has");
    Some(Gpu { device, queue })
}

impl Gpu {
    /// The compute pipeline of a module's `main`.
    pub fn pipeline(&self, wgsl: &str) -> wgpu::ComputePipeline {
        let module = self.device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: None,
            source: wgpu::ShaderSource::Wgsl(wgsl.into()),
        });
        self.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: None,
            layout: None,
            module: &module,
            entry_point: Some("main"),
            compilation_options: Default::default(),
            cache: None,
        })
    }

    /// What the bindings of the pipeline's group 0 are, in order.
    pub fn bind(
        &self,
        pipeline: &wgpu::ComputePipeline,
        resources: &[wgpu::BindingResource],
    ) -> wgpu::BindGroup {
        let entries: Vec<_> = resources
            .iter()
            .enumerate()
            .map(|(i, r)| wgpu::BindGroupEntry { binding: i as u32, resource: r.clone() })
            .collect();
        self.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &pipeline.get_bind_group_layout(0),
            entries: &entries,
        })
    }

    /// A buffer with these contents, which can be copied out of.
    pub fn buffer(&self, words: &[u32], usage: wgpu::BufferUsages) -> wgpu::Buffer {
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        self.device.create_buffer_init(&wgpu::util::BufferInitDescriptor {
            label: None,
            contents: &bytes,
            usage: usage | wgpu::BufferUsages::COPY_SRC,
        })
    }

    /// Submits what `record` records and then copies `from` out.
    pub fn run(&self, from: &wgpu::Buffer, record: impl FnOnce(&mut wgpu::CommandEncoder)) -> Vec<u32> {
        let read = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: from.size(),
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let mut encoder = self.device.create_command_encoder(&Default::default());
        record(&mut encoder);
        encoder.copy_buffer_to_buffer(from, 0, &read, 0, from.size());
        self.queue.submit([encoder.finish()]);
        read.map_async(wgpu::MapMode::Read, .., |r| r.expect("mapped"));
        self.device.poll(wgpu::PollType::wait_indefinitely()).expect("the device works");
        let bytes = read.get_mapped_range(..).expect("mapped").to_vec();
        bytes.chunks_exact(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect()
    }
}
