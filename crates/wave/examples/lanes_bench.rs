//! Cost of opening a job of a known serial and of running one wave of it.
//! `cargo run --release -p wave --example lanes_bench -- FILE.spv vertex|fragment`

use shader::ir::Stage;
use shader::options::{Binding, Options};
use std::time::Instant;
use wave::{Host, ImageWarp, Job, Level, Table, Worker};

struct NoHost;
impl Host for NoHost {
    unsafe fn image(&self, _: &shader::bytecode::ImageCode, _: &mut ImageWarp) {}
    fn foreign(&self, _: u64, _: u64) -> bool {
        false
    }
    fn clock(&self) -> u64 {
        0
    }
    fn expired(&self) -> bool {
        false
    }
}

fn main() {
    let mut args = std::env::args().skip(1);
    let path = args.next().expect("a .spv file");
    let stage = if args.next().as_deref() == Some("vertex") { Stage::Vertex } else { Stage::Fragment };
    let bytes = std::fs::read(&path).expect("a readable file");
    let words: Vec<u32> =
        bytes.chunks_exact(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect();
    let binding =
        |_, b| Some(Binding { table: 0, offset: 32 * b, stride: 32, count: 1, inline_data: false });
    let options = Options {
        stage,
        entry: "main",
        spec: &[],
        binding: &binding,
        push_bytes: 128,
        lanes: None,
        optimise: true,
    };
    let module = shader::Module::parse(&words).expect("SPIR-V");
    let program = shader::compile(&module, &options).expect("a program");
    let tables = [Table::NONE];
    let job = Job { serial: 1, program: &program, tables: &tables, push: &[0; 128], host: &NoHost, arena: (0, 0) };
    let mut worker = Worker::new(Level::best());
    let n = 1_000_000;
    let t = Instant::now();
    for _ in 0..n {
        std::hint::black_box(worker.open(&job).expect("no fault").count());
    }
    println!("open: {:.1} ns", t.elapsed().as_nanos() as f64 / n as f64);
    let mut lanes = worker.open(&job).expect("no fault");
    let n = 200_000;
    let t = Instant::now();
    for _ in 0..n {
        *lanes.exec() = [0xFFFF; 32];
        *lanes.alive() = [0xFFFF; 32];
        lanes.run().expect("no fault");
    }
    let ns = t.elapsed().as_nanos() as f64 / n as f64;
    println!("run: {ns:.1} ns a wave of {} lanes, {:.3} ns a lane", program.lanes, ns / program.lanes as f64);
}
