//! Invocations that work together: shared memory, atomics, subgroups.

use crate::data::{all_equal, equal, words};
use crate::{Case, Run, case};
use std::collections::BTreeMap;

pub fn cases() -> Vec<Case> {
    let mut atomics = vec![0; 32];
    (atomics[1], atomics[3], atomics[6]) = (u32::MAX, u32::MAX, 12345);
    vec![
        case!("reduce", [33, 1, 1], vec![vec![0; 33 * 256], words(33 * 256)], reduce),
        case!("stray", [64, 1, 1], vec![vec![0; 64 * 32 * 4], vec![32; 64 * 32]], stray),
        case!("stray_words", [61, 1, 1], vec![vec![0; 61 * 20 * 4], vec![20; 61 * 20]], stray_words),
        case!("wide", [11, 1, 1], vec![vec![0; 11 * 1024], words(11 * 1024)], wide),
        case!("atomics", [17, 1, 1], vec![atomics, words(17 * 100)], check_atomics),
        // One after the other, on the same threads.
        case!("secrets", [64, 1, 1], vec![vec![0; 64 * 96], words(64 * 96)], secrets),
        case!("leftovers", [64, 1, 1], vec![vec![1; 64 * 96 * 8], words(64 * 96)], leftovers),
        case!("subgroups", [9, 1, 1], vec![vec![0; 9 * 96 * 24], words(9 * 96)], subgroups),
    ]
}

/// Workgroups of 32 whose lanes store past the end of their 39 vectors: no other workgroup sees it, nor do they themselves.
fn stray(run: &Run) -> Result<(), String> {
    for (i, o) in run.output.chunks(4).enumerate() {
        let (g, l) = (i as u32 / 32, i as u32 % 32);
        let inside = l < 7;
        equal(i, "own vector", o[0], g << 16 | l)?;
        equal(i, "vector past the lanes'", o[1], if inside { g << 16 | l } else { 0 })?;
        equal(i, "its last component", o[2], if inside { 4 } else { 0 })?;
        equal(i, "vector 52 of 39", o[3], 0)?;
    }
    Ok(())
}

/// Workgroups of 20 (two warps, the second partly empty) with 25 words: stray words, atomics, and stores of one lane.
fn stray_words(run: &Run) -> Result<(), String> {
    for (i, o) in run.output.chunks(4).enumerate() {
        let (g, l) = (i as u32 / 20, i as u32 % 20);
        let inside = l < 5;
        equal(i, "own word", o[0], g * 100 + l)?;
        equal(i, "word before an atomic", o[1], if inside { g } else { 0 })?;
        equal(i, "word after it", o[2], if inside { g + 7 } else { 0 })?;
        equal(i, "words 35 and 39 of 25", o[3], 0)?;
    }
    Ok(())
}

/// Numbers that are not 0, everywhere.
fn secrets(run: &Run) -> Result<(), String> {
    run.output.iter().enumerate().try_for_each(|(i, o)| equal(i, "odd", o & 1, 1))
}

/// What `secrets` left is not to be seen: not in private or workgroup memory, nor in registers by way of lanes that are not active.
fn leftovers(run: &Run) -> Result<(), String> {
    const FROM: [&str; 8] = [
        "private memory",
        "workgroup memory",
        "shuffle",
        "shuffle by xor",
        "shuffle up",
        "broadcast",
        "quad swap",
        "quad broadcast",
    ];
    run.output.iter().enumerate().try_for_each(|(i, o)| equal(i / 8, FROM[i % 8], *o, 0))
}

fn reduce(run: &Run) -> Result<(), String> {
    let mut want = run.inputs[1].clone();
    for group in want.chunks_exact_mut(256) {
        let mut sum = 0u32;
        for w in group {
            sum = sum.wrapping_add(*w);
            *w = sum;
        }
    }
    all_equal(run.output, &want)
}

