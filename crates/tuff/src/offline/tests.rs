//! The figures follow by hand from the shaders' GLSL; how, stands in crates/conformance/src/instrumentation/executables.rs, whose
//! shaders these are: what an application is told of a pipeline and what the tool tells of its file are one thing.

use super::analysis::{Analysis, analyse, lines};
use super::*;
use counters::Model;
use serde_json::Value;
use shader::cost::Cost;
use std::collections::BTreeMap;

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../conformance/shaders/static").join(name)
}

fn load(name: &str) -> Module {
    crate::instrument::module(&file(name)).unwrap()
}

fn analysis(name: &str, stage: Stage) -> Analysis {
    analyse(&load(name), stage, "main", Asked::default(), &g720()).unwrap()
}

fn g720() -> Model {
    Model::load(Some("g720")).unwrap()
}

fn report_of(file: &Path, analysis: Analysis) -> Value {
    let gpu = Gpu { name: "g720".into(), model: g720() };
    let text = json::report(&[Shader { file: file.into(), compiled: false, analysis, gpu: &gpu }]);
    serde_json::from_str(&text).unwrap()
}

fn report(name: &str, stage: Stage) -> Value {
    report_of(&file(name), analysis(name, stage))
}

/// The value of a property in a list of them.
fn property<'a>(list: &'a Value, name: &str) -> &'a Value {
    &list.as_array().unwrap().iter().find(|p| p["name"] == name).unwrap()["value"]
}

fn check_way(performance: &Value, name: &str, cycles: [f64; 7], bound: &[&str]) {
    assert_eq!(performance[name]["cycle_count"], serde_json::json!(cycles), "{name}");
    assert_eq!(performance[name]["bound_pipelines"], serde_json::json!(bound), "{name}");
}

const WAYS: [&str; 3] = ["total_cycles", "shortest_path_cycles", "longest_path_cycles"];

#[test]
fn straight_code_has_one_way() {
    let all = report("straight.comp.spv", Stage::Compute);
    assert_eq!(all["schema"], serde_json::json!({ "name": "performance", "version": 0 }));
    let shader = &all["shaders"][0];
    assert_eq!(shader["shader"], serde_json::json!({ "api": "Vulkan", "type": "Compute" }));
    let variant = &shader["variants"][0];
    assert_eq!(variant["name"], "Main");
    let pipelines =
        ["arith_total", "arith_fma", "arith_cvt", "arith_sfu", "load_store", "varying", "texture"];
    assert_eq!(variant["performance"]["pipelines"], serde_json::json!(pipelines));
    for way in WAYS {
        check_way(&variant["performance"], way, [1.125, 1.0, 0.0, 1.0, 2.0, 0.0, 0.0], &["load_store"]);
    }
    let properties = &variant["properties"];
    assert_eq!(property(properties, "thread_occupancy"), 100);
    assert_eq!(property(properties, "has_stack_spilling"), false);
    assert_eq!(property(&shader["properties"], "has_side_effects"), true);
    assert_eq!(property(&shader["properties"], "has_uniform_computation"), false);
}

#[test]
fn nobody_knows_a_loops_longest_way() {
    let all = report("trips.comp.spv", Stage::Compute);
    let performance = &all["shaders"][0]["variants"][0]["performance"];
    for way in &WAYS[..2] {
        check_way(performance, way, [1.0, 0.25, 0.5, 1.0, 3.0, 0.0, 0.0], &["load_store"]);
    }
    assert_eq!(performance[WAYS[2]]["cycle_count"], serde_json::json!(vec![Value::Null; 7]));
    assert_eq!(performance[WAYS[2]]["bound_pipelines"], serde_json::json!([null]));
}

