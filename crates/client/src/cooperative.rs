//! Products of matrices by VK_KHR_cooperative_matrix: SPIR-V of a whole product C = A · B, for tests and
//! benches. It is made here because the compilers of Debian 12 do not know the extension.

/// What the elements of a matrix are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Element {
    F32,
    F16,
    Bf16,
    E4m3,
    E5m2,
    S8,
    U8,
    S32,
    U32,
}

impl Element {
    /// Bytes in memory.
    pub fn bytes(self) -> usize {
        match self {
            Element::F32 | Element::S32 | Element::U32 => 4,
            Element::F16 | Element::Bf16 => 2,
            _ => 1,
        }
    }
    /// As the device's properties name it.
    pub fn component(self) -> vk::ComponentTypeKHR {
        use vk::ComponentTypeKHR as T;
        match self {
            Element::F32 => T::FLOAT32,
            Element::F16 => T::FLOAT16,
            Element::Bf16 => vk::COMPONENT_TYPE_BFLOAT16_KHR,
            Element::E4m3 => vk::COMPONENT_TYPE_FLOAT8_E4M3_EXT,
            Element::E5m2 => vk::COMPONENT_TYPE_FLOAT8_E5M2_EXT,
            Element::S8 => T::SINT8,
            Element::U8 => T::UINT8,
            Element::S32 => T::SINT32,
            Element::U32 => T::UINT32,
        }
    }
    fn is_signed(self) -> bool {
        !matches!(self, Element::U8 | Element::U32)
    }
    /// OpTypeFloat or OpTypeInt.
    fn declare(self, id: u32) -> Vec<u32> {
        match self {
            Element::F32 => op(22, &[id, 32]),
            Element::F16 => op(22, &[id, 16]),
            Element::Bf16 => op(22, &[id, 16, 0]),
            Element::E4m3 => op(22, &[id, 8, 4214]),
            Element::E5m2 => op(22, &[id, 8, 4215]),
            Element::S8 => op(21, &[id, 8, 1]),
            Element::U8 => op(21, &[id, 8, 0]),
            Element::S32 => op(21, &[id, 32, 1]),
            Element::U32 => op(21, &[id, 32, 0]),
        }
    }
    fn capabilities(self) -> &'static [u32] {
        match self {
            Element::F16 => &[9, 4433],
            Element::Bf16 => &[5116, 5118, 4433],
            Element::E4m3 | Element::E5m2 => &[4212, 4213, 4448],
            Element::S8 | Element::U8 => &[39, 4448],
            _ => &[],
        }
    }
}

/// A product of an m × k and a k × n matrix; sizes are multiples of what a workgroup computes.
#[derive(Clone, Copy, Debug)]
pub struct Gemm {
    pub left: Element,
    pub right: Element,
    /// Of the sums and of the result.
    pub sum: Element,
    pub m: u32,
    pub n: u32,
    pub k: u32,
    /// Rows, columns and depth of a matrix of a product.
    pub side: u32,
    /// Matrices that a subgroup computes, down and along.
    pub tiles: [u32; 2],
    /// Subgroups of a workgroup, down and along.
    pub subgroups: [u32; 2],
    /// Invocations of a subgroup.
    pub subgroup: u32,
    /// B is stored column by column.
    pub by_column: bool,
    pub saturates: bool,
}

/// A product of two of the loaded matrices and a sum, of which another sum may be the result.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    pub to: usize,
    pub left: usize,
    pub right: usize,
    pub from: usize,
}

/// One instruction.
pub fn op(code: u32, operands: &[u32]) -> Vec<u32> {
    let mut w = vec![(operands.len() as u32 + 1) << 16 | code];
    w.extend_from_slice(operands);
    w
}

/// A string as an operand.
pub fn text(s: &str) -> Vec<u32> {
    let mut b = s.as_bytes().to_vec();
    b.push(0);
    b.resize(b.len().next_multiple_of(4), 0);
    crate::words(&b)
}

