//! Operations on every level, against single lanes.

use super::*;
use random::Random;

fn quads_body<S: Simd>(s: S) {
    // The last three end where memory that may be read does.
    let v: Vec<f32> = (0..12).map(|i| i as f32 * 1.5 - 4.0).collect();
    let p = [3, 0, 9, 6].map(|i| v[i..].as_ptr());
    let lanes = |f: S::F| ops::f_lanes(s, f);
    // SAFETY: three numbers are there at each place.
    let rows = unsafe { s.fquads3(p) }.map(lanes);
    let quads = [lanes(s.fquads([0.5, -2.0, 7.0, 9.0])); 3];
    // SAFETY: four are.
    let fours = unsafe { s.fquads4([1, 0, 8, 5].map(|i| v[i..].as_ptr())) }.map(lanes);
    for (at, rows) in [([3, 0, 9, 6], &rows[..]), ([1, 0, 8, 5], &fours[..])] {
        for (k, got) in rows.iter().enumerate() {
            let want: [f32; 16] = std::array::from_fn(|i| v[at[i / 4] + k]);
            assert_eq!(*got, want);
        }
    }
    let want: [f32; 16] = std::array::from_fn(|i| [0.5, -2.0, 7.0, 9.0][i / 4]);
    assert_eq!(quads[0], want);
}
by_level!(fn quads = quads_body, ());

#[test]
fn numbers_of_quads() {
    Level::all().into_iter().for_each(quads);
}

fn wide_body<S: Simd>(s: S) {
    let x: [u64; 16] = std::array::from_fn(|l| l as u64 * 0x1_0000_0003);
    let idx: [u32; 16] = std::array::from_fn(|l| (l as u32 * 7 + 21) * 16 + (l as u32 * 5 + 3) % 16);
    let got = ops::l_lanes(s, s.lshuffle(ops::l_from(s, x), ops::i_from(s, idx)));
    assert_eq!(got, idx.map(|i| x[i as usize % 16]));
}
by_level!(fn wide = wide_body, ());

#[test]
fn pairs_of_words_are_shuffled() {
    Level::all().into_iter().for_each(wide);
}

fn quad_body<S: Simd>(s: S) {
    let x: [f32; 16] = std::array::from_fn(|l| l as f32 / 16.0);
    let a = ops::f_from(s, x);
    assert_eq!(ops::f_lanes(s, s.fquad::<0>(a)), std::array::from_fn(|l| x[l & 12]));
    assert_eq!(ops::f_lanes(s, s.fquad::<1>(a)), std::array::from_fn(|l| x[(l & 12) + 1]));
    assert_eq!(ops::f_lanes(s, s.fquad::<2>(a)), std::array::from_fn(|l| x[(l & 12) + 2]));
    assert_eq!(ops::f_lanes(s, s.fquad::<3>(a)), std::array::from_fn(|l| x[l | 3]));
    assert_eq!(ops::f_lanes(s, s.fother_half(a)), std::array::from_fn(|l| x[(l + 8) % 16]));
    assert_eq!(ops::f_lanes(s, s.fnext_quad(a)), std::array::from_fn(|l| x[[4, 8, 0, 12][l / 4] + l % 4]));
    let b = s.fadd(a, s.fsplat(1.0));
    let of = |l: usize| x[(l & 12) + [2, 0, 1, 3][l & 3]] + (l >> 1 & 1) as f32;
    assert_eq!(ops::f_lanes(s, s.fpick::<0b11_01_00_10>(a, b)), std::array::from_fn(of));
}
by_level!(fn quad = quad_body, ());

#[test]
fn one_lane_of_each_quad() {
    Level::all().into_iter().for_each(quad);
}

fn transposed_body<S: Simd>(s: S) {
    let words = [0, 1, 2, 3].map(|k| ops::i_from(s, std::array::from_fn(|l| (l * 4 + k) as u32)));
    let rows = s.itranspose4(words);
    for (k, row) in rows.into_iter().enumerate() {
        let want: [u32; 16] = std::array::from_fn(|i| ((i / 4 * 4 + k) * 4 + i % 4) as u32);
        assert_eq!(ops::i_lanes(s, row), want, "{k}");
    }
    for (back, words) in s.itranspose4(rows).into_iter().zip(words) {
        assert_eq!(ops::i_lanes(s, back), ops::i_lanes(s, words));
    }
}
by_level!(fn transposed = transposed_body, ());

