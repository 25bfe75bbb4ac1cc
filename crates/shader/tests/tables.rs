//! Constant arrays that are only read are the program's data, which it reads in place.

#[allow(dead_code, reason = "others use the rest")]
mod modules;

use shader::Module;
use shader::bytecode::Program;
use shader::ir::{DescriptorSource, Inst, Place, Shader, Stage};
use std::path::Path;

fn module() -> Module {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tables/tables.spv");
    Module::parse(modules::read(file)).expect("parses")
}

/// The words of `tables.comp`: Knuth's multiples, and points (i, i + 0.5, -i).
fn tables() -> [Vec<u32>; 2] {
    let point = |i: u32| [i as f32, i as f32 + 0.5, 0.0 - i as f32].map(f32::to_bits);
    [(0..32u32).map(|i| i.wrapping_mul(2_654_435_761)).collect(), (0..8).flat_map(point).collect()]
}

/// Which of the data each load of it is from.
fn loads(s: &Shader) -> Vec<u32> {
    let inst = |v: shader::ir::Value| &s.values[v.0 as usize].inst;
    let of = |v: &shader::ir::Value| match inst(*v) {
        Inst::Load { place: Place::Buffer { desc, .. }, flags, .. } => match inst(*desc) {
            Inst::Descriptor { source: DescriptorSource::Data(n), .. } => {
                assert!(flags.read_only, "it may be moved");
                Some(*n)
            }
            _ => None,
        },
        _ => None,
    };
    s.blocks.iter().flat_map(|b| &b.insts).filter_map(of).collect()
}

#[test]
fn what_is_only_read_is_data_and_what_changes_is_private() {
    let options = modules::options(Stage::Compute, "main");
    let s = shader::build::build(&module(), &options).expect("translates");
    assert_eq!(s.data, tables());
    assert_eq!(loads(&s), [0, 1]);
    assert_eq!(s.scratch_words, 20, "the array that changes");
    let text = shader::ir_print::print(&s);
    let again = shader::ir_read::read(&text).expect("reads");
    assert_eq!(again.data, s.data);
}

#[test]
fn a_program_carries_its_data() {
    let options = modules::options(Stage::Compute, "main");
    let p = shader::compile(&module(), &options).expect("compiles");
    let data = |p: &Program| p.data.iter().map(|d| d.words()).collect::<Vec<_>>();
    assert_eq!(data(&p), tables());
    let bytes = p.to_bytes();
    let again = Program::from_bytes(&bytes).expect("they are a program's");
    assert_eq!(data(&again), tables());
    // One whose data is gone.
    let forged = Program { data: vec![], ..p };
    assert!(Program::from_bytes(&forged.to_bytes()).is_none());
}