/// Forty words at once in registers, of which a thread has 64; half of the threads fit.
#[test]
fn registers_decide_who_fits() {
    let a = analysis("many.comp.spv", Stage::Compute);
    let all = report("many.comp.spv", Stage::Compute);
    let properties = &all["shaders"][0]["variants"][0]["properties"];
    assert_eq!(property(properties, "thread_occupancy"), 50);
    assert_eq!(property(properties, "work_registers_used").as_u64(), Some(a.registers.min(64)));
    assert_eq!(property(properties, "stack_spill_bytes").as_u64(), Some(a.registers.saturating_sub(64) * 4));
}

/// Of the products and sums of vec4s of halves and bytes, 8 of 11 instructions are narrow.
#[test]
fn narrow_arithmetic_is_a_share() {
    let all = report("halves.comp.spv", Stage::Compute);
    assert_eq!(property(&all["shaders"][0]["variants"][0]["properties"], "fp16_arithmetic"), 73);
    assert!(
        table::table(&file("x"), &analysis("halves.comp.spv", Stage::Compute), &g720(), Paint(false))
            .contains("\n  16-bit arithmetic     72.727 %\n")
    );
}

/// sqrt(a) * b + 3 follows from push constants: a root (its reciprocal, SFU, times its operand, FMA) and a multiply–add run once. Per fragment: four multiply–adds and
/// a sample, two components interpolated. It ends with two instructions of the CVT: ATEST, and BLEND for its one colour.
#[test]
fn what_follows_from_uniforms_runs_once() {
    let a = analysis("sample.frag.spv", Stage::Fragment);
    let all = report("sample.frag.spv", Stage::Fragment);
    let shader = &all["shaders"][0];
    for way in WAYS {
        let performance = &shader["variants"][0]["performance"];
        check_way(performance, way, [0.75, 0.5, 0.5, 0.0, 0.0, 2.0, 2.0], &["varying", "texture"]);
    }
    assert_eq!(property(&shader["properties"], "has_uniform_computation"), true);
    for no in ["has_side_effects", "modifies_coverage", "uses_late_zs_test", "uses_late_zs_update"] {
        assert_eq!(property(&shader["properties"], no), false, "{no}");
    }
    assert_eq!(a.uniform, 100.0 * 3.0 / (3.0 + 5.0 + 2.0));
    let text = table::table(&file("sample.frag.spv"), &a, &g720(), Paint(false));
    let mut wild = analysis("sample.frag.spv", Stage::Fragment);
    wild.entry = "a\n\x1b[2J".into();
    let named = table::table(Path::new("b\n.spv"), &wild, &g720(), Paint(false));
    assert!(named.starts_with("b\\n.spv: fragment shader a\\n\\x1b[2J, on "), "{named}");
    assert_eq!(named.lines().count(), text.lines().count());
    let last: Vec<_> = text.lines().last().unwrap().split_whitespace().collect();
    assert_eq!(last, ["longest", "path", "0.75", "0.5", "0.5", "0", "0", "2", "2", "varying,", "texture"]);
}

/// Positions need uv, which is doubled (4 CVT, 2 FMA), and two multiply–adds more; what is left needs uv.
#[test]
fn vertices_are_shaded_in_halves() {
    let all = report("sample.vert.spv", Stage::Vertex);
    let shader = &all["shaders"][0];
    assert_eq!(shader["variants"][0]["name"], "Position");
    assert_eq!(shader["variants"][1]["name"], "Varying");
    for way in WAYS {
        let of = |k: usize| &shader["variants"][k]["performance"];
        check_way(of(0), way, [2.0, 0.5, 0.5, 2.0, 0.0, 0.0, 0.0], &["arith_total", "arith_sfu"]);
        check_way(of(1), way, [2.0, 0.25, 0.5, 2.0, 0.0, 0.0, 0.0], &["arith_total", "arith_sfu"]);
    }
    assert_eq!(shader["attribute_streams"], serde_json::json!({ "position": [], "nonposition": [] }));
}

