//! Products of matrices by VK_KHR_cooperative_matrix: checked against sums of integers, and timed.
//! `gemm [SIZE] [DOWN ALONG] [SIDE] [ELEMENT]`; SIDE: rows and columns of the device's matrices, else the largest.

use client::products::{ROWS, Ready, SIZE, Shape, open, work};

fn main() {
    let (numbers, words): (Vec<_>, Vec<_>) = std::env::args().skip(1).partition(|a| a.parse::<u32>().is_ok());
    let numbers: Vec<u32> = numbers.iter().filter_map(|a| a.parse().ok()).collect();
    let size = numbers.first().copied().unwrap_or(SIZE);
    let tiles = [1, 2].map(|i| numbers.get(i).copied().unwrap_or(2));
    let side = numbers.get(3).copied();
    let context = open().unwrap();
    for spec in &ROWS {
        let (left, right, sum) = (spec.left, spec.right, spec.sum);
        if words.iter().any(|w| !w.eq_ignore_ascii_case(&format!("{left:?}"))) {
            continue;
        }
        for by_column in [false, true] {
            let ready = match Ready::new(&context, spec, Shape { size, tiles, side, by_column }) {
                Ok(ready) => ready,
                Err(e) => {
                    println!("{left:?} {right:?} {sum:?}: {e}");
                    break;
                }
            };
            let (_, best) = ready.time(300).unwrap();
            let rate = work(size) / best;
            println!(
                "{left:?} {right:?} {sum:?} of {} {} {:.3} ms {rate:.1} G/s wrong {}",
                ready.side,
                if by_column { "columns" } else { "rows" },
                best * 1e3,
                ready.wrong()
            );
        }
    }
}
