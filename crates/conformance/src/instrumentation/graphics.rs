//! Counts of draws, worked out from geometry and shaders.

use super::rig::{DIVERGED, LINES, SIDE, TEXTURE, THREADS, VARYING, WARPS, digest, of};
use super::{Check, Found, Rig, Row, check_list, holds, same, text};
use client::graphics::{Attachment, Bindings, Image, ImageInfo, Load, Pass, Resource, Sampler, over};
use vk::ShaderStageFlags as Stage;

pub fn checks() -> Vec<Check> {
    check_list![
        one_triangle,
        triangle_pair,
        early_depth,
        fragment_loops_and_discard = loops,
        texture_fetch = fetch,
        trilinear_sample = trilinear,
        varyings,
        multiview_is_summed = multiview,
        indirect_draws = indirect,
        multi_draws = multi,
        instances,
        helpers_are_no_threads = helpers
    ]
}

const LOOPS: &[u8] = include_bytes!("../../shaders/instrumentation/loops.frag.spv");
const FETCH: &[u8] = include_bytes!("../../shaders/instrumentation/fetch.frag.spv");
const TRILINEAR: &[u8] = include_bytes!("../../shaders/instrumentation/trilinear.frag.spv");
const VARYING_VERT: &[u8] = include_bytes!("../../shaders/instrumentation/varying.vert.spv");
const VARYING_FRAG: &[u8] = include_bytes!("../../shaders/instrumentation/varying.frag.spv");
const HELPERS: &[u8] = include_bytes!("../../shaders/instrumentation/helpers.frag.spv");
/// Of `plain.frag`.
pub const PLAIN_LINE: u32 = 5;
/// Vertices of the pair of triangles: how many, and the first.
pub const PAIR: (u32, u32) = (6, 3);
/// Pixels of a target, and its blocks of 4 × 4.
const PIXELS: u64 = SIDE as u64 * SIDE as u64;
const BLOCKS: u64 = PIXELS / 16;

/// `fill.vert`'s push constants.
pub fn push(depth: f32, right: f32) -> Vec<u8> {
    [depth, right].iter().flat_map(|f| f.to_le_bytes()).collect()
}

/// Draws into a new target with the object active: the rows.
fn draw(
    rig: &Rig,
    pipeline: &client::graphics::Pipeline,
    bindings: Option<&Bindings>,
    record: impl FnOnce(&ash::Device, vk::CommandBuffer),
) -> Result<Vec<Row>, String> {
    let target = rig.target()?;
    let object = rig.object()?;
    rig.run(|_, c| {
        rig.pass(&target, c, |d, c| {
            pipeline.bind(c, bindings, &push(0.5, 1.0));
            object.around(c, || record(d, c));
        });
    })?;
    object.rows()
}

/// Warps, threads and diverged warps of a fragment shader's block with this line.
fn runs(rig: &Rig, rows: &[Row], pipeline: vk::Pipeline, line: u32) -> Result<[u64; 3], String> {
    let r = of(rows, 0, Stage::FRAGMENT, rig.table(pipeline, 1)?.line(line)?)?;
    Ok([r[WARPS], r[THREADS], r[DIVERGED]])
}

/// A triangle larger than the target: three vertices in a warp; every block of 4 × 4 pixels a full warp.
fn one_triangle(rig: &Rig) -> Found {
    let p = rig.pipeline(|_| ())?;
    // SAFETY (all draws here): recording with everything bound.
    let rows = draw(rig, &p, None, |d, c| unsafe { d.cmd_draw(c, 3, 1, 0, 0) })?;
    let v = of(&rows, 0, Stage::VERTEX, 0)?;
    same(
        "warps, threads, diverged warps of the vertex shader",
        [v[WARPS], v[THREADS], v[DIVERGED]],
        [1, 3, 0],
    )?;
    same("of the fragment shader", runs(rig, &rows, p.handle, PLAIN_LINE)?, [BLOCKS, PIXELS, 0])?;
    Ok(digest(&rows))
}

/// Two triangles that share a diagonal: each pixel once, the helpers along the diagonal not counted as threads. The 16
/// blocks on the diagonal have quads of both triangles, so there are up to 16 warps more.
fn triangle_pair(rig: &Rig) -> Found {
    let p = rig.pipeline(|_| ())?;
    let rows = draw(rig, &p, None, |d, c| unsafe { d.cmd_draw(c, PAIR.0, 1, PAIR.1, 0) })?;
    let v = of(&rows, 0, Stage::VERTEX, 0)?;
    same("warps, threads of the vertex shader", [v[WARPS], v[THREADS]], [1, 6])?;
    let [warps, threads, _] = runs(rig, &rows, p.handle, PLAIN_LINE)?;
    same("fragments", threads, PIXELS)?;
    holds(&format!("{warps} warps"), (BLOCKS..=BLOCKS + 16).contains(&warps))?;
    Ok(digest(&rows))
}

