//! What follows from a draw's pipeline, state and attachments: when its fragments are tested, and which paths its tiles may take.

/// Samples a pixel.
use super::coarse::Coarse;
use super::events::Interpolated;
use super::fill::{Fill, at_centers, of_planes};
use crate::geometry;
use crate::geometry::within::Within;
use crate::layout::{WARPS, sample_locations};
use crate::pass::Subpass;
use crate::state::{GraphicsPipeline, State};
use crate::tile::blend::Writer;
use crate::tile::cover::MAX_SAMPLES;
use crate::tile::memory::target::Targets;
use crate::tile::test::depth::Tests;
use machine::debugger;
use rustc_hash::FxHashMap;
use shader::interface::{DepthMode, FRAG_DEPTH, Interface, SAMPLE_MASK, SECOND_SOURCE, STENCIL_REF};
use std::sync::Arc;

pub const FOUR: usize = 4;

/// When a fragment's depth and stencil are tested.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum When {
    /// Nothing to test.
    Never,
    /// Before shading, with updates.
    Early,
    /// Before shading without updates, to save work, and again after it.
    Both,
    Late,
}

/// What follows from state, program and attachments.
pub struct Plan {
    pub pipeline: Arc<GraphicsPipeline>,
    pub state: Arc<State>,
    pub tests: Tests,
    pub when: When,
    pub depth: Option<u32>,
    pub stencil: Option<u32>,
    pub colors: Vec<Color>,
    /// The fragment program runs: it exists and has a visible effect.
    pub shades: bool,
    pub fills: Vec<Fill>,
    /// Counters are observed, so everything that is counted for them is counted.
    pub observed: bool,
    /// How large the modelled GPU's tiles are.
    pub within: Within,
    pub interpolated: Interpolated,
    /// Planes of a primitive.
    pub varyings: usize,
    /// Sub-pixels by which conservative rasterization has moved edges outward, along x and y each.
    pub grown: i64,
    /// Warps of a fragment wave.
    pub warps: usize,
    pub samples: usize,
    /// Where the samples are, in 1/16 pixels.
    pub places: [[u8; 2]; MAX_SAMPLES],
    pub sample_mask: u32,
    pub per_sample: bool,
    pub needs_quads: bool,
    /// A wave may hold no quad twice: fragments read the tile, or have critical sections.
    pub exclusive: bool,
    /// Fragments may have several pixels.
    pub coarse: Option<Box<Coarse>>,
    /// Samples of one pixel may not be shaded at once either.
    pub pixel_interlock: bool,
    /// Hierarchical Z may reject blocks, and must be kept.
    pub hiz: bool,
    /// One sample, which depth alone is tested for, before shading ([`crate::tile::draw::tested`]).
    pub depth_alone: bool,
    /// Four samples, which depth alone is tested for, before shading ([`crate::tile::draw::four`]).
    pub four: bool,
    /// One sample or four, of which small triangles are tested together ([`crate::tile::draw::small_tested`]).
    pub small: bool,
    /// One sample, nothing to test or count before shading.
    pub simple: bool,
    /// What is drawn replaces pixels whatever was there, and shading has no other effect: the last primitive may come
    /// first, and each pixel be shaded once.
    pub last_first: bool,
    /// Coverage changes after shading: sample mask, alpha to coverage, late tests.
    pub late: bool,
    /// Alpha is not what the shader gives: alpha to one, smooth lines.
    pub alters_alpha: bool,
    /// Samples are counted before shading (early fragment tests).
    pub counts_early: bool,
    /// Indices into the program's outputs.
    pub frag_depth: Option<usize>,
    pub stencil_ref: Option<usize>,
    pub mask_out: Option<usize>,
    /// The program reads which samples were covered before the early tests: their masks follow those that the tests
    /// left (§ PostDepthCoverage).
    pub before_tests: bool,
    /// The output that alpha to coverage reads.
    pub coverage_alpha: Option<usize>,
    /// Replaces everything below it: no test, no discard, all of every attachment is written.
    pub opaque: bool,
    /// Where it is invisible it need not run: no side effects, no depth.
    pub hideable: bool,
    /// All samples that it covers pass, whether or not it runs.
    pub all_pass: bool,
    /// What is drawn replaces pixels where it passes its depth test, before shading that has no other effect: its fragments
    /// wait for later ones that replace them ([`crate::tile::draw::deferred`]).
    pub deferred: bool,
    /// Blocks that are covered wholly may become full warps: one sample, and nothing between shading and blending.
    pub plain: bool,
    /// The same for any number of samples, if inputs do not depend on which of them are covered.
    pub full: bool,
    /// The same, and nothing is tested or counted before shading.
    pub whole: bool,
    /// An input is interpolated with perspective.
    pub perspective: bool,
    /// Inputs that all come from planes and places, at pixels' centres ([`crate::tile::shade::quads`]).
    pub of_planes: bool,
}

