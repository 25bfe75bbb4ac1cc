//! What texturing asks of memory, by VK_KHR_performance_query through the loader: a pass of many tiles, of which few are followed
//! through caches.

use crate::gpu::Viewed;
use crate::knobs::bench::graphics;
use crate::model::Counted;
use ash::vk;
use vk::ShaderStageFlags as Stage;

const WIDTH: u32 = 1920;
const HEIGHT: u32 = 1080;
const READ: [&str; 1] = ["Output external read bytes"];
/// Of the image that is sampled.
const BYTES: f64 = 256.0 * 256.0 * 4.0;
/// A descriptor of 32 bytes, which a draw reads once.
const NAMED: f64 = 64.0;

/// Passes over a large target, whose draws sample one image.
struct Scene {
    m: Counted,
    target: Viewed,
    image: Viewed,
    sampler: vk::Sampler,
    modules: [vk::ShaderModule; 2],
    set: vk::DescriptorSetLayout,
    layout: vk::PipelineLayout,
    pipeline: vk::Pipeline,
}

// SAFETY (all blocks): handles are alive, structures outlive the calls.
impl Scene {
    fn new() -> Scene {
        let m = Counted::new();
        let d = &m.g.device;
        let target = m.g.image([WIDTH, HEIGHT], vk::ImageUsageFlags::COLOR_ATTACHMENT);
        let image = m.g.image([256; 2], vk::ImageUsageFlags::SAMPLED);
        let bytes =
            [&include_bytes!("shaders/heavy.vert.spv")[..], &include_bytes!("shaders/repeated.frag.spv")[..]];
        unsafe {
            let sampler = d.create_sampler(&vk::SamplerCreateInfo::default(), None).unwrap();
            let modules = bytes.map(|b| {
                let code = shader::words(b);
                d.create_shader_module(&vk::ShaderModuleCreateInfo::default().code(&code), None).unwrap()
            });
            let binding = [vk::DescriptorSetLayoutBinding::default()
                .descriptor_type(vk::DescriptorType::COMBINED_IMAGE_SAMPLER)
                .descriptor_count(1)
                .stage_flags(Stage::FRAGMENT)];
            let info = vk::DescriptorSetLayoutCreateInfo::default()
                .flags(vk::DescriptorSetLayoutCreateFlags::PUSH_DESCRIPTOR_KHR)
                .bindings(&binding);
            let set = d.create_descriptor_set_layout(&info, None).unwrap();
            let sets = [set];
            let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&sets);
            let layout = d.create_pipeline_layout(&info, None).unwrap();
            let pipeline = graphics(d, layout, modules, [WIDTH, HEIGHT], 0);
            Scene { m, target, image, sampler, modules, set, layout, pipeline }
        }
    }

    /// What a pass reads from memory that draws in so much of the target, a draw for each part.
    fn read(&self, parts: &[vk::Rect2D]) -> f64 {
        let pushed = ash::khr::push_descriptor::Device::new(&self.m.g.instance, &self.m.g.device);
        let images = [vk::DescriptorImageInfo {
            sampler: self.sampler,
            image_view: self.image.view,
            image_layout: vk::ImageLayout::GENERAL,
        }];
        let write = [vk::WriteDescriptorSet::default()
            .descriptor_type(vk::DescriptorType::COMBINED_IMAGE_SAMPLER)
            .image_info(&images)];
        let colour = [vk::RenderingAttachmentInfo::default()
            .image_view(self.target.view)
            .image_layout(vk::ImageLayout::GENERAL)
            .load_op(vk::AttachmentLoadOp::CLEAR)
            .store_op(vk::AttachmentStoreOp::STORE)];
        let info = vk::RenderingInfo::default()
            .render_area(rect([0, 0], [WIDTH, HEIGHT]))
            .layer_count(1)
            .color_attachments(&colour);
        let point = vk::PipelineBindPoint::GRAPHICS;
        self.m.count(READ, |d, c| unsafe {
            d.cmd_begin_rendering(c, &info);
            d.cmd_bind_pipeline(c, point, self.pipeline);
            pushed.cmd_push_descriptor_set(c, point, self.layout, 0, &write);
            for part in parts {
                d.cmd_set_scissor(c, 0, &[*part]);
                d.cmd_draw(c, 3, 1, 0, 0);
            }
            d.cmd_end_rendering(c);
        })[0]
    }

    fn free(self) {
        let d = &self.m.g.device;
        unsafe {
            d.destroy_pipeline(self.pipeline, None);
            d.destroy_pipeline_layout(self.layout, None);
            d.destroy_descriptor_set_layout(self.set, None);
            self.modules.into_iter().for_each(|m| d.destroy_shader_module(m, None));
            d.destroy_sampler(self.sampler, None);
        }
        self.m.g.free_image(self.image);
        self.m.g.free_image(self.target);
        self.m.free();
    }
}

fn rect([x, y]: [i32; 2], [width, height]: [u32; 2]) -> vk::Rect2D {
    vk::Rect2D { offset: vk::Offset2D { x, y }, extent: vk::Extent2D { width, height } }
}

/// An image of 256 KiB that is repeated over 1920 × 1080 pixels is read once, by one draw or by two, for the L2 has room for it. A
/// draw of one region reads what that shows of it, though nobody may have followed it.
#[test]
fn an_image_that_repeats_is_read_once() {
    let s = Scene::new();
    let near = |read: f64| (0.99 * BYTES..=1.01 * BYTES).contains(&read);
    let read = s.read(&[rect([0, 0], [WIDTH, HEIGHT])]) - NAMED;
    assert!(near(read), "{read}");
    let halves = [rect([0, 0], [WIDTH / 2, HEIGHT]), rect([WIDTH as i32 / 2, 0], [WIDTH / 2, HEIGHT])];
    let read = s.read(&halves) - 2.0 * NAMED;
    assert!(near(read), "{read}");
    // 64 × 64 texels, 256 lines, in a region of its own.
    let whole_and_one = [rect([0, 0], [WIDTH, HEIGHT]), rect([64, 64], [64, 64])];
    let more = s.read(&whole_and_one) - 2.0 * NAMED;
    assert!(near(more), "{more}");
    s.free();
}