/// What is nearer covers the left half: early tests kill exactly half of what is drawn behind it.
fn early_depth(rig: &Rig) -> Found {
    let change = |i: &mut client::graphics::PipelineInfo| {
        i.depth_format = vk::Format::D32_SFLOAT;
        i.depth = Some((vk::CompareOp::LESS, true));
    };
    let p = rig.pipeline(change)?;
    let target = rig.target()?;
    let depth = rig.image(ImageInfo::depth(vk::Format::D32_SFLOAT, [SIDE; 2]))?;
    let object = rig.object()?;
    let pass = Pass {
        colours: vec![Attachment::new(&target, Load::colour([0.0; 4]))],
        depth: Some(Attachment::new(&depth, Load::depth(1.0, 0))),
        size: [SIDE; 2],
        ..Default::default()
    };
    rig.run(|d, c| {
        pass.record(d, c, |d, c| {
            object.around(c, || unsafe {
                p.bind(c, None, &push(0.25, 0.0));
                d.cmd_draw(c, PAIR.0, 1, PAIR.1, 0);
                p.bind(c, None, &push(0.5, 1.0));
                d.cmd_draw(c, 3, 1, 0, 0);
                // As far as what is there: nothing passes.
                d.cmd_draw(c, 3, 1, 0, 0);
            });
        });
    })?;
    let rows = object.rows()?;
    let block = rig.table(p.handle, 1)?.line(PLAIN_LINE)?;
    let near = of(&rows, 0, Stage::FRAGMENT, block)?;
    same("fragments of the nearer half", near[THREADS], PIXELS / 2)?;
    let far = of(&rows, 1, Stage::FRAGMENT, block)?;
    let got = [far[WARPS], far[THREADS], far[DIVERGED]];
    same("warps, threads, diverged warps behind it", got, [BLOCKS / 2, PIXELS / 2, 0])?;
    // A stage that never ran has no rows, or rows of zeros.
    for r in rows.iter().filter(|r| r.result == 2 && r.stages == Stage::FRAGMENT) {
        same("values of a draw that is hidden", r.values.clone(), vec![0; rig.metrics])?;
    }
    Ok(digest(&rows))
}

/// `loops.frag`: a block of 4 × 4 pixels has columns with 0, 1, 2 and 3 trips.
fn loops(rig: &Rig) -> Found {
    let p = rig.pipeline_with(LOOPS, None, |_| ())?;
    let rows = draw(rig, &p, None, |d, c| unsafe { d.cmd_draw(c, 3, 1, 0, 0) })?;
    let table = rig.table(p.handle, 1)?;
    let r = of(&rows, 0, Stage::FRAGMENT, table.loop_header()?)?;
    let got = [r[WARPS], r[THREADS], r[DIVERGED]];
    // Arrivals of 16, 12, 8 and 4 lanes.
    same("the loop's header", got, [BLOCKS * 4, BLOCKS * 40, BLOCKS * 3])?;
    same("the loop's body", runs(rig, &rows, p.handle, 9)?, [BLOCKS * 3, BLOCKS * 24, BLOCKS * 3])?;
    // 16 of 64 rows are discarded.
    same("what is discarded", runs(rig, &rows, p.handle, 11)?, [BLOCKS / 4, PIXELS / 4, 0])?;
    let rest = runs(rig, &rows, p.handle, 12)?;
    same("what is left", rest, [BLOCKS / 4 * 3, PIXELS / 4 * 3, 0])?;
    Ok(digest(&rows))
}

/// `fetch.frag`: the upper half fetches a texel each. The unit filters eight texels a cycle. Images lie row by row on
/// Tuff, four bytes a texel, 64 texels a row: a block of 4 × 4 touches a line in each of its four rows.
fn fetch(rig: &Rig) -> Found {
    let info = ImageInfo::texture(vk::Format::R8G8B8A8_UNORM, [SIDE; 2]);
    let texels = vec![0x40; PIXELS as usize * 4];
    let image = Image::with_texels(&rig.context, info, &texels).map_err(text)?;
    let sampler = Sampler::linear(&rig.context).map_err(text)?;
    let bindings = Bindings::new(&rig.context, &[Resource::Texture(&image, &sampler)]).map_err(text)?;
    let p = rig.pipeline_with(FETCH, Some(&bindings), |_| ())?;
    let rows = draw(rig, &p, Some(&bindings), |d, c| unsafe { d.cmd_draw(c, 3, 1, 0, 0) })?;
    let table = rig.table(p.handle, 1)?;
    let r = of(&rows, 0, Stage::FRAGMENT, table.line(8)?)?;
    let got = [r[WARPS], r[THREADS], r[TEXTURE], r[LINES]];
    let want = [BLOCKS / 2, PIXELS / 2, PIXELS / 2 / 8, BLOCKS / 2 * 4];
    same("warps, threads, texture cycles, cache lines", got, want)?;
    let other = of(&rows, 0, Stage::FRAGMENT, table.line(10)?)?;
    let got = [other[WARPS], other[THREADS], other[TEXTURE], other[LINES]];
    same("of the lower half", got, [BLOCKS / 2, PIXELS / 2, 0, 0])?;
    Ok(digest(&rows))
}

