//! SPIR-V that Debian's assembler does not know yet: untyped pointers, bfloat16, 8-bit floats. Modules are words.

use crate::gpu::Gpu;
use ash::vk;

use client::cooperative::{op, text};

const STORAGE: u32 = 12;
// Ids that all modules have.
const MAIN: u32 = 1;
const VOID: u32 = 2;
const FUNCTION: u32 = 3;
const UINT: u32 = 4;
const FLOAT: u32 = 5;
const UINTS: u32 = 6;
const FLOATS: u32 = 7;
const BLOCK: u32 = 8;
const POINTER: u32 = 9;
const IN: u32 = 10;
const OUT: u32 = 11;
/// Constants 0 to 15 are `NUMBER` + n.
const NUMBER: u32 = 20;
const FREE: u32 = 40;

/// A compute shader of one invocation; `in` and `out` are untyped storage buffers, blocks of a runtime array of uint.
fn module(capabilities: &[u32], extensions: &[&str], types: Vec<Vec<u32>>, body: Vec<Vec<u32>>) -> Vec<u32> {
    let mut all = vec![op(17, &[1]), op(17, &[4473])];
    all.extend(capabilities.iter().map(|&c| op(17, &[c])));
    all.push(op(10, &text("SPV_KHR_untyped_pointers")));
    all.extend(extensions.iter().map(|e| op(10, &text(e))));
    all.push(op(14, &[0, 1]));
    all.push(op(15, &[&[5, MAIN][..], &text("main")].concat()));
    all.push(op(16, &[MAIN, 17, 1, 1, 1]));
    for (id, binding) in [(IN, 0), (OUT, 1)] {
        all.extend([op(71, &[id, 34, 0]), op(71, &[id, 33, binding])]);
    }
    all.extend([
        op(71, &[UINTS, 6, 4]),
        op(71, &[FLOATS, 6, 4]),
        op(71, &[BLOCK, 2]),
        op(72, &[BLOCK, 0, 35, 0]),
    ]);
    let decorated = |w: &Vec<u32>| matches!(w[0] as u16, 71 | 72);
    all.extend(types.iter().filter(|w| decorated(w)).cloned());
    all.extend([op(19, &[VOID]), op(33, &[FUNCTION, VOID]), op(21, &[UINT, 32, 0]), op(22, &[FLOAT, 32])]);
    all.extend([op(29, &[UINTS, UINT]), op(29, &[FLOATS, FLOAT]), op(30, &[BLOCK, UINTS])]);
    all.extend((0..16).map(|n| op(43, &[UINT, NUMBER + n, n])));
    // OpTypeUntypedPointerKHR, OpUntypedVariableKHR
    all.extend([op(4417, &[POINTER, STORAGE])]);
    all.extend([IN, OUT].map(|id| op(4418, &[POINTER, id, STORAGE, BLOCK])));
    all.extend(types.into_iter().filter(|w| !decorated(w)));
    all.extend([op(54, &[VOID, MAIN, 0, FUNCTION]), op(248, &[FREE - 1])]);
    all.extend(body);
    all.extend([op(253, &[]), op(56, &[])]);
    let mut words = vec![0x0723_0203, 0x0001_0300, 0, 200, 0];
    words.extend(all.concat());
    words
}

/// OpUntypedAccessChainKHR to element `n` of an array of the type.
fn element(id: u32, array: u32, base: u32, n: u32) -> Vec<u32> {
    op(4419, &[POINTER, id, array, base, NUMBER + n])
}

/// What the module leaves in its out buffer.
fn run(code: &[u32], input: &[u32], out: usize) -> Vec<u32> {
    let mut v11 = vk::PhysicalDeviceVulkan11Features::default().storage_buffer16_bit_access(true);
    let extensions = [c"VK_KHR_shader_untyped_pointers", c"VK_KHR_shader_bfloat16", c"VK_EXT_shader_float8"];
    let g = Gpu::with(&extensions, &mut v11);
    let (from, to) = (g.buffer(input.len()), g.buffer(out));
    from.words.copy_from_slice(input);
    let d = &g.device;
    // SAFETY: handles are alive, structures outlive the calls.
    unsafe {
        let module = d.create_shader_module(&vk::ShaderModuleCreateInfo::default().code(code), None).unwrap();
        let bindings = [0, 1].map(|n| {
            vk::DescriptorSetLayoutBinding::default()
                .binding(n)
                .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
                .descriptor_count(1)
                .stage_flags(vk::ShaderStageFlags::COMPUTE)
        });
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        let sets = [d.create_descriptor_set_layout(&info, None).unwrap()];
        let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&sets);
        let layout = d.create_pipeline_layout(&info, None).unwrap();
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(module)
            .name(c"main");
        let info = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout)];
        let pipeline = d.create_compute_pipelines(vk::PipelineCache::null(), &info, None).unwrap()[0];
        let sizes = [vk::DescriptorPoolSize { ty: vk::DescriptorType::STORAGE_BUFFER, descriptor_count: 2 }];
        let info = vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&sizes);
        let pool = d.create_descriptor_pool(&info, None).unwrap();
        let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&sets);
        let set = d.allocate_descriptor_sets(&info).unwrap();
        for (n, b) in [(0, &from), (1, &to)] {
            let b = [vk::DescriptorBufferInfo::default().buffer(b.buffer).range(vk::WHOLE_SIZE)];
            let write = vk::WriteDescriptorSet::default()
                .dst_set(set[0])
                .dst_binding(n)
                .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
                .buffer_info(&b);
            d.update_descriptor_sets(&[write], &[]);
        }
        g.run(|d, c| {
            let compute = vk::PipelineBindPoint::COMPUTE;
            d.cmd_bind_pipeline(c, compute, pipeline);
            d.cmd_bind_descriptor_sets(c, compute, layout, 0, &set, &[]);
            d.cmd_dispatch(c, 1, 1, 1);
        });
        d.destroy_descriptor_pool(pool, None);
        d.destroy_pipeline(pipeline, None);
        d.destroy_pipeline_layout(layout, None);
        d.destroy_descriptor_set_layout(sets[0], None);
        d.destroy_shader_module(module, None);
    }
    let words = to.words.to_vec();
    g.free(from);
    g.free(to);
    words
}

