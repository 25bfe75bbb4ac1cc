//! What positions need of a vertex program, and what its other outputs do: costs by hand, from the rows of `isa`.

#[allow(dead_code, reason = "others use the rest")]
mod modules;

use shader::cost::{Cost, Half};
use shader::ir::Stage;
use shader::ir_read::read;
use shader::lower::lower;

/// FMA, CVT, SFU and load/store instructions of everything once, and locations of attributes: of positions, and of the rest.
fn halves(text: &str) -> Option<[([u32; 4], Vec<u16>); 2]> {
    let s = read(text).expect("IR");
    let p = lower(&s, &modules::options(s.stage, "")).expect("lowers");
    let sum = |costs: &[Cost]| {
        let mut sum = Cost::FREE;
        costs.iter().for_each(|c| sum.add(c));
        [sum.fma, sum.cvt, sum.sfu, sum.ls]
    };
    let half = |h: &Half| {
        assert_eq!(h.costs.len(), p.profile.counters.len());
        (sum(&h.costs), h.attributes.clone())
    };
    p.profile.halves.as_ref().map(|h| [half(&h.position), half(&h.others)])
}

#[test]
fn what_both_need_both_have() {
    // An addition for both; a multiplication for the position; two roots, an FMA and an SFU each, for the rest.
    let text = "Vertex [1, 1, 1]
b0:
    %0: B32 = FAdd Varying(0), Varying(1)
    %1: B32 = FMul %0, %0
    %2: B32 = FSqrt %0
    %3: B32 = FSqrt Varying(4)
    output 4096 = %1
    output 0 = %2
    output 1 = %3
    return
";
    assert_eq!(halves(text), Some([([2, 0, 0, 0], vec![0]), ([3, 0, 2, 0], vec![0, 1])]));
}

#[test]
fn a_branch_belongs_to_what_it_decides() {
    let text = "Vertex [1, 1, 1]
b0: selection, merge b2
    %0: Bool = SLt Varying(0), 0
    if %0 b1 else b2
b1:
    %1: B32 = FSqrt Varying(4)
    jump b2
b2:
    %2: B32 = phi b0 Varying(5), b1 %1
    output 4096 = Varying(8)
    output 0 = %2
    return
";
    assert_eq!(halves(text), Some([([0, 0, 0, 0], vec![2]), ([1, 1, 1, 0], vec![0, 1])]));
}

#[test]
fn a_loop_belongs_to_all_that_it_repeats() {
    // Its comparison, by either way there, and its count; an addition for the position, a root for the rest.
    let text = "Vertex [1, 1, 1]
b0:
    jump b1
b1: loop, merge b3 continue b2
    %0: B32 = phi b0 0, b2 %3
    %1: B32 = phi b0 0, b2 %4
    %2: B32 = phi b0 0, b2 %5
    %6: Bool = SLt %0, Varying(0)
    if %6 b2 else b3
b2:
    %3: B32 = IAdd %0, 1
    %4: B32 = FAdd %1, Varying(4)
    %5: B32 = FSqrt %2
    jump b1
b3:
    output 4096 = %1
    output 0 = %2
    return
";
    assert_eq!(halves(text), Some([([1, 3, 0, 0], vec![0, 1]), ([1, 3, 1, 0], vec![0])]));
    // Whoever leaves it from within decides of it too.
    let broken = "Vertex [1, 1, 1]
b0:
    jump b1
b1: loop, merge b4 continue b3
    %0: B32 = phi b0 0, b3 %3
    %1: B32 = phi b0 0, b3 %4
    %6: Bool = SLt %0, Varying(0)
    if %6 b2 else b4
b2: selection, merge b3
    %4: B32 = FAdd %1, Varying(4)
    %7: Bool = SLt %4, Varying(8)
    if %7 b4 else b3
b3:
    %3: B32 = IAdd %0, 1
    jump b1
b4:
    output 4096 = Varying(12)
    output 0 = %0
    return
";
    // The header's comparison twice, the other one, a count, and the sum that is compared.
    assert_eq!(halves(broken), Some([([0, 0, 0, 0], vec![3]), ([1, 4, 0, 0], vec![0, 1, 2])]));
}

#[test]
fn memory() {
    // What others see is written with positions; own words belong to who reads them.
    let text = "Vertex [1, 1, 1]
shared 0 bytes, scratch 4 words
b0:
    %0: B64 = descriptor 0.0[0]
    %1: B32 = FAdd Varying(0), 1
    store B32 scratch[0 + 0] = %1
    %2: B32 = load 1×B32 scratch[0 + 0]
    %3: B32 = FMul Varying(4), 2
    store B32 buffer %0[Varying(4) + 0] = %3
    output 4096 = Varying(8)
    output 0 = %2
    return
";
    assert_eq!(halves(text), Some([([1, 0, 0, 1], vec![1, 2]), ([1, 0, 0, 2], vec![0])]));
}

#[test]
fn what_cannot_be_told_apart() {
    let vertex = |end: &str| {
        format!(
            "Vertex [1, 1, 1]
b0:
    %0: B64 = descriptor 0.0[0]
    %1: B32 = atomic IAdd B32 buffer %0[0 + 0] 1
    %2: B32 = FAdd Varying(0), 1
{end}    return
"
        )
    };
    // A position alone; an atomic's result for others, which must not be done twice; for the position it may be.
    assert_eq!(halves(&vertex("    output 4096 = %2\n")), None);
    assert_eq!(halves(&vertex("    output 4096 = %2\n    output 0 = %1\n")), None);
    let text = vertex("    output 4096 = %1\n    output 0 = %2\n");
    assert_eq!(halves(&text), Some([([0, 0, 0, 1], vec![]), ([1, 0, 0, 0], vec![0])]));
    let fragment = text.replace("Vertex", "Fragment").replace("4096", "1");
    let s = read(&fragment).expect("IR");
    assert_eq!(s.stage, Stage::Fragment);
    assert_eq!(halves(&fragment), None);
}