/// `trilinear.frag`: a sample a pixel at the centre of a texel of level 0, between levels 0 and 1, clamped. Two bilinear
/// operations each, eight a cycle.
/// Level 0: a block of 4 × 4 pixels touches five columns (those at the right edge four) and five rows (at the lower
/// edge four), sixteen texels a line: 13 blocks of a row touch one line in each of their rows, 3 touch two; 15 blocks of a
/// column have five rows, one four: (13 + 6) · (75 + 4) = 1501. Level 1, 32 texels a row: columns from 2b − 1 to 2b + 2;
/// blocks 7 and 8 touch both lines; three rows at both edges, four elsewhere: (14 + 4) · (56 + 6) = 1116.
fn trilinear(rig: &Rig) -> Found {
    let info = ImageInfo { mips: 2, ..ImageInfo::texture(vk::Format::R8G8B8A8_UNORM, [SIDE; 2]) };
    let texels = vec![0x40; (64 * 64 + 32 * 32) * 4];
    let image = Image::with_texels(&rig.context, info, &texels).map_err(text)?;
    let edge = vk::SamplerAddressMode::CLAMP_TO_EDGE;
    let sampler = vk::SamplerCreateInfo::default()
        .mag_filter(vk::Filter::LINEAR)
        .min_filter(vk::Filter::LINEAR)
        .mipmap_mode(vk::SamplerMipmapMode::LINEAR)
        .address_mode_u(edge)
        .address_mode_v(edge)
        .max_lod(vk::LOD_CLAMP_NONE);
    let sampler = Sampler::new(&rig.context, &sampler).map_err(text)?;
    let bindings = Bindings::new(&rig.context, &[Resource::Texture(&image, &sampler)]).map_err(text)?;
    let p = rig.pipeline_with(TRILINEAR, Some(&bindings), |_| ())?;
    let rows = draw(rig, &p, Some(&bindings), |d, c| unsafe { d.cmd_draw(c, 3, 1, 0, 0) })?;
    let r = of(&rows, 0, Stage::FRAGMENT, rig.table(p.handle, 1)?.line(7)?)?;
    let got = [r[WARPS], r[THREADS], r[TEXTURE], r[LINES]];
    let want = [BLOCKS, PIXELS, PIXELS * 2 / 8, 1501 + 1116];
    same("warps, threads, texture cycles, cache lines", got, want)?;
    Ok(digest(&rows))
}

/// `varying.frag`: a cycle a component and warp, where the input is loaded.
fn varyings(rig: &Rig) -> Found {
    let mut info =
        client::graphics::PipelineInfo::new(VARYING_VERT, VARYING_FRAG, vk::Format::R8G8B8A8_UNORM);
    info.push_size = 8;
    info.flags2 = super::rig::INSTRUMENT;
    let p = client::graphics::Pipeline::new(&rig.context, &info, None).map_err(text)?;
    let rows = draw(rig, &p, None, |d, c| unsafe { d.cmd_draw(c, 3, 1, 0, 0) })?;
    let table = rig.table(p.handle, 1)?;
    for (line, components) in [(10, 4), (12, 2)] {
        let r = of(&rows, 0, Stage::FRAGMENT, table.line(line)?)?;
        let got = [r[WARPS], r[VARYING]];
        same(&format!("warps, varying cycles of line {line}"), got, [BLOCKS / 2, BLOCKS / 2 * components])?;
    }
    let all: u64 = rows.iter().map(|r| r.values[VARYING]).sum();
    same("varying cycles of all blocks", all, BLOCKS / 2 * 6)?;
    Ok(digest(&rows))
}

