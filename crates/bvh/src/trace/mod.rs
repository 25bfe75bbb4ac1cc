//! Traversal of one ray, which can be left at a candidate and resumed, and of whole waves.

pub mod node;
mod packet;
pub mod space;
pub mod triangle;
mod walk;
mod wave;

pub use wave::{Rays, trace, trace_counted};

use crate::layout::{DEPTH, Kind, Record, View};
use crate::{Bytes, Visits, micromap};
use node::Row;
use simd::Level;
use space::Space;
use std::mem::MaybeUninit;
use triangle::Edges;

/// Ray flags; the bits are SPIR-V's.
pub mod ray_flags {
    pub const OPAQUE: u32 = 0x1;
    pub const NO_OPAQUE: u32 = 0x2;
    pub const TERMINATE_ON_FIRST_HIT: u32 = 0x4;
    pub const SKIP_CLOSEST_HIT: u32 = 0x8;
    pub const CULL_BACK_FACING: u32 = 0x10;
    pub const CULL_FRONT_FACING: u32 = 0x20;
    pub const CULL_OPAQUE: u32 = 0x40;
    pub const CULL_NO_OPAQUE: u32 = 0x80;
    pub const SKIP_TRIANGLES: u32 = 0x100;
    pub const SKIP_AABBS: u32 = 0x200;
    pub const FORCE_MICROMAP_2_STATE: u32 = 0x400;
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ray {
    pub origin: [f32; 3],
    pub t_min: f32,
    pub direction: [f32; 3],
    pub t_max: f32,
    /// [`ray_flags`].
    pub flags: u32,
    /// Eight bits.
    pub cull_mask: u32,
}

/// Finds the bottom structure of an instance.
pub trait Scene {
    /// None if there is none at that address: the instance is not hit. A caller that has to search should cache.
    fn bottom(&self, address: u64) -> Option<Bytes>;
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HitKind {
    #[default]
    None,
    Triangle,
    Box,
}

/// A candidate or a committed hit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Hit {
    pub kind: HitKind,
    /// For the candidate of a box: where the ray enters the box.
    pub t: f32,
    /// Weights of the triangle's second and third vertex.
    pub barycentrics: [f32; 2],
    pub front: bool,
    pub opaque: bool,
    /// [`crate::geometry_flags`].
    pub geometry_flags: u8,
    /// [`crate::instance_flags`].
    pub instance_flags: u8,
    pub primitive: u32,
    pub geometry: u32,
    /// Index of the instance.
    pub instance: u32,
    pub custom_index: u32,
    pub sbt_offset: u32,
    /// Address of the bottom structure.
    pub structure: u64,
    /// For [`transforms`].
    pub record: u32,
    /// For [`positions`]: `block * 4 + lane`.
    pub place: u32,
}

impl Hit {
    /// (Not made of parts, as the derived default is: those are slow to load as a whole.)
    const NONE: Hit = Hit {
        kind: HitKind::None,
        t: 0.0,
        barycentrics: [0.0; 2],
        front: false,
        opaque: false,
        geometry_flags: 0,
        instance_flags: 0,
        primitive: 0,
        geometry: 0,
        instance: 0,
        custom_index: 0,
        sbt_offset: 0,
        structure: 0,
        record: 0,
        place: 0,
    };