/// One colour attachment of a draw.
pub struct Color {
    pub attachment: u32,
    pub writer: Writer,
    /// Program outputs of the four channels, and of the second source's.
    pub outputs: [Option<usize>; 4],
    pub second: Option<[Option<usize>; 4]>,
}

/// Whether a subpass's input attachments have depth or stencil, which may be what it writes.
fn loops(sub: &Subpass, targets: &Targets) -> bool {
    let target = |a: &u32| targets.list.get(*a as usize);
    sub.inputs.iter().flatten().filter_map(target).any(|t| t.depth.is_some() || t.stencil.is_some())
}

/// Where a draw's samples are: its own locations (VK_EXT_sample_locations), or the standard ones.
fn places(s: &State, samples: usize) -> [[u8; 2]; MAX_SAMPLES] {
    let mut places = [[8; 2]; MAX_SAMPLES];
    match s.samples.locations {
        // A single sample is at the centre whatever is asked (sampleLocationSampleCounts).
        Some(own) if samples > 1 => places = own,
        _ => places[..samples].copy_from_slice(sample_locations(samples as u32)),
    }
    places
}

/// The colour attachments that a draw in `sub` writes, and whether it leaves anything of any of them.
fn colors(p: &GraphicsPipeline, s: &State, sub: &Subpass, targets: &Targets) -> (Vec<Color>, bool) {
    let target = |a: Option<u32>| a.and_then(|a| targets.list.get(a as usize));
    let output = |slot: u16| p.fragment.as_ref().and_then(|f| f.outputs.iter().position(|(o, _)| *o == slot));
    let mut colors = Vec::new();
    let mut bare = false;
    for (i, a) in sub.colors.iter().enumerate() {
        let Some(plane) = target(*a).and_then(|t| t.color.as_ref()) else { continue };
        let location = s.blend.locations.get(i).copied().unwrap_or(i as u32);
        let slots = |base: u16| std::array::from_fn(|c| output(base + location as u16 * 4 + c as u16));
        let outputs: [Option<usize>; 4] = if location < 64 { slots(0) } else { [None; 4] };
        let writer = Writer::new(plane.format, &s.blend, i);
        let second = if location == 0 { slots(SECOND_SOURCE) } else { [None; 4] };
        let second = second.iter().any(|o| o.is_some()).then_some(second);
        if (outputs.iter().all(|o| o.is_none()) && second.is_none()) || !writer.writes() {
            bare = true;
            continue;
        }
        bare |= !writer.opaque();
        colors.push(Color { attachment: a.unwrap_or(0), writer, outputs, second });
    }
    (colors, bare)
}

/// When a draw's fragments are tested. `f`: the fragment program's interface; `changes`: coverage changes after shading; `reads`: the
/// program reads the depth or stencil that the tests write.
fn when(tests: &Tests, f: Option<&Interface>, changes: bool, reads: bool) -> When {
    let Some(f) = f else { return if tests.idle() { When::Never } else { When::Early } };
    let kept = f.depth == DepthMode::Unwritten && !f.writes_memory;
    if tests.idle() {
        When::Never
    } else if !f.early_tests && reads {
        // The fragment reads what is there before its own tests.
        When::Late
    } else if f.early_tests || (!changes && kept && !f.writes_stencil) {
        When::Early
    } else if tests.monotonic() && kept {
        When::Both
    } else {
        When::Late
    }
}

/// What follows from pipeline and state alone, for geometry and for tiles.
pub struct Prepared {
    pub geometry: geometry::Prepared,
    /// Holds what it was made of: nothing else has its address meanwhile.
    pub plan: Arc<Plan>,
}

