//! Mutations that leave SPIR-V's form as it is: instructions are moved, repeated, dropped and taken from elsewhere, and
//! operands become other ids or small numbers, so that what comes of it goes deeper than the parser.

use random::Random;

/// Words before the first instruction.
const HEADER: usize = 5;

/// Where instructions begin; the end comes last. `None`: not a module in this machine's byte order.
fn instructions(words: &[u32]) -> Option<Vec<usize>> {
    if words.len() <= HEADER || words[0] != 0x0723_0203 {
        return None;
    }
    let mut at = vec![HEADER];
    while let Some(word) = words.get(*at.last()?) {
        let n = (word >> 16) as usize;
        let next = at.last()? + n;
        if n == 0 || next > words.len() {
            return None;
        }
        at.push(next);
    }
    Some(at)
}

/// Changes a module in one to four places; false if there is none.
pub fn mutate(words: &mut Vec<u32>, room: usize, seed: u64) -> bool {
    let mut r = Random::new(seed);
    for _ in 0..=r.index(4) {
        let Some(at) = instructions(words) else { return false };
        if at.len() < 3 {
            return false;
        }
        let (a, b) = (r.index(at.len() - 1), r.index(at.len() - 1));
        let (from, to) = (at[a], at[a + 1]);
        let of = |i: usize| words[at[i]..at[i + 1]].to_vec();
        match r.index(12) {
            0 => drop(words.drain(from..to)),
            1 if words.len() + to - from <= room => {
                let copy = of(a);
                words.splice(at[b]..at[b], copy);
            }
            2 => {
                let (one, two) = (of(a.min(b)), of(a.max(b)));
                if a != b {
                    words.splice(at[a.max(b)]..at[a.max(b) + 1], one);
                    words.splice(at[a.min(b)]..at[a.min(b) + 1], two);
                }
            }
            // Another instruction of the same length.
            3 => {
                let same: Vec<_> = (0..at.len() - 1).filter(|&i| at[i + 1] - at[i] == to - from).collect();
                words[from] = words[at[same[r.index(same.len())]]];
            }
            // Another code: those of arithmetic lie together.
            4 => {
                words[from] = words[from] & 0xFFFF_0000
                    | (words[from] & 0xFFFF).wrapping_add(r.index(9) as u32).wrapping_sub(4) & 0xFFFF
            }
            5 if words.len() < room => {
                words[from] = words[from].wrapping_add(1 << 16);
                let extra = r.index(words[3].clamp(1, 1 << 16) as usize) as u32;
                words.insert(to, extra);
            }
            _ if to - from > 1 => {
                let operand = from + 1 + r.index(to - from - 1);
                words[operand] = match r.index(8) {
                    // An operand of another place: an id of the right kind, as likely as not.
                    0..4 => words[HEADER + r.index(words.len() - HEADER)],
                    4 => r.index(64) as u32,
                    5 => words[operand] ^ 1 << r.index(32),
                    6 => [0, 1, u32::MAX, 1 << 31, 0x7F80_0000, 0x7FFF_FFFF, 0xFFFF][r.index(7)],
                    _ => r.index(words[3].clamp(1, 1 << 16) as usize) as u32,
                };
            }
            _ => {}
        }
    }
    words.len() <= room
}