    /// Ties are broken by this.
    fn key(&self) -> (u32, u32, u32) {
        (self.instance, self.geometry, self.primitive)
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step {
    /// [`Traversal::committed`] is the result.
    Done,
    /// A triangle that is not opaque was hit inside the interval; [`Traversal::commit_triangle`] accepts it.
    Triangle(Hit),
    /// The ray meets a box; [`Traversal::commit_box`] accepts a hit in it.
    Box(Hit),
}

/// A reference of a node, and where the ray enters it.
#[derive(Clone, Copy)]
struct Entry {
    child: u32,
    t: f32,
}

/// Each level of a structure leaves at most seven entries, and both structures have [`DEPTH`] levels. (A node is entered only with room for
/// eight more: damaged trees may be deeper.)
const STACK: usize = 2 * 7 * DEPTH + 8;

/// A ray on its way.
pub struct Traversal {
    level: Level,
    top: Option<View>,
    bottom: Option<View>,
    world: Space,
    object: Space,
    origin_in_object: ([f32; 3], [f32; 3]),
    t_min: f32,
    t_max: f32,
    flags: u32,
    cull_mask: u32,
    instance: Record,
    /// Index of the instance's record.
    record: u32,
    /// The stack's height when the bottom structure was entered.
    base: u32,
    height: u32,
    /// Nodes that may still be visited in the top and in the bottom structure.
    budget: [u32; 2],
    /// The leaf whose remaining lanes are next (bits), with what they hit.
    pending: (u32, u32),
    candidate: Hit,
    committed: Hit,
    done: bool,
    /// Of the world's space only the ray is set.
    fresh: bool,
    /// The bottom structure that was entered last, by its address.
    known: Option<(u64, View)>,
    map: micromap::Known,
    edges: Edges,
    near: Row,
    stack: [MaybeUninit<Entry>; STACK],
}

/// No one is told of visits.
pub struct NoVisits;

impl Visits for NoVisits {
    #[inline(always)]
    fn node(&mut self, _: u32, _: u32) {}
    #[inline(always)]
    fn leaf(&mut self, _: u32, _: u32, _: bool) {}
}

/// Passes visits on to another object.
struct Told<'a>(&'a mut dyn Visits);

impl Visits for Told<'_> {
    fn node(&mut self, place: u32, node: u32) {
        self.0.node(place, node);
    }
    fn leaf(&mut self, place: u32, leaf: u32, triangles: bool) {
        self.0.leaf(place, leaf, triangles);
    }
    fn ray(&mut self, lane: usize) {
        self.0.ray(lane);
    }
    fn hit(&mut self, opaque: bool) {
        self.0.hit(opaque);
    }
    fn miss(&mut self) {
        self.0.miss();
    }
    fn first_hit(&mut self) {
        self.0.first_hit();
    }
}

impl Traversal {
    /// Of a ray through a top structure. If `top` is none, the ray misses.
    pub fn new(top: Bytes, ray: &Ray) -> Traversal {
        static WIDEST: std::sync::OnceLock<Level> = std::sync::OnceLock::new();
        Self::at_level(*WIDEST.get_or_init(|| Level::widest(None)), top, ray)
    }

    /// [`Self::new`] with the kernels of a level, instead of those of this CPU's widest.
    pub fn at_level(level: Level, top: Bytes, ray: &Ray) -> Traversal {
        let mut this = Traversal::idle(level);
        this.start(View::of(top).map(|(view, _)| view).filter(|v| v.kind == Kind::Instances), ray);
        this
    }

    /// A traversal that is done: room for one.
    fn idle(level: Level) -> Traversal {
        Traversal {
            level,
            top: None,
            bottom: None,
            world: Space::EMPTY,
            object: Space::EMPTY,
            origin_in_object: ([0.0; 3], [0.0; 3]),
            t_min: 0.0,
            t_max: 0.0,
            flags: 0,
            cull_mask: 0,
            instance: Record::NONE,
            record: 0,
            base: 0,
            height: 0,
            budget: [0; 2],
            pending: (0, 0),
            candidate: Hit::NONE,
            committed: Hit::NONE,
            done: true,
            fresh: false,
            known: None,
            map: micromap::Known::default(),
            edges: Edges::EMPTY,
            near: Row([0.0; 16]),
            stack: [const { MaybeUninit::uninit() }; STACK],
        }
    }

    #[inline(always)]
    fn start(&mut self, top: Option<View>, ray: &Ray) {
        self.top = top;
        self.bottom = None;
        (self.t_min, self.t_max, self.flags, self.cull_mask) =
            (ray.t_min, ray.t_max, ray.flags, ray.cull_mask);
        self.pending = (0, 0);
        self.committed = Hit { t: ray.t_max, ..Hit::NONE };
        (self.base, self.height) = (0, 0);
        self.done = true;
        if let Some(top) = top
            && ray.t_min <= ray.t_max
        {
            self.done = false;
            self.fresh = true;
            (self.world.origin, self.world.direction) = (ray.origin, ray.direction);
            self.budget = [top.node_count, 0];
            self.push(crate::layout::Child::Node(0).word(), ray.t_min);
        }
    }

    #[inline(always)]
    fn push(&mut self, child: u32, t: f32) {
        if let Some(entry) = self.stack.get_mut(self.height as usize) {
            entry.write(Entry { child, t });
            self.height += 1;
        }
    }

    /// Goes on to the next candidate, or to the end.
    pub fn next(&mut self, scene: &dyn Scene) -> Step {
        // SAFETY: the level is this CPU's.
        unsafe { walk::of::<NoVisits>(self.level)(self, scene, &mut NoVisits) }
    }