/// Whether there is a compiler of GLSL; says so if there is none.
fn has_compiler() -> bool {
    let all = Language::Glsl.compilers();
    let has = all.iter().any(|c| not_run::has_program(c));
    if !has {
        not_run::say("tuff shader's GLSL", &all.join(" or "));
    }
    has
}

/// The SPIR-V of a file in GLSL.
fn compiled(file: &Path, stage: Stage) -> Vec<u8> {
    let text = std::fs::read_to_string(file).unwrap();
    let request = Request {
        file,
        text: &text,
        on_disk: true,
        language: Language::Glsl,
        stage: Some(stage),
        entry: None,
        defines: &[],
        includes: &[],
        compiler: None,
    };
    languages::compile(&request).unwrap()
}

/// Of sides.comp by its GLSL: which line has which instructions. A line's address is computed where it is first needed.
#[test]
fn lines_have_their_instructions() {
    if !has_compiler() {
        return;
    }
    let bytes = compiled(&file("sides.comp"), Stage::Compute);
    let module = Module::parse(shader::words(&bytes)).unwrap();
    let a = analyse(&module, Stage::Compute, "main", Asked::default(), &g720()).unwrap();
    let all = lines(&a, &module, entry_of(&Some("main".into())), &g720()).unwrap();
    let (mut by_line, mut sum) = (BTreeMap::new(), Cost::FREE);
    for (stretch, cost) in &all {
        sum.add(cost);
        by_line.entry(stretch.line).or_insert(Cost::FREE).add(cost);
    }
    assert_eq!(sum, a.variants[0].ways.total);
    by_line.retain(|_, c| !c.is_free());
    let four = |c: &Cost| [c.fma, c.cvt, c.sfu, c.ls];
    let got: Vec<_> = by_line.iter().map(|(l, c)| (*l, four(c))).collect();
    let want = [
        (10, [0, 0, 1, 1]), // x = a[i], at i << 2
        (11, [0, 1, 0, 0]), // x > 0
        (12, [4, 0, 0, 0]),
        (13, [0, 0, 1, 1]), // b[i] = inversesqrt(x)
        (15, [1, 0, 0, 0]),
        (17, [0, 0, 0, 1]), // result[i] = x
    ];
    assert_eq!(got, want);
    let mut sources = shader::instrument::sources(&module);
    let text = std::fs::read_to_string(file("sides.comp")).unwrap();
    languages::own(&mut sources, &file("sides.comp"), &text);
    let text = table::annotated(&a, &sources, &module, entry_of(&Some("main".into())), &g720(), Paint(false))
        .unwrap();
    let line = |n: usize| text.lines().find(|l| l.contains(&format!("|{n:>5} "))).unwrap();
    let cells = |n: usize| line(n).split('|').next().unwrap().split_whitespace().collect::<Vec<_>>();
    assert_eq!((cells(12), cells(13), cells(1)), (vec!["0.5", "4"], vec!["1", "1", "1"], vec![]));
    assert!(line(12).ends_with("x = fma(x, x, x); x = fma(x, x, x); x = fma(x, x, x); x = fma(x, x, x);"));
}

/// Each has its own result, though all run in one process.
#[test]
fn threads_compile_side_by_side() {
    if !has_compiler() {
        return;
    }
    let compile = || compiled(&file("sides.comp"), Stage::Compute);
    let alone = compile();
    std::thread::scope(|s| {
        let all: Vec<_> = (0..8).map(|_| s.spawn(compile)).collect();
        all.into_iter().for_each(|thread| assert_eq!(thread.join().unwrap(), alone));
    });
}

