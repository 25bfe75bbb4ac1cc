//! The loop over live warps, of a segment.

use super::assembler::{Made, VectorWidth};
use super::frame::{LIVE, MOST_SIDE_BY_SIDE, OFFSETS, WARPS, low};
use crate::jit::emit::{Emit, Place};
use crate::jit::nodes::body::{Item, chain, computed};
use iced_x86::{Code, Register};
use std::mem::take;

impl Emit<'_> {
    pub fn loops(&mut self) -> Made<()> {
        self.inside = true;
        // What is common to all warps has its place; all else is each loop's own.
        let common = take(&mut self.place);
        let side = self.side_by_side();
        let mut done = None;
        if side > 1 {
            let again = self.m.here();
            self.m.rr(Code::Popcnt_r32_rm32, Register::ECX, LIVE)?;
            self.m.ri(Code::Cmp_rm32_imm8, Register::ECX, side as i32)?;
            let few = self.m.jump(Code::Jb_rel32_64)?;
            self.each(&common, side)?;
            self.m.rr(Code::Test_rm32_r32, LIVE, LIVE)?;
            let ended = self.m.jump(Code::Je_rel32_64)?;
            self.m.jump_back(Code::Jmp_rel32_64, again)?;
            self.m.land(few);
            done = Some(ended);
        }
        self.each(&common, 1)?;
        if let Some(done) = done {
            self.m.land(done);
        }
        Ok(())
    }

    /// How many warps are worth doing side by side: a processor looks ahead some hundred instructions, and each waits about four
    /// cycles for what it needs.
    pub fn side_by_side(&self) -> usize {
        let each = &self.body.each;
        if each.iter().any(|i| matches!(i, Item::If(_) | Item::Check(_))) {
            // A warp may go where another goes not.
            return 1;
        }
        let (longest, work) = chain(&self.body.nodes, computed(each));
        if longest < 8 {
            return 1;
        }
        let wanted = (4 * longest).div_ceil(work.max(1)).min(MOST_SIDE_BY_SIDE as u32) as usize;
        let room =
            self.vectors.len() - self.m.pins() + if self.m.width == VectorWidth::Whole { 16 } else { 0 };
        wanted.min(room / self.most_at_once().max(1)).max(1)
    }

    /// A loop over live warps, so many side by side: all of them if that is one, else one turn.
    fn each(&mut self, common: &[Place], side: usize) -> Made<()> {
        self.begin_loop(common, side)?;
        let each = &self.body.each;
        let each_warp = self.m.here();
        for k in 0..side {
            let (warp, offset) = (low(WARPS[k]), low(OFFSETS[k]));
            self.m.rr(Code::Tzcnt_r32_rm32, warp, LIVE)?;
            self.m.rr(Code::VEX_Blsr_r32_rm32, LIVE, LIVE)?;
            self.m.rr(Code::Mov_r32_rm32, offset, warp)?;
            self.m.ri(Code::Shl_rm32_imm8, offset, 6)?;
            if self.m.width == VectorWidth::Half {
                self.m.rr(Code::Add_r32_rm32, warp, warp)?;
            }
        }
        self.begin_counts()?;
        let half = self.m.here();
        self.begin_half()?;
        for (i, item) in each.iter().enumerate() {
            for k in 0..side {
                self.k = k;
                self.item((i * side + k) as u32, *item)?;
            }
        }
        self.k = 0;
        if self.m.width == VectorWidth::Half {
            for k in 0..side {
                self.m.ri(Code::Add_rm32_imm8, low(OFFSETS[k]), 32)?;
                self.m.ri(Code::Add_rm32_imm8, low(WARPS[k]), 1)?;
            }
            self.m.ri(Code::Test_rm32_imm32, low(WARPS[0]), 1)?;
            self.m.jump_back(Code::Jne_rel32_64, half)?;
            self.end_counts()?;
        }
        if side > 1 {
            return Ok(());
        }
        self.m.rr(Code::Test_rm32_r32, LIVE, LIVE)?;
        self.m.jump_back(Code::Jne_rel32_64, each_warp)
    }
}
