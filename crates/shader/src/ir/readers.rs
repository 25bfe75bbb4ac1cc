//! Who reads each value.

use super::{Shader, Value};
use crate::isa::operands;

/// Instructions in blocks by the values that they read; an instruction that reads one twice is there twice.
pub struct Readers {
    start: Vec<u32>,
    list: Vec<Value>,
}

impl Readers {
    pub fn of(shader: &Shader) -> Readers {
        let n = shader.values.len();
        let mut start = vec![0u32; n + 2];
        let each = |f: &mut dyn FnMut(Value, Value)| {
            for block in &shader.blocks {
                block.insts.iter().for_each(|v| operands(&shader.data(*v).inst, |o| f(o, *v)));
            }
        };
        // Two places on, so that filling leaves each begin where it belongs.
        each(&mut |o, _| start[o.0 as usize + 2] += 1);
        for i in 2..n + 2 {
            start[i] += start[i - 1];
        }
        let mut list = vec![Value(0); start[n + 1] as usize];
        each(&mut |o, v| {
            let at = &mut start[o.0 as usize + 1];
            list[*at as usize] = v;
            *at += 1;
        });
        Readers { start, list }
    }

    pub fn of_value(&self, v: Value) -> &[Value] {
        &self.list[self.start[v.0 as usize] as usize..self.start[v.0 as usize + 1] as usize]
    }
}
