//! Cooperative matrices and vectors: modules that ask for what cannot be are errors that say so.

#[allow(dead_code, reason = "others use the rest")]
mod modules;

use shader::{Module, compile};
use spirv::Op;

/// A change of a module's words.
enum Change {
    /// Word k of the first instruction of a kind.
    Word(Op, usize, u32),
    /// The first instruction of a kind is so many words shorter.
    Cut(Op, usize),
    /// The constant of a value has another.
    Constant(u32, u32),
}

fn words(name: &str) -> Vec<u32> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../conformance/shaders/matrices");
    modules::read(format!("{folder}/{name}.spv"))
}

/// Where the instructions of a kind begin.
fn all(words: &[u32], op: Op) -> Vec<usize> {
    let mut at = 5;
    let mut found = vec![];
    while at < words.len() {
        if words[at] & 0xFFFF == op as u32 {
            found.push(at);
        }
        at += (words[at] >> 16) as usize;
    }
    found
}

/// The id that an OpName gives a name to.
fn named(words: &[u32], name: &str) -> u32 {
    let mut bytes = name.as_bytes().to_vec();
    bytes.push(0);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    let text = shader::words(&bytes);
    let is = |at: &usize| words[at + 2..].starts_with(&text);
    words[all(words, Op::Name).into_iter().find(is).expect("a name") + 1]
}

fn changed(mut words: Vec<u32>, change: &Change) -> Vec<u32> {
    match *change {
        Change::Word(op, k, to) => {
            let at = all(&words, op)[0];
            words[at + k] = to;
        }
        Change::Cut(op, by) => {
            let at = all(&words, op)[0];
            let n = (words[at] >> 16) as usize;
            words[at] -= (by as u32) << 16;
            words.drain(at + n - by..at + n);
        }
        Change::Constant(from, to) => {
            let found = all(&words, Op::Constant).into_iter().find(|at| words[at + 3] == from);
            words[found.expect("a constant") + 3] = to;
        }
    }
    words
}

/// What is said of a module.
fn said(words: &[u32]) -> String {
    let made =
        Module::parse(words).and_then(|m| compile(&m, &modules::options(shader::ir::Stage::Compute, "main")));
    made.map_or_else(|e| e.to_string(), |_| "compiles".into())
}

#[test]
fn whole_ones_compile() {
    for name in ["matrices", "tensors", "workgroup", "vectors"] {
        assert_eq!(said(&words(name)), "compiles", "{name}");
    }
}

#[test]
fn what_cannot_be_is_an_error() {
    use Change::*;
    let m = words("matrices");
    let [main, place, sum] = ["main", "place(u1;u1;f1;f1;f1;", "sum(f1;f1;"].map(|n| named(&m, n));
    let t = words("tensors");
    let number =
        |n: u32| t[all(&t, Op::Constant).into_iter().find(|at| t[at + 3] == n).expect("a constant") + 2];
    let element = Op::CooperativeMatrixPerElementOpNV;
    let reduce = Op::CooperativeMatrixReduceNV;
    let load = Op::CooperativeMatrixLoadTensorNV;
    let rows: &[(&str, Change, &str)] = &[
        ("matrices", Constant(48, 0), "cooperative matrices of 32 × 0"),
        ("matrices", Constant(48, 0x8000_0000), "cooperative matrices of 32 × 2147483648"),
        ("matrices", Constant(48, 36), "cooperative matrices of 32 × 36"),
        ("matrices", Word(element, 4, main), "recursion"),
        ("matrices", Word(element, 4, sum), "parameter 0 of the function is of another type"),
        ("matrices", Word(element, 4, 1), "the callee is not a function"),
        ("matrices", Cut(element, 1), "the wrong number of arguments"),
        ("matrices", Word(reduce, 5, place), "parameter 0 of the function is of another type"),
        ("matrices", Word(reduce, 4, 0), "mode 0"),
        ("matrices", Word(reduce, 4, 6), "mode 6"),
        ("matrices", Word(reduce, 4, 2), "the matrices' shapes do not fit"),
        ("matrices", Cut(reduce, 1), "has only 5 words"),
        ("matrices", Word(Op::CooperativeMatrixTransposeNV, 3, main), "id"),
        ("tensors", Word(Op::TypeTensorLayoutNV, 2, number(100)), "100 dimensions"),
        ("tensors", Word(Op::TypeTensorLayoutNV, 3, number(100)), "clamp mode 100"),
        ("tensors", Word(Op::TypeTensorViewNV, 4, number(100)), "no permutation"),
        ("tensors", Cut(Op::TypeTensorViewNV, 1), "the permutation is of another number of dimensions"),
        ("tensors", Cut(Op::TensorLayoutSetDimensionNV, 1), "another number of operands than of dimensions"),
        ("tensors", Cut(Op::TensorLayoutSliceNV, 1), "another number of operands than of dimensions"),
        ("tensors", Word(load, 7, 4), "unknown tensor addressing operands"),
        ("tensors", Word(load, 7, 1), "lacks operand 8"),
        ("tensors", Word(load, 6, 2), "lacks operand"),
        ("tensors", Word(load, 5, number(100)), "no tensor layout"),
    ];
    for (k, (name, change, what)) in rows.iter().enumerate() {
        let error = said(&changed(words(name), change));
        assert!(error.contains(what), "row {k}: {error}");
    }
}

