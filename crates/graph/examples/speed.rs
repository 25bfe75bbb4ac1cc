//! How long convolutions 3 × 3 take on an image of 128 × 128 of 64 channels, on one thread and on two: to 64 channels, and of each channel
//! by itself.

use graph::{Alone, Graph, Node, Op, Plan, Pool, Port, Tensor, Type, Value};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

struct Two;

impl Pool for Two {
    fn run(&self, tasks: u64, each: &(dyn Fn(u64) + Sync)) {
        let next = AtomicU64::new(0);
        let work = || {
            loop {
                let task = next.fetch_add(1, Relaxed);
                if task >= tasks {
                    return;
                }
                each(task);
            }
        };
        std::thread::scope(|s| {
            s.spawn(work);
            work();
        });
    }
}

fn constant(ty: Type, shape: &[u32], bytes: Vec<u8>) -> Value {
    Value { ty, shape: shape.to_vec(), constant: Some(bytes.into()) }
}

/// Elements that are no denormal numbers.
fn some(ty: Type, n: usize) -> Vec<u8> {
    let of_float = |i: usize| ((i % 53) as f32 / 64.0).to_le_bytes();
    match ty {
        Type::F32 => (0..n).flat_map(of_float).collect(),
        _ => (0..n * ty.bytes()).map(|i| (i % 53) as u8 & 0x3b).collect(),
    }
}

fn plan(op: &str, ty: Type, out: Type, acc: i32) -> Plan {
    let ints =
        |v: &[i32]| constant(Type::I32, &[v.len() as u32], v.iter().flat_map(|i| i.to_le_bytes()).collect());
    let zeros = |ty: Type, shape: &[u32]| {
        let n = shape.iter().product::<u32>() as usize * ty.bytes();
        constant(ty, shape, vec![0; n])
    };
    let image = [1, 128, 128, 64];
    let mut g = Graph::default();
    let weight: &[u32] = if op == "CONV2D" { &[64, 3, 3, 64] } else { &[3, 3, 64, 1] };
    let count = weight.iter().product::<u32>() as usize;
    let acc = Value { shape: vec![], ..ints(&[acc]) };
    g.values = vec![
        ints(&[1; 4]),
        ints(&[1; 2]),
        ints(&[1; 2]),
        acc,
        Value { shape: vec![], ..zeros(Type::Bool, &[1]) },
        Value { ty, shape: image.to_vec(), constant: None },
        constant(ty, weight, some(ty, count)),
        zeros(out, &[64]),
        zeros(ty, &[1]),
        zeros(ty, &[1]),
        Value { ty: out, shape: image.to_vec(), constant: None },
    ];
    let conv = (0..).map_while(Op::of).find(|o| o.name() == op).expect("an operator");
    g.nodes = vec![Node { op: conv, operands: (0..10).collect(), results: vec![10] }];
    let port = |binding| Port { set: 0, binding, element: 0 };
    (g.inputs, g.outputs) = (vec![(port(0), 5)], vec![(port(1), 10)]);
    Plan::new(g).expect("a graph")
}

fn main() {
    let types = [(Type::F32, Type::F32, 3), (Type::F16, Type::F16, 3), (Type::I8, Type::I32, 1)];
    for (op, (ty, out, acc)) in ["CONV2D", "DEPTHWISE_CONV2D"].iter().flat_map(|op| types.map(|t| (op, t))) {
        let plan = plan(op, ty, out, acc);
        let products = plan.costs().map(|c| c.products).sum::<u64>() as f64;
        let tensor = |bytes: &mut Vec<u8>, size: u64| {
            // SAFETY: the vector's bytes, which live until the run has ended.
            unsafe {
                Tensor::new(
                    bytes.as_mut_ptr(),
                    bytes.len() as u64,
                    [1u64 << 20, 8192, 64, 1].iter().map(|s| s * size).collect(),
                )
            }
        };
        let n = 128 * 128 * 64;
        let mut from = some(ty, n);
        let (mut to, mut room) = (vec![0; n * out.bytes()], vec![0; plan.bytes() as usize]);
        for (threads, pool) in [(1, &Alone as &dyn Pool), (2, &Two)] {
            let mut best = f64::MAX;
            for _ in 0..5 {
                let (input, output) =
                    (tensor(&mut from, ty.bytes() as u64), tensor(&mut to, out.bytes() as u64));
                let began = Instant::now();
                plan.run(&[input], &[output], &tensor(&mut room, 1), pool, &|| false).expect("a run");
                best = best.min(began.elapsed().as_secs_f64() * 1e3);
            }
            let rate = products / best / 1e6;
            println!("{op}, {ty:?}, {threads} threads: {best:.1} ms, {rate:.1} billion products a second");
        }
    }
}
