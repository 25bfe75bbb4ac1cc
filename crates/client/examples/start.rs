//! What a process pays for a device and a first picture: milliseconds, memory and threads, of the driver that `VK_ICD_FILENAMES` names.
//! (Linux: `/proc/self`.)

use client::graphics::{
    Attachment, Bindings, Image, ImageInfo, Load, Pass, Pipeline, PipelineInfo, Resource, barrier,
};
use client::measure::status;
use client::{Buffer, Context, Result};
use std::time::Instant;

const SIDE: u32 = 256;

struct Row {
    what: &'static str,
    ms: f64,
    /// KiB of the process's own, and of files (libraries), that are in memory.
    own: u64,
    files: u64,
    threads: u64,
}

fn row(what: &'static str, since: Instant) -> Result<Row> {
    let ms = since.elapsed().as_secs_f64() * 1e3;
    let [own, files] = [status("RssAnon")? / 1024, status("RssFile")? / 1024];
    Ok(Row { what, ms, own, files, threads: status("Threads")? })
}

/// A rectangle in one colour over all of an image, copied back.
fn picture(context: &std::rc::Rc<Context>) -> Result<()> {
    let target = Image::new(context, ImageInfo::colour(vk::Format::R8G8B8A8_UNORM, [SIDE; 2]))?;
    let colour: Vec<u8> = [0f32, 1.0, 0.0, 1.0].iter().flat_map(|c| c.to_le_bytes()).collect();
    let buffer = Buffer::with(context, &colour)?;
    let bindings = Bindings::new(context, &[Resource::Uniform(&buffer)])?;
    let (vertex, fragment) = (
        &include_bytes!("../../../benches/launch/rect.vert.spv")[..],
        &include_bytes!("../../../benches/launch/set.frag.spv")[..],
    );
    let mut info = PipelineInfo::new(vertex, fragment, vk::Format::R8G8B8A8_UNORM);
    info.push_size = 16;
    let pipeline = Pipeline::new(context, &info, Some(&bindings))?;
    let pass = Pass {
        colours: vec![Attachment::new(&target, Load::colour([0.0; 4]))],
        size: [SIDE; 2],
        ..Pass::default()
    };
    context.run(|device, commands| {
        pass.record(device, commands, |device, commands| {
            let corners: Vec<u8> = [-1f32, -1.0, 1.0, 1.0].iter().flat_map(|c| c.to_le_bytes()).collect();
            pipeline.bind(commands, Some(&bindings), &corners);
            // SAFETY: recording; the pipeline reads no vertex buffer.
            unsafe { device.cmd_draw(commands, 6, 1, 0, 0) };
        });
        barrier(device, commands);
    })?;
    let pixels = target.read(vk::ImageAspectFlags::COLOR, 4)?;
    assert!(pixels.chunks(4).all(|p| p == [0, 255, 0, 255]), "the picture is green");
    Ok(())
}

fn main() -> Result<()> {
    let begin = Instant::now();
    let mut rows = vec![row("process", begin)?];
    let context = Context::open()?;
    rows.push(row("instance and device", begin)?);
    picture(&context)?;
    rows.push(row("first picture", begin)?);
    let again = Instant::now();
    picture(&context)?;
    rows.push(row("another picture", again)?);
    println!("{}", context.device_name());
    println!("{:20} {:>8} {:>10} {:>12} {:>8}", "", "ms", "own KiB", "libraries", "threads");
    for r in rows {
        println!("{:20} {:>8.2} {:>10} {:>12} {:>8}", r.what, r.ms, r.own, r.files, r.threads);
    }
    Ok(())
}
