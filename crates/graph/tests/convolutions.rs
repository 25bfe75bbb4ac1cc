//! Convolutions of random sizes, of whole numbers that floats sum exactly, beside loops as TOSA 1.0's pseudocode has them; and weights
//! that are converted in the graph.

mod kit;

use graph::Type::{self, *};
use graph::{Alone, Graph, Node, Op, Plan, Port, Tensor, Value};
use kit::{Data, c, run, t};

/// A sequence of numbers that looks random.
struct Dice(u64);

impl Dice {
    fn of(&mut self, from: i64, to: i64) -> i64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        from + ((self.0 >> 33) % (to - from + 1) as u64) as i64
    }
    fn whole(&mut self, n: i64) -> Vec<f64> {
        (0..n).map(|_| self.of(-5, 5) as f64).collect()
    }
}

/// A convolution's sizes: image, kernel, strides, dilations, paddings (above, below, left, right).
struct Sizes {
    image: [i64; 3],
    kernel: [i64; 2],
    stride: [i64; 2],
    dilation: [i64; 2],
    pad: [i64; 4],
    out: [i64; 2],
}

impl Sizes {
    fn any(d: &mut Dice) -> Sizes {
        let kernel = [d.of(1, 4), d.of(1, 4)];
        let (stride, dilation) = ([d.of(1, 3), d.of(1, 3)], [d.of(1, 2), d.of(1, 2)]);
        let mut pad = [0; 4].map(|_: i64| d.of(0, 5));
        let (mut image, out) = ([0, 0, d.of(1, 19)], [d.of(1, 9), d.of(1, 9)]);
        for a in 0..2 {
            // As large as the outputs need, and at least 1: else there is more padding.
            let size = (out[a] - 1) * stride[a] + (kernel[a] - 1) * dilation[a] + 1;
            image[a] = (size - pad[2 * a] - pad[2 * a + 1]).max(1);
            pad[2 * a + 1] = size - pad[2 * a] - image[a];
            if pad[2 * a + 1] < 0 {
                pad[2 * a] += pad[2 * a + 1];
                pad[2 * a + 1] = 0;
            }
        }
        Sizes { image, kernel, stride, dilation, pad, out }
    }

    /// Calls `f` with an output's place (y, x), an element of its window and the place in the image.
    fn each(&self, mut f: impl FnMut([i64; 2], [i64; 2], [i64; 2])) {
        for (oy, ox) in (0..self.out[0]).flat_map(|y| (0..self.out[1]).map(move |x| (y, x))) {
            for (ky, kx) in (0..self.kernel[0]).flat_map(|y| (0..self.kernel[1]).map(move |x| (y, x))) {
                let y = oy * self.stride[0] + ky * self.dilation[0] - self.pad[0];
                let x = ox * self.stride[1] + kx * self.dilation[1] - self.pad[2];
                if (0..self.image[0]).contains(&y) && (0..self.image[1]).contains(&x) {
                    f([oy, ox], [ky, kx], [y, x]);
                }
            }
        }
    }

    /// All operands. `ty`: of the image and weights; bias 1 for all outputs, or one each.
    fn operands(&self, ty: Type, image: &[f64], weights: Data, bias: &[f64]) -> Vec<Data> {
        let ints = |v: &[i64]| c(I32, &[v.len() as u32], &v.iter().map(|n| *n as f64).collect::<Vec<_>>());
        let (acc, sum) = if ty == I8 { (1.0, I32) } else { (3.0, ty) };
        let shape = [1, self.image[0] as u32, self.image[1] as u32, self.image[2] as u32];
        vec![
            ints(&self.pad),
            ints(&self.stride),
            ints(&self.dilation),
            c(I32, &[], &[acc]),
            c(Bool, &[], &[0.0]),
            t(ty, &shape, image),
            weights,
            c(sum, &[bias.len() as u32], bias),
            c(ty, &[1], &[0.0]),
            c(ty, &[1], &[0.0]),
        ]
    }
}

