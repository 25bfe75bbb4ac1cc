//! Every operation of the matrix (`benches --matrix`), of every width and in a loop: the same memory on every SIMD level, interpreted
//! and compiled, in waves of every width.

use crate::engine::{self, Memory, Ran};
use shader::ir::Stage;

#[test]
fn operations_of_every_width_are_the_same_everywhere() {
    let mut memory = Memory::new();
    let modules = client::matrix::all_modules();
    for (n, (name, words)) in modules.iter().enumerate() {
        let lanes = [64, 128, 256][n % 3];
        let options = engine::options(Stage::Compute, "main", lanes);
        let program = shader::Module::parse(words).and_then(|m| shader::compile(&m, &options));
        let program = program.unwrap_or_else(|e| panic!("{name}: {e}"));
        match memory.run(&program, n as u64) {
            Ran::Same => {}
            Ran::Stopped => panic!("{name} stopped"),
            Ran::Wrong(what) => panic!("{name}, {lanes} lanes: {what}"),
        }
    }
    assert!(modules.len() > 600, "{}", modules.len());
}