fn halves_body<S: Simd>(s: S) {
    // 1, 2, 3 and so on, as 16-bit floats, row by row.
    let half = |n: usize| half::f16::from_f32(n as f32).to_bits() as u32;
    let row = |r: usize| {
        let word = |i: usize| half(r * 32 + 2 * i + 1) | half(r * 32 + 2 * i + 2) << 16;
        ops::i_from(s, std::array::from_fn(word))
    };
    let at: [u32; 16] = std::array::from_fn(|l| (l * 7 % 15) as u32);
    let got = s.fhalves([[row(0), row(1)], [row(2), row(3)]], ops::i_from(s, at));
    for (next, texel) in got.into_iter().enumerate() {
        for (k, lanes) in texel.into_iter().enumerate() {
            let want: [f32; 16] = std::array::from_fn(|l| {
                let first = l / 8 * 64 + (at[l] as usize + next) * 4;
                (first + k + 1) as f32
            });
            assert_eq!(ops::f_lanes(s, lanes), want, "{next}, channel {k}");
        }
    }
}
by_level!(fn halves = halves_body, ());

fn pairs_body<S: Simd>(s: S) {
    let some: [u16; 80] = std::array::from_fn(|n| half::f16::from_f32(n as f32 - 7.5).to_bits());
    let first = [3, 71, 16, 40];
    // SAFETY: eight of them at each place.
    let got = unsafe { s.fload_halves(first.map(|n| some[n..].as_ptr().cast())) };
    for (of, got) in got.into_iter().enumerate() {
        let want: [f32; 16] = std::array::from_fn(|i| (first[i / 4] + of * 4 + i % 4) as f32 - 7.5);
        assert_eq!(ops::f_lanes(s, got), want, "{of}");
    }
}
by_level!(fn pairs = pairs_body, ());

fn gathered_body<S: Simd>(s: S) {
    let some: [u8; 90] = std::array::from_fn(|n| (n * 37 + 200) as u8);
    let at: [u32; 16] = std::array::from_fn(|l| (l * 29 % 83) as u32);
    let word = |n: u32| u32::from_le_bytes(std::array::from_fn(|b| some[n as usize + b]));
    let off = ops::i_from(s, at);
    for slow in [false, true] {
        pretend_slow_gathers(slow);
        // SAFETY: eight bytes at each offset.
        let (one, two) = unsafe { (s.iwords(some.as_ptr(), off), s.igather2(some.as_ptr(), off)) };
        assert_eq!(ops::i_lanes(s, one), at.map(word), "{slow}");
        assert_eq!(two.map(|w| ops::i_lanes(s, w)), [at.map(word), at.map(|n| word(n + 4))], "{slow}");
    }
}
by_level!(fn gathered = gathered_body, ());

#[test]
fn words_at_offsets() {
    Level::all().into_iter().for_each(gathered);
}

fn bytes_body<S: Simd>(s: S) {
    let some: [u8; 60] = std::array::from_fn(|n| (n * 37 + 200) as u8);
    let first = [[3, 41], [16, 52]];
    let at: [u32; 16] = std::array::from_fn(|l| (l * 11 % 15) as u32);
    // SAFETY: eight of them at each place.
    let got = unsafe { s.iload_bytes(first.map(|of| of.map(|n| some[n..].as_ptr())), ops::i_from(s, at)) };
    for (next, got) in got.into_iter().enumerate() {
        let want: [u32; 16] = std::array::from_fn(|l| {
            let n = at[l] as usize + next;
            some[first[l / 8][n / 8] + n % 8] as u32
        });
        assert_eq!(ops::i_lanes(s, got), want, "{next}");
    }
}
by_level!(fn bytes = bytes_body, ());

#[test]
fn bytes_of_rows() {
    Level::all().into_iter().for_each(bytes);
}

#[test]
fn pairs_of_texels_of_halves() {
    Level::all().into_iter().for_each(pairs);
}

#[test]
fn texels_of_halves() {
    Level::all().into_iter().for_each(halves);
}

fn floors_body<S: Simd>(s: S) {
    let some =
        [0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 1.5, -1.5, 2.4999998, -2.5, 8388607.5, -8388607.5, 16777216.0];
    for a in some.into_iter().chain([-16777216.0, 1e-45, -1e-45, 0.99999994, -0.99999994]) {
        let (f, i) = s.ffloor_int(s.fsplat(a));
        assert_eq!(ops::f_lanes(s, f), [a.floor(); 16], "{a}");
        assert_eq!(ops::i_lanes(s, i), [a.floor() as i32 as u32; 16], "{a}");
    }
}
by_level!(fn floors = floors_body, ());

