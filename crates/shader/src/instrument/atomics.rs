//! Marks as atomic additions to a storage buffer.

use super::Counters;
use super::edit::{Edit, op};
use crate::options::Result;
use crate::spirv::*;

const VULKAN_MEMORY_MODEL: u32 = 3;

/// Inserts mark `i` at the word offset `places[i]`.
pub(super) fn insert(e: &mut Edit, places: &[u32], counters: Counters) -> Result<()> {
    check(e.m, counters)?;
    let uint = e.basic_type(Op::TypeInt, &[32, 0]);
    let variable = buffer(e, uint, counters);
    let class = class(e) as u32;
    let pointer = e.id();
    e.global(op(Op::TypePointer, &[pointer, class, uint]));
    let zero = e.constant(uint, 0);
    let one = e.constant(uint, 1);
    // With the Vulkan memory model the scope Device needs a capability and a feature; QueueFamily needs neither.
    let vulkan = e.m.memory == VULKAN_MEMORY_MODEL;
    let scope =
        e.constant(uint, if vulkan { ::spirv::Scope::QueueFamily } else { ::spirv::Scope::Device } as u32);
    let add = |e: &mut Edit, at: u32, element: u32, value: u32| {
        let index = e.constant(uint, element);
        let (p, old) = (e.id(), e.id());
        e.insert(at, op(Op::AccessChain, &[pointer, p, variable, zero, index]));
        e.insert(at, op(Op::AtomicIAdd, &[uint, old, p, scope, zero, value]));
        old
    };
    if !counters.wide {
        for (i, &at) in places.iter().enumerate() {
            add(e, at, i as u32, one);
        }
        return Ok(());
    }
    let bool_type = e.basic_type(Op::TypeBool, &[]);
    let most = e.constant(uint, u32::MAX);
    for (i, &at) in places.iter().enumerate() {
        let old = add(e, at, 2 * i as u32, one);
        let (wraps, carry) = (e.id(), e.id());
        e.insert(at, op(Op::IEqual, &[bool_type, wraps, old, most]));
        e.insert(at, op(Op::Select, &[uint, carry, wraps, one, zero]));
        add(e, at, 2 * i as u32 + 1, carry);
    }
    Ok(())
}

fn class(e: &Edit) -> StorageClass {
    // Before 1.3 a storage buffer is a BufferBlock in the class Uniform.
    if e.version() >= 0x0001_0300 { StorageClass::StorageBuffer } else { StorageClass::Uniform }
}

/// Declares the buffer: a structure of one runtime array of words.
fn buffer(e: &mut Edit, uint: u32, counters: Counters) -> u32 {
    let class = class(e);
    let (array, block, pointer, variable) = (e.id(), e.id(), e.id(), e.id());
    e.global(op(Op::TypeRuntimeArray, &[array, uint]));
    e.global(op(Op::TypeStruct, &[block, array]));
    e.global(op(Op::TypePointer, &[pointer, class as u32, block]));
    e.global(op(Op::Variable, &[pointer, variable, class as u32]));
    let kind = if class == StorageClass::Uniform { Decoration::BufferBlock } else { Decoration::Block };
    e.annotate(op(Op::Decorate, &[array, Decoration::ArrayStride as u32, 4]));
    e.annotate(op(Op::Decorate, &[block, kind as u32]));
    e.annotate(op(Op::MemberDecorate, &[block, 0, Decoration::Offset as u32, 0]));
    e.annotate(op(Op::Decorate, &[variable, Decoration::DescriptorSet as u32, counters.set]));
    e.annotate(op(Op::Decorate, &[variable, Decoration::Binding as u32, counters.binding]));
    e.uses(variable);
    variable
}

fn check(m: &Module, counters: Counters) -> Result<()> {
    if !m.capabilities.contains(&(Capability::Shader as u32))
        && m.capabilities.contains(&(Capability::Kernel as u32))
    {
        return Err(unsupported("atomics in OpenCL kernels"));
    }
    let taken = |id: &u32| {
        m.decoration(*id, Decoration::DescriptorSet) == Some(counters.set)
            && m.decoration(*id, Decoration::Binding) == Some(counters.binding)
    };
    let variables = m.globals.iter().map(|&at| m.inst(at)).filter(|i| i.op == Op::Variable).map(|i| i.w[2]);
    match variables.into_iter().find(taken) {
        None => Ok(()),
        Some(id) => Err(unsupported(format!(
            "set {} binding {} for counters: %{id} {} is there already",
            counters.set,
            counters.binding,
            m.name(id).unwrap_or_default()
        ))),
    }
}