/// Derivatives need whole quads along the diagonal of the pair; what is added to them counts for nothing.
fn helpers(rig: &Rig) -> Found {
    let p = rig.pipeline_with(HELPERS, None, |_| ())?;
    let rows = draw(rig, &p, None, |d, c| unsafe { d.cmd_draw(c, PAIR.0, 1, PAIR.1, 0) })?;
    let [warps, threads, _] = runs(rig, &rows, p.handle, 5)?;
    same("fragments", threads, PIXELS)?;
    holds(&format!("{warps} warps"), (BLOCKS..=BLOCKS + 16).contains(&warps))?;
    Ok(digest(&rows))
}

fn multiview(rig: &Rig) -> Found {
    let p = rig.pipeline(|i| i.view_mask = 0b11)?;
    let target =
        rig.image(ImageInfo { layers: 2, ..ImageInfo::colour(vk::Format::R8G8B8A8_UNORM, [SIDE; 2]) })?;
    let object = rig.object()?;
    let colours = vec![Attachment::new(&target, Load::colour([0.0; 4]))];
    let pass = Pass { colours, size: [SIDE; 2], view_mask: 0b11, ..Default::default() };
    rig.run(|d, c| {
        pass.record(d, c, |d, c| {
            p.bind(c, None, &push(0.5, 1.0));
            object.around(c, || unsafe { d.cmd_draw(c, 3, 1, 0, 0) });
        });
    })?;
    let rows = object.rows()?;
    holds("views are told apart", rows.iter().all(|r| (r.result, r.sub) == (0, 0)))?;
    same("of both views", runs(rig, &rows, p.handle, PLAIN_LINE)?, [2 * BLOCKS, 2 * PIXELS, 0])?;
    Ok(digest(&rows))
}

/// That a command of several draws has one resultIndex, and in all `draws` times a triangle's cost. Sub-indices, if
/// there are any, tell single draws apart.
fn several(rig: &Rig, rows: &[Row], p: vk::Pipeline, draws: u64) -> Result<(), String> {
    holds("more than one resultIndex", rows.iter().all(|r| r.result == 0))?;
    same("of all draws", runs(rig, rows, p, PLAIN_LINE)?, [draws * BLOCKS, draws * PIXELS, 0])?;
    let v = of(rows, 0, Stage::VERTEX, 0)?;
    same("vertices of all draws", v[THREADS], draws * 3)?;
    let last = rows.iter().map(|r| u64::from(r.sub)).max().unwrap_or(0);
    holds(&format!("resultSubIndex {last}"), last == 0 || last == draws - 1)?;
    if last > 0 {
        for r in rows.iter().filter(|r| r.stages == Stage::FRAGMENT && r.block == 0) {
            same("fragments of one draw", r.values[THREADS], PIXELS)?;
        }
    }
    Ok(())
}

fn indirect(rig: &Rig) -> Found {
    let p = rig.pipeline(|i| i.blend = over())?;
    let commands = rig.buffer(&[3, 1, 0, 0].repeat(3))?;
    let rows = draw(rig, &p, None, |d, c| unsafe { d.cmd_draw_indirect(c, commands.handle, 0, 3, 16) })?;
    several(rig, &rows, p.handle, 3)?;
    // A count in a buffer says two.
    let count = rig.buffer(&[2])?;
    let counted = draw(rig, &p, None, |d, c| unsafe {
        d.cmd_draw_indirect_count(c, commands.handle, 0, count.handle, 0, 3, 16);
    })?;
    several(rig, &counted, p.handle, 2)?;
    Ok([digest(&rows), digest(&counted)].concat())
}

fn multi(rig: &Rig) -> Found {
    let p = rig.pipeline(|i| i.blend = over())?;
    let draws = [vk::MultiDrawInfoEXT { first_vertex: 0, vertex_count: 3 }; 4];
    let rows = draw(rig, &p, None, |_, c| unsafe {
        (rig.multi_draw.fp().cmd_draw_multi_ext)(c, 4, draws.as_ptr(), 1, 0, 8);
    })?;
    several(rig, &rows, p.handle, 4)?;
    Ok(digest(&rows))
}

/// Instances are one draw.
fn instances(rig: &Rig) -> Found {
    let p = rig.pipeline(|i| i.blend = over())?;
    let rows = draw(rig, &p, None, |d, c| unsafe { d.cmd_draw(c, 3, 5, 0, 0) })?;
    holds("instances are told apart", rows.iter().all(|r| (r.result, r.sub) == (0, 0)))?;
    same("of five instances", runs(rig, &rows, p.handle, PLAIN_LINE)?, [5 * BLOCKS, 5 * PIXELS, 0])?;
    same("their vertices", of(&rows, 0, Stage::VERTEX, 0)?[THREADS], 15)?;
    Ok(digest(&rows))
}