/// What draws of a pass are prepared with, each made once.
#[derive(Default)]
pub struct Plans {
    known: FxHashMap<Asked, Arc<Prepared>>,
    /// The last draw's.
    last: Option<(Asked, Arc<Prepared>)>,
}

/// Addresses of pipeline and state, subpass, and whether a query looks.
type Asked = (usize, usize, usize, bool);

impl Plans {
    /// For a draw in `sub`, with its number; as [`Plan::new`].
    pub fn of(
        &mut self,
        p: &Arc<GraphicsPipeline>,
        s: &Arc<State>,
        (number, sub): (usize, &Subpass),
        targets: &Targets,
        counted: bool,
    ) -> Arc<Prepared> {
        let asked = (Arc::as_ptr(p).addr(), Arc::as_ptr(s).addr(), number, counted);
        if let Some((_, prepared)) = self.last.as_ref().filter(|(of, _)| *of == asked) {
            return prepared.clone();
        }
        let make = || {
            let depth = sub.depth.and_then(|a| targets.list.get(a as usize)?.depth.as_ref());
            Arc::new(Prepared {
                geometry: geometry::Prepared::new(
                    p,
                    s,
                    targets.area,
                    depth.map(|d| d.format),
                    targets.recorded,
                ),
                plan: Arc::new(Plan::new(p, s, sub, targets, counted)),
            })
        };
        let prepared = self.known.entry(asked).or_insert_with(make).clone();
        self.last = Some((asked, prepared.clone()));
        prepared
    }
}

impl Plan {
    /// Where the samples are, in 1/16 pixels.
    #[inline(always)]
    pub fn locations(&self) -> &[[u8; 2]] {
        &self.places[..self.samples.min(MAX_SAMPLES)]
    }

