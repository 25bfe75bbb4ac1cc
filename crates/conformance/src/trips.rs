//! `trips.comp` of the instrumenting pass's tests: a loop with trip counts from a buffer, a branch, a function that is
//! called from two places. How often each of its blocks runs, found by doing what its source says.

/// With lines: what glslang 12 made of it with `-gVS`.
pub const SPIRV: &[u8] = include_bytes!("../../shader/tests/instrument/trips.debug.spv");
pub const INVOCATIONS: u32 = 1024;
/// What counters of 64 bits begin with, to see a carry.
pub const START: u32 = 0xFFFF_FF00;

/// The loop's trip count of each invocation.
pub fn trips() -> Vec<u32> {
    (0..INVOCATIONS).map(|i| i * 5 % 23 % 7).collect()
}

/// Runs of each block, in the order in which they stand in the module: of `main` entry, loop header, test, body, step,
/// what follows the loop, the branch taken, what follows that; of `twist` entry, branch taken, what follows.
pub fn counts() -> Vec<u64> {
    let mut c = [0u64; 11];
    for (i, trips) in trips().into_iter().enumerate() {
        let mut twist = |x: u32| {
            c[8] += 1;
            if x > 9 {
                c[9] += 1;
                return x ^ 5;
            }
            c[10] += 1;
            x + 1
        };
        let mut sum = (0..trips).fold(0, |sum, k| sum + k * 3 + i as u32);
        let odd = sum & 1 == 1;
        if odd {
            sum = twist(sum);
        }
        twist(sum);
        let trips = u64::from(trips);
        for (block, runs) in [(0, 1), (1, trips + 1), (2, trips + 1), (3, trips), (4, trips), (5, 1), (7, 1)]
        {
            c[block] += runs;
        }
        c[6] += u64::from(odd);
    }
    c.to_vec()
}