/// The same bytes as floats, integers, a vector; a length, an atomic, a copy of bytes.
#[test]
fn an_address_is_what_each_access_says() {
    let i = FREE;
    let vector = i;
    let types = vec![op(23, &[vector, UINT, 2]), op(43, &[FLOAT, i + 1, 1f32.to_bits()])];
    let body = vec![
        // out[0] = float(in[1]) + 1, of bits that the buffer has as uint
        element(i + 2, FLOATS, IN, 1),
        op(61, &[FLOAT, i + 3, i + 2]),
        op(129, &[FLOAT, i + 4, i + 3, i + 1]),
        element(i + 5, UINTS, OUT, 0),
        op(62, &[i + 5, i + 4]),
        // out[1..3] = in[2..4] as a vector
        element(i + 6, UINTS, IN, 2),
        op(61, &[vector, i + 7, i + 6]),
        element(i + 8, FLOATS, OUT, 1),
        op(62, &[i + 8, i + 7]),
        // out[3] = elements of the block's array (OpUntypedArrayLengthKHR)
        op(4425, &[UINT, i + 9, BLOCK, IN, 0]),
        element(i + 10, UINTS, OUT, 3),
        op(62, &[i + 10, i + 9]),
        // out[4] = atomicAdd(out[3], 5)
        op(234, &[UINT, i + 11, i + 10, NUMBER + 1, NUMBER, NUMBER + 5]),
        element(i + 12, UINTS, OUT, 4),
        op(62, &[i + 12, i + 11]),
        // 8 bytes from in[4] to out[5] (OpCopyMemorySized)
        element(i + 13, UINTS, IN, 4),
        element(i + 14, FLOATS, OUT, 5),
        op(64, &[i + 14, i + 13, NUMBER + 8]),
        // out[7] = in[7]: of a pointer that is added to (OpUntypedPtrAccessChainKHR through a struct's first member)
        op(4419, &[POINTER, i + 15, BLOCK, IN, NUMBER, NUMBER + 7]),
        op(61, &[UINT, i + 16, i + 15]),
        element(i + 17, UINTS, OUT, 7),
        op(62, &[i + 17, i + 16]),
    ];
    let input = [9, 2.5f32.to_bits(), 22, 33, 44, 55, 66, 77];
    let out = run(&module(&[], &[], types, body), &input, 8);
    assert_eq!(out, [3.5f32.to_bits(), 22, 33, 8 + 5, 8, 44, 55, 77]);
}

/// A module that converts `n` floats to the format and stores its bits.
fn converts(encoding: u32, width: u32, n: u32) -> Vec<u32> {
    let i = FREE;
    let (small, smalls) = (i, i + 1);
    let types =
        vec![op(71, &[smalls, 6, width / 8]), op(22, &[small, width, encoding]), op(29, &[smalls, small])];
    let each = (0..n).flat_map(|k| {
        let j = i + 2 + 4 * k;
        [
            element(j, FLOATS, IN, k),
            op(61, &[FLOAT, j + 1, j]),
            op(115, &[small, j + 2, j + 1]),
            element(j + 3, smalls, OUT, k),
            op(62, &[j + 3, j + 2]),
        ]
    });
    let (capability, extension, storage) = match width {
        16 => (5116, "SPV_KHR_bfloat16", (4433, "SPV_KHR_16bit_storage")),
        _ => (4212, "SPV_EXT_float8", (4448, "SPV_KHR_8bit_storage")),
    };
    module(&[capability, storage.0], &[extension, storage.1], types, each.collect())
}

