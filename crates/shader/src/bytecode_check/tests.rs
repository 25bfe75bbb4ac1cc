//! Programs that the check refuses.

use super::check;
use crate::bytecode::{Code, Op, Program, Reg, mem_bits};
use crate::ir::{Bin, Mem, RayOp, TraceOp, Ty, Un};
use crate::isa::code::{CODES, Field, FieldKind, ROWS, Words, extension_words};

fn program(code: Vec<Op>) -> Program {
    Program {
        lanes: 64,
        workgroup: [64, 1, 1],
        code,
        units: 8,
        consts: vec![(Reg::uniform(0), Ty::B32, 0)],
        ..Program::empty()
    }
}

#[test]
fn bad_programs_are_found() {
    let end = Op::new(Code::END);
    assert!(check(&program(vec![end])).is_ok());
    assert!(check(&program(vec![])).is_err());
    let mut jump = Op::new(Code::JMP);
    jump.imm = 7;
    assert!(check(&program(vec![jump, end])).is_err());
    let mut mov = Op::new(Code::SETEXEC);
    mov.a = Reg::varying(8);
    mov.imm = 1;
    assert!(check(&program(vec![mov, end])).is_err());
    mov.a = Reg::varying(7);
    assert!(check(&program(vec![mov, end])).is_ok());
    assert!(check(&program(vec![mov])).is_err());
    // A loop that nobody ends.
    assert!(check(&program(vec![Op { imm: 0, ..mov }, end])).is_err());
    // A counter that the program has not, and a constant's register.
    let mut tally = Op::new(Code::TALLY);
    tally.imm = 1;
    assert!(check(&program(vec![tally, end])).is_err());
    let p = program(vec![end]);
    assert!(check(&Program { consts: vec![(Reg::uniform(8), Ty::B32, 0)], ..p }).is_err());
    // Kernels of rows take sixteen registers.
    let list =
        |n: u16| Op::ext(std::array::from_fn(|i| if (i as u16) < n { Reg::varying(0) } else { Reg::NONE }));
    let rows = |n: u8| Op { e: mem_bits(Mem::B32, n), d: Reg::uniform(0), ..Op::new(Code::LD_ROWS_SHARED) };
    assert!(check(&program(vec![rows(16), list(8), list(8), end])).is_ok());
    assert!(check(&program(vec![rows(8), list(8), end])).is_err());
    assert!(check(&program(vec![rows(1), end])).is_err());
    // A jump into an extension word.
    let mut split = Op::new(Code::CMP_SPLIT);
    split.imm = 1;
    assert!(check(&program(vec![split, Op::ext([Reg::NONE; 8]), end])).is_err());
}

/// Ops on uniform registers: two descriptors' places, then others.
fn with_handles(code: Vec<Op>) -> Program {
    Program { handles: 4, consts: vec![], ..program(code) }
}

#[test]
fn numbers_are_no_descriptors() {
    let [one, two, number, other] = [0, 2, 4, 6].map(Reg::uniform);
    let end = Op::new(Code::END);
    let ok = |ops: &[Op]| check(&with_handles([ops, &[end]].concat())).is_ok();
    let desc = |d| [Op { d, ..Op::new(Code::DESC) }, Op::ext([Reg(0); 8])];
    let size = |b| Op { d: number, b, ..Op::new(Code::BUF_SIZE) };
    let mov = |d, a| Op { d, a, ..Op::new(Code::un(Un::Mov, Ty::B64)) };
    assert!(ok(&[&desc(one)[..], &[size(one)]].concat()));
    assert!(ok(&[&desc(one)[..], &[mov(two, one), size(two)]].concat()));
    assert!(!ok(&[size(number)]), "a number is followed");
    assert!(!ok(&desc(number)), "an address among the numbers");
    assert!(!ok(&[mov(one, number)]), "a number among the addresses");
    assert!(!ok(&[mov(number, one)]), "an address as a number");
    assert!(!ok(&[&desc(Reg::uniform(1))[..], &[size(one)]].concat()), "half of one and half of another");
    assert!(!ok(&[&desc(one)[..], &[size(Reg::varying(0))]].concat()), "as if each lane had its own");
    let sum = |d| Op { d, a: number, b: other, ..Op::new(Code::bin(Bin::IAdd, Ty::B32)) };
    assert!(ok(&[sum(number)]) && !ok(&[sum(one)]));
    // Whether two are the same may be asked.
    assert!(ok(&[Op { d: number, a: one, b: two, ..Op::new(Code::bin(Bin::IEq, Ty::B64)) }]));
}

/// Each op with each of its registers missing: where the row says that it must be there, the check says so.
#[test]
fn registers_that_an_op_needs_are_there() {
    let end = Op::new(Code::END);
    for &(code, name, layout) in CODES {
        let special = [
            Code::SEGMENT,
            Code::QUAD_SEGMENT,
            Code::REGION,
            Code::IMAGE,
            Code::LOOP_NEXT,
            Code::PROBE,
            Code::PROBE_BUF,
            Code::NOTE,
        ];
        if special.contains(&code) {
            continue;
        }
        let reg = |kind| if kind == FieldKind::Handle { Reg::uniform(0) } else { Reg::uniform(6) };
        let [d, a, b, c, _] = layout.kinds.map(reg);
        // What the op's other fields must say for the check to look at its registers.
        let listed = |n: usize| ((n - 1) << 3) as u16;
        let (e, number) = match code {
            Code::CMP_SPLIT | Code::CMP_SPLIT_RARE | Code::CMP_PARK | Code::CMP_JMP => (Bin::FLt as u16, 0),
            Code::RAY_BEGIN => (listed(RayOp::BEGIN_OPERANDS - 1), 0),
            Code::RAY_STEP => (0, RayOp::STEPS.iter().position(|s| *s == RayOp::Generate).unwrap() as u32),
            Code::TRACE => (listed(TraceOp::Trace.operands() + 2), 0),
            c if c.one_row().is_some() => (listed(ROWS), 0),
            _ => (0, 0),
        };
        let words = extension_words(&Op { e, ..Op::new(code) });
        let imm = if layout.label { 1 + words as u32 } else { number };
        let full = Op { d, a, b, c, imm, e, ..Op::new(code) };
        let ok = |op: Op| {
            check(&with_handles([&[op][..], &vec![Op::ext([Reg(0x8006); 8]); words], &[end]].concat()))
        };
        // DESC's word says nothing else than zeros here.
        if layout.words != Words::Data {
            assert!(ok(full).is_ok(), "{name}: {:?}", ok(full));
        }
        let fields = [layout.d, layout.a, layout.b, layout.c];
        let without = [
            Op { d: Reg::NONE, ..full },
            Op { a: Reg::NONE, ..full },
            Op { b: Reg::NONE, ..full },
            Op { c: Reg::NONE, ..full },
        ];
        for ((op, field), kind) in without.into_iter().zip(fields).zip(layout.kinds) {
            if field != Field::None && kind != FieldKind::Optional {
                assert!(ok(op).is_err(), "{name} without a register");
            }
        }
    }
}
