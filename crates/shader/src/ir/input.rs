//! What the engine supplies an invocation with.

/// Values the engine supplies per invocation. Vectors by component.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Input {
    LocalId(u8),
    WorkgroupId(u8),
    NumWorkgroups(u8),
    /// Lane within the warp of 16 (SubgroupLocalInvocationId).
    SubgroupLane,
    /// Warp within the workgroup (SubgroupId), and the workgroup's warps.
    SubgroupId,
    NumSubgroups,
    /// Index within the local workgroup (LocalInvocationIndex).
    LocalIndex,
    DeviceIndex,
    // graphics
    VertexIndex,
    InstanceIndex,
    BaseVertex,
    BaseInstance,
    DrawIndex,
    ViewIndex,
    /// Interface variable component: a slot of [`crate::interface`].
    Varying(u16),
    FragCoord(u8),
    FrontFacing,
    PointCoord(u8),
    SampleId,
    SampleMask,
    HelperInvocation,
    PrimitiveId,
    Layer,
    ViewportIndex,
    /// Where in the pixel this sample lies, 0 to 1 (x, y).
    SamplePosition(u8),
    /// For interpolateAt…: a varying's plane by slot: the value at the pixel's centre (divided by w where the varying
    /// is perspective), and its change from one pixel to the next in x and in y.
    PlaneAt(u16),
    PlaneDx(u16),
    PlaneDy(u16),
    /// 1/w at the pixel's centre (0), its change a pixel in x (1) and y (2).
    InvW(u8),
    /// From the pixel's centre to where centroid inputs are evaluated (x, y).
    CentroidOffset(u8),
    /// From the pixel's centre to sample i: 2 · i + axis. Uniform.
    SampleOffset(u8),
}