/// A module as it grows: ids, and its parts in the order that SPIR-V wants.
#[derive(Clone, Default)]
pub(crate) struct Module {
    pub(crate) ids: u32,
    pub(crate) decorations: Vec<u32>,
    pub(crate) globals: Vec<u32>,
    pub(crate) body: Vec<u32>,
    constants: std::collections::HashMap<u32, u32>,
    pub(crate) uint: u32,
}

/// Ids of what a module with an entry point has.
pub(crate) struct Entry {
    pub main: u32,
    pub void: u32,
    /// The type of a function without parameters and result.
    pub function: u32,
    pub uint3: u32,
}

impl Module {
    /// With the types of an entry point and of its invocation's number.
    pub(crate) fn of_entry() -> (Module, Entry) {
        let mut m = Module::default();
        let (main, void, uint) = (m.id(), m.id(), m.id());
        m.uint = uint;
        m.globals.extend([op(19, &[void]), op(21, &[uint, 32, 0])].concat());
        let function = m.global(|id| op(33, &[id, void]));
        let uint3 = m.global(|id| op(23, &[id, uint, 3]));
        (m, Entry { main, void, function, uint3 })
    }
    pub(crate) fn id(&mut self) -> u32 {
        self.ids += 1;
        self.ids
    }
    /// A type or other global.
    pub(crate) fn global(&mut self, make: impl Fn(u32) -> Vec<u32>) -> u32 {
        let id = self.id();
        self.globals.extend(make(id));
        id
    }
    pub(crate) fn constant(&mut self, n: u32) -> u32 {
        let uint = self.uint;
        if let Some(&id) = self.constants.get(&n) {
            return id;
        }
        let id = self.global(|id| op(43, &[uint, id, n]));
        self.constants.insert(n, id);
        id
    }
    /// An instruction of the body with a result.
    pub(crate) fn value(&mut self, code: u32, ty: u32, operands: &[u32]) -> u32 {
        let id = self.id();
        self.body.extend(op(code, &[&[ty, id], operands].concat()));
        id
    }
    pub(crate) fn add(&mut self, a: u32, b: u32) -> u32 {
        self.value(128, self.uint, &[a, b])
    }
    fn times(&mut self, a: u32, n: u32) -> u32 {
        let n = self.constant(n);
        self.value(132, self.uint, &[a, n])
    }
}

/// A buffer of elements: variable, pointer to an element, matrix type.
struct Operand {
    variable: u32,
    pointer: u32,
    matrix: u32,
}

const STORAGE_BUFFER: u32 = 12;

impl Gemm {
    /// Workgroups, along and down.
    pub fn groups(&self) -> [u32; 3] {
        [
            self.n / (self.side * self.tiles[1] * self.subgroups[1]),
            self.m / (self.side * self.tiles[0] * self.subgroups[0]),
            1,
        ]
    }

    /// The module; A, B and C are storage buffers 0, 1 and 2 of set 0. A and C are stored row by row.
    pub fn spirv(&self) -> Vec<u32> {
        let [down, along] = self.tiles.map(|t| t as usize);
        let each = (0..down * along).map(|i| Step { to: i, left: i / along, right: i % along, from: i });
        self.spirv_of(&each.collect::<Vec<Step>>())
    }

