//! What a sanitised shader tells the machine around it, a wave at a time.

use crate::bits::Bits;
use crate::rays::{Operand, Row};
use shader::bytecode::Program;
use shader::ir::Site;

/// The most operands of 32 bits that a probe has.
pub const PROBE_OPERANDS: usize = 4;

/// What the lanes of a wave are about to do at a site of its program.
pub struct ProbeWave<'a> {
    pub program: &'a Program,
    /// Index into the program's sites.
    pub site: u32,
    pub(crate) live: u32,
    pub(crate) exec: &'a [u16; 32],
    /// Lanes that are no helpers: of fragment shaders.
    pub(crate) alive: &'a [u16; 32],
    pub(crate) wide: Operand,
    pub(crate) operands: [Operand; PROBE_OPERANDS],
}

/// An operation on texels that lanes of a warp are about to do, with [`crate::ImageWarp`].
pub struct ImageProbe<'a> {
    pub program: &'a Program,
    /// Index into the program's sites.
    pub site: u32,
    /// Lanes that are no helpers: of fragment shaders.
    pub alive: u16,
    /// The warp, and its lanes that execute the operation, whatever views they name.
    pub warp: usize,
    pub executing: u16,
}

impl ImageProbe<'_> {
    #[inline]
    pub fn site(&self) -> &Site {
        // The check of programs sees to it that it is there.
        &self.program.sites[self.site as usize]
    }
}

impl ProbeWave<'_> {
    pub fn site(&self) -> &Site {
        // The check of programs sees to it that it is there.
        &self.program.sites[self.site as usize]
    }

    /// Warps with active lanes, and these lanes: of fragments those that are no helpers.
    #[inline]
    pub fn warps(&self) -> impl Iterator<Item = (usize, u16)> {
        Bits(self.live).map(|w| (w, self.exec[w] & self.alive[w])).filter(|(_, lanes)| *lanes != 0)
    }

    /// Lanes of a warp that execute it, helpers among them.
    pub fn executing(&self, warp: usize) -> u16 {
        self.exec[warp]
    }

    /// Lanes of a warp that are no helpers, and have not been given up.
    pub fn alive(&self, warp: usize) -> u16 {
        self.alive[warp]
    }

    #[inline]
    fn row<T: Copy>(&self, of: Operand, warp: usize) -> T {
        debug_assert!(!of.at.is_null());
        // SAFETY: the op's register, which its kernel named (`kernels::probe`); `warp` is one of the wave's, of which a register has the
        // rows, and a row of a uniform register has its 16 copies.
        unsafe { of.at.add(warp % 32 * of.step).cast::<T>().read() }
    }

    /// Device addresses, of an access by address.
    #[inline]
    pub fn addresses(&self, warp: usize) -> [u64; 16] {
        self.row(self.wide, warp)
    }

    /// Address and size in bytes of the buffer (0 and 0: none) of an access by a descriptor that all lanes share.
    #[inline]
    pub fn buffer(&self) -> Option<[u64; 2]> {
        if self.wide.step != 0 {
            return None;
        }
        let descriptor: u64 = self.row(self.wide, 0);
        // SAFETY: the registers that a PROBE_BUF names hold what DESC gave (the check of programs); a uniform one was computed for the
        // wave, which has active lanes.
        Some(unsafe { *(descriptor as *const [u64; 2]) })
    }

    /// Address and size in bytes of the buffer that each active lane's descriptor names (0 and 0: none), of an access by descriptor.
    pub fn buffers(&self, warp: usize, lanes: u16) -> [[u64; 2]; 16] {
        let descriptors: [u64; 16] = self.row(self.wide, warp);
        std::array::from_fn(|l| {
            if lanes >> l & 1 == 0 {
                return [0; 2];
            }
            // SAFETY: the registers that a PROBE_BUF names hold what DESC gave (the check of programs), of an active lane.
            unsafe { *(descriptors[l] as *const [u64; 2]) }
        })
    }

    /// Operand `k` of the probe's 32-bit operands ([`shader::ir::ProbeOp::operands`]).
    #[inline]
    pub fn operand(&self, k: usize, warp: usize) -> Row {
        self.row(self.operands[k], warp)
    }
}