#[test]
fn floors_as_integers() {
    Level::all().into_iter().for_each(floors);
}

fn of_two_body<S: Simd>(s: S) {
    let words: [u32; 40] = std::array::from_fn(|i| i as u32 * 3 + 1);
    let at = |n: usize| words[n..].as_ptr().cast();
    // SAFETY: eight words at each place.
    let (a, b) = unsafe { (s.iload2([at(3), at(20)]), s.iload2([at(32), at(0)])) };
    let of = |n: usize| words[[3, 20, 32, 0][n / 8 % 4] + n % 8];
    assert_eq!(ops::i_lanes(s, a), std::array::from_fn(of));
    assert_eq!(ops::i_lanes(s, b), std::array::from_fn(|i| of(16 + i)));
    let idx: [u32; 16] = std::array::from_fn(|i| i as u32 * 37 + 5);
    let got = ops::i_lanes(s, s.ishuffle2(a, b, ops::i_from(s, idx)));
    assert_eq!(got, idx.map(|n| of(n as usize % 32)));
}
by_level!(fn of_two = of_two_body, ());

#[test]
fn lanes_of_two() {
    Level::all().into_iter().for_each(of_two);
}

fn widths_body<S: Simd>(s: S) {
    let some: [u16; 20] = std::array::from_fn(|n| (n * 0x3A71 + 0x80C3) as u16);
    let bytes = some[1..].as_ptr().cast::<u8>();
    // SAFETY: sixteen of them, and as many bytes off their alignment.
    let (wide8, wide16) = unsafe { (s.iwiden8(bytes.add(1)), s.iwiden16(bytes)) };
    let byte = |n: usize| (some[1 + n / 2] >> (8 * (n % 2))) as u32 & 255;
    assert_eq!(ops::i_lanes(s, wide8), std::array::from_fn(|i| byte(i + 1)));
    assert_eq!(ops::i_lanes(s, wide16), std::array::from_fn(|i| some[1 + i] as u32));
    // What is above does not count.
    let words: [u32; 16] = std::array::from_fn(|l| (l as u32 + 1).wrapping_mul(0x9E37_79B9));
    let (mut got8, mut got16) = ([0u8; 18], [0u16; 18]);
    // SAFETY: room for sixteen.
    unsafe {
        s.inarrow8(got8[1..].as_mut_ptr(), ops::i_from(s, words));
        s.inarrow16(got16[1..].as_mut_ptr().cast(), ops::i_from(s, words));
    }
    assert_eq!((got8[0], got8[17], got16[0], got16[17]), (0, 0, 0, 0));
    assert_eq!(got8[1..17], words.map(|w| w as u8));
    assert_eq!(got16[1..17], words.map(|w| w as u16));
    // Texels of four halves.
    let halves: [u16; 64] = std::array::from_fn(|n| half::f16::from_f32(n as f32 - 9.5).to_bits());
    let mut back = [0u16; 18];
    // SAFETY: sixteen halves, and as much room; 64 of them.
    let (one, all) = unsafe {
        let at = |n: usize| halves[n..].as_ptr().cast();
        let one = s.fload16(at(3));
        s.fstore16(back[1..].as_mut_ptr().cast(), one);
        (one, [s.iloadu(at(0)), s.iloadu(at(32))])
    };
    assert_eq!(ops::f_lanes(s, one), std::array::from_fn(|i| i as f32 - 6.5));
    assert_eq!((back[0], &back[1..17], back[17]), (0, &halves[3..19], 0));
    let channels = s.fapart16(all);
    for (k, c) in channels.into_iter().enumerate() {
        assert_eq!(ops::f_lanes(s, c), std::array::from_fn(|i| (4 * i + k) as f32 - 9.5));
    }
    for (got, want) in s.ftogether16(channels).into_iter().zip(all) {
        assert_eq!(ops::i_lanes(s, got), ops::i_lanes(s, want));
    }
    for (got, want) in ops::together(s, ops::apart(s, all)).into_iter().zip(all) {
        assert_eq!(ops::i_lanes(s, got), ops::i_lanes(s, want));
    }
    let table = Table(std::array::from_fn(|i| (i * i) as u32 ^ 0xA5A5_0000));
    let of = |w: u32| table.0[w as usize % 256];
    let next = words.map(|w| w + 1);
    let got = s.ilook256(&table, [ops::i_from(s, words), ops::i_from(s, next)]);
    assert_eq!(got.map(|v| ops::i_lanes(s, v)), [words.map(of), next.map(of)]);
}
by_level!(fn widths = widths_body, ());

