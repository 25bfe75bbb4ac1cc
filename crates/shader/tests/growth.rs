//! Compiling takes steps that grow with the shader, and ends in an error that says why where they would be too many.
//! Steps are counted, so no test asks a clock.

mod shapes;

use shader::Module;
use shader::instrument::{Entry, Form, instrument};
use shader::options::{Error, Options};
use shapes::Shape;

/// Steps of a shape, also of one whose code needs more registers than there are.
fn steps(words: &[u32], options: &Options) -> Result<u64, Error> {
    let module = Module::parse(words)?;
    shader::compile_counted(&module, options).map(|made| made.1)
}

fn at(shape: &Shape, n: u32) -> u64 {
    steps(&(shape.make)(n), &shapes::options()).unwrap_or_else(|e| panic!("{} of {n}: {e}", shape.name))
}

/// Shapes of which twice as many may take more than twice the steps, and how much more.
fn allowed(shape: &Shape) -> f64 {
    match shape.name {
        // As many rounds as there are ifs, for each learns from the next one by way of the loop.
        "ifs in a loop, backwards" => 4.5,
        // Each if looks at all ways into the place.
        "switches to one place" => 3.5,
        _ => 2.3,
    }
}

#[test]
fn twice_the_size_takes_about_twice_the_steps() {
    let mut bad = vec![];
    for shape in shapes::linear() {
        let (one, two) = (at(&shape, shape.small), at(&shape, 2 * shape.small));
        let ratio = two as f64 / one as f64;
        if ratio > allowed(&shape) {
            bad.push(format!("{}: {one} steps of {}, {two} of twice as many", shape.name, shape.small));
        }
    }
    assert!(bad.is_empty(), "{bad:#?}");
}

#[test]
fn the_same_module_takes_the_same_steps() {
    for shape in shapes::linear() {
        assert_eq!(at(&shape, shape.small), at(&shape, shape.small), "{}", shape.name);
    }
}

/// What is said of each shape that explodes, at its large size; empty: it compiles.
const OUTCOMES: &[(&str, &str)] = &[
    ("calls that double", "it grows beyond 1048576 instructions when its calls are inlined"),
    ("calls in calls of loops", "loops nested more than 200 deep"),
    ("ifs in ifs, deep", "units of registers, 32767 there are"),
    ("blocks in a row, many", "it grows beyond 1048576 instructions when its calls are inlined"),
    ("an array of empty structs", ""),
    ("copies of 65536 elements", "units of registers, 32767 there are"),
    ("structs that double, empty", ""),
    ("structs that double", "a variable without a size"),
    ("workgroup structs that double", "4294967295 bytes of workgroup memory"),
    ("empty members of members", "120000 private words"),
    ("constants that double", "131072 scalars"),
    ("null constants", "the composites that it makes grow beyond 16777216 scalars"),
    ("types in types", "types nested too deeply"),
    ("arrays of arrays", "a variable without a size"),
    ("ifs in a loop, many", "compiling it takes more than 134217728 steps"),
    ("copies that are many", "it grows beyond 2097152 scalar operations"),
];

#[test]
fn what_explodes_is_refused_with_a_reason() {
    // Not one way down the module may be as deep as the module says: a small stack is enough.
    let small_stack = std::thread::Builder::new().stack_size(1 << 20);
    let run = small_stack.spawn(|| {
        for shape in shapes::explosive() {
            let (_, want) = OUTCOMES.iter().find(|o| o.0 == shape.name).expect("each has an outcome");
            let said = match steps(&(shape.make)(shape.large), &shapes::options()) {
                Ok(_) => String::new(),
                Err(e @ (Error::TooLarge(_) | Error::Invalid { .. })) => e.to_string(),
                Err(e) => panic!("{}: {e}", shape.name),
            };
            assert!(said.contains(want) && said.is_empty() == want.is_empty(), "{}: {said}", shape.name);
            assert!(!said.contains('\n'), "{}: {said}", shape.name);
        }
    });
    run.expect("a thread").join().expect("no panic");
}

#[test]
fn small_ones_of_what_explodes_compile() {
    for shape in shapes::explosive().iter().filter(|s| s.small < s.large) {
        match steps(&(shape.make)(shape.small), &shapes::options()) {
            Ok(_) => {}
            // One copy of 65536 elements at once needs more registers than there are.
            Err(Error::TooLarge(e)) if shape.small == 1 && e.contains("registers") => {}
            Err(e) => panic!("{} of {}: {e}", shape.name, shape.small),
        }
    }
}

#[test]
fn instrumented_and_as_translated_alike() {
    for shape in shapes::linear() {
        let words = (shape.make)(shape.small / 2);
        let plain = Options { optimise: false, ..shapes::options() };
        steps(&words, &plain).unwrap_or_else(|e| panic!("{} as translated: {e}", shape.name));
        let module = Module::parse(&words).expect("parses");
        let marked = instrument(&module, Entry::All, Form::Marks).expect("instruments");
        let made = steps(&marked.words, &shapes::options());
        made.unwrap_or_else(|e| panic!("{} instrumented: {e}", shape.name));
    }
}