/// What is interpolated belongs to the block's first line, where the sample is.
#[test]
fn lines_have_their_varyings() {
    if !has_compiler() {
        return;
    }
    let path = client::scratch("test.frag").unwrap();
    let text = "#version 450\nlayout(location=0) in vec2 uv; layout(location=0) out vec4 o;\n\
                layout(set=0,binding=0) uniform sampler2D t;\nvoid main() {\n  vec4 c = texture(t, uv);\n  \
                if (c.a < 0.5) discard;\n  o = c * 2.0;\n}\n";
    std::fs::write(&path, text).unwrap();
    let bytes = compiled(&path, Stage::Fragment);
    std::fs::remove_file(&path).unwrap();
    let module = Module::parse(shader::words(&bytes)).unwrap();
    let a = analyse(&module, Stage::Fragment, "main", Asked::default(), &g720()).unwrap();
    let mut by_line: BTreeMap<u32, Cost> = BTreeMap::new();
    for (stretch, cost) in lines(&a, &module, entry_of(&Some("main".into())), &g720()).unwrap() {
        by_line.entry(stretch.line).or_default().add(&cost);
    }
    by_line.retain(|_, c| !c.is_free() || c.varying > 0);
    let got: Vec<_> = by_line.iter().map(|(l, c)| (*l, [c.tex, c.varying, c.cvt, c.fma])).collect();
    assert_eq!(got, [(5, [1, 2, 0, 0]), (6, [0, 0, 1, 0]), (7, [0, 0, 0, 4])]);
    assert!(a.modifies_coverage && a.late_update && !a.late_test);
}

/// A module without lines: what its blocks cost, in its SPIR-V.
#[test]
fn blocks_stand_in_for_lines() {
    let (m, a) = (load("sides.comp.spv"), analysis("sides.comp.spv", Stage::Compute));
    let text = table::annotated(&a, &[], &m, entry_of(&Some("main".into())), &g720(), Paint(false)).unwrap();
    let blocks: Vec<_> = text.lines().filter(|l| l.contains("  block ")).collect();
    let cells = |l: &str| {
        l.split("block").next().unwrap().split_whitespace().skip(1).map(str::to_string).collect::<Vec<_>>()
    };
    let got: Vec<_> = blocks.iter().map(|l| cells(l)).collect();
    // Before the branch: 2 CVT, a load. The dear side: 4 FMA, a root, a store. The cheap side: an FMA. Behind: a store.
    assert_eq!(got, [vec!["1", "1", "1", "1"], vec!["1", "4", "1", "1"], vec!["0.125", "1"], vec!["1", "1"]]);
    assert!(text.contains(";  cycles  FMA  CVT  SFU  L/S  varying  texture\n"), "{text}");
}

#[test]
fn stages_and_constants_are_read() {
    assert_eq!((stage("frag"), stage("tessellation-control")), (Ok(Stage::Fragment), Ok(Stage::TessControl)));
    assert!(stage("pixel").unwrap_err().contains("vert, tesc, tese"));
    assert_eq!((constant("3=16"), constant("0=-1")), (Ok((3, 16)), Ok((0, u64::MAX))));
    assert_eq!(constant("4=0.5"), Ok((4, 0x3f00_0000)));
    for wrong in ["", "3", "a=1", "3=", "3=x", "3=0.x"] {
        assert!(constant(wrong).is_err(), "{wrong}");
    }
}

/// Shaders of ray tracing pipelines: each stage is read from the file's name, and has a report of its own.
#[test]
fn ray_tracing_stages_are_reported() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../icd/tests/shaders");
    for (name, arm) in [
        ("rgen", "Ray Generation"),
        ("rmiss", "Miss"),
        ("rchit", "Closest Hit"),
        ("rahit", "Any Hit"),
        ("rint", "Intersection"),
        ("rcall", "Callable"),
    ] {
        let path = folder.join(format!("rays.{name}.spv"));
        let module = crate::instrument::module(&path).unwrap();
        let stage = stage(name).unwrap();
        let analysis = analyse(&module, stage, "main", Asked::default(), &g720()).unwrap();
        assert!(analysis.variants[0].ways.total.ls > 0, "{name}: records and payloads are in memory");
        let all = report_of(&path, analysis);
        assert_eq!(all["shaders"][0]["shader"]["type"], arm);
    }
}
