//! Seconds that shapes of modules take to compile, at doubling sizes.
//! `cargo run --release -p shader --example growth -- [NAME [SIZE]]`

#[allow(dead_code, reason = "others use the rest")]
#[path = "../tests/shapes/mod.rs"]
mod shapes;

use std::time::Instant;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next();
    let size: Option<u32> = arguments.next().and_then(|n| n.parse().ok());
    for (shape, double) in shapes::linear().iter().map(|s| (s, true)).chain(shapes::explosive().iter().map(|s| (s, false))) {
        if name.as_ref().is_some_and(|n| n != shape.name) {
            continue;
        }
        let mut n = size.unwrap_or(if double { shape.large / 4 } else { shape.small });
        loop {
            time(shape.name, &(shape.make)(n), n);
            let next = if double { n.saturating_mul(2) } else { shape.large };
            if size.is_some() || n >= shape.large {
                break;
            }
            n = next;
        }
    }
}

fn time(name: &str, words: &[u32], n: u32) {
    let started = Instant::now();
    let made = shader::Module::parse(words).and_then(|m| shader::compile(&m, &shapes::options()));
    let seconds = started.elapsed().as_secs_f64();
    let said = match made {
        Ok(p) => format!("{} ops", p.code.len()),
        Err(e) => e.to_string(),
    };
    println!("{name:40} {n:10} {seconds:9.3} s  {said}");
}
