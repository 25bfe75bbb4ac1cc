//! What the engine supplies an invocation with.

use super::Ty;

/// The enum, and inputs by their names.
macro_rules! inputs {
    ($($(#[$note:meta])* $name:ident $(($t:ty))?,)*) => {
        /// Values the engine supplies per invocation. Vectors by component.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum Input {
            $($(#[$note])* $name $(($t))?,)*
        }
        impl Input {
            /// The input of a name, with its component or slot where it has one.
            pub fn named(name: &str, part: Option<u16>) -> Option<Input> {
                $(
                    if name == stringify!($name) {
                        inputs!(@part $name part $($t)?)
                    }
                )*
                None
            }
        }
    };
    (@part $name:ident $part:ident) => {
        return $part.is_none().then_some(Input::$name)
    };
    (@part $name:ident $part:ident $t:ty) => {
        return Some(Input::$name(<$t>::try_from($part?).ok()?))
    };
}

inputs! {
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
    /// All of the pixel lies in the primitive (FullyCoveredEXT).
    FullyCovered,
    PrimitiveId,
    Layer,
    ViewportIndex,
    /// Pixels of the fragment: log2 of its width · 4 + log2 of its height (ShadingRateKHR, FragSizeEXT). From bit 4 on:
    /// its invocations (FragInvocationCountEXT).
    ShadingRate,
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
    /// Geometry and tessellation control: the invocation of the primitive or patch.
    InvocationId,
    /// Tessellation: control points of the patch that came in; byte offset of the patch's memory in the wave's.
    PatchVertices,
    PatchBase,
    TessCoord(u8),
    /// Built-ins of shaders of ray tracing pipelines, by [`crate::ir::ray_input`].
    Ray(u8),
    /// A variable that nothing has written, in shaders that are sanitised; [`crate::pass::probe`] makes a constant of it.
    Undefined,
    /// From the pixel's centre to sample i: 2 · i + axis. Uniform.
    SampleOffset(u8),
}

impl Input {
    pub fn ty(self) -> Ty {
        match self {
            Input::FrontFacing | Input::HelperInvocation | Input::FullyCovered => Ty::Bool,
            _ => Ty::B32,
        }
    }
}
