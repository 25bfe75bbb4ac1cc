//! Optical flow (VK_ARM_data_graph_optical_flow) for tests and examples.

use crate::data_graph::{Functions, Session};
use crate::graphics::{Image, ImageInfo};
use crate::{Context, Error, Result};
use std::rc::Rc;

/// What is asked for.
pub struct Asked<'a> {
    pub size: [u32; 2],
    /// Pixels of a cell's side: 1, 2, 4 or 8.
    pub grid: u32,
    pub level: vk::DataGraphOpticalFlowPerformanceLevelARM,
    pub format: vk::Format,
    /// Texels of the image whose pixels are looked for, and of that where they are.
    pub images: [&'a [u8]; 2],
    /// Vectors of cells, as halves.
    pub hint: Option<&'a [u8]>,
    /// Dispatches in one session, which remembers the vectors of the one before.
    pub times: u32,
}

/// Vectors of cells, each of two halves, and what is left in each.
pub struct Found {
    pub vectors: Vec<u8>,
    pub costs: Vec<u16>,
}

/// Luma of an image, row by row: random numbers six pixels apart with straight lines between them, moved by so much.
pub fn picture(size: [u32; 2], moved: [i32; 2]) -> impl Iterator<Item = u8> {
    let number = |x: i32, y: i32| {
        let h = (x as u32).wrapping_mul(0x9E37_79B1) ^ (y as u32).wrapping_mul(0x85EB_CA6B);
        ((h ^ h >> 15).wrapping_mul(0x2C1B_3C6D) >> 24) as i32
    };
    (0..size[0] * size[1]).map(move |i| {
        let at = [(i % size[0]) as i32 - moved[0], (i / size[0]) as i32 - moved[1]];
        let [(i, a), (j, b)] = at.map(|c| (c.div_euclid(6), c.rem_euclid(6)));
        let row = |j: i32| (6 - a) * number(i, j) + a * number(i + 1, j);
        (((6 - b) * row(j) + b * row(j + 1)) / 36) as u8
    })
}

const IMAGE: vk::DescriptorType = vk::DescriptorType::STORAGE_IMAGE;

fn image(context: &Rc<Context>, format: vk::Format, size: [u32; 2], texels: &[u8]) -> Result<Image> {
    let info = ImageInfo::texture(format, size).stored();
    let usage = info.usage | vk::ImageUsageFlags::TRANSFER_SRC;
    Image::with_texels(context, ImageInfo { usage, ..info }, texels)
}

/// Computes vectors and costs.
pub fn run(context: &Rc<Context>, f: &Functions, asked: &Asked) -> Result<Found> {
    use vk::DataGraphPipelineNodeConnectionTypeARM as Connection;
    let cells = asked.size.map(|n| n.div_ceil(asked.grid));
    let count = (cells[0] * cells[1]) as usize;
    let still = vec![0; 4 * count];
    let (vectors, costs) = (vk::Format::R16G16_SFLOAT, vk::Format::R16_UINT);
    let mut images = vec![
        (Connection::OPTICAL_FLOW_INPUT, image(context, asked.format, asked.size, asked.images[0])?),
        (Connection::OPTICAL_FLOW_REFERENCE, image(context, asked.format, asked.size, asked.images[1])?),
        (Connection::OPTICAL_FLOW_FLOW_VECTOR, image(context, vectors, cells, &still)?),
        (Connection::OPTICAL_FLOW_COST, image(context, costs, cells, &still[..2 * count])?),
    ];
    if let Some(hint) = asked.hint {
        images.push((Connection::OPTICAL_FLOW_HINT, image(context, vectors, cells, hint)?));
    }
    // SAFETY: structures outlive the calls; nothing is destroyed before the device is idle. On an error what was made before is left to the
    // device's end.
    unsafe { computed(context, f, asked, &images)? };
    let color = vk::ImageAspectFlags::COLOR;
    let left = images[3].1.read(color, 2)?;
    let costs = left.as_chunks::<2>().0.iter().map(|b| u16::from_le_bytes(*b)).collect();
    Ok(Found { vectors: images[2].1.read(color, 4)?, costs })
}

