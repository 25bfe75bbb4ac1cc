//! Cooperative vectors (VK_NV_cooperative_vector) for tests: SPIR-V of one product for each invocation, or of one sum over invocations,
//! and the conversion of matrices by the host. The compilers of Debian 12 do not know the extension.

use crate::context::Context;
use crate::cooperative::{Entry, Module, op, text};
use crate::tensor::functions;
use crate::{Error, Result};

/// Invocations of a workgroup.
pub const GROUP: u32 = 64;
/// Invocations in a row that share a matrix, where there are several.
pub const SHARE: u32 = 5;

const STORAGE_BUFFER: u32 = 12;

/// A product for each invocation. Types are numbers of VkComponentTypeKHR. Binding 0 has the input vectors, 1 the matrices, 2 the bias,
/// 3 gets the results; vectors begin at multiples of `input_step` and `result_step` bytes, matrices at multiples of `matrix_step`, which
/// is 0 if there is one.
#[derive(Clone, Copy, Debug)]
pub struct Product {
    /// Input's type, its interpretation, matrix's, bias's, result's.
    pub types: [u32; 5],
    pub rows: u32,
    pub columns: u32,
    /// VkCooperativeVectorMatrixLayoutNV
    pub layout: u32,
    pub transposed: bool,
    /// Bytes from row to row, or column to column.
    pub stride: u32,
    pub adds: bool,
    pub input_step: u32,
    pub matrix_step: u32,
    pub result_step: u32,
}

/// Sums over all invocations. Binding 0 has vectors a and b of 16-bit floats, of which each begins at a multiple of `step` bytes, one after the
/// other. The sum of the outer products goes to binding 1, a matrix of `types`, and that of a to binding 2.
#[derive(Clone, Copy, Debug)]
pub struct Sums {
    /// 0: 16-bit floats, 1: 32-bit ones.
    pub of: u32,
    pub rows: u32,
    pub columns: u32,
    pub step: u32,
}

fn bits(component: u32) -> u32 {
    match component {
        0 => 16,
        3 | 7 => 8,
        _ => 32,
    }
}

/// OpTypeFloat or OpTypeInt.
fn declare(id: u32, component: u32) -> Vec<u32> {
    match component {
        0 | 1 => op(22, &[id, bits(component)]),
        _ => op(21, &[id, bits(component), u32::from(component < 6)]),
    }
}

/// A module with buffers of words; the ids of their variables, of a pointer to what one has, and of an invocation's number.
struct Shader {
    m: Module,
    main: u32,
    void: u32,
    function: u32,
    buffers: Vec<u32>,
    words: u32,
    id: u32,
    number: u32,
    types: Vec<(u32, u32)>,
}

impl Shader {
    fn new(bindings: u32) -> Shader {
        let (mut m, Entry { main, void, function, uint3 }) = Module::of_entry();
        let uint = m.uint;
        let pointer = m.global(|id| op(32, &[id, 1, uint3]));
        let id = m.global(|id| op(59, &[pointer, id, 1]));
        m.decorations.extend(op(71, &[id, 11, 28]));
        let array = m.global(|id| op(29, &[id, uint]));
        let words = m.global(|id| op(32, &[id, STORAGE_BUFFER, array]));
        m.decorations.extend(op(71, &[array, 6, 4]));
        let block = m.global(|id| op(30, &[id, array]));
        m.decorations.extend([op(71, &[block, 2]), op(72, &[block, 0, 35, 0])].concat());
        let whole = m.global(|id| op(32, &[id, STORAGE_BUFFER, block]));
        let buffers = (0..bindings).map(|n| {
            let variable = m.global(|id| op(59, &[whole, id, STORAGE_BUFFER]));
            m.decorations.extend([op(71, &[variable, 34, 0]), op(71, &[variable, 33, n])].concat());
            variable
        });
        let buffers = buffers.collect();
        let begin = m.id();
        m.body.extend(op(248, &[begin]));
        let vector = m.value(61, uint3, &[id]);
        let number = m.value(81, uint, &[vector, 0]);
        Shader { m, main, void, function, buffers, words, id, number, types: vec![(9, uint)] }
    }

