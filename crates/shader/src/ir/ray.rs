//! Ray queries: what is done with one, and what can be asked of it (SPV_KHR_ray_query, SPV_KHR_ray_tracing_position_fetch).

use super::Ty;

/// What is done with a query.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RayOp {
    /// OpRayQueryInitializeKHR. Operands: [`RayOp::BEGIN_OPERANDS`].
    Begin,
    /// OpRayQueryProceedKHR. Result (B32): 1 if there is a candidate to decide on, 0 when traversal is complete.
    Proceed,
    Terminate,
    /// The candidate triangle is a hit.
    Confirm,
    /// There is a hit in the candidate's box at the distance that the one operand (f32) gives.
    Generate,
    /// Reads an attribute of the query or of one of its two intersections.
    Get(RayAttribute, Intersection),
}

impl RayOp {
    /// Of [`RayOp::Begin`]: address of the acceleration structure (B64), ray flags, cull mask, origin (3), T min, direction (3), T max.
    pub const BEGIN_OPERANDS: usize = 11;

    /// Those without an attribute, in the order of their numbers.
    pub const STEPS: [RayOp; 5] =
        [RayOp::Begin, RayOp::Proceed, RayOp::Terminate, RayOp::Confirm, RayOp::Generate];

    /// How many operands it has.
    pub fn operands(self) -> usize {
        match self {
            RayOp::Begin => RayOp::BEGIN_OPERANDS,
            RayOp::Generate => 1,
            _ => 0,
        }
    }
    /// How many results (B32) it has.
    pub fn results(self) -> u32 {
        match self {
            RayOp::Proceed => 1,
            RayOp::Get(attribute, _) => attribute.components(),
            _ => 0,
        }
    }
    /// The type of its result.
    pub fn ty(self) -> Ty {
        match self.results() {
            0 => Ty::Void,
            1 => Ty::B32,
            _ => Ty::Tuple,
        }
    }
}

/// Which of a query's intersections.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum Intersection {
    Candidate,
    Committed,
}

impl Intersection {
    pub const ALL: [Intersection; 2] = [Intersection::Candidate, Intersection::Committed];
}

/// What can be asked. Matrices are given column by column; Booleans are 0 or 1.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum RayAttribute {
    /// Of a candidate 0 triangle, 1 box; of a committed intersection 0 none, 1 triangle, 2 generated.
    Type,
    T,
    InstanceCustomIndex,
    InstanceId,
    ShaderBindingTableRecordOffset,
    GeometryIndex,
    PrimitiveIndex,
    Barycentrics,
    FrontFace,
    CandidateAABBOpaque,
    ObjectRayDirection,
    ObjectRayOrigin,
    ObjectToWorld,
    WorldToObject,
    VertexPositions,
    // Of the query itself.
    RayTMin,
    RayFlags,
    WorldRayDirection,
    WorldRayOrigin,
}

impl RayAttribute {
    pub const ALL: [RayAttribute; 19] = [
        RayAttribute::Type,
        RayAttribute::T,
        RayAttribute::InstanceCustomIndex,
        RayAttribute::InstanceId,
        RayAttribute::ShaderBindingTableRecordOffset,
        RayAttribute::GeometryIndex,
        RayAttribute::PrimitiveIndex,
        RayAttribute::Barycentrics,
        RayAttribute::FrontFace,
        RayAttribute::CandidateAABBOpaque,
        RayAttribute::ObjectRayDirection,
        RayAttribute::ObjectRayOrigin,
        RayAttribute::ObjectToWorld,
        RayAttribute::WorldToObject,
        RayAttribute::VertexPositions,
        RayAttribute::RayTMin,
        RayAttribute::RayFlags,
        RayAttribute::WorldRayDirection,
        RayAttribute::WorldRayOrigin,
    ];

    pub fn components(self) -> u32 {
        use RayAttribute::*;
        match self {
            Barycentrics => 2,
            ObjectRayDirection | ObjectRayOrigin | WorldRayDirection | WorldRayOrigin => 3,
            VertexPositions => 9,
            ObjectToWorld | WorldToObject => 12,
            _ => 1,
        }
    }
}

