//! Accesses of sanitised shaders that are as they should be: most are, and these are noted in few steps.

use super::Sanitizer;
use crate::footprint;
use sanitize::{Plain, Races, hazards};
use shader::ir::{ProbeOp, Region, Site, Stage};
use std::ops::Range;
use wave::ProbeWave;

impl Sanitizer {
    /// An access of all lanes of a warp to a row of words, or a read of one word, that is as it should be. Nothing is done if it is not.
    #[inline]
    pub(super) fn plain(
        &self,
        wave: &ProbeWave,
        site: &Site,
        warp: usize,
        lanes: u16,
        races: &mut Races,
    ) -> bool {
        let writes = site.op == ProbeOp::Write;
        let shared = site.region == Region::Shared;
        if lanes != 0xFFFF
            || site.bytes != 4
            || !(writes || site.op == ProbeOp::Read)
            || !(shared || site.region == Region::Buffer)
            || !wave.program.stage.has_workgroups()
        {
            return false;
        }
        let (base, size) = match shared {
            true => (0, site.shared_bytes as u64),
            false => {
                let Some([base, size]) = wave.buffer() else { return false };
                (base, size)
            }
        };
        let (offsets, numbers) = (wave.operand(0, warp), wave.operand(3, warp));
        let (mut row, mut same, mut others) = (0, 0, 0);
        for l in 0..16 {
            row |= offsets[l] ^ offsets[0].wrapping_add(4 * l as u32);
            same |= offsets[l] ^ offsets[0];
            others |= numbers[l] ^ numbers[0].wrapping_add(l as u32);
        }
        let words = if row == 0 { 16 } else { 1 };
        let Some(offset) = offsets[0].checked_add(site.offset).filter(|o| *o <= u32::MAX - 64) else {
            return false;
        };
        if others != 0 || row != 0 && (same != 0 || writes) || offset as u64 + 4 * words > size {
            return false;
        }
        let address = base + offset as u64;
        let range = address..address + 4 * words;
        let stored = wave.operand(1, warp);
        let compared = writes || shared || self.writes(range.clone());
        let plain = Plain {
            writes,
            group: wave.operand(2, warp)[0],
            subgroup: numbers[0] >> 16,
            shared,
            site: wave.site,
            local: numbers[0] & 0xFFFF,
            address,
            values: site.tells.then_some(&stored),
            row: row == 0,
        };
        if compared && !races.plain(&plain) {
            return false;
        }
        if !shared {
            footprint::range(
                wave.program,
                if writes { hazards::What::Write } else { hazards::What::Read },
                range,
            );
        }
        true
    }

    /// The buffer's address, the bytes between which it reads and the number of accesses of a wave that reads one buffer, within its
    /// bounds, and only bytes that the dispatch does not write.
    pub(super) fn harmless(&self, wave: &ProbeWave, site: &Site) -> Option<(u64, Range<u64>, u64)> {
        if site.op != ProbeOp::Read || !site.is_buffer() || wave.program.stage == Stage::Fragment {
            return None;
        }
        let [base, size] = wave.buffer()?;
        let (mut low, mut high, mut accesses) = ([u32::MAX; 16], [0u32; 16], 0);
        for (warp, lanes) in wave.warps() {
            let offsets = wave.operand(0, warp);
            accesses += lanes.count_ones() as u64;
            for l in 0..16 {
                let there = lanes >> l & 1 == 1;
                low[l] = low[l].min(if there { offsets[l] } else { u32::MAX });
                high[l] = high[l].max(if there { offsets[l] } else { 0 });
            }
        }
        let mut ends = (u32::MAX, 0);
        for l in 0..16 {
            ends = (ends.0.min(low[l]), ends.1.max(high[l]));
        }
        // Where a constant offset takes the sum round 2³², the general way knows more.
        let (low, high) = (ends.0.checked_add(site.offset)?, ends.1.checked_add(site.offset)?);
        let end = high as u64 + site.bytes as u64;
        let span = base + low as u64..base + end;
        let harmless = accesses != 0 && end <= size && !self.writes(span.clone());
        harmless.then_some((base, span, accesses))
    }

    /// Most reads: of one buffer, within it, and of bytes that the dispatch does not write.
    pub(super) fn is_harmless(
        &self,
        wave: &ProbeWave,
        site: &Site,
        warp: usize,
        lanes: u16,
        buffer: [u64; 2],
    ) -> bool {
        let offsets = wave.operand(0, warp);
        let (mut low, mut high) = (u32::MAX, 0);
        for (l, offset) in offsets.into_iter().enumerate() {
            let there = lanes >> l & 1 == 1;
            low = low.min(if there { offset } else { u32::MAX });
            high = high.max(if there { offset } else { 0 });
        }
        // Where a constant offset takes the sum round 2³², the general way knows more.
        let (low, high) = (low.checked_add(site.offset), high.checked_add(site.offset));
        let (Some(low), Some(high)) = (low, high) else { return false };
        let [base, size] = buffer;
        let end = high as u64 + site.bytes as u64;
        end <= size && !self.writes(base + low as u64..base + end)
    }

    /// Whether the dispatch may write what some lanes read.
    pub(super) fn may_be_written(&self, addresses: &[u64; 16], lanes: u16, bytes: u64) -> bool {
        let (mut low, mut high) = (u64::MAX, 0u64);
        for (l, a) in addresses.iter().enumerate() {
            let there = lanes >> l & 1 == 1;
            low = low.min(if there { *a } else { u64::MAX });
            high = high.max(if there { a.saturating_add(bytes) } else { 0 });
        }
        self.writes(low..high)
    }

    /// Whether the dispatch may write any of these bytes.
    fn writes(&self, bytes: Range<u64>) -> bool {
        let Some(written) = &self.written else { return true };
        for w in written {
            if w.start < bytes.end && bytes.start < w.end {
                return true;
            }
        }
        false
    }
}