    fn scalar(&mut self, component: u32) -> u32 {
        if let Some((_, id)) = self.types.iter().find(|t| t.0 == component) {
            return *id;
        }
        let id = self.m.global(|id| declare(id, component));
        self.types.push((component, id));
        id
    }

    fn vector(&mut self, component: u32, n: u32) -> u32 {
        let (scalar, n) = (self.scalar(component), self.m.constant(n));
        self.m.global(|id| op(5288, &[id, scalar, n]))
    }

    /// A pointer to all that a buffer has.
    fn all(&mut self, buffer: usize) -> u32 {
        let zero = self.m.constant(0);
        self.m.value(65, self.words, &[self.buffers[buffer], zero])
    }

    fn times(&mut self, a: u32, n: u32) -> u32 {
        let n = self.m.constant(n);
        self.m.value(132, self.m.uint, &[a, n])
    }

    fn words(mut self) -> Vec<u32> {
        self.m.body.extend(op(253, &[]));
        // Shader, Float16, Int8, CooperativeVectorNV, CooperativeVectorTrainingNV, VulkanMemoryModel.
        let mut head: Vec<u32> = [1, 9, 39, 5394, 5435, 5345].iter().flat_map(|c| op(17, &[*c])).collect();
        head.extend(op(10, &text("SPV_NV_cooperative_vector")));
        head.extend(op(14, &[0, 3]));
        let mut entry = vec![5, self.main];
        entry.extend(text("main"));
        entry.push(self.id);
        entry.extend(&self.buffers);
        head.extend(op(15, &entry));
        head.extend(op(16, &[self.main, 17, GROUP, 1, 1]));
        let m = &self.m;
        let mut words = vec![0x0723_0203, 0x0001_0600, 0, m.ids + 1, 0];
        words.extend(head);
        words.extend(&m.decorations);
        words.extend(&m.globals);
        words.extend(op(54, &[self.void, self.main, 0, self.function]));
        words.extend(&m.body);
        words.extend(op(56, &[]));
        words
    }
}

impl Product {
    pub fn spirv(&self) -> Vec<u32> {
        let mut s = Shader::new(4);
        let [from, interpretation, of_matrix, of_bias, to] = self.types;
        // Four bytes in a word.
        let packed = matches!(interpretation, 1_000_491_000 | 1_000_491_001);
        let input_type = s.vector(from, if packed { self.columns.div_ceil(4) } else { self.columns });
        let result_type = s.vector(to, self.rows);
        let boolean = s.m.global(|id| op(20, &[id]));
        let transposed = s.m.global(|id| op(if self.transposed { 41 } else { 42 }, &[boolean, id]));
        let group = s.m.constant(SHARE);
        let group = s.m.value(134, s.m.uint, &[s.number, group]);
        let at = [(s.number, self.input_step), (group, self.matrix_step), (s.number, self.result_step)];
        let [input_at, matrix_at, result_at] = at.map(|(a, n)| s.times(a, n));
        let pointers = [0, 1, 2, 3].map(|b| s.all(b));
        let input = s.m.value(5302, input_type, &[pointers[0], input_at]);
        let numbers =
            [interpretation, of_matrix, of_bias, self.rows, self.columns, self.layout, self.stride, 0];
        let [interpretation, of_matrix, of_bias, rows, columns, layout, stride, none] =
            numbers.map(|n| s.m.constant(n));
        // What is signed: the input, and the result.
        let signs = u32::from(from < 6) << 1 | u32::from(to < 6) << 3;
        let mut operands = vec![input, interpretation, pointers[1], matrix_at, of_matrix];
        operands.extend(if self.adds { vec![pointers[2], none, of_bias] } else { vec![] });
        operands.extend([rows, columns, layout, transposed, stride, signs]);
        let result = s.m.value(if self.adds { 5292 } else { 5289 }, result_type, &operands);
        s.m.body.extend(op(5303, &[pointers[3], result_at, result]));
        s.words()
    }
}

