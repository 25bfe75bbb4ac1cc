//! Seconds (and counted steps) that shapes of modules take to compile, at doubling sizes; with `--marks`, instrumented.
//! `cargo run --release -p shader --example growth -- [--marks] [NAME [SIZE]]`

#[allow(dead_code, reason = "others use the rest")]
#[path = "../tests/shapes/mod.rs"]
mod shapes;

use shader::Module;
use shader::instrument::{Entry, Form, instrument};

fn main() {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let marks = arguments.first().is_some_and(|a| a == "--marks");
    arguments.drain(..marks as usize);
    let (name, size) = (arguments.first(), arguments.get(1).and_then(|n| n.parse::<u32>().ok()));
    let wanted = |shape: &shapes::Shape| name.is_none_or(|n| n == shape.name);
    for shape in shapes::linear().iter().filter(|s| wanted(s)) {
        let sizes = [shape.large / 4, shape.large / 2, shape.large];
        for n in size.map_or(sizes.to_vec(), |n| vec![n]) {
            time(shape, n, marks);
        }
    }
    for shape in shapes::explosive().iter().filter(|s| wanted(s)) {
        for n in size.map_or(vec![shape.small, shape.large], |n| vec![n]) {
            time(shape, n, marks);
        }
    }
}

fn time(shape: &shapes::Shape, n: u32, marks: bool) {
    let words = (shape.make)(n);
    let started = seconds();
    let made = Module::parse(&words).and_then(|m| match marks {
        true => Module::parse(&instrument(&m, Entry::All, Form::Marks)?.words),
        false => Ok(m),
    });
    let made = made.and_then(|m| shader::compile_counted(&m, &shapes::options()));
    let seconds = seconds() - started;
    let said = match made {
        Ok((p, steps)) => format!("{} ops, {steps} steps", p.code.len()),
        Err(e) => e.to_string(),
    };
    println!("{:40} {n:10} {seconds:9.3} s  {said}", shape.name);
}

/// Of this thread on a core, which others on the machine do not disturb.
fn seconds() -> f64 {
    let all = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = all.split(' ').next().and_then(|n| n.parse::<f64>().ok());
    nanoseconds.unwrap_or(0.0) * 1e-9
}
