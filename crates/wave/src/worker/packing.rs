//! How workgroups lie in waves: warps, lanes and the ids of each lane.

use shader::bytecode::Program;
use shader::ir::Input;

/// The shape of a program's waves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packing {
    /// Invocations of one workgroup.
    pub invocations: u32,
    /// Warps of one workgroup.
    pub group_warps: u32,
    /// Warps of a wave.
    pub wave_warps: u32,
    /// Workgroups in one wave (1 when a workgroup needs several waves).
    pub groups: u32,
    /// Waves of one workgroup.
    pub waves: u32,
    /// Bytes from one workgroup's shared memory to the next one's in the same wave.
    pub shared_step: u32,
}

impl Packing {
    pub fn new(p: &Program) -> Packing {
        let invocations: u32 = p.workgroup.iter().product::<u32>().max(1);
        let group_warps = invocations.div_ceil(16);
        let wave_warps = p.lanes / 16;
        // A uniform register cannot hold the ids of several workgroups.
        let uniform_ids = p.inputs.iter().any(|(i, r)| r.is_uniform() && matches!(i, Input::WorkgroupId(_)));
        let groups = if p.packed && !uniform_ids { (wave_warps / group_warps).max(1) } else { 1 };
        Packing {
            invocations,
            group_warps,
            wave_warps,
            groups,
            waves: group_warps.div_ceil(wave_warps),
            shared_step: p.shared_bytes.next_multiple_of(64),
        }
    }

    /// Active lanes of warp `w` of wave `wave` of a workgroup, with `groups` workgroups in the wave.
    pub fn lanes(&self, wave: u32, w: u32, groups: u32) -> u16 {
        let Some((group, warp)) = self.place(wave, w) else { return 0 };
        if group >= groups {
            return 0;
        }
        let left = self.invocations - warp * 16;
        if left >= 16 { 0xFFFF } else { (1u16 << left) - 1 }
    }

    /// (workgroup within the wave, warp within the workgroup) of warp `w`; `None` for warps without lanes.
    pub fn place(&self, wave: u32, w: u32) -> Option<(u32, u32)> {
        if self.waves > 1 {
            let warp = wave * self.wave_warps + w;
            return (warp < self.group_warps).then_some((0, warp));
        }
        let group = w / self.group_warps;
        (group < self.groups).then_some((group, w % self.group_warps))
    }
}

/// LocalInvocationId of the lane that is `index` in the order of lanes. With `quads`, four consecutive lanes are a 2×2
/// block (the workgroup's x and y are even).
pub fn local_id(size: [u32; 3], index: u32, quads: bool) -> [u32; 3] {
    let [sx, sy, _] = size;
    if !quads || sx % 2 != 0 || sy % 2 != 0 {
        return [index % sx, index / sx % sy, index / (sx * sy)];
    }
    let quad = index / 4;
    let (w, h) = (sx / 2, sy / 2);
    [quad % w * 2 + (index & 1), quad / w % h * 2 + (index >> 1 & 1), quad / (w * h)]
}

/// The value of a constant-pattern input at a lane; `None` for inputs that depend on the workgroup's id.
pub fn pattern(p: &Program, k: &Packing, input: Input, wave: u32, w: u32, lane: u32) -> Option<u32> {
    let (_, warp) = k.place(wave, w).unwrap_or((0, 0));
    // Lanes past the workgroup's end never run; any id in range will do.
    let index = (warp * 16 + lane).min(k.invocations - 1);
    let id = || local_id(p.workgroup, index, p.quad_derivatives);
    Some(match input {
        Input::LocalId(c) => id()[(c as usize).min(2)],
        Input::LocalIndex => {
            let [x, y, z] = id();
            (z * p.workgroup[1] + y) * p.workgroup[0] + x
        }
        Input::SubgroupLane => lane,
        Input::SubgroupId => warp,
        Input::NumSubgroups => k.group_warps,
        Input::WorkgroupId(_) | Input::NumWorkgroups(_) | Input::DrawIndex | Input::ViewIndex => return None,
        // Graphics inputs have no meaning in a compute dispatch; one device, draw and view: 0.
        _ => 0,
    })
}