#[test]
fn narrow_lanes_and_large_tables() {
    Level::all().into_iter().for_each(widths);
}

fn long_body<S: Simd>(s: S) {
    let some = [0, 1, 2, 1 << 31, (1 << 32) - 1, 1 << 32, (1 << 53) - 1, (1 << 53) + 1, (1 << 53) + 3];
    let more = [
        1 << 63,
        (1 << 63) - 1,
        u64::MAX,
        u64::MAX - 1024,
        0x8000_0000_0000_0400,
        !0 << 11,
        0x1234_5678_9ABC_DEF0,
    ];
    let a: [u64; 16] = std::array::from_fn(|i| if i < 9 { some[i] } else { more[i - 9] });
    let b: [u64; 16] = std::array::from_fn(|i| a[(i * 7 + 3) % 16]);
    let (x, y) = (ops::l_from(s, a), ops::l_from(s, b));
    assert_eq!(ops::d_lanes(s, s.ul_to_d(x)), a.map(|n| n as f64));
    assert_eq!(ops::d_lanes(s, s.sl_to_d(x)), a.map(|n| n as i64 as f64));
    assert_eq!(ops::d_lanes(s, s.u_to_d(s.lo(x))), a.map(|n| n as u32 as f64));
    let whole = a.map(|n| (n >> 11) as f64 * 2040.0);
    assert_eq!(ops::l_lanes(s, s.d_to_ul(ops::d_from(s, whole))), whole.map(|n| n as u64));
    let both = |f: fn(u64, u64) -> u64| std::array::from_fn::<u64, 16, _>(|i| f(a[i], b[i]));
    assert_eq!(ops::l_lanes(s, s.lumin(x, y)), both(u64::min));
    assert_eq!(ops::l_lanes(s, s.lumax(x, y)), both(u64::max));
    assert_eq!(ops::l_lanes(s, s.lsmin(x, y)), both(|a, b| (a as i64).min(b as i64) as u64));
    assert_eq!(ops::l_lanes(s, s.lsmax(x, y)), both(|a, b| (a as i64).max(b as i64) as u64));
}
by_level!(fn long = long_body, ());

#[test]
fn integers_of_64_bits() {
    Level::all().into_iter().for_each(long);
}

fn packed_body<S: Simd>(s: S) {
    let lanes = std::array::from_fn(|l| l as u32 * 3 + 1);
    for bits in [0u16, 1, 0x8000, 0x8421, 0x0FF0, 0xABCD, 0xFFFF] {
        let mut got = [0u32; 17];
        // SAFETY: sixteen words, off their alignment.
        unsafe { s.istore_packed(got[1..].as_mut_ptr().cast(), s.mask(bits), ops::i_from(s, lanes)) };
        let want: Vec<u32> = (0..16).filter(|l| bits >> l & 1 != 0).map(|l| lanes[l]).collect();
        assert_eq!((got[0], &got[1..1 + want.len()]), (0, &want[..]), "{bits:x}");
    }
}
by_level!(fn packed = packed_body, ());

#[test]
fn lanes_one_after_the_other() {
    Level::all().into_iter().for_each(packed);
}

fn looked_up_body<S: Simd>(s: S) {
    static LOW: Table<16> = Table([9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 11, 12, 13, 14, 15, 16]);
    static ALL: Table<32> = {
        let mut t = [0; 32];
        let mut i = 0;
        while i < 32 {
            t[i] = (i * i + 1) as u32;
            i += 1;
        }
        Table(t)
    };
    // Beyond the tables the lowest bits count.
    let at: [u32; 16] = std::array::from_fn(|l| (l as u32).wrapping_mul(0x9E37_79B9) ^ 0x8000_0013);
    let idx = ops::i_from(s, at);
    assert_eq!(ops::i_lanes(s, s.ilook16(&LOW, idx)), at.map(|i| LOW.0[i as usize % 16]));
    assert_eq!(ops::i_lanes(s, s.ilook(&ALL, idx)), at.map(|i| ALL.0[i as usize % 32]));
}
by_level!(fn looked_up = looked_up_body, ());

