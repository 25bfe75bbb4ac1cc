//! Compares what rays hit on two drivers, by ray tracing pipelines: the rays of `benches --only rays`. `hits FILE` writes rays and hits;
//! `hits FILE OTHER` traces the rays of another driver's file and says how many hits differ.

use client::context::Context;
use client::rays::{self, Traced};
use client::{Error, Result};
use std::path::Path;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (file, other) = match &arguments[..] {
        [file] => (file, None),
        [file, other] => (file, Some(read(Path::new(other))?)),
        _ => return Err(Error("hits FILE [OTHER]".into())),
    };
    let context = Context::staged()?;
    println!("{}", context.device_name());
    let given = other.as_ref().map(|all| [0, 1, 2].map(|k| all[k].iter().map(|t| t.0).collect()));
    let all = rays::hits(&context, given)?;
    write(Path::new(file), &all)?;
    if let Some(other) = other {
        compare(&all, &other);
    }
    Ok(())
}

fn write(file: &Path, all: &[Vec<Traced>; 3]) -> Result<()> {
    let words = all.iter().flat_map(|list| {
        let each = list.iter().flat_map(|(ray, hit)| ray.map(f32::to_bits).into_iter().chain(*hit));
        std::iter::once(list.len() as u32).chain(each)
    });
    let bytes: Vec<u8> = words.flat_map(u32::to_le_bytes).collect();
    std::fs::write(file, bytes).map_err(|e| Error::file(file, e))
}

fn read(file: &Path) -> Result<[Vec<Traced>; 3]> {
    let words = client::words(&std::fs::read(file).map_err(|e| Error::file(file, e))?);
    let (mut all, mut rest) = ([const { vec![] }; 3], &words[..]);
    for list in &mut all {
        let Some((count, more)) = rest.split_first() else { break };
        let (own, after) = more.split_at((*count as usize * 10).min(more.len()));
        let traced = |w: &[u32; 10]| (std::array::from_fn(|k| f32::from_bits(w[k])), [w[8], w[9]]);
        *list = own.as_chunks::<10>().0.iter().map(traced).collect();
        rest = after;
    }
    Ok(all)
}

fn compare(a: &[Vec<Traced>; 3], b: &[Vec<Traced>; 3]) {
    for (name, (a, b)) in ["primary", "shadow", "diffuse"].iter().zip(a.iter().zip(b)) {
        let t = |hit: &[u32; 2]| f32::from_bits(hit[0]);
        let both = || a.iter().map(|t| &t.1).zip(b.iter().map(|t| &t.1));
        let one_side = both().filter(|(a, b)| (t(a) >= 0.0) != (t(b) >= 0.0)).count();
        let hit = || both().filter(|(a, b)| t(a) >= 0.0 && t(b) >= 0.0);
        let triangle = hit().filter(|(a, b)| a[1] != b[1]).count();
        let far = hit().filter(|(a, b)| (t(a) - t(b)).abs() > 1e-4 * t(a).abs().max(1e-3)).count();
        println!(
            "{name}: {} rays, {} hits; {one_side} hit on one side only, {triangle} hit another triangle, {far} at a distance that differs by \
             more than a ten thousandth",
            a.len(),
            hit().count()
        );
    }
}