impl Sums {
    pub fn spirv(&self) -> Vec<u32> {
        let mut s = Shader::new(3);
        let (a_type, b_type) = (s.vector(0, self.rows), s.vector(0, self.columns));
        let a_at = s.times(s.number, 2 * self.step);
        let step = s.m.constant(self.step);
        let b_at = s.m.add(a_at, step);
        let pointers = [0, 1, 2].map(|b| s.all(b));
        let a = s.m.value(5302, a_type, &[pointers[0], a_at]);
        let b = s.m.value(5302, b_type, &[pointers[0], b_at]);
        let [none, training, of] = [0, 3, self.of].map(|n| s.m.constant(n));
        s.m.body.extend(op(5290, &[pointers[1], none, a, b, training, of]));
        s.m.body.extend(op(5291, &[pointers[2], none, a]));
        s.words()
    }
}

functions! {
    Functions:
    convert = c"vkConvertCooperativeVectorMatrixNV": fn(vk::Device, *const vk::ConvertCooperativeVectorMatrixInfoNV<'_>) -> vk::Result,
    record = c"vkCmdConvertCooperativeVectorMatrixNV": fn(vk::CommandBuffer, u32, *const vk::ConvertCooperativeVectorMatrixInfoNV<'_>),
}

impl Functions {
    /// Of a device with the extension.
    pub fn new(context: &Context) -> Result<Functions> {
        Functions::load(context)
    }
}

/// vkConvertCooperativeVectorMatrixNV of `src` to `to`; how many bytes it says the destination has. Empty slices are null.
pub fn convert(
    context: &Context,
    info: &vk::ConvertCooperativeVectorMatrixInfoNV,
    src: &[u8],
    to: &mut [u8],
) -> Result<(vk::Result, usize)> {
    let mut size = to.len();
    let mut info = vk::ConvertCooperativeVectorMatrixInfoNV { p_next: std::ptr::null(), ..*info };
    info.src_size = src.len();
    info.p_dst_size = &raw mut size;
    if !src.is_empty() {
        info.src_data.host_address = src.as_ptr().cast();
    }
    if !to.is_empty() {
        info.dst_data.host_address = to.as_mut_ptr().cast();
    }
    // SAFETY: both are as long as the structure says.
    let result = unsafe { (Functions::new(context)?.convert)(context.device.handle(), &info) };
    Ok((result, size))
}

/// The combinations that a device reports: types of the input, its interpretation, the matrix, the bias and the result.
pub fn combinations(context: &Context) -> Vec<[u32; 5]> {
    type List = unsafe extern "system" fn(
        vk::PhysicalDevice,
        *mut u32,
        *mut vk::CooperativeVectorPropertiesNV<'_>,
    ) -> vk::Result;
    let found = context.instance_function(c"vkGetPhysicalDeviceCooperativeVectorPropertiesNV");
    let Some(found) = found else { return vec![] };
    // SAFETY: the command has this type.
    let list = unsafe { std::mem::transmute::<unsafe extern "system" fn(), List>(found) };
    let mut n = 0;
    // SAFETY: a count, then as many structures.
    let all = unsafe {
        if list(context.physical, &mut n, std::ptr::null_mut()) != vk::Result::SUCCESS {
            return vec![];
        }
        let mut all = vec![vk::CooperativeVectorPropertiesNV::default(); n as usize];
        let _ = list(context.physical, &mut n, all.as_mut_ptr());
        all
    };
    let types = |p: &vk::CooperativeVectorPropertiesNV| {
        [p.input_type, p.input_interpretation, p.matrix_interpretation, p.bias_interpretation, p.result_type]
            .map(|t| t.as_raw() as u32)
    };
    all.iter().map(types).collect()
}
