//! What the inputs of a fragment program are filled with.

use shader::bytecode::Program;
use shader::interface::At;
use shader::ir::Input;

/// What one input of a fragment program is filled with.

#[derive(Clone, Copy, Debug)]
pub enum Fill {
    Varying {
        plane: u32,
        perspective: bool,
        at: At,
    },
    Flat(u32),
    /// Component 0 to 3.
    FragCoord(u8),
    FrontFacing,
    /// The plane, if the primitive is a point.
    PointCoord(u32),
    SampleId,
    SamplePosition(u8),
    SampleMask,
    Helper,
    /// Whether all of the pixel lies in the primitive.
    FullyCovered,
    PrimitiveId,
    Layer,
    Viewport,
    View,
    Lane,
    /// `k`: 0 the value, 1 and 2 its changes.
    Coefficient {
        plane: u32,
        k: u8,
    },
    InvW(u8),
    Centroid(u8),
    SampleOffset(u8),
    ShadingRate,
    Zero,
}

impl Fill {
    /// One per input of the program. `more`: planes that follow those of its varyings.
    pub fn plan(p: &Program, more: u32) -> Vec<Fill> {
        let find = |slot: u16| p.interface.varyings.iter().position(|v| v.slot == slot);
        p.inputs
            .iter()
            .map(|(input, _)| match *input {
                Input::Varying(slot) => match find(slot) {
                    Some(i) => {
                        let v = &p.interface.varyings[i];
                        let plane = i as u32;
                        if v.flat {
                            Fill::Flat(plane)
                        } else {
                            Fill::Varying { plane, perspective: !v.no_perspective, at: v.at }
                        }
                    }
                    None => Fill::Zero,
                },
                Input::PlaneAt(slot) => {
                    find(slot).map_or(Fill::Zero, |i| Fill::Coefficient { plane: i as u32, k: 0 })
                }
                Input::PlaneDx(slot) => {
                    find(slot).map_or(Fill::Zero, |i| Fill::Coefficient { plane: i as u32, k: 1 })
                }
                Input::PlaneDy(slot) => {
                    find(slot).map_or(Fill::Zero, |i| Fill::Coefficient { plane: i as u32, k: 2 })
                }
                Input::InvW(k) => Fill::InvW(k),
                Input::CentroidOffset(a) => Fill::Centroid(a),
                Input::SampleOffset(i) => Fill::SampleOffset(i),
                Input::SamplePosition(a) => Fill::SamplePosition(a),
                Input::FragCoord(c) => Fill::FragCoord(c),
                Input::FrontFacing => Fill::FrontFacing,
                Input::PointCoord(c) => {
                    Fill::PointCoord(p.interface.varyings.len() as u32 + more + (c as u32 & 1))
                }
                Input::SampleId => Fill::SampleId,
                Input::SampleMask => Fill::SampleMask,
                Input::HelperInvocation => Fill::Helper,
                Input::FullyCovered => Fill::FullyCovered,
                Input::PrimitiveId => Fill::PrimitiveId,
                Input::Layer => Fill::Layer,
                Input::ViewportIndex => Fill::Viewport,
                Input::ShadingRate => Fill::ShadingRate,
                Input::ViewIndex => Fill::View,
                Input::SubgroupLane => Fill::Lane,
                _ => Fill::Zero,
            })
            .collect()
    }
}

/// Whether inputs are the same whichever samples of a pixel are covered: where they have a place it is the centre.
pub fn at_centers(fills: &[Fill]) -> bool {
    fills.iter().all(|f| match f {
        Fill::Varying { at, .. } => *at == At::Center,
        Fill::SampleMask | Fill::Centroid(_) | Fill::SampleId | Fill::SamplePosition(_) => false,
        _ => true,
    })
}

/// Whether all inputs come from planes and places alone ([`crate::tile::shade::quads`]).
pub fn of_planes(fills: &[Fill]) -> bool {
    fills.iter().all(|f| matches!(f, Fill::Varying { .. } | Fill::Flat(_) | Fill::FragCoord(_)))
}