fn parted_body<S: Simd>(s: S) {
    let x = [
        1.0,
        1.49,
        1.5,
        1.99,
        0.75,
        3.0,
        1e-45,
        1e-40,
        f32::MIN_POSITIVE,
        f32::MAX,
        0.7499,
        2.9,
        6.0,
        1e20,
        7e-39,
        0.1,
    ];
    let [e, m] = s.fparts(ops::f_from(s, x));
    let (e, m) = (ops::f_lanes(s, e), ops::f_lanes(s, m));
    for (i, x) in x.into_iter().enumerate() {
        let x = x as f64;
        assert!((0.75..1.5).contains(&m[i]), "{x}: {}", m[i]);
        assert_eq!(e[i] as f64, x.log2().floor(), "{x}");
        // Half of x by 2^e where that is 3/2 or more.
        let whole = x / (e[i] as f64).exp2();
        assert_eq!(m[i] as f64, if whole < 1.5 { whole } else { whole / 2.0 }, "{x}");
    }
    let n = [
        0.0, 0.5, -0.25, 3.9375, -3.0625, 100.0, -140.5, 127.0, -126.0, 8.0, -8.0, 1.0, -1.0, 2.5, -2.5, 60.0,
    ];
    let got = ops::f_lanes(s, s.fscale(s.fsplat(1.5), ops::f_from(s, n)));
    assert_eq!(got, n.map(|n: f32| (1.5 * (n as f64).floor().exp2()) as f32));
    let x = [
        0.031, 0.03125, 0.09375, -0.03125, 7.97, -7.97, 0.0, 1.0, 19.99, -0.2, 5.5, 6.01, -6.01, 126.9,
        -125.3, 0.5,
    ];
    let got = ops::f_lanes(s, s.fround16(ops::f_from(s, x)));
    assert_eq!(got, x.map(|x: f32| (x * 16.0).round_ties_even() / 16.0));
}
by_level!(fn parted = parted_body, ());

#[test]
fn parts_of_floats() {
    Level::all().into_iter().for_each(parted);
}

#[test]
fn tables() {
    Level::all().into_iter().for_each(looked_up);
}

#[test]
fn words_of_lanes() {
    Level::all().into_iter().for_each(transposed);
}

fn level_body<S: Simd>(s: S) -> Level {
    s.level()
}
by_level!(fn called = level_body, () -> Level);

#[test]
fn a_form_is_that_of_its_level() {
    let mut names = NAMES.iter();
    for (i, level) in Level::all().into_iter().enumerate() {
        assert_eq!(level.index(), i);
        assert_eq!(called(level), level);
        // SAFETY (all): levels of this CPU.
        let form = form!(level, fn() -> Level = level_body);
        assert_eq!(unsafe { form() }, level);
        let (word, _) = names.find(|(_, name)| *name == level.name()).expect("in the order of the list");
        assert_eq!(Level::named(word), Some(level));
        let cold = form!(level, fn() -> Level = level_body; cold);
        let wanted = if *word == "avx512" { "avx2" } else { word };
        assert_eq!(Some(unsafe { cold() }), Level::named(wanted));
        for is_cold in [false, true] {
            let form = match is_cold {
                true => form!(level, fn() -> Level = level_body; cold if true, portable = level_body),
                false => form!(level, fn() -> Level = level_body; cold if false, portable = level_body),
            };
            assert_eq!(unsafe { form() }, unsafe { if is_cold { cold() } else { level } });
        }
        let only = form!(level, fn() -> Level = level_body; portable if false);
        assert_eq!(only.is_none(), level == Level::PORTABLE);
        assert_eq!(Level::widest(Some(level.name())), level);
    }
    assert_eq!(Some(Level::widest(None)), Level::all().pop());
    assert_eq!(Level::named("none"), None);
}