/// # Safety
/// The images are those that `asked` says, alive until the device is idle.
unsafe fn computed(
    context: &Rc<Context>,
    f: &Functions,
    asked: &Asked,
    images: &[(vk::DataGraphPipelineNodeConnectionTypeARM, Image)],
) -> Result<()> {
    use vk::DataGraphOpticalFlowCreateFlagsARM as Flags;
    let device = &context.device;
    let count = images.len() as u32;
    let bindings: Vec<_> = (0..count)
        .map(|b| {
            let b = vk::DescriptorSetLayoutBinding::default().binding(b).descriptor_type(IMAGE);
            b.descriptor_count(1).stage_flags(vk::ShaderStageFlags::ALL)
        })
        .collect();
    let layouts: Vec<_> = (0..count)
        .map(|_| vk::DataGraphPipelineResourceInfoImageLayoutARM {
            layout: vk::ImageLayout::GENERAL,
            ..Default::default()
        })
        .collect();
    let resource = |(binding, l): (u32, &vk::DataGraphPipelineResourceInfoImageLayoutARM)| {
        vk::DataGraphPipelineResourceInfoARM { p_next: (&raw const *l).cast(), binding, ..Default::default() }
    };
    let resources: Vec<_> = (0..).zip(&layouts).map(resource).collect();
    let connections: Vec<_> = (0..)
        .zip(images)
        .map(|(binding, (connection, _))| vk::DataGraphPipelineSingleNodeConnectionARM {
            binding,
            connection: *connection,
            ..Default::default()
        })
        .collect();
    let grid = vk::DataGraphOpticalFlowGridSizeFlagsARM::from_raw(asked.grid);
    let hinted = asked.hint.is_some();
    let flags = Flags::ENABLE_COST.as_raw() | if hinted { Flags::ENABLE_HINT.as_raw() } else { 0 };
    let of_flow = vk::DataGraphPipelineOpticalFlowCreateInfoARM {
        width: asked.size[0],
        height: asked.size[1],
        image_format: asked.format,
        flow_vector_format: vk::Format::R16G16_SFLOAT,
        cost_format: vk::Format::R16_UINT,
        output_grid_size: grid,
        hint_grid_size: if hinted { grid } else { Default::default() },
        performance_level: asked.level,
        flags: Flags::from_raw(flags),
        ..Default::default()
    };
    let node = vk::DataGraphPipelineSingleNodeCreateInfoARM {
        p_next: (&raw const of_flow).cast_mut().cast(),
        node_type: vk::DataGraphPipelineNodeTypeARM::OPTICAL_FLOW,
        connection_count: count,
        p_connections: connections.as_ptr(),
        ..Default::default()
    };
    // SAFETY: as the caller says.
    unsafe {
        let (set_layout, layout) = context.layouts(&bindings, Default::default())?;
        let set_layouts = [set_layout];
        let info = vk::DataGraphPipelineCreateInfoARM {
            p_next: (&raw const node).cast(),
            layout,
            resource_info_count: count,
            p_resource_infos: resources.as_ptr(),
            ..Default::default()
        };
        let mut pipeline = vk::Pipeline::null();
        let (operation, cache) = (vk::DeferredOperationKHR::null(), vk::PipelineCache::null());
        let made = (f.create)(device.handle(), operation, cache, 1, &info, std::ptr::null(), &mut pipeline);
        made.result().map_err(Error::vk("vkCreateDataGraphPipelinesARM"))?;
        let cached = vk::DataGraphPipelineSessionCreateFlagsARM::OPTICAL_FLOW_CACHE;
        let session = Session::new(context, f, pipeline, None, cached)?;
        let sizes = [vk::DescriptorPoolSize { ty: IMAGE, descriptor_count: count }];
        let info = vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&sizes);
        let pool = device.create_descriptor_pool(&info, None).map_err(Error::vk("vkCreateDescriptorPool"))?;
        let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&set_layouts);
        let set = device.allocate_descriptor_sets(&info).map_err(Error::vk("vkAllocateDescriptorSets"))?[0];
        for (binding, (_, image)) in (0..).zip(images) {
            let info = [vk::DescriptorImageInfo {
                image_view: image.view,
                image_layout: vk::ImageLayout::GENERAL,
                ..Default::default()
            }];
            let write = vk::WriteDescriptorSet::default().dst_set(set).dst_binding(binding);
            device.update_descriptor_sets(&[write.descriptor_type(IMAGE).image_info(&info)], &[]);
        }
        let point = vk::PIPELINE_BIND_POINT_DATA_GRAPH_ARM;
        for _ in 0..asked.times {
            context.run(|d, c| {
                d.cmd_bind_pipeline(c, point, pipeline);
                d.cmd_bind_descriptor_sets(c, point, layout, 0, &[set], &[]);
                (f.dispatch)(c, session.handle, std::ptr::null());
            })?;
        }
        session.destroy(context, f);
        device.destroy_descriptor_pool(pool, None);
        device.destroy_pipeline(pipeline, None);
        device.destroy_pipeline_layout(layout, None);
        device.destroy_descriptor_set_layout(set_layout, None);
    }
    Ok(())
}