fn wide(run: &Run) -> Result<(), String> {
    let mut want = Vec::new();
    for group in run.inputs[1].chunks_exact(1024) {
        let xor = group.iter().fold(0, |a, b| a ^ b);
        let total: u32 = group.iter().map(|w| w & 255).sum();
        want.extend((0..1024).map(|l: u32| xor.wrapping_add(total.wrapping_mul(l))));
    }
    all_equal(run.output, &want)
}

fn check_atomics(run: &Run) -> Result<(), String> {
    let x = &run.inputs[1];
    let n = x.len() as u32;
    let mut want = run.inputs[0].clone();
    for v in x {
        want[0] = want[0].wrapping_add(*v);
        want[1] = want[1].min(*v);
        want[2] = want[2].max(*v);
        want[3] &= v | 0xff00_0000;
        want[4] |= v & 0x0f0f_0f0f;
        want[5] ^= v;
        want[16 + (v & 15) as usize] += 1;
    }
    want[7] = n;
    want[8] = n * (n - 1) / 2;
    want[9] = 77;
    want[10] = 3 * n;
    all_equal(run.output, &want)
}

fn subgroups(run: &Run) -> Result<(), String> {
    const WORDS: usize = 24;
    let x = &run.inputs[1];
    let size = run.output[0] as usize;
    // (workgroup, subgroup) → lane → global invocation
    let mut groups: BTreeMap<(usize, u32), BTreeMap<usize, usize>> = BTreeMap::new();
    for i in 0..x.len() {
        let out = &run.output[i * WORDS..][..WORDS];
        equal(i, "gl_SubgroupSize", out[0], size as u32)?;
        let lane = out[2] as usize;
        if lane >= size || groups.entry((i / 96, out[1])).or_default().insert(lane, i).is_some() {
            return Err(format!("[{i}] lane {lane} of subgroup {} twice, or past its size {size}", out[1]));
        }
    }
    for lanes in groups.values() {
        if lanes.len() != size {
            return Err(format!("a subgroup of {} lanes where {size} fit", lanes.len()));
        }
        let v: Vec<u32> = lanes.values().map(|i| x[*i]).collect();
        let sum = |list: &[u32]| list.iter().fold(0u32, |a, b| a.wrapping_add(*b));
        let count =
            |test: &dyn Fn(u32) -> bool, list: &[u32]| list.iter().filter(|w| test(**w)).count() as u32;
        let odd: Vec<u32> = v.iter().copied().filter(|w| w & 1 == 1).collect();
        let first_odd = v.iter().position(|w| w & 1 == 1);
        for (&lane, &i) in lanes {
            let quad = lane & !3;
            let want = [
                sum(&v),
                v.iter().copied().min().unwrap_or(0),
                v.iter().copied().max().unwrap_or(0),
                v.iter().fold(u32::MAX, |a, b| a & b),
                v.iter().fold(0, |a, b| a | b),
                v.iter().fold(0, |a, b| a ^ b),
                sum(&v[..=lane]),
                sum(&v[..lane]),
                odd.len() as u32,
                v[0],
                v[lane ^ 5],
                v[lane ^ 1],
                sum(&v[quad..quad + 4]),
                v[lane ^ 1],
                1 | u32::from(v.iter().any(|w| w & 63 == 0)) << 1 | 4,
                if v[lane] & 1 == 1 { sum(&odd).wrapping_add(u32::from(first_odd == Some(lane))) } else { 0 },
                v[3],
                v.iter().map(|w| *w as i32).max().unwrap_or(0) as u32,
                count(&|w| w & 2 == 2, &v[..lane]),
                v[lane.saturating_sub(1)],
                v[quad + 2],
            ];
            for (k, w) in want.into_iter().enumerate() {
                equal(
                    i,
                    &format!("subgroup result {} on lane {lane}", k + 3),
                    run.output[i * WORDS + k + 3],
                    w,
                )?;
            }
        }
    }
    Ok(())
}