/// What a shader of a ray tracing pipeline asks of what runs it (SPV_KHR_ray_tracing).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum TraceOp {
    /// OpTraceRayKHR. Operands: [`TraceOp::operands`]; the data is the payload.
    Trace,
    /// OpReportIntersectionKHR of t and hit kind. Result (B32): bit 0: it was accepted; bit 1: the ray has ended, and the invocation
    /// with it. The data is the hit attribute.
    Report,
    /// OpIgnoreIntersectionKHR, and the invocation ends.
    Ignore,
    /// OpTerminateRayKHR, and the invocation ends.
    Terminate,
    /// OpExecuteCallableKHR of the shader with this index.
    Call,
    /// Where the ray ends at present (f32), in an intersection shader.
    TMax,
    // Of hit objects (SPV_EXT_shader_invocation_reorder). The first operand is the object's number.
    /// OpHitObjectTraceRayEXT: operands as [`TraceOp::Trace`].
    HitTrace,
    /// OpHitObjectRecordMissEXT of ray flags, miss index, origin (3), T min, direction (3), T max.
    HitMiss,
    /// OpHitObjectRecordFromQueryEXT of a query's number, an index in the shader binding table and a hit kind. The data is the
    /// attributes of a hit that the query has generated.
    HitQuery,
    /// OpHitObjectRecordEmptyEXT.
    HitEmpty,
    /// OpHitObjectSetShaderBindingTableRecordIndexEXT.
    HitRecord,
    /// OpHitObjectExecuteShaderEXT, of 0, or of 1 if the instruction has traced the ray as well (its shaders are one deeper then). The
    /// data is the payload.
    HitExecute,
    /// OpHitObjectGetAttributesEXT: the data becomes the attributes.
    HitAttributes,
    /// What the object says: the second operand is a constant of [`ray_input`].
    HitGet,
    /// OpReorderThreadWithHitObjectEXT of an object (or [`TraceOp::NO_OBJECT`]), a hint and its bits.
    Reorder,
}

impl TraceOp {
    /// In the order of their numbers.
    pub const ALL: [TraceOp; 15] = [
        TraceOp::Trace,
        TraceOp::Report,
        TraceOp::Ignore,
        TraceOp::Terminate,
        TraceOp::Call,
        TraceOp::TMax,
        TraceOp::HitTrace,
        TraceOp::HitMiss,
        TraceOp::HitQuery,
        TraceOp::HitEmpty,
        TraceOp::HitRecord,
        TraceOp::HitExecute,
        TraceOp::HitAttributes,
        TraceOp::HitGet,
        TraceOp::Reorder,
    ];

    /// The number of no object.
    pub const NO_OBJECT: u32 = u32::MAX;

    /// Whether an acceleration structure's address (B64) is before its operands.
    pub fn has_structure(self) -> bool {
        matches!(self, TraceOp::Trace | TraceOp::HitTrace)
    }

    /// Operands of 32 bits. Of [`TraceOp::Trace`]: ray flags, cull mask, offset, stride
    /// and miss index of the shader binding table, origin (3), T min, direction (3), T max.
    pub fn operands(self) -> usize {
        match self {
            TraceOp::Trace => 13,
            TraceOp::Report => 2,
            TraceOp::Call => 1,
            TraceOp::Ignore | TraceOp::Terminate | TraceOp::TMax => 0,
            TraceOp::HitTrace => 14,
            TraceOp::HitMiss => 11,
            TraceOp::HitQuery => 4,
            TraceOp::Reorder => 3,
            TraceOp::HitRecord | TraceOp::HitGet | TraceOp::HitExecute => 2,
            TraceOp::HitEmpty | TraceOp::HitAttributes => 1,
        }
    }
    /// The type of its result.
    pub fn ty(self) -> Ty {
        if matches!(self, TraceOp::Report | TraceOp::TMax | TraceOp::HitGet) { Ty::B32 } else { Ty::Void }
    }
}

/// Numbers of [`super::Input::Ray`]: the first of each built-in's components.
pub mod ray_input {
    pub const LAUNCH_ID: u8 = 0;
    pub const LAUNCH_SIZE: u8 = 3;
    /// Device address of the shader record: low and high word.
    pub const RECORD: u8 = 6;
    pub const WORLD_ORIGIN: u8 = 8;
    pub const WORLD_DIRECTION: u8 = 11;
    pub const OBJECT_ORIGIN: u8 = 14;
    pub const OBJECT_DIRECTION: u8 = 17;
    pub const T_MIN: u8 = 20;
    pub const T_MAX: u8 = 21;
    pub const CUSTOM_INDEX: u8 = 22;
    pub const INSTANCE_ID: u8 = 23;
    pub const PRIMITIVE_ID: u8 = 24;
    pub const GEOMETRY_INDEX: u8 = 25;
    pub const HIT_KIND: u8 = 26;
    pub const RAY_FLAGS: u8 = 27;
    pub const CULL_MASK: u8 = 28;
    /// Matrices column by column.
    pub const OBJECT_TO_WORLD: u8 = 29;
    pub const WORLD_TO_OBJECT: u8 = 41;
    pub const POSITIONS: u8 = 53;
    pub const COUNT: u8 = 62;
    // Of hit objects only: 0 or 1, and the record's index.
    pub const IS_EMPTY: u8 = 62;
    pub const IS_HIT: u8 = 63;
    pub const IS_MISS: u8 = 64;
    pub const RECORD_INDEX: u8 = 65;
}