#[test]
fn vectors_that_cannot_be_are_errors() {
    use Change::*;
    let m = words("vectors");
    let [half, local, x, packed, boolean, number] =
        ["half", "local", "x", "packed", "bool", "number"].map(|n| named(&m, n));
    let constant =
        |n: u32| m[all(&m, Op::Constant).into_iter().find(|at| m[at + 3] == n).expect("a constant") + 2];
    let [ty, load, store] = [Op::TypeVectorIdEXT, Op::CooperativeVectorLoadNV, Op::CooperativeVectorStoreNV];
    let [product, sum] = [Op::CooperativeVectorMatrixMulNV, Op::CooperativeVectorMatrixMulAddNV];
    let [outer, reduce] =
        [Op::CooperativeVectorOuterProductAccumulateNV, Op::CooperativeVectorReduceSumAccumulateNV];
    let rows: &[(Change, &str)] = &[
        (Constant(20, 0), "bad component type or count"),
        (Constant(20, 1025), "a cooperative vector of 1025 components"),
        (Constant(20, u32::MAX), "a cooperative vector of 4294967295 components"),
        (Word(ty, 3, number), "id"),
        (Word(ty, 2, packed), "id"),
        (Word(ty, 2, boolean), "no cooperative vector"),
        (Cut(ty, 1), "has only 3 words"),
        (Word(load, 1, half), "no cooperative vector"),
        (Word(load, 3, x), "id"),
        (Word(load, 3, local), "a pointer to Function is used without its type"),
        (Word(load, 4, boolean), "id"),
        (Cut(load, 1), "has only 4 words"),
        (Word(store, 1, packed), "pointer"),
        (Word(store, 3, boolean), "id"),
        (Cut(store, 1), "has only 3 words"),
        // Bytes as 64-bit floats; 16-bit floats that are bytes; a matrix of another size, and layout.
        (Word(sum, 4, constant(2)), "an input vector of this type"),
        (Word(sum, 7, constant(2)), "a product of such a matrix and cooperative vector"),
        (Word(sum, 10, constant(3)), "a product of such a matrix and cooperative vector"),
        (Word(sum, 11, constant(64)), "a matrix of 64 × 20 for a vector of 20"),
        (Word(sum, 12, constant(64)), "an input vector of 20 components for a matrix of 64 columns"),
        (Word(sum, 12, constant(1_000_491_000)), "a matrix of 20 × 1000491000 for a vector of 20"),
        (Word(sum, 13, constant(64)), "layout 64"),
        (Word(sum, 13, number), "constant"),
        (Word(sum, 14, number), "Transpose is no constant"),
        (Word(sum, 3, number), "an input vector of 1 components for a matrix of 20 columns"),
        (Word(sum, 5, local), "a pointer to Function is used without its type"),
        (Cut(sum, 3), "has only 14 words"),
        (Word(product, 3, x), "an input vector of"),
        (Word(product, 9, constant(20)), "an input vector of 2 components for a matrix of 20 columns"),
        (Cut(product, 2), "a product of such a matrix and cooperative vector"),
        (Word(outer, 3, packed), "operand 3 has the wrong type"),
        (Word(outer, 5, constant(2)), "compiles"),
        (Word(outer, 5, constant(7)), "layout 7"),
        (Word(outer, 6, constant(3)), "sums over invocations of this type"),
        (Word(outer, 6, constant(64)), "no such elements"),
        (Cut(outer, 3), "has only 5 words"),
        (Word(reduce, 3, packed), "operand 3 has the wrong type"),
        (Word(reduce, 1, local), "a pointer to Function is used without its type"),
    ];
    let wrong = rows.iter().enumerate().filter_map(|(k, (change, what))| {
        let error = said(&changed(m.clone(), change));
        (!error.contains(what)).then(|| format!("row {k}, not {what}: {error}"))
    });
    assert_eq!(wrong.collect::<Vec<_>>(), Vec::<String>::new());
}