    /// The same with other products at each step of k: these, one after the other.
    pub fn spirv_of(&self, steps: &[Step]) -> Vec<u32> {
        let (mut m, Entry { main, void, function, uint3 }) = Module::of_entry();
        let uint = m.uint;
        let boolean = m.global(|id| op(20, &[id]));
        let [group, subgroup] = [(uint3, 26), (uint, 40)].map(|(ty, builtin)| {
            let pointer = m.global(|id| op(32, &[id, 1, ty]));
            let variable = m.global(|id| op(59, &[pointer, id, 1]));
            m.decorations.extend(op(71, &[variable, 11, builtin]));
            variable
        });
        let mut types: Vec<(Element, u32)> = vec![(Element::U32, uint)];
        let operands: Vec<Operand> = [(self.left, 0), (self.right, 1), (self.sum, 2)]
            .into_iter()
            .map(|(element, n)| self.operand(&mut m, &mut types, element, n))
            .collect();
        let zero = m.global(|id| op(46, &[operands[2].matrix, id]));
        self.code(&mut m, &operands, [group, subgroup], [uint3, boolean], zero, steps);

        let mut capabilities = vec![1, 6022, 5345, 61];
        [self.left, self.right, self.sum].iter().for_each(|e| capabilities.extend(e.capabilities()));
        capabilities.sort_unstable();
        capabilities.dedup();
        let all = [self.left, self.right, self.sum];
        let mut head: Vec<u32> = capabilities.iter().flat_map(|c| op(17, &[*c])).collect();
        head.extend(op(10, &text("SPV_KHR_cooperative_matrix")));
        if all.contains(&Element::Bf16) {
            head.extend(op(10, &text("SPV_KHR_bfloat16")));
        }
        if all.contains(&Element::E4m3) || all.contains(&Element::E5m2) {
            head.extend(op(10, &text("SPV_EXT_float8")));
        }
        head.extend(op(14, &[0, 3]));
        let mut entry = vec![5, main];
        entry.extend(text("main"));
        entry.extend([group, subgroup]);
        entry.extend(operands.iter().map(|o| o.variable));
        head.extend(op(15, &entry));
        let [down, along] = self.subgroups;
        head.extend(op(16, &[main, 17, self.subgroup * down * along, 1, 1]));
        let mut words = vec![0x0723_0203, 0x0001_0600, 0, m.ids + 1, 0];
        words.extend(head);
        words.extend(&m.decorations);
        words.extend(&m.globals);
        words.extend(op(54, &[void, main, 0, function]));
        words.extend(&m.body);
        words.extend(op(56, &[]));
        words
    }

    fn operand(&self, m: &mut Module, types: &mut Vec<(Element, u32)>, element: Element, n: u32) -> Operand {
        let ty = match types.iter().find(|t| t.0 == element) {
            Some(t) => t.1,
            None => {
                let ty = m.global(|id| element.declare(id));
                types.push((element, ty));
                ty
            }
        };
        let array = m.global(|id| op(29, &[id, ty]));
        let block = m.global(|id| op(30, &[id, array]));
        let whole = m.global(|id| op(32, &[id, STORAGE_BUFFER, block]));
        let pointer = m.global(|id| op(32, &[id, STORAGE_BUFFER, ty]));
        let variable = m.global(|id| op(59, &[whole, id, STORAGE_BUFFER]));
        m.decorations.extend(op(71, &[array, 6, element.bytes() as u32]));
        m.decorations.extend([op(71, &[block, 2]), op(72, &[block, 0, 35, 0])].concat());
        m.decorations.extend([op(71, &[variable, 34, 0]), op(71, &[variable, 33, n])].concat());
        let (scope, side, matrix_use) = (m.constant(3), m.constant(self.side), m.constant(n));
        let matrix = m.global(|id| op(4456, &[id, ty, scope, side, side, matrix_use]));
        Operand { variable, pointer, matrix }
    }