fn blended_body<S: Simd>(s: S) {
    let mut r = Random::new(7);
    let mut next = || r.u32() >> 16;
    for _ in 0..50 {
        let pixels: [[u8; 4]; 16] = std::array::from_fn(|_| std::array::from_fn(|_| next() as u8));
        // Terms of 0 to 255 · 128, factors of 0 to 32767; some of them the ends.
        let t: [[u32; 4]; 16] = std::array::from_fn(|_| std::array::from_fn(|_| next() % (255 * 128 + 1)));
        let k: [[u32; 4]; 16] =
            std::array::from_fn(|_| std::array::from_fn(|c| [next() % 32768, 0, 32767][c % 3]));
        let words = |of: &[[u32; 4]; 16]| {
            [0, 2].map(|c| ops::i_from(s, std::array::from_fn(|l| of[l][c] | of[l][c + 1] << 16)))
        };
        // SAFETY: sixteen pixels.
        let got = unsafe { s.iblend8(pixels.as_ptr().cast(), words(&t), words(&k)) };
        for (l, got) in ops::i_lanes(s, got).map(u32::to_le_bytes).into_iter().enumerate() {
            for c in 0..4 {
                let exact = t[l][c] as f64 / 128.0 + pixels[l][c] as f64 * k[l][c] as f64 / 32767.0;
                assert!((got[c] as f64 - exact.min(255.0)).abs() <= 0.52, "{exact} {}", got[c]);
            }
        }
    }
}
by_level!(fn blended = blended_body, ());

#[test]
fn pixels_of_bytes_are_blended() {
    Level::all().into_iter().for_each(blended);
}