#[test]
fn any_sizes_are_as_the_pseudocode_has_them() {
    let d = &mut Dice(1);
    for i in 0..300 {
        let (s, ty) = (Sizes::any(d), [F32, F16, I8][i % 3]);
        let [h, w, channels] = s.image;
        let image = d.whole(h * w * channels);
        let at = |p: [i64; 2]| ((p[0] * w + p[1]) * channels) as usize;
        let tap = |k: [i64; 2]| k[0] * s.kernel[1] + k[1];
        let by_channel = i % 2 == 0;
        // Outputs, of each channel or of all; some are more than are handed out at once.
        let many = if by_channel { d.of(1, 3) } else { [d.of(1, 40), 300][(i % 10 == 1) as usize] };
        let made = if by_channel { channels * many } else { many };
        let [ky, kx, n] = [s.kernel[0], s.kernel[1], channels].map(|n| n as u32);
        let (op, shape) = match by_channel {
            true => ("DEPTHWISE_CONV2D", [ky, kx, n, many as u32]),
            false => ("CONV2D", [many as u32, ky, kx, n]),
        };
        let weights = d.whole(shape.iter().map(|n| *n as i64).product());
        let bias = d.whole(if i % 5 == 0 { 1 } else { made });
        let mut wanted = vec![0.0; (s.out[0] * s.out[1] * made) as usize];
        for (i, w) in wanted.iter_mut().enumerate() {
            *w = bias[if bias.len() == 1 { 0 } else { i % made as usize }];
        }
        s.each(|o, k, from| {
            let to = ((o[0] * s.out[1] + o[1]) * made) as usize;
            for (m, ch) in (0..many).flat_map(|m| (0..channels).map(move |ch| (m, ch))) {
                let (to, weight) = match by_channel {
                    true => (to + (ch * many + m) as usize, (tap(k) * channels + ch) * many + m),
                    false => (to + m as usize, (m * s.kernel[0] * s.kernel[1] + tap(k)) * channels + ch),
                };
                wanted[to] += image[at(from) + ch as usize] * weights[weight as usize];
            }
        });
        let kernel = if i % 4 == 0 { t(ty, &shape, &weights) } else { c(ty, &shape, &weights) };
        let out = [1, s.out[0] as u32, s.out[1] as u32, made as u32];
        let result = t(if ty == I8 { I32 } else { ty }, &out, &wanted);
        let got = run(op, &s.operands(ty, &image, kernel, &bias), &[&result]).expect(op);
        assert_eq!(got[0], wanted, "{i}: {op} of {ty:?}, {:?} {:?} {:?}", s.image, s.kernel, s.pad);
    }
}

/// Models keep weights as f16 and convert them in the graph: once, and each run has the same results. The conversion takes none of the
/// session's memory.
#[test]
fn converted_weights_are_the_same_in_each_run() {
    let op = |name: &str| (0..).map_while(Op::of).find(|o| o.name() == name).expect("an operator");
    let floats = |all: &[f32]| all.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
    let ints = |all: &[i32]| all.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
    let mut g = Graph::default();
    let mut value = |ty, shape: &[u32], constant: Option<Vec<u8>>| {
        g.values.push(Value { ty, shape: shape.to_vec(), constant: constant.map(Into::into) });
        g.values.len() as u32 - 1
    };
    // 2 and -0.5 as f16.
    let small = value(F16, &[2, 1, 1, 1], Some(vec![0x00, 0x40, 0x00, 0xb8]));
    let weights = value(F32, &[2, 1, 1, 1], None);
    let x = value(F32, &[1, 1, 3, 1], None);
    let mut operands = vec![
        value(I32, &[4], Some(ints(&[0; 4]))),
        value(I32, &[2], Some(ints(&[1; 2]))),
        value(I32, &[2], Some(ints(&[1; 2]))),
        value(I32, &[], Some(ints(&[3]))),
        value(Bool, &[], Some(vec![0])),
        x,
        weights,
    ];
    operands.push(value(F32, &[1], Some(floats(&[10.0]))));
    operands.push(value(F32, &[1], Some(floats(&[0.0]))));
    operands.push(value(F32, &[1], Some(floats(&[0.0]))));
    let y = value(F32, &[1, 1, 3, 2], None);
    g.nodes.push(Node { op: op("CAST"), operands: vec![small], results: vec![weights] });
    g.nodes.push(Node { op: op("CONV2D"), operands, results: vec![y] });
    let port = |set| Port { set, binding: 0, element: 0 };
    (g.inputs, g.outputs) = (vec![(port(0), x)], vec![(port(1), y)]);
    let plan = Plan::new(g).expect("a plan");
    assert_eq!(plan.bytes(), 0);
    for (input, wanted) in [
        ([1.0, 2.0, 3.0], [12.0, 9.5, 14.0, 9.0, 16.0, 8.5]),
        ([0.0, -1.0, 4.0], [10.0, 10.0, 8.0, 10.5, 18.0, 8.0]),
    ] {
        let (mut from, mut to) = (floats(&input), vec![0u8; 24]);
        // SAFETY: the vectors' bytes, which live until the run has ended.
        let [from, to_view, none] = unsafe {
            [
                Tensor::new(from.as_mut_ptr(), 12, vec![12, 12, 4, 4]),
                Tensor::new(to.as_mut_ptr(), 24, vec![24, 24, 8, 4]),
                Tensor::new(std::ptr::null_mut(), 0, vec![]),
            ]
        };
        plan.run(&[from], &[to_view], &none, &Alone, &|| false).expect("a run");
        assert_eq!(to, floats(&wanted));
    }
}