    fn code(
        &self,
        m: &mut Module,
        operands: &[Operand],
        inputs: [u32; 2],
        [uint3, boolean]: [u32; 2],
        zero: u32,
        steps: &[Step],
    ) {
        let uint = m.uint;
        let [down, along] = self.tiles;
        let count = (down * along) as usize;
        let [begin, header, test, body, next, end] = [0; 6].map(|_| m.id());
        m.body.extend(op(248, &[begin]));
        // Where the subgroup's part of C is.
        let vector = m.id();
        m.body.extend(op(61, &[uint3, vector, inputs[0]]));
        let x = m.value(81, uint, &[vector, 0]);
        let y = m.value(81, uint, &[vector, 1]);
        let subgroup = m.value(61, uint, &[inputs[1]]);
        let across = m.constant(self.subgroups[1]);
        let (sy, sx) = (m.value(134, uint, &[subgroup, across]), m.value(137, uint, &[subgroup, across]));
        let mut place = |group: u32, own: u32, subgroups: u32, tiles: u32| {
            let first = m.times(group, subgroups);
            let all = m.add(first, own);
            m.times(all, self.side * tiles)
        };
        let row = place(y, sy, self.subgroups[0], down);
        let column = place(x, sx, self.subgroups[1], along);
        m.body.extend(op(249, &[header]));
        // The loop over k, sums as phis.
        m.body.extend(op(248, &[header]));
        let (k, after) = (m.id(), m.id());
        let first = m.constant(0);
        m.body.extend(op(245, &[uint, k, first, begin, after, next]));
        let sums: Vec<u32> = (0..count).map(|_| m.id()).collect();
        let written = |i: usize| steps.iter().rposition(|s| s.to == i);
        let results: Vec<u32> =
            (0..count).map(|i| if written(i).is_some() { m.id() } else { sums[i] }).collect();
        for (s, r) in sums.iter().zip(&results) {
            m.body.extend(op(245, &[operands[2].matrix, *s, zero, begin, *r, next]));
        }
        m.body.extend([op(246, &[end, next, 0]), op(249, &[test]), op(248, &[test])].concat());
        let limit = m.constant(self.k);
        let more = m.value(176, boolean, &[k, limit]);
        m.body.extend([op(250, &[more, body, end]), op(248, &[body])].concat());
        let left: Vec<u32> = (0..down)
            .map(|t| {
                let t = m.constant(self.side * t);
                let r = m.add(row, t);
                let at = m.times(r, self.k);
                let at = m.add(at, k);
                load(m, &operands[0], at, self.k, false)
            })
            .collect();
        let right: Vec<u32> = (0..along)
            .map(|t| {
                let t = m.constant(self.side * t);
                let c = m.add(column, t);
                let (major, minor, stride) = if self.by_column { (c, k, self.k) } else { (k, c, self.n) };
                let at = m.times(major, stride);
                let at = m.add(at, minor);
                load(m, &operands[1], at, stride, self.by_column)
            })
            .collect();
        let integers = !matches!(self.sum, Element::F32 | Element::F16 | Element::Bf16);
        let signs = [self.left, self.right, self.sum, self.sum].map(Element::is_signed);
        let mut bits: u32 = signs.iter().enumerate().map(|(i, s)| (*s as u32) << i).sum();
        bits = if integers { bits | (self.saturates as u32) << 4 } else { 0 };
        let mut now = sums.clone();
        for (n, s) in steps.iter().enumerate() {
            let result = if written(s.to) == Some(n) { results[s.to] } else { m.id() };
            m.body.extend(op(
                4459,
                &[operands[2].matrix, result, left[s.left], right[s.right], now[s.from], bits],
            ));
            now[s.to] = result;
        }
        m.body.extend([op(249, &[next]), op(248, &[next])].concat());
        let step = m.constant(self.side);
        m.body.extend(op(128, &[uint, after, k, step]));
        m.body.extend([op(249, &[header]), op(248, &[end])].concat());
        for (i, s) in sums.iter().enumerate() {
            let (tr, tc) = (self.side * (i as u32 / along), self.side * (i as u32 % along));
            let (tr, tc) = (m.constant(tr), m.constant(tc));
            let (r, c) = (m.add(row, tr), m.add(column, tc));
            let at = m.times(r, self.n);
            let at = m.add(at, c);
            let pointer = element(m, &operands[2], at);
            let (layout, stride) = (m.constant(0), m.constant(self.n));
            m.body.extend(op(4458, &[pointer, *s, layout, stride]));
        }
        m.body.extend(op(253, &[]));
    }
}

fn element(m: &mut Module, of: &Operand, at: u32) -> u32 {
    let first = m.constant(0);
    m.value(65, of.pointer, &[of.variable, first, at])
}

fn load(m: &mut Module, of: &Operand, at: u32, stride: u32, by_column: bool) -> u32 {
    let pointer = element(m, of, at);
    let (layout, stride) = (m.constant(by_column as u32), m.constant(stride));
    m.value(4457, of.matrix, &[pointer, layout, stride])
}
