//! Values of other lanes.

use crate::flow;
use crate::module::{Inst, Module, Scalar, op};
use crate::values::{places, repeats, use_instead};
use random::Random;

/// Of `OpGroupNonUniform…`.
const BROADCAST: u32 = 337;
const BROADCAST_FIRST: u32 = 338;
/// And by exclusive or, up and down: the three after it.
const SHUFFLE: u32 = 345;
const QUAD_BROADCAST: u32 = 365;
const QUAD_SWAP: u32 = 366;
/// Additions to exclusive ors, of integers and of floats.
const OF_INTS: [u32; 9] = [349, 351, 353, 354, 356, 357, 359, 360, 361];
const OF_FLOATS: [u32; 4] = [350, 352, 355, 358];
/// GroupNonUniform and what of it is used: arithmetic, ballots, shuffles, quads.
const CAPABILITIES: [u32; 6] = [61, 63, 64, 65, 66, 68];
const CAPABILITY: u32 = 17;
const SUBGROUP: u32 = 3;

/// Something that another lane has of a value, or that all lanes have together, in the value's place.
pub fn across(m: &mut Module, r: &mut Random) -> Option<()> {
    let flows = flow::flows(m);
    let usable = |at: &usize| {
        let i = &m.insts[*at];
        let number =
            m.numbers(i.ty).is_some_and(|(s, _)| matches!(s, Scalar::Int(32, _) | Scalar::Float(32)));
        i.id != 0 && repeats(i) && number && i.op != op::FUNCTION
    };
    let at = *r.of(&places(m, &flows).into_iter().filter(usable).collect::<Vec<_>>())?;
    let id = m.insts[at].id;
    let (ty, (scalar, _)) = (m.insts[at].ty, m.numbers(m.insts[at].ty)?);
    m.at_least([1, 3]);
    for capability in CAPABILITIES {
        let has = m.insts.iter().any(|i| i.op == CAPABILITY && i.args == [capability]);
        if !has {
            m.insts.insert(0, Inst::new(CAPABILITY, 0, 0, &[capability]));
        }
    }
    let word = m.global(op::TYPE_INT, 0, &[32, 0]);
    let scope = m.global(op::CONSTANT, word, &[SUBGROUP]);
    let number = m.global(op::CONSTANT, word, &[r.index(16) as u32]);
    let within = m.global(op::CONSTANT, word, &[r.index(4) as u32]);
    let direction = m.global(op::CONSTANT, word, &[r.index(3) as u32]);
    // What is before it has moved it.
    let at = m.insts.iter().position(|i| i.id == id)?;
    let flows = flow::flows(m);
    let f = flow::around(&flows, at)?;
    let end = f.blocks[f.block(at)?].end;
    let lanes = flow::values(m, f, at + 1, word);
    let lane = r.of(&lanes).copied().filter(|_| r.once_in(2)).unwrap_or(number);
    let new = m.fresh();
    let made = match r.index(8) {
        0 => Inst::new(BROADCAST, ty, new, &[scope, id, number]),
        1 => Inst::new(BROADCAST_FIRST, ty, new, &[scope, id]),
        2..5 => Inst::new(SHUFFLE + r.index(4) as u32, ty, new, &[scope, id, lane]),
        5 => Inst::new(QUAD_BROADCAST, ty, new, &[scope, id, within]),
        6 => Inst::new(QUAD_SWAP, ty, new, &[scope, id, direction]),
        _ => {
            let fit = if matches!(scalar, Scalar::Float(_)) { &OF_FLOATS[..] } else { &OF_INTS };
            // A reduction, or a scan with or without the lane itself.
            Inst::new(*r.of(fit)?, ty, new, &[scope, r.index(3) as u32, id])
        }
    };
    m.insts.insert(at + 1, made);
    use_instead(m, r, at + 2..end + 2, id, new);
    Some(())
}
