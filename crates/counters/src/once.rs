//! What a shader takes of a core, once through by one warp: from its code alone, at the model's rates. It is what an offline
//! compiler tells, without caches and without what warps wait for.

use crate::model::{Core, WARP};

/// Work registers of an invocation up to which a core holds all of its warps; of more, half as many.
pub const FULL_OCCUPANCY_REGISTERS: u64 = 32;
/// The most that an invocation can have on a Mali; what needs more goes through memory.
pub const MOST_REGISTERS: u64 = 64;

/// Percent of a core's warps that can be resident.
pub fn occupancy(registers: u64) -> u64 {
    if registers > FULL_OCCUPANCY_REGISTERS { 50 } else { 100 }
}

/// What some code asks of a core's units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Code {
    /// Warp-instructions.
    pub fma: u64,
    pub cvt: u64,
    pub sfu: u64,
    /// Load and store instructions.
    pub issues: u64,
    /// Interpolation slots of a quad.
    pub slots: u64,
    /// Texture instructions.
    pub textures: u64,
}

/// A unit, or what arithmetic ones are together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pipe {
    /// In the statistics of VK_KHR_pipeline_executable_properties.
    pub statistic: &'static str,
    /// In the JSON reports of Arm's offline compiler, and for people.
    pub name: &'static str,
    pub title: &'static str,
    /// What its cycles are of.
    pub of: &'static str,
}

/// In the order of [`Code::cycles`].
pub const PIPES: [Pipe; 7] = [
    pipe("arithmetic", "arith_total", "Arithmetic", "of all arithmetic, by the issue rule"),
    pipe("FMA", "arith_fma", "Arith FMA", "of the FMA pipe"),
    pipe("CVT", "arith_cvt", "Arith CVT", "of the CVT pipe"),
    pipe("SFU", "arith_sfu", "Arith SFU", "of the SFU pipe"),
    pipe("load/store", "load_store", "Load/Store", "of the load/store unit, a line an instruction"),
    pipe("varying", "varying", "Varying", "of the varying unit"),
    pipe("texture", "texture", "Texture", "of the texture unit, a bilinear sample an instruction"),
];

const fn pipe(statistic: &'static str, name: &'static str, title: &'static str, of: &'static str) -> Pipe {
    Pipe { statistic, name, title, of }
}

impl Code {
    /// Cycles of each of [`PIPES`], by the same rules as [`crate::cost`] has for what was executed.
    pub fn cycles(&self, core: &Core) -> [(Pipe, f64); 7] {
        let lanes = |n: u64, rate: u64| (n * WARP) as f64 / rate as f64;
        let (both, sfu) = (self.cvt + self.sfu, lanes(self.sfu, core.sfu_lanes));
        let cycles = [
            lanes(self.fma + both, core.fma_lanes).max(lanes(both, core.cvt_lanes)).max(sfu),
            lanes(self.fma, core.fma_lanes),
            lanes(self.cvt, core.cvt_lanes),
            sfu,
            self.issues as f64 / core.ls_issues as f64,
            // A warp has four quads.
            (self.slots * 4) as f64 / core.varying_slots as f64,
            lanes(self.textures, core.texels),
        ];
        std::array::from_fn(|i| (PIPES[i], cycles[i]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Model;

    #[test]
    fn each_unit_has_its_rate() {
        let core = Model::load(Some("g720")).unwrap().core;
        let of = |code: Code| code.cycles(&core).map(|(_, v)| v);
        // 44 instructions of 16 lanes of 128: 5.5; 20 of 64: 5; 4 of 16: 4. A slot is a component of each of four quads, of 4 a
        // cycle; a sample of a warp is 16 operations of 8.
        let code = Code { fma: 24, cvt: 16, sfu: 4, issues: 3, slots: 5, textures: 7 };
        assert_eq!(of(code), [5.5, 3.0, 4.0, 4.0, 3.0, 5.0, 14.0]);
        // What CVT and SFU share is the most: 6 of 64 lanes.
        assert_eq!(of(Code { cvt: 6, ..Code::default() })[..3], [1.5, 0.0, 1.5]);
        assert_eq!((occupancy(32), occupancy(33)), (100, 50));
    }
}
