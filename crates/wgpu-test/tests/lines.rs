//! Source lines of SPIR-V that naga has made: that a line's cost is its own, after calls too, and that no line is made up.

use naga::back::spv;
use shader::Module;
use shader::cost::Cost;
use shader::instrument::{Entry, blocks, by_line};
use shader::options::{Binding, Options};
use std::collections::BTreeMap;

const SOURCE: &str = "\
@group(0) @binding(0) var<storage, read_write> v: array<f32>;
fn cheap(x: f32) -> f32 {
    var y = x;
    if (y > 3.0) { y += 1.0; }
    return y;
}
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let y = cheap(v[id.x]);
    v[id.x] = pow(abs(y), 2.2) + sin(y) + exp(y);
}
";

fn spirv() -> Vec<u32> {
    let module = naga::front::wgsl::parse_str(SOURCE).unwrap();
    let all = naga::valid::ValidationFlags::all();
    let info = naga::valid::Validator::new(all, naga::valid::Capabilities::all()).validate(&module).unwrap();
    let debug = spv::DebugInfo {
        source_code: SOURCE,
        file_name: "call.wgsl",
        language: naga::back::spv::SourceLanguage::WGSL,
    };
    let options = spv::Options { debug_info: Some(debug), ..Default::default() };
    spv::write_vec(&module, &info, &options, None).unwrap()
}

#[test]
fn lines_are_those_of_the_source() {
    let module = Module::parse(spirv()).unwrap();
    let table = blocks(&module, Entry::All).unwrap();
    let lines: Vec<u32> = table.iter().flat_map(|b| b.lines.clone()).collect();
    // (naga says line 1 of what it knows no line of.)
    assert!(lines.contains(&4) && lines.contains(&10) && !lines.contains(&1), "{table:?}");
    let made = by_line(&module, Entry::Named("main", None)).unwrap();
    let binding = |_, b| Some(Binding::new(0, 32 * b, 4));
    let options = Options::new(shader::ir::Stage::Compute, "main", &binding);
    let p = shader::compile(&Module::parse(&made.words).unwrap(), &options).unwrap();
    let mut lines: BTreeMap<u32, Cost> = BTreeMap::new();
    for (stretch, cost) in made.stretches.iter().zip(&p.profile.once) {
        lines.entry(stretch.line).or_default().add(cost);
    }
    let with =
        |of: fn(&Cost) -> u32| -> Vec<u32> { lines.iter().filter(|l| of(l.1) > 0).map(|l| *l.0).collect() };
    // Shifts are the SFU's too: one of no line makes the invocation's index, one the address of line 9's load.
    assert_eq!((with(|c| c.ls), with(|c| c.sfu)), (vec![9, 10], vec![0, 9, 10]), "{lines:?}");
}
