//! Products of matrices by VK_KHR_cooperative_matrix: checked against sums in f64, and timed.
//! `gemm [SIZE] [DOWN ALONG] [ELEMENT]`

use client::compute::KernelInfo;
use client::cooperative::{Element, Gemm};
use client::{Buffer, Context, Kernel, Library};
use std::ffi::CStr;
use std::rc::Rc;
use std::time::Instant;

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

type Shape = vk::CooperativeMatrixPropertiesKHR<'static>;

/// A device with cooperative matrices, and of the small floats those that it has.
fn open() -> Rc<Context> {
    let probe = Context::open().unwrap();
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
    let context = Context::extended(Library::any().unwrap(), &names, (&raw mut cooperative).cast());
    context.unwrap()
}

fn invocations(context: &Context) -> u32 {
    let mut subgroups = vk::PhysicalDeviceSubgroupProperties::default();
    let mut all = vk::PhysicalDeviceProperties2 { p_next: (&raw mut subgroups).cast(), ..Default::default() };
    // SAFETY: structures outlive the call.
    unsafe { context.instance.get_physical_device_properties2(context.physical, &mut all) };
    subgroups.subgroup_size
}

fn shapes(context: &Context) -> Vec<Shape> {
    let name = c"vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR";
    type Ask = unsafe extern "system" fn(vk::PhysicalDevice, *mut u32, *mut Shape) -> vk::Result;
    let ask = context.instance_function(name).unwrap();
    let mut count = 256;
    let mut all = vec![Shape::default(); count as usize];
    // SAFETY: the command's function has the command's type, and there is room for so many.
    unsafe {
        let ask: Ask = std::mem::transmute(ask);
        assert!(ask(context.physical, &mut count, all.as_mut_ptr()).as_raw() >= 0);
    }
    all.truncate(count as usize);
    all
}

fn main() {
    let args: Vec<u32> = std::env::args().skip(1).filter_map(|a| a.parse().ok()).collect();
    let size = args.first().copied().unwrap_or(512);
    let wanted = std::env::args().skip(1).find(|a| a.parse::<u32>().is_err());
    let tiles = [args.get(1).copied().unwrap_or(2), args.get(2).copied().unwrap_or(2)];
    let context = open();
    let subgroup = invocations(&context);
    let shapes = shapes(&context);
    let cases = [
        (Element::F32, Element::F32, Element::F32),
        (Element::F16, Element::F16, Element::F32),
        (Element::F16, Element::F16, Element::F16),
        (Element::Bf16, Element::Bf16, Element::F32),
        (Element::S8, Element::S8, Element::S32),
        (Element::U8, Element::U8, Element::U32),
        (Element::S8, Element::U8, Element::S32),
        (Element::U8, Element::S8, Element::S32),
    ];
    for (left, right, sum) in cases {
        if wanted.as_ref().is_some_and(|w| !w.eq_ignore_ascii_case(&format!("{left:?}"))) {
            continue;
        }
        // The largest square matrices that the device has of these.
        let fits = |s: &&Shape| {
            let of = [s.a_type, s.b_type, s.c_type, s.result_type];
            let square = s.m_size == s.n_size && s.n_size == s.k_size;
            square
                && of == [left, right, sum, sum].map(Element::component)
                && s.scope == vk::ScopeKHR::SUBGROUP
        };
        let Some(shape) = shapes.iter().filter(fits).max_by_key(|s| s.m_size) else {
            println!("{left:?} {right:?} {sum:?}: the device has none");
            continue;
        };
        for by_column in [false, true] {
            let g = Gemm {
                left,
                right,
                sum,
                m: size,
                n: size,
                k: size,
                side: shape.m_size,
                tiles,
                subgroups: [2, 2],
                subgroup,
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
            let bytes = |v: &[i32], e: Element| v.iter().flat_map(|x| write(e, *x)).collect::<Vec<u8>>();
            let stored: Vec<i32> =
                if by_column { (0..n * n).map(|i| b[(i % n) * n + i / n]).collect() } else { b.clone() };
            let (ba, bb) = (
                Buffer::with(&context, &bytes(&a, left)).unwrap(),
                Buffer::with(&context, &bytes(&stored, right)).unwrap(),
            );
            let bc = Buffer::new(&context, n * n * sum.bytes()).unwrap();
            let words = g.spirv();
            let spirv: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
            let kernel =
                Kernel::new(&context, &KernelInfo { spirv: &spirv, bindings: 3, push_size: 0 }).unwrap();
            let commands = kernel.record(&[&ba, &bb, &bc], &[], &[([0; 3], g.groups())]).unwrap();
            // The first runs compile the shader.
            let (mut best, mut spent, mut runs) = (f64::MAX, 0.0, 0);
            while runs < 4 || spent < 0.3 {
                let t = Instant::now();
                context.submit_and_wait(commands).unwrap();
                let took = t.elapsed().as_secs_f64();
                (best, spent, runs) = (best.min(took), spent + took, runs + 1);
            }
            let mut wrong = 0;
            for i in (0..n).step_by(37) {
                for j in 0..n {
                    let want: i64 = (0..n).map(|k| a[i * n + k] as i64 * b[k * n + j] as i64).sum();
                    let at = (i * n + j) * sum.bytes();
                    let got = &bc.bytes()[at..at + sum.bytes()];
                    wrong += (got != &write(sum, want as i32)[..]) as u32;
                }
            }
            let rate = 2.0 * (n as f64).powi(3) / best / 1e9;
            println!(
                "{left:?} {right:?} {sum:?} of {} {} {:.3} ms {rate:.1} G/s wrong {wrong}",
                shape.m_size,
                if by_column { "columns" } else { "rows" },
                best * 1e3
            );
        }
    }
}
