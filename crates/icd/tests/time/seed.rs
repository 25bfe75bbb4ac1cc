//! The seed's case: three passes and a dispatch, a timer around the second pass. Without barriers it takes in the first pass's drawing; a
//! dispatch beside them whose warps wait takes nothing from them.

use super::Heavy;
use vk::PipelineStageFlags2 as Stages;

use ash::vk;

/// Cycles of a GPU of 1300 MHz as ticks.
fn ticks(cycles: f64) -> f64 {
    cycles / 1.3
}

fn near(got: f64, want: f64) {
    assert!((got - want).abs() <= want * 0.001 + 3.0, "{got}, not {want}");
}

#[test]
fn a_timer_takes_in_what_overlaps() {
    let h = Heavy::new();
    let all = Stages::ALL_COMMANDS;
    // Eight workgroups are on a core each; a warp's 40 000 rounds of three instructions wait four cycles each: 480 000.
    let dispatch = |c| h.dispatch(c, 8, 40_000);
    let [compute, computing] = {
        let names = ["Compute queue active cycles", "Compute or binning phase active cycles"];
        h.c.count(names, |_, c| dispatch(c))
    };
    assert!((481_000.0..482_000.0).contains(&compute), "{compute}");
    assert!((8.0 * 480_000.0..8.0 * 481_000.0).contains(&computing), "{computing}");
    // A pass's four regions are on a core each: 256 warps in each, whose 500 rounds have two CVT instructions of 64 lanes: 64 000.
    let pass = |c| h.pass(c, || h.draw(c, 500));
    let [binning, main, drawing] = {
        let names = [
            "Binning phase queue active cycles",
            "Main phase queue active cycles",
            "Main phase active cycles",
        ];
        h.c.count(names, |_, c| pass(c))
    };
    assert!((65_000.0..66_000.0).contains(&main), "{main}");
    assert!((4.0 * 64_000.0..4.0 * 65_000.0).contains(&drawing), "{drawing}");

    // The stamps before and after the second pass.
    let timer = |serial: bool, beside: bool| -> f64 {
        unsafe { h.c.g.device.reset_query_pool(h.pool, 0, 2) };
        h.c.g.run(|_, c| {
            h.barrier(c, all, all);
            if beside {
                dispatch(c);
            }
            for i in 0..3 {
                if i == 1 {
                    h.stamp(c, 0, Stages::TOP_OF_PIPE);
                }
                pass(c);
                if serial {
                    h.barrier(c, all, all);
                }
                if i == 1 {
                    // Of drawing: the dispatch goes on for longer.
                    h.stamp(c, 1, Stages::COLOR_ATTACHMENT_OUTPUT);
                }
            }
        });
        let [begin, end] = h.times::<2>(0);
        (end - begin) as f64
    };
    let (b, m) = (ticks(binning), ticks(main));
    // In turn: pass 1 alone, whatever comes before it.
    near(timer(true, false), b + m);
    near(timer(true, true), b + m);
    // Beside one another: pass 0's binning and drawing too.
    near(timer(false, false), b + 2.0 * m);
    // The dispatch has eight of ten cores, whose units it wants two of twelve cycles of: two CVT instructions of four warps in each round.
    // Drawing wants four tenths: there is room for both.
    near(timer(false, true), b + 2.0 * m);
    h.free();
}
