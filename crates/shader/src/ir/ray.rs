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