/// Rounded to the nearest, ties to the even one; what is beyond the greatest: infinity, or the NaN of a format without.
#[test]
fn floats_become_small() {
    let step = |n: f32, e: i32| n * 2f32.powi(e);
    // bfloat16 has 8 bits of significance.
    // 2^-133, whose reciprocal is no float: powi of an unoptimised build makes 0 of it.
    let least = f32::from_bits(1 << 16);
    let values = [1.0 + step(1.0, -8), 1.0 + step(3.0, -8), f32::MAX, -2.5, f32::NAN, least];
    let want = [0x3F80, 0x3F82, 0x7F80, 0xC020, 0x7FC0, 0x0001];
    // E5M2: 57344 is the greatest, 2^-16 the least.
    let e5m2 = (
        [57344.0, 61440.0, -1.125, step(1.0, -16), step(1.0, -17), f32::NAN],
        [0x7B, 0x7C, 0xBC, 1, 0, 0x7E],
    );
    // E4M3: 448 and 2^-9.
    let e4m3 =
        ([448.0, 464.0, 480.0, step(3.0, -10), -step(1.0, -6), 1.0625], [0x7E, 0x7E, 0x7F, 2, 0x88, 0x38]);
    for (encoding, width, values, want) in
        [(0, 16, values, want), (4215, 8, e5m2.0, e5m2.1), (4214, 8, e4m3.0, e4m3.1)]
    {
        let out = run(&converts(encoding, width, 6), &values.map(f32::to_bits), 8);
        let bytes: Vec<u8> = out.iter().flat_map(|w| w.to_le_bytes()).collect();
        let got: Vec<u32> = (0..6)
            .map(|k| match width {
                16 => u16::from_le_bytes([bytes[2 * k], bytes[2 * k + 1]]) as u32,
                _ => bytes[k] as u32,
            })
            .collect();
        assert_eq!(got, want, "encoding {encoding}");
    }
}

/// A dot product of bfloat16 (BFloat16DotProductKHR), and its way back to f32.
#[test]
fn small_floats_have_a_dot_product() {
    let i = FREE;
    let (small, vector) = (i, i + 1);
    let types = vec![op(22, &[small, 16, 0]), op(23, &[vector, small, 2])];
    let body = vec![
        element(i + 2, UINTS, IN, 0),
        op(61, &[vector, i + 3, i + 2]),
        element(i + 4, UINTS, IN, 1),
        op(61, &[vector, i + 5, i + 4]),
        op(148, &[small, i + 6, i + 3, i + 5]),
        op(115, &[FLOAT, i + 7, i + 6]),
        element(i + 8, FLOATS, OUT, 0),
        op(62, &[i + 8, i + 7]),
        // As an integer, too.
        op(109, &[UINT, i + 9, i + 6]),
        element(i + 10, UINTS, OUT, 1),
        op(62, &[i + 10, i + 9]),
    ];
    let code = module(&[5116, 5117, 4433], &["SPV_KHR_bfloat16", "SPV_KHR_16bit_storage"], types, body);
    // (1.5, 2) · (4, 0.25) = 6.5
    let pair = |x: f32, y: f32| x.to_bits() >> 16 | y.to_bits() & 0xFFFF_0000;
    assert_eq!(run(&code, &[pair(1.5, 2.0), pair(4.0, 0.25)], 2), [6.5f32.to_bits(), 6]);
}

/// 16-bit floats that are loaded and stored keep their bits, those of signalling NaNs too; the difference of pointers without types is
/// in bytes.
#[test]
fn what_is_moved_keeps_its_bits_and_differences_are_in_bytes() {
    let i = FREE;
    let (half, halfs) = (i, i + 1);
    let types = vec![op(71, &[halfs, 6, 2]), op(22, &[half, 16]), op(29, &[halfs, half])];
    let mut body: Vec<Vec<u32>> = (0..4)
        .flat_map(|k| {
            let j = i + 2 + 3 * k;
            let [from, to] = [element(j, halfs, IN, k), element(j + 2, halfs, OUT, k)];
            [from, op(61, &[half, j + 1, j]), to, op(62, &[j + 2, j + 1])]
        })
        .collect();
    let j = i + 2 + 3 * 4;
    body.extend([
        element(j, halfs, IN, 9),
        element(j + 1, halfs, IN, 4),
        // OpPtrDiff
        op(403, &[UINT, j + 2, j, j + 1]),
        element(j + 3, UINTS, OUT, 2),
        op(62, &[j + 3, j + 2]),
    ]);
    // Float16, StorageBuffer16BitAccess, VariablePointersStorageBuffer
    let code = module(&[9, 4433, 4441], &["SPV_KHR_16bit_storage"], types, body);
    let bits = [0xFC01_7C01, 0x8001_7E00];
    assert_eq!(run(&code, &bits, 3), [bits[0], bits[1], 10]);
}
