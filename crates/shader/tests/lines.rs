//! Which block and line of the application's each op is of, after calls that were inlined, in each form that compilers write lines in.

use shader::bytecode::{Code, Program};
use shader::cost::Cost;
use shader::instrument::{Block, Entry, Form, blocks, by_line, instrument};
use shader::options::{Binding, Options};
use shader::{Module, words};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Of call.comp: lines that load and store floats, and what holds the roots and powers.
const LOADS: [u32; 2] = [11, 16];
const STORES: [u32; 2] = [18, 20];
const ROOTS: u32 = 18;
/// What asks for the invocation's number.
const NUMBER: u32 = 15;

fn module(name: &str) -> Module {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lines").join(name);
    Module::parse(words(&std::fs::read(path).unwrap())).unwrap()
}

fn compile(m: &Module, optimise: bool) -> Program {
    let binding = |_, b| Some(Binding::new(0, 32 * b, 4));
    let options = Options { optimise, ..Options::new(shader::ir::Stage::Compute, "main", &binding) };
    shader::compile(m, &options).unwrap()
}

/// File and line of each op of this code, and the label of its block.
fn places(p: &Program, code: Code) -> BTreeSet<(String, u32, u32)> {
    let ops = p.code.iter().enumerate().filter(|(_, op)| op.code == code);
    let place = |(at, _)| {
        let range = p.blocks.partition_point(|b| b.first_op as usize <= at) - 1;
        let o = p.blocks[range].origin;
        (p.files[o.file as usize].clone(), o.line, o.label)
    };
    ops.map(place).collect()
}

#[test]
fn what_may_lose_a_device_has_its_own_line() {
    for (form, optimise) in ["g", "gV", "gVS"].iter().flat_map(|f| [(f, false), (f, true)]) {
        let m = module(&format!("call.{form}.spv"));
        let table = blocks(&m, Entry::All).unwrap();
        let p = compile(&m, optimise);
        for (code, want) in [(Code::LD_GLOBAL, LOADS), (Code::ST_GLOBAL, STORES)] {
            let got = places(&p, code);
            let lines: Vec<u32> = got.iter().map(|g| g.1).collect();
            assert_eq!(lines, want, "-{form} {code:?}");
            for (file, line, label) in got {
                assert_eq!(file, "call.comp");
                // The block is the one whose line that is, not its callee's.
                let block = table.iter().find(|b| b.label == label).unwrap();
                assert!(block.lines.contains(&line), "-{form} {code:?}: line {line} in {block:?}");
            }
        }
    }
}

/// Without lines there are blocks, and they are the caller's again after a call.
#[test]
fn what_may_lose_a_device_has_its_own_block() {
    let m = module("call.spv");
    let table = blocks(&m, Entry::All).unwrap();
    let functions = |code| -> Vec<String> {
        let of = |label: u32| table.iter().find(|b| b.label == label).unwrap().function_name.clone();
        places(&compile(&m, true), code).iter().map(|p| of(p.2)).collect()
    };
    assert_eq!(functions(Code::ST_GLOBAL), ["main", "main"]);
    let mut loads = functions(Code::LD_GLOBAL);
    loads.sort();
    assert_eq!(loads, ["either(f1;", "main"]);
}

/// A block's cost after a call is its own; the call does not count it once more.
#[test]
fn a_block_goes_on_after_a_call() {
    for (form, optimise) in
        [("call.spv", true), ("call.spv", false), ("call.g.spv", true), ("call.gVS.spv", true)]
    {
        let m = module(form);
        let made = instrument(&m, Entry::Named("main", None), Form::Marks).unwrap();
        let p = compile(&Module::parse(&made.words).unwrap(), optimise);
        let cost = |b: &Block| p.profile.once[b.index as usize];
        let of = |name: &'static str| made.blocks.iter().filter(move |b| b.function_name.starts_with(name));
        // Cosines, powers and roots are main's first block's; so are a load and a store. Its loop has the other.
        let first = of("main").next().unwrap();
        assert_eq!((cost(first).ls, of("main").map(|b| cost(b).ls).sum::<u32>()), (2, 3), "{form}");
        assert!(cost(first).sfu >= 4, "{form}: {:?}", cost(first));
        if form != "call.spv" {
            assert!(first.lines.contains(&ROOTS), "{form}: {first:?}");
        }
        for b in of("cheap").chain(of("either")) {
            assert_eq!(cost(b).sfu, 0, "{form}: {b:?}");
        }
        assert_eq!(of("either").map(|b| cost(b).ls).sum::<u32>(), 1, "{form}");
        // Executions: of a block that is inlined once, by one place alone.
        let entries = |b: &Block| p.profile.marks.iter().filter(|u| u.entry && u.mark == b.index).count();
        if !optimise {
            assert_eq!((entries(first), of("cheap").map(entries).max()), (1, Some(3)), "{form}");
        }
    }
}

/// What each line costs is its own, in the caller and in what it calls.
#[test]
fn lines_have_their_own_cost() {
    for form in ["g", "gV", "gVS"] {
        let made = by_line(&module(&format!("call.{form}.spv")), Entry::Named("main", None)).unwrap();
        let p = compile(&Module::parse(&made.words).unwrap(), true);
        let mut lines: BTreeMap<u32, Cost> = BTreeMap::new();
        for (stretch, cost) in made.stretches.iter().zip(&p.profile.once) {
            lines.entry(stretch.line).or_default().add(cost);
        }
        let with = |of: fn(&Cost) -> u32| -> Vec<u32> {
            lines.iter().filter(|l| of(l.1) > 0).map(|l| *l.0).collect()
        };
        assert_eq!(with(|c| c.ls), [LOADS[0], LOADS[1], STORES[0], STORES[1]], "-{form}");
        // A shift is an SFU instruction: of the workgroup's number, once, and of the 64 bits of i and k + 64 by which memory is indexed.
        assert_eq!(with(|c| c.sfu), [NUMBER, LOADS[1], ROOTS, STORES[1]], "-{form}");
        assert_eq!([NUMBER, LOADS[1], STORES[1]].map(|l| lines[&l].sfu), [1, 2, 2], "-{form}");
    }
}