fn steps_body<S: Steps>(s: S) {
    let mut r = Random::new(3);
    let mut next = |n: u32| r.below(n);
    for round in 0..200 {
        let near = [8, 300, 5000][round % 3];
        let (first, stride) = (next(near), next(3) * 4);
        let p: [u32; 16] = match round % 4 {
            0 => std::array::from_fn(|l| first + l as u32 * stride),
            _ => std::array::from_fn(|_| next(near)),
        };
        let lanes = |f: &dyn Fn(usize) -> bool| (0..16).fold(0u16, |m, l| m | (f(l) as u16) << l);
        assert_eq!(s.stride_mask(&p, first, stride), lanes(&|l| p[l] == first + l as u32 * stride));
        assert_eq!(s.same_mask(&p, p[3]), lanes(&|l| p[l] == p[3]));
        assert_eq!(s.is_run(&p, stride), (0..16).all(|l| p[l] == p[0] + l as u32 * stride));
        assert_eq!(s.repeated(&p), lanes(&|l| (0..16).any(|k| k != l && p[k] == p[l])));
        let k = next(40).wrapping_sub(20);
        assert_eq!(s.bound_mask(&p, k, 200), lanes(&|l| p[l].wrapping_add(k) <= 200));
        let different: std::collections::BTreeSet<u32> = p.into_iter().collect();
        assert_eq!(s.distinct(&p), different.len() as u32);
        let (lead, bytes) = (next(64), next(64) + 1);
        let touched = |bytes: u32| {
            let of =
                |l: usize| (p[l].wrapping_add(k) as u64, (p[l].wrapping_add(k).wrapping_add(lead)) as u64);
            let inside =
                (0..16).all(|l| of(l).0 < WINDOW as u64 && of(l).1 + (bytes as u64) <= WINDOW as u64);
            let lines = |l: usize| 1u64 << (of(l).1 / 64) | 1 << ((of(l).1 + bytes as u64 - 1) / 64);
            inside.then(|| (0..16).fold(0, |m, l| m | lines(l)))
        };
        assert_eq!(s.near(&p, k, lead, bytes), touched(bytes));
        let aligned = (0..16).all(|l| (p[l].wrapping_add(k).wrapping_add(lead)) % 4 == 0);
        let words = s.near_words(&p, k, lead);
        // Words at no multiple of four may be refused.
        assert!(words == touched(4) || words.is_none() && !aligned);
        let memory: [u8; 6100] = std::array::from_fn(|n| (n * 31 + round) as u8);
        let at = |o: u32| u32::from_le_bytes(memory[o as usize..][..4].try_into().unwrap());
        let (mut a, mut b) = ([0; 16], [[0; 16]; 4]);
        // SAFETY (all): within the arrays.
        unsafe {
            let q = memory.as_ptr();
            s.gather32(a.as_mut_ptr(), q, p.as_ptr(), k, 200);
            let bound = |o: u32| if o <= 200 { at(o) } else { 0 };
            assert_eq!(a, p.map(|o| bound(o.wrapping_add(k))));
            let mut second = [0; 16];
            s.words2(q, &p, a.as_mut_ptr(), second.as_mut_ptr());
            assert_eq!((a, second), (p.map(at), p.map(|o| at(o + 4))));
            s.words4(q, &p, b.each_mut().map(|row| row.as_mut_ptr()));
            assert_eq!(b, [0, 4, 8, 12].map(|k| p.map(|o| at(o + k))));
            let follow =
                |step: u32, word: u32| std::array::from_fn(|l| at(p[0] + step * l as u32 + 4 * word));
            s.run2(q.add(p[0] as usize), a.as_mut_ptr(), second.as_mut_ptr());
            assert_eq!((a, second), (follow(8, 0), follow(8, 1)));
            let mut run = [[0; 16]; 4];
            s.run4(q.add(p[0] as usize), run.each_mut().map(|row| row.as_mut_ptr()));
            assert_eq!(run, [0, 1, 2, 3].map(|word| follow(16, word)));
            let half = |l: usize, j: usize| at(p[0] + 8 * l as u32 + 2 * j as u32) & 0xFFFF;
            let from = q.add(p[0] as usize);
            s.run_halves(from, false, a.as_mut_ptr());
            assert_eq!(a, std::array::from_fn(|l| at(p[0] + 2 * l as u32) & 0xFFFF));
            s.run_halves4(from, false, run.each_mut().map(|row| row.as_mut_ptr()));
            assert_eq!(run, [0, 1, 2, 3].map(|j| std::array::from_fn(|l| half(l, j))));
            s.run_halves4(from, true, run.each_mut().map(|row| row.as_mut_ptr()));
            for (j, row) in run.iter().enumerate() {
                for (l, v) in row.iter().enumerate() {
                    let want = half::f16::from_bits(half(l, j) as u16).to_f32();
                    assert!(f32::from_bits(*v) == want || want.is_nan() && f32::from_bits(*v).is_nan());
                }
            }
            let (mut got, mut want) = (memory, memory);
            s.store_words4(
                got.as_mut_ptr(),
                &p,
                b.each_ref().map(|row| row.as_ptr().cast_mut().cast_const()),
            );
            for l in 0..16 {
                for k in 0..4 {
                    want[p[l] as usize + 4 * k..][..4].copy_from_slice(&b[k][l].to_le_bytes());
                }
            }
            assert_eq!(got, want);
            let m = next(1 << 16) as u16;
            let mixed = |l: usize| if m >> l & 1 != 0 { b[1][l] } else { b[0][l] };
            let mut some = b[0];
            s.blend32(some.as_mut_ptr(), b[1].as_ptr(), m);
            assert_eq!(some, std::array::from_fn(mixed));
            let mut some = b[0];
            s.store_mask(some.as_mut_ptr().cast(), b[1].as_ptr(), m);
            assert_eq!(some, std::array::from_fn(mixed));
            s.quads32::<0b00_11_01_10>(some.as_mut_ptr(), b[2].as_ptr());
            assert_eq!(some, std::array::from_fn(|l| b[2][l & 12 | [2, 1, 3, 0][l & 3]]));
            s.splat32(some.as_mut_ptr(), 77);
            assert_eq!(some, [77; 16]);
            s.copy64(some.as_mut_ptr().cast(), b[3].as_ptr().cast());
            assert_eq!(some, b[3]);
        }
    }
}

#[test]
fn steps_over_a_warp() {
    for level in Level::all() {
        // SAFETY: a level of this CPU.
        unsafe { form!(level, fn() = steps_body; cold)() };
    }
}

fn signalling_body<S: Simd>(s: S) {
    // A signalling NaN beside each lane that is above: in no form of a disjunction does it hide it.
    let signalling = f32::from_bits(0xFF87_715A);
    for at in 0..16 {
        let above = |rest: f32| ops::f_from(s, std::array::from_fn(|l| if l == at { 1e20 } else { rest }));
        for x in [above(signalling), above(f32::NAN), above(0.0)] {
            assert!(s.many(s.flt(s.fsplat(1e9), x)) && s.many(s.fle(s.fsplat(1e9), x)), "{at}");
            assert!(!s.many(s.flt(s.fsplat(1e21), x)), "{at}");
            let both = s.mor(s.flt(s.fsplat(1e9), x), s.flt(s.fsplat(1e9), s.fsplat(signalling)));
            assert_eq!(s.mbits(both), 1 << at);
        }
    }
}
by_level!(fn signalling = signalling_body, ());

#[test]
fn signalling_nans_hide_nothing() {
    Level::all().into_iter().for_each(signalling);
}
