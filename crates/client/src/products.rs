//! Products of matrices by VK_KHR_cooperative_matrix, as rows of `benches` and for the example `gemm`: checked against sums of integers,
//! and timed.

use crate::compute::KernelInfo;
use crate::cooperative::{Element, Gemm};
use crate::measure::{Moment, Span};
use crate::{Buffer, Context, Error, Kernel, Library, Result};
use std::ffi::CStr;
use std::rc::Rc;

/// Elements of the matrices that are multiplied, and of the sums and the result.
#[derive(Debug)]
pub struct Spec {
    pub name: &'static str,
    pub left: Element,
    pub right: Element,
    pub sum: Element,
}

const fn row(name: &'static str, left: Element, right: Element, sum: Element) -> Spec {
    Spec { name, left, right, sum }
}

pub const ROWS: [Spec; 8] = [
    row("mm-f32", Element::F32, Element::F32, Element::F32),
    row("mm-f16", Element::F16, Element::F16, Element::F32),
    row("mm-f16-f16", Element::F16, Element::F16, Element::F16),
    row("mm-bf16", Element::Bf16, Element::Bf16, Element::F32),
    row("mm-s8", Element::S8, Element::S8, Element::S32),
    row("mm-u8", Element::U8, Element::U8, Element::U32),
    row("mm-s8-u8", Element::S8, Element::U8, Element::S32),
    row("mm-u8-s8", Element::U8, Element::S8, Element::S32),
];

pub fn find(name: &str) -> Option<&'static Spec> {
    ROWS.iter().find(|r| r.name == name)
}

/// Rows, columns and depth of a row's matrices.
pub const SIZE: u32 = 512;

/// Thousand millions of multiplications and additions of matrices of so many rows, columns and depth.
pub fn work(size: u32) -> f64 {
    2.0 * f64::from(size).powi(3) / 1e9
}

/// How a product is divided.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub size: u32,
    /// Matrices that a subgroup computes, down and along.
    pub tiles: [u32; 2],
    /// Rows and columns of the device's matrices; the largest that it has, if none are named.
    pub side: Option<u32>,
    /// B is stored column by column.
    pub by_column: bool,
}

impl Default for Shape {
    fn default() -> Shape {
        Shape { size: SIZE, tiles: [4, 4], side: None, by_column: false }
    }
}

fn half(x: f32) -> u16 {
    // Small integers only.
    let bits = x.to_bits();
    if x == 0.0 {
        return 0;
    }
    let exponent = ((bits >> 23) & 255) as i32 - 127 + 15;
    ((bits >> 16) & 0x8000) as u16 | (exponent as u16) << 10 | ((bits >> 13) & 0x3FF) as u16
}

fn write(e: Element, x: i32) -> Vec<u8> {
    match e {
        Element::F32 => (x as f32).to_le_bytes().to_vec(),
        Element::F16 => half(x as f32).to_le_bytes().to_vec(),
        Element::Bf16 => (((x as f32).to_bits() >> 16) as u16).to_le_bytes().to_vec(),
        Element::S8 | Element::U8 => vec![x as u8],
        _ => x.to_le_bytes().to_vec(),
    }
}

type Properties = vk::CooperativeMatrixPropertiesKHR<'static>;

/// A device with cooperative matrices, and of the small floats those that it has.
///
/// # Errors
/// Those that begin with [`crate::pictures::MISSING`] say that the driver has no cooperative matrices.
pub fn open() -> Result<Rc<Context>> {
    let probe = Context::open()?;
    probe.needs(c"VK_KHR_cooperative_matrix")?;
    let has = |name: &CStr| probe.needs(name).is_ok();
    let mut names = vec![c"VK_KHR_cooperative_matrix"];
    let mut float8 = vk::PhysicalDeviceShaderFloat8FeaturesEXT {
        shader_float8: 1,
        shader_float8_cooperative_matrix: 1,
        ..Default::default()
    };
    let mut bfloat = vk::PhysicalDeviceShaderBfloat16FeaturesKHR {
        shader_b_float16_type: 1,
        shader_b_float16_cooperative_matrix: 1,
        ..Default::default()
    };
    let mut cooperative =
        vk::PhysicalDeviceCooperativeMatrixFeaturesKHR { cooperative_matrix: 1, ..Default::default() };
    let mut chain: *mut std::ffi::c_void = std::ptr::null_mut();
    if has(c"VK_EXT_shader_float8") {
        names.push(c"VK_EXT_shader_float8");
        float8.p_next = chain;
        chain = (&raw mut float8).cast();
    }
    if has(c"VK_KHR_shader_bfloat16") {
        names.push(c"VK_KHR_shader_bfloat16");
        bfloat.p_next = chain;
        chain = (&raw mut bfloat).cast();
    }
    cooperative.p_next = chain;
    drop(probe);
    // SAFETY: a chain of features that outlives the call.
    Context::extended(Library::any()?, &names, (&raw mut cooperative).cast())
}

fn invocations(context: &Context) -> u32 {
    let mut subgroups = vk::PhysicalDeviceSubgroupProperties::default();
    let mut all = vk::PhysicalDeviceProperties2 { p_next: (&raw mut subgroups).cast(), ..Default::default() };
    // SAFETY: structures outlive the call.
    unsafe { context.instance.get_physical_device_properties2(context.physical, &mut all) };
    subgroups.subgroup_size
}