    /// `counted`: an occlusion or statistics query looks at the draw.
    pub fn new(
        p: &Arc<GraphicsPipeline>,
        s: &Arc<State>,
        sub: &Subpass,
        targets: &Targets,
        counted: bool,
    ) -> Plan {
        let target = |a: Option<u32>| a.and_then(|a| targets.list.get(a as usize));
        let depth = target(sub.depth).and_then(|t| t.depth.as_ref());
        let stencil = target(sub.stencil).and_then(|t| t.stencil.as_ref());
        let tests = Tests::new(s, depth.is_some(), stencil.is_some(), depth.map_or(0.0, |d| d.depth_scale()));
        let none = p.fragment.as_ref().map_or_else(Interface::default, |f| f.interface.clone());
        let output =
            |slot: u16| p.fragment.as_ref().and_then(|f| f.outputs.iter().position(|(o, _)| *o == slot));
        let (colors, bare) = colors(p, s, sub, targets);
        let alpha = s.samples.alpha_to_coverage;
        let changes = none.discards || none.writes_sample_mask || alpha;
        let reads = none.reads_depth || (none.reads_tile && tests.writes() && loops(sub, targets));
        let when = when(&tests, p.fragment.is_some().then_some(&none), changes, reads);
        let late = matches!(when, When::Both | When::Late);
        let shades = p.fragment.is_some() && (!colors.is_empty() || none.writes_memory || late || counted);
        let samples = (s.samples.count as usize).clamp(1, MAX_SAMPLES);
        let per_sample = samples > 1
            && (none.per_sample || s.samples.min_shading.is_some_and(|m| m * samples as f32 > 1.0));
        let late_only = matches!(when, When::Never | When::Late);
        let rated = geometry::has_rate(p.last(), s.raster.stream as u8);
        let fills = p.fragment.as_ref().map_or(Vec::new(), |f| Fill::plan(f, rated as u32));
        let alters_alpha = s.samples.alpha_to_one
            || s.raster.line_mode == ash::vk::LineRasterizationModeEXT::RECTANGULAR_SMOOTH;
        let late = late || alpha || none.writes_sample_mask;
        let smooth = s.raster.line_mode == ash::vk::LineRasterizationModeEXT::RECTANGULAR_SMOOTH;
        let exclusive = none.reads_tile || none.sample_interlock || none.pixel_interlock;
        let single = samples == 1 && s.samples.mask & 1 != 0 && !exclusive;
        let simple = single && when == When::Never && shades && !none.early_tests && !smooth;
        let replaces = !bare
            && !changes
            && !colors.is_empty()
            && sub.colors.iter().filter(|a| a.is_some()).count() == colors.len();
        // A debugger sees all fragments.
        let debugged = debugger::wanted();
        let opaque = replaces && single && tests.idle() && !debugged;
        // Which samples a shader leaves is known only when it has run, and an occlusion query asks.
        let hideable = !none.writes_memory && tests.idle() && samples == 1 && !(counted && changes);
        let before_tests =
            !late_only && !none.post_depth_coverage && fills.iter().any(|f| matches!(f, Fill::SampleMask));
        let hiz = tests.only_depth() && matches!(when, When::Early | When::Both);
        let depth_alone = hiz && single && !before_tests && !smooth;
        let full = s.samples.mask & 0xF == 0xF;
        let four = hiz && when == When::Early && samples == FOUR && full && !before_tests && !smooth;
        // Of several samples each has its own place in every attachment, and the shader does not ask which are covered.
        let planes = colors.iter().map(|c| target(Some(c.attachment)).and_then(|t| t.color.as_ref()));
        let each = planes.chain([depth]).flatten().all(|p| p.samples as usize == samples);
        let several = samples > 1 && each && !per_sample && !exclusive && !smooth && at_centers(&fills);
        let waits = depth_alone || hiz && several && !before_tests;
        let plain = samples == 1 && !late && !alters_alpha && !exclusive;
        let full = plain || several && !late && !alters_alpha;
        let all = s.samples.mask & (u32::MAX >> (32 - samples)) == u32::MAX >> (32 - samples);
        let untested = when == When::Never && shades && !none.early_tests;
        let coarse = Coarse::new(p, s, sub, targets, &fills).map(Box::new);
        let deferred = replaces && waits && when == When::Early && shades && !none.writes_memory && !debugged;
        let plan = Plan {
            pipeline: p.clone(),
            state: s.clone(),
            tests,
            when,
            depth: sub.depth,
            stencil: sub.stencil,
            shades,
            varyings: p.fragment.as_ref().map_or(0, |f| f.interface.varyings.len()),
            grown: s.raster.conservative.map_or(0, |c| c.outward()),
            samples,
            places: places(s, samples),
            sample_mask: s.samples.mask,
            per_sample,
            needs_quads: none.needs_quads,
            exclusive,
            coarse,
            pixel_interlock: none.pixel_interlock,
            hiz,
            depth_alone,
            four,
            small: four || depth_alone && when == When::Early,
            deferred,
            simple,
            last_first: simple && opaque && hideable,
            counts_early: none.early_tests || deferred,
            late,
            alters_alpha,
            frag_depth: output(FRAG_DEPTH).filter(|_| none.depth != DepthMode::Unwritten),
            stencil_ref: output(STENCIL_REF),
            mask_out: output(SAMPLE_MASK),
            before_tests,
            coverage_alpha: alpha.then(|| output(3)).flatten(),
            opaque,
            hideable,
            all_pass: !changes && s.samples.mask & 1 != 0,
            plain,
            full,
            whole: plain && simple || several && full && all && untested,
            of_planes: (samples == 1 || !per_sample && at_centers(&fills)) && of_planes(&fills),
            perspective: fills.iter().any(|f| matches!(f, Fill::Varying { perspective: true, .. })),
            warps: p.fragment.as_deref().map_or(1, |f| (f.lanes as usize / 16).min(WARPS)),
            observed: targets.observed,
            within: targets.within,
            interpolated: p
                .fragment
                .as_deref()
                .filter(|_| targets.observed)
                .map(|f| Interpolated::new(f, &fills))
                .unwrap_or_default(),
            fills,
            colors,
        };
        if targets.recorded || plan.coarse.is_some() { plan.general(none.early_tests) } else { plan }
    }

    /// The same without fast paths: every fragment takes the general one, in the order of primitives.
    fn general(self, early_tests: bool) -> Plan {
        Plan {
            hiz: false,
            depth_alone: false,
            four: false,
            small: false,
            deferred: false,
            simple: false,
            last_first: false,
            counts_early: early_tests,
            opaque: false,
            hideable: false,
            plain: false,
            full: false,
            whole: false,
            ..self
        }
    }
}