    /// [`Self::next`], with the visits told.
    pub fn next_counted(&mut self, scene: &dyn Scene, visits: &mut dyn Visits) -> Step {
        // SAFETY: as above.
        unsafe { walk::of::<Told>(self.level)(self, scene, &mut Told(visits)) }
    }

    /// Accepts the triangle that [`Self::next`] returned last.
    pub fn commit_triangle(&mut self) {
        if self.candidate.kind == HitKind::Triangle {
            let hit = self.candidate;
            self.commit(hit);
        }
    }

    /// A hit in the box that [`Self::next`] returned last. False if `t` is outside the interval; then nothing changes. Of several
    /// hits in a box the closest stays.
    pub fn commit_box(&mut self, t: f32) -> bool {
        let hit = Hit { t, ..self.candidate };
        let inside = hit.kind == HitKind::Box && self.t_min <= t && t <= self.t_max;
        if inside && self.is_closer(&hit) {
            self.commit(hit);
        }
        inside
    }

    /// Ends the traversal; the next step is [`Step::Done`].
    pub fn terminate(&mut self) {
        self.done = true;
    }

    /// Whether the next step is [`Step::Done`].
    pub fn has_ended(&self) -> bool {
        self.done
    }

    /// The closest hit so far; its kind is [`HitKind::None`] if there is none.
    pub fn committed(&self) -> &Hit {
        &self.committed
    }

    /// The candidate that [`Self::next`] returned last.
    pub fn candidate(&self) -> &Hit {
        &self.candidate
    }

    /// The end of the interval: t of the closest hit so far, or the ray's.
    pub fn t_max(&self) -> f32 {
        self.t_max
    }

    /// The ray in the space of the last candidate's structure: origin and direction.
    pub fn object_ray(&self) -> ([f32; 3], [f32; 3]) {
        self.origin_in_object
    }

    /// Object to world and world to object of the last candidate.
    pub fn candidate_transforms(&self) -> ([f32; 12], [f32; 12]) {
        (self.instance.object_to_world, self.instance.world_to_object)
    }

    #[inline(always)]
    fn commit(&mut self, hit: Hit) {
        self.t_max = hit.t;
        self.committed = hit;
        if self.flags & ray_flags::TERMINATE_ON_FIRST_HIT != 0 {
            self.done = true;
        }
    }

    /// Of hits inside the interval: whether this one is before what is committed.
    #[inline(always)]
    fn is_closer(&self, hit: &Hit) -> bool {
        self.committed.kind == HitKind::None
            || hit.t < self.t_max
            || hit.t == self.t_max && hit.key() < self.committed.key()
    }
}

impl Clone for Traversal {
    /// Copies only the part of the stack that is in use.
    fn clone(&self) -> Traversal {
        let mut out = Traversal::idle(self.level);
        let used = self.height as usize;
        out.stack[..used].copy_from_slice(&self.stack[..used]);
        Traversal {
            stack: out.stack,
            level: self.level,
            top: self.top,
            bottom: self.bottom,
            world: self.world,
            object: self.object,
            origin_in_object: self.origin_in_object,
            t_min: self.t_min,
            t_max: self.t_max,
            flags: self.flags,
            cull_mask: self.cull_mask,
            instance: self.instance,
            record: self.record,
            base: self.base,
            height: self.height,
            budget: self.budget,
            pending: self.pending,
            candidate: self.candidate,
            committed: self.committed,
            done: self.done,
            fresh: self.fresh,
            known: self.known,
            map: self.map,
            edges: Edges::EMPTY,
            near: Row([0.0; 16]),
        }
    }
}

/// Object to world and world to object of a hit, from the top structure.
pub fn transforms(top: Bytes, hit: &Hit) -> Option<([f32; 12], [f32; 12])> {
    let (view, _) = View::of(top).filter(|(v, _)| v.kind == Kind::Instances)?;
    // SAFETY: a leaf of a top structure.
    let record = unsafe { Record::read(view.leaf(hit.record)?) };
    Some((record.object_to_world, record.world_to_object))
}

/// The vertices of a triangle that was hit, from its bottom structure.
pub fn positions(bottom: Bytes, hit: &Hit) -> Option<[[f32; 3]; 3]> {
    let (view, _) = View::of(bottom).filter(|(v, _)| v.kind == Kind::Triangles)?;
    let block = view.leaf(hit.place / 4)?;
    let lane = hit.place as usize % 4;
    Some(std::array::from_fn(|v| std::array::from_fn(|axis| view.float(block, axis, v * 4 + lane))))
}
