//! Data graphs in the data of pipeline caches: another process makes the pipeline by its identifier alone, and computes the same.

use super::rig::Rig;
use super::{Check, Found, found, text};
use client::Context;
use client::data_graph::{Code, Described, From, Functions, run_from};
use client::tensor::{self, Element, Tensor};

const NAME: &str = "data_graphs_in_data_of_caches";

pub fn checks() -> Vec<Check> {
    vec![Check { name: NAME, of: c"VK_ARM_data_graph", run }]
}

/// TOSA's number of the operator.
const ADD: u32 = 14;
const SHAPE: [u32; 2] = [3, 5];
const DIMENSIONS: [i64; 2] = [3, 5];

/// Where a child finds the identifier and the cache's data, in hexadecimal, a line each.
const KEPT: &str = "TUFF_CHECK_CACHE";

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let pairs = text.as_bytes().as_chunks::<2>().0;
    pairs.iter().map(|p| u8::from_str_radix(std::str::from_utf8(p).ok()?, 16).ok()).collect()
}

fn cache(context: &Context, data: &[u8]) -> Result<vk::PipelineCache, String> {
    let info = vk::PipelineCacheCreateInfo::default().initial_data(data);
    // SAFETY: the structure outlives the call.
    unsafe { context.device.create_pipeline_cache(&info, None) }.map_err(text)
}

/// Twice a tensor and a constant. Gives back the identifier, after a look at the results.
fn compute(context: &Context, from: &From, rig: &Rig) -> Result<Vec<u8>, String> {
    let (of_tensors, of_graphs) =
        (tensor::Functions::of(&rig.context).map_err(text)?, Functions::of(&rig.context).map_err(text)?);
    let new = || Tensor::new(&rig.context, &of_tensors, Element::F32, &DIMENSIONS, None, false).map_err(text);
    let (mut input, output) = (new()?, new()?);
    let numbers = |n: f32| (0..15).flat_map(|i| (n + i as f32).to_le_bytes()).collect::<Vec<u8>>();
    input.bytes_mut()[..60].copy_from_slice(&numbers(0.5));
    let described = || Described { element: Element::F32, dimensions: &DIMENSIONS, strides: None };
    let constants = [(4, described(), &numbers(100.0)[..])];
    let tensors = [(&input, described()), (&output, described())];
    let done = run_from(context, &of_graphs, from, &tensors, &constants, None, |_, dispatch| dispatch());
    let (_, identifier) = done.map_err(text)?;
    for (i, got) in output.bytes().as_chunks::<4>().0[..15].iter().enumerate() {
        let want = 2.0 * (0.5 + i as f32) + 100.0 + i as f32;
        if *got != want.to_le_bytes() {
            return Err(format!("element {i} is {}, not {want}", f32::from_le_bytes(*got)));
        }
    }
    Ok(identifier)
}

fn code() -> Vec<u32> {
    let mut g = Code::new();
    let x = g.input(Element::F32, &SHAPE);
    let c = g.given(4, Element::F32, &SHAPE);
    let y = g.operator(ADD, Element::F32, &SHAPE, &[x, x]);
    let z = g.operator(ADD, Element::F32, &SHAPE, &[y, c]);
    g.output(z, Element::F32, &SHAPE);
    g.spirv()
}

fn run(rig: &Rig) -> Found {
    let (context, code) = (&*rig.context, code());
    let by = |cache, identifier| {
        let from = From { code: &code, cache, identifier };
        compute(context, &from, rig)
    };
    if let Ok(file) = std::env::var(KEPT) {
        let kept = std::fs::read_to_string(file).map_err(text)?;
        let mut lines = kept.lines().map(|l| unhex(l).ok_or("no hexadecimal number"));
        let (identifier, data) = (lines.next().ok_or("empty")??, lines.next().ok_or("cut")??);
        let cache = cache(context, &data)?;
        if by(cache, Some(&identifier))? != identifier {
            return Err("the pipeline has another identifier".into());
        }
        return found(&identifier);
    }
    let empty = cache(context, &[])?;
    let identifier = by(empty, None)?;
    // SAFETY: the cache is alive.
    let data = unsafe { context.device.get_pipeline_cache_data(empty) }.map_err(text)?;
    // Another identifier, one that is none, a cache without the graph, and data that are cut or changed.
    let mut wrong = identifier.clone();
    wrong[0] = if wrong[0] == b'0' { b'1' } else { b'0' };
    let mut changed = data.clone();
    let middle = changed.len() / 2;
    changed[middle] ^= 1;
    for (data, identifier) in [
        (&data[..], &wrong[..]),
        (&data, &[0xFF; 32]),
        (&data, &[]),
        (&[], &identifier),
        (&data[..data.len() - 1], &identifier),
        (&changed, &identifier),
    ] {
        let cache = cache(context, data)?;
        if by(cache, Some(identifier)).is_ok() {
            return Err(format!("a pipeline of {} bytes and {identifier:?} was made", data.len()));
        }
    }
    let file = client::scratch("graph-of-a-cache").map_err(text)?;
    std::fs::write(&file, format!("{}\n{}\n", hex(&identifier), hex(&data))).map_err(text)?;
    // An emulated program cannot start another one by itself, unless the system knows the emulator.
    let emulator = std::env::var(crate::EMULATOR).unwrap_or_default();
    let program = std::env::current_exe().map_err(text)?.display().to_string();
    let words: Vec<&str> = emulator.split_whitespace().chain([&*program, NAME]).collect();
    let child =
        std::process::Command::new(words[0]).args(&words[1..]).env(KEPT, &file).output().map_err(text)?;
    let _ = std::fs::remove_file(&file);
    if !child.status.success() {
        let [out, err] = [&child.stdout, &child.stderr].map(|t| String::from_utf8_lossy(t));
        return Err(format!("another process: {out}{err}"));
    }
    found(&identifier)
}