fn shapes(context: &Context) -> Vec<Properties> {
    let name = c"vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR";
    type Ask = unsafe extern "system" fn(vk::PhysicalDevice, *mut u32, *mut Properties) -> vk::Result;
    let ask = context.instance_function(name).unwrap();
    let mut count = 256;
    let mut all = vec![Properties::default(); count as usize];
    // SAFETY: the command's function has the command's type, and there is room for so many.
    unsafe {
        let ask: Ask = std::mem::transmute(ask);
        assert!(ask(context.physical, &mut count, all.as_mut_ptr()).as_raw() >= 0);
    }
    all.truncate(count as usize);
    all
}

/// A product that is set up.
pub struct Ready {
    pub spec: &'static Spec,
    /// Rows, columns and depth of the device's matrices.
    pub side: u32,
    shape: Shape,
    context: Rc<Context>,
    kernel: Kernel,
    a: (Vec<i32>, Buffer),
    b: (Vec<i32>, Buffer),
    c: Buffer,
    groups: [u32; 3],
}

impl Ready {
    /// # Errors
    /// Those that begin with [`crate::pictures::MISSING`] say that the device has no such matrices.
    pub fn new(context: &Rc<Context>, spec: &'static Spec, shape: Shape) -> Result<Ready> {
        let Spec { left, right, sum, .. } = *spec;
        // Square matrices that the device has of these.
        let fits = |s: &&Properties| {
            let of = [s.a_type, s.b_type, s.c_type, s.result_type];
            let square = s.m_size == s.n_size && s.n_size == s.k_size;
            square
                && of == [left, right, sum, sum].map(Element::component)
                && s.scope == vk::ScopeKHR::SUBGROUP
                && shape.side.is_none_or(|side| side == s.m_size)
        };
        let side = shapes(context).iter().filter(fits).map(|s| s.m_size).max();
        let missing = || Error(format!("{}such matrices", crate::pictures::MISSING));
        let side = side.ok_or_else(missing)?;
        let Shape { size, tiles, by_column, .. } = shape;
        let g = Gemm {
            left,
            right,
            sum,
            m: size,
            n: size,
            k: size,
            side,
            tiles,
            subgroups: [2, 2],
            subgroup: invocations(context),
            by_column,
            saturates: false,
        };
        let n = size as usize;
        let value = |i: usize, e: Element| {
            let x = (i.wrapping_mul(2654435761) >> 7) % 7;
            if matches!(e, Element::U8) { x as i32 * 36 } else { x as i32 - 3 }
        };
        let a: Vec<i32> = (0..n * n).map(|i| value(i, left)).collect();
        let b: Vec<i32> = (0..n * n).map(|i| value(i + 77, right)).collect();
        let stored: Vec<i32> =
            if by_column { (0..n * n).map(|i| b[(i % n) * n + i / n]).collect() } else { b.clone() };
        let buffer = |v: &[i32], e: Element| {
            let bytes: Vec<u8> = v.iter().flat_map(|x| write(e, *x)).collect();
            Buffer::with(context, &bytes)
        };
        let (in_a, in_b) = (buffer(&a, left)?, buffer(&stored, right)?);
        let spirv: Vec<u8> = g.spirv().iter().flat_map(|w| w.to_le_bytes()).collect();
        Ok(Ready {
            spec,
            side,
            shape,
            context: context.clone(),
            kernel: Kernel::new(context, &KernelInfo { spirv: &spirv, bindings: 3, push_size: 0 })?,
            a: (a, in_a),
            b: (b, in_b),
            c: Buffer::new(context, n * n * sum.bytes())?,
            groups: g.groups(),
        })
    }

    /// Time of one product, of as many as take so many milliseconds, and of the shortest.
    pub fn time(&self, budget_ms: u64) -> Result<(Span, f64)> {
        let buffers = [&self.a.1, &self.b.1, &self.c];
        let commands = self.kernel.record(&buffers, &[], &[([0; 3], self.groups)])?;
        let (mut times, mut best) = (0, f64::MAX);
        let begin = Moment::now();
        let span = loop {
            let one = Moment::now();
            self.context.submit_and_wait(commands)?;
            times += 1;
            best = best.min(one.elapsed().wall);
            let span = begin.elapsed();
            if span.wall * 1e3 >= budget_ms as f64 {
                break span;
            }
        };
        self.context.free(commands);
        let n = f64::from(times);
        Ok((Span { wall: span.wall / n, cpu: span.cpu / n }, best))
    }

    /// Elements of the last result that are not as they should be, in each 37th row.
    pub fn wrong(&self) -> usize {
        let (n, sum) = (self.shape.size as usize, self.spec.sum);
        let is_wrong = |i: usize, j: usize| {
            let want: i64 = (0..n).map(|k| self.a.0[i * n + k] as i64 * self.b.0[k * n + j] as i64).sum();
            let at = (i * n + j) * sum.bytes();
            self.c.bytes()[at..at + sum.bytes()] != write(sum, want as i32)[..]
        };
        (0..n).step_by(37).flat_map(|i| (0..n).map(move |j| (i, j))).filter(|&(i, j)| is_wrong(i, j)).count()
    }
}
