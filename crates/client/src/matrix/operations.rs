//! Operations of shaders: each by the widths that it has, a million times a dispatch.

use super::assemble::{Need, Operation};
use super::{Made, missing};
use crate::compute::KernelInfo;
use crate::{Buffer, Context, Kernel, Result};
use ash::vk;
use std::rc::Rc;

/// What an operation takes and gives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// So many numbers of the row's type, one of it as the result.
    Floats(u8),
    Ints(u8),
    /// Two numbers, a truth value.
    CompareFloats(u8),
    CompareInts(u8),
    /// So many truth values, one.
    Bools(u8),
    /// A condition and two numbers.
    Select,
    /// Number, offset and count, or number, insert, offset and count.
    Field(u8),
    /// To another type of the row's width.
    FloatToInt,
    IntToFloat,
    /// To twice the width, or from 64 bits to half.
    Widened,
    FloatWidened,
    Bits,
    /// Two integers, a structure of two.
    PairOfInts,
    /// A float, a structure of a float and another number.
    FloatAndFloat,
    FloatAndInt,
    /// Through a pointer to a variable.
    FloatByPointer,
    IntByPointer,
    /// A float and an integer.
    FloatWithInt,
    /// So many vectors of four floats (three where the shape says it), a float.
    VectorsToFloat(u8),
    Vectors(u8),
    Vectors3(u8),
    /// And a float at the end.
    VectorsFloat(u8),
    MatrixVector,
    VectorMatrix,
    MatrixScalar,
    Matrices(u8),
    MatrixToFloat,
    VectorsToMatrix,
    /// So many floats, a word, and back.
    Packed(u8),
    Unpacked(u8),
    PackedDouble,
    UnpackedDouble,
    /// Of two vectors of four bytes in a word, a word, with an accumulator or without.
    Dot4(u8),
    /// Of a subgroup: with a group operation, with an index, with nothing.
    GroupFloats,
    GroupInts,
    GroupBools,
    GroupIndex,
    GroupConstant,
    GroupValue,
    GroupBool,
    GroupElect,
    GroupAllEqual,
    BallotOf,
    BallotBool,
    BallotBit,
    BallotCount,
    BallotInt,
    /// On memory.
    Atomic,
    AtomicUnary,
    AtomicExchange,
    AtomicLoad,
    AtomicStore,
}

use Shape::*;

const F: &[&str] = &["f16", "f32", "f64"];
const F2: &[&str] = &["f16", "f32"];
const I: &[&str] = &["i8", "i16", "i32", "i64"];
const I32: &[&str] = &["i32"];
const F32: &[&str] = &["f32"];
const B: &[&str] = &["bool"];

/// Operations by the names of the specification: GLSL.std.450's are the upper rows.
pub const TABLE: &[(&str, Shape, &[&str])] = &[
    ("Round", Floats(1), F),
    ("RoundEven", Floats(1), F),
    ("Trunc", Floats(1), F),
    ("FAbs", Floats(1), F),
    ("SAbs", Ints(1), I),
    ("FSign", Floats(1), F),
    ("SSign", Ints(1), I),
    ("Floor", Floats(1), F),
    ("Ceil", Floats(1), F),
    ("Fract", Floats(1), F),
    ("Radians", Floats(1), F2),
    ("Degrees", Floats(1), F2),
    ("Sin", Floats(1), F2),
    ("Cos", Floats(1), F2),
    ("Tan", Floats(1), F2),
    ("Asin", Floats(1), F2),
    ("Acos", Floats(1), F2),
    ("Atan", Floats(1), F2),
    ("Sinh", Floats(1), F2),
    ("Cosh", Floats(1), F2),
    ("Tanh", Floats(1), F2),
    ("Asinh", Floats(1), F2),
    ("Acosh", Floats(1), F2),
    ("Atanh", Floats(1), F2),
    ("Atan2", Floats(2), F2),
    ("Pow", Floats(2), F2),
    ("Exp", Floats(1), F2),
    ("Log", Floats(1), F2),
    ("Exp2", Floats(1), F2),
    ("Log2", Floats(1), F2),
    ("Sqrt", Floats(1), F),
    ("InverseSqrt", Floats(1), F),
    ("Determinant", MatrixToFloat, F32),
    ("MatrixInverse", Matrices(1), F32),
    ("Modf", FloatByPointer, F),
    ("ModfStruct", FloatAndFloat, F),
    ("FMin", Floats(2), F),
    ("UMin", Ints(2), I),
    ("SMin", Ints(2), I),
    ("FMax", Floats(2), F),
    ("UMax", Ints(2), I),
    ("SMax", Ints(2), I),
    ("FClamp", Floats(3), F),
    ("UClamp", Ints(3), I),
    ("SClamp", Ints(3), I),
    ("FMix", Floats(3), F),
    ("Step", Floats(2), F),
    ("SmoothStep", Floats(3), F),
    ("Fma", Floats(3), F),
    ("Frexp", IntByPointer, F),
    ("FrexpStruct", FloatAndInt, F),
    ("Ldexp", FloatWithInt, F),
    ("PackSnorm4x8", Packed(4), F32),
    ("PackUnorm4x8", Packed(4), F32),
    ("PackSnorm2x16", Packed(2), F32),
    ("PackUnorm2x16", Packed(2), F32),
    ("PackHalf2x16", Packed(2), F32),
    ("PackDouble2x32", PackedDouble, F32),
    ("UnpackSnorm2x16", Unpacked(2), F32),
    ("UnpackUnorm2x16", Unpacked(2), F32),
    ("UnpackHalf2x16", Unpacked(2), F32),
    ("UnpackSnorm4x8", Unpacked(4), F32),
    ("UnpackUnorm4x8", Unpacked(4), F32),
    ("UnpackDouble2x32", UnpackedDouble, F32),
    ("Length", VectorsToFloat(1), F),
    ("Distance", VectorsToFloat(2), F),
    ("Cross", Vectors3(2), F),
    ("Normalize", Vectors(1), F),
    ("FaceForward", Vectors(3), F),
    ("Reflect", Vectors(2), F),
    ("Refract", VectorsFloat(2), F),
    ("FindILsb", Ints(1), I32),
    ("FindSMsb", Ints(1), I32),
    ("FindUMsb", Ints(1), I32),
    ("NMin", Floats(2), F),
    ("NMax", Floats(2), F),
    ("NClamp", Floats(3), F),
    // Conversions
    ("ConvertFToU", FloatToInt, F),
    ("ConvertFToS", FloatToInt, F),
    ("ConvertSToF", IntToFloat, F),
    ("ConvertUToF", IntToFloat, F),
    ("UConvert", Widened, I),
    ("SConvert", Widened, I),
    ("FConvert", FloatWidened, F),
    ("QuantizeToF16", Floats(1), F32),
    ("Bitcast", Bits, F),
    // Arithmetic
    ("SNegate", Ints(1), I),
    ("FNegate", Floats(1), F),
    ("IAdd", Ints(2), I),
    ("FAdd", Floats(2), F),
    ("ISub", Ints(2), I),
    ("FSub", Floats(2), F),
    ("IMul", Ints(2), I),
    ("FMul", Floats(2), F),
    ("UDiv", Ints(2), I),
    ("SDiv", Ints(2), I),
    ("FDiv", Floats(2), F),
    ("UMod", Ints(2), I),
    ("SRem", Ints(2), I),
    ("SMod", Ints(2), I),
    ("FRem", Floats(2), F),
    ("FMod", Floats(2), F),
    ("VectorTimesScalar", VectorsFloat(1), F),
    ("MatrixTimesScalar", MatrixScalar, F),
    ("VectorTimesMatrix", VectorMatrix, F),
    ("MatrixTimesVector", MatrixVector, F),
    ("MatrixTimesMatrix", Matrices(2), F),
    ("OuterProduct", VectorsToMatrix, F),
    ("Dot", VectorsToFloat(2), F),
    ("IAddCarry", PairOfInts, I32),
    ("ISubBorrow", PairOfInts, I32),
    ("UMulExtended", PairOfInts, I32),
    ("SMulExtended", PairOfInts, I32),
    ("Transpose", Matrices(1), F),
    ("SDot", Dot4(2), I32),
    ("UDot", Dot4(2), I32),
    ("SUDot", Dot4(2), I32),
    ("SDotAccSat", Dot4(3), I32),
    ("UDotAccSat", Dot4(3), I32),
    ("SUDotAccSat", Dot4(3), I32),
    // Relations
    ("IsNan", CompareFloats(1), F),
    ("IsInf", CompareFloats(1), F),
    ("LogicalEqual", Bools(2), B),
    ("LogicalNotEqual", Bools(2), B),
    ("LogicalOr", Bools(2), B),
    ("LogicalAnd", Bools(2), B),
    ("LogicalNot", Bools(1), B),
    ("Select", Select, &["f16", "f32", "f64", "i8", "i16", "i32", "i64"]),
    ("IEqual", CompareInts(2), I),
    ("INotEqual", CompareInts(2), I),
    ("UGreaterThan", CompareInts(2), I),
    ("SGreaterThan", CompareInts(2), I),
    ("UGreaterThanEqual", CompareInts(2), I),
    ("SGreaterThanEqual", CompareInts(2), I),
    ("ULessThan", CompareInts(2), I),
    ("SLessThan", CompareInts(2), I),
    ("ULessThanEqual", CompareInts(2), I),
    ("SLessThanEqual", CompareInts(2), I),
    ("FOrdEqual", CompareFloats(2), F),
    ("FUnordEqual", CompareFloats(2), F),
    ("FOrdNotEqual", CompareFloats(2), F),
    ("FUnordNotEqual", CompareFloats(2), F),
    ("FOrdLessThan", CompareFloats(2), F),
    ("FUnordLessThan", CompareFloats(2), F),
    ("FOrdGreaterThan", CompareFloats(2), F),
    ("FUnordGreaterThan", CompareFloats(2), F),
    ("FOrdLessThanEqual", CompareFloats(2), F),
    ("FUnordLessThanEqual", CompareFloats(2), F),
    ("FOrdGreaterThanEqual", CompareFloats(2), F),
    ("FUnordGreaterThanEqual", CompareFloats(2), F),
    // Bits
    ("ShiftRightLogical", Ints(2), I),
    ("ShiftRightArithmetic", Ints(2), I),
    ("ShiftLeftLogical", Ints(2), I),
    ("BitwiseOr", Ints(2), I),
    ("BitwiseXor", Ints(2), I),
    ("BitwiseAnd", Ints(2), I),
    ("Not", Ints(1), I),
    ("BitFieldInsert", Field(2), I32),
    ("BitFieldSExtract", Field(1), I32),
    ("BitFieldUExtract", Field(1), I32),
    ("BitReverse", Ints(1), I32),
    ("BitCount", Ints(1), I32),
    // Atomics
    ("AtomicLoad", AtomicLoad, I32),
    ("AtomicStore", AtomicStore, I32),
    ("AtomicExchange", Atomic, I32),
    ("AtomicCompareExchange", AtomicExchange, I32),
    ("AtomicIIncrement", AtomicUnary, I32),
    ("AtomicIDecrement", AtomicUnary, I32),
    ("AtomicIAdd", Atomic, I32),
    ("AtomicISub", Atomic, I32),
    ("AtomicSMin", Atomic, I32),
    ("AtomicUMin", Atomic, I32),
    ("AtomicSMax", Atomic, I32),
    ("AtomicUMax", Atomic, I32),
    ("AtomicAnd", Atomic, I32),
    ("AtomicOr", Atomic, I32),
    ("AtomicXor", Atomic, I32),
    // Subgroups
    ("GroupNonUniformElect", GroupElect, B),
    ("GroupNonUniformAll", GroupBool, B),
    ("GroupNonUniformAny", GroupBool, B),
    ("GroupNonUniformAllEqual", GroupAllEqual, &["f32", "i32"]),
    ("GroupNonUniformBroadcast", GroupConstant, &["f32", "i32"]),
    ("GroupNonUniformBroadcastFirst", GroupValue, &["f32", "i32"]),
    ("GroupNonUniformBallot", BallotOf, B),
    ("GroupNonUniformInverseBallot", BallotBool, B),
    ("GroupNonUniformBallotBitExtract", BallotBit, B),
    ("GroupNonUniformBallotBitCount", BallotCount, I32),
    ("GroupNonUniformBallotFindLSB", BallotInt, I32),
    ("GroupNonUniformBallotFindMSB", BallotInt, I32),
    ("GroupNonUniformShuffle", GroupIndex, GROUP),
    ("GroupNonUniformShuffleXor", GroupIndex, GROUP),
    ("GroupNonUniformShuffleUp", GroupIndex, GROUP),
    ("GroupNonUniformShuffleDown", GroupIndex, GROUP),
    ("GroupNonUniformIAdd", GroupInts, I),
    ("GroupNonUniformFAdd", GroupFloats, F),
    ("GroupNonUniformIMul", GroupInts, I),
    ("GroupNonUniformFMul", GroupFloats, F),
    ("GroupNonUniformSMin", GroupInts, I),
    ("GroupNonUniformUMin", GroupInts, I),
    ("GroupNonUniformFMin", GroupFloats, F),
    ("GroupNonUniformSMax", GroupInts, I),
    ("GroupNonUniformUMax", GroupInts, I),
    ("GroupNonUniformFMax", GroupFloats, F),
    ("GroupNonUniformBitwiseAnd", GroupInts, I),
    ("GroupNonUniformBitwiseOr", GroupInts, I),
    ("GroupNonUniformBitwiseXor", GroupInts, I),
    ("GroupNonUniformLogicalAnd", GroupBools, B),
    ("GroupNonUniformLogicalOr", GroupBools, B),
    ("GroupNonUniformLogicalXor", GroupBools, B),
    ("GroupNonUniformQuadBroadcast", GroupConstant, &["f32", "i32"]),
    ("GroupNonUniformQuadSwap", GroupConstant, &["f32", "i32"]),
];

const GROUP: &[&str] = &["f16", "f32", "f64", "i8", "i16", "i32", "i64"];
const ATOMICS: [&str; 4] = ["one word", "spread", "one shared word", "shared, spread"];
const GROUPED: [&str; 3] = ["reduced", "inclusive", "exclusive"];

/// The variants of a shape, in names.
fn variants(shape: Shape) -> &'static [&'static str] {
    match shape {
        Atomic | AtomicUnary | AtomicExchange | AtomicLoad | AtomicStore => &ATOMICS,
        GroupFloats | GroupInts | GroupBools | BallotCount => &GROUPED,
        _ => &[""],
    }
}

pub fn rows() -> Vec<String> {
    let mut all = vec![];
    for (name, shape, types) in TABLE {
        for ty in *types {
            for variant in variants(*shape) {
                let comma = if variant.is_empty() { "" } else { ", " };
                all.push(format!("{name}{comma}{variant}: {ty}"));
            }
        }
    }
    all
}

/// The module of every row, whether a driver has what it needs or not.
pub fn all_modules() -> Vec<(String, Vec<u32>)> {
    let mut all = vec![];
    for (name, shape, types) in TABLE {
        for ty in *types {
            for (variant, title) in variants(*shape).iter().enumerate() {
                let made = Operation { name, shape: *shape, ty, variant }.module();
                all.push((format!("{name} {title} {ty}"), made.words));
            }
        }
    }
    all
}

/// Workgroups of 64 invocations, 16 times the operation in each.
const GROUPS: u32 = 1024;

pub fn make(context: &Rc<Context>, way: &str, ty: &str) -> Result<Option<Made>> {
    let (name, variant) = way.split_once(", ").unwrap_or((way, ""));
    let Some((name, shape, types)) = TABLE.iter().find(|row| row.0 == name) else { return Ok(None) };
    let (Some(ty), Some(variant)) =
        (types.iter().find(|t| **t == ty), variants(*shape).iter().position(|v| *v == variant))
    else {
        return Ok(None);
    };
    let made = Operation { name, shape: *shape, ty, variant }.module();
    for need in made.needs {
        if !has(context, need) {
            return Err(missing(format!("{need:?}")));
        }
    }
    let bytes: Vec<u8> = made.words.iter().flat_map(|w| w.to_le_bytes()).collect();
    let kernel = Kernel::new(context, &KernelInfo { spirv: &bytes, bindings: 2, push_size: 0 })?;
    let mut input = Buffer::new(context, 1 << 18)?;
    for (i, word) in input.bytes_mut().chunks_exact_mut(4).enumerate() {
        word.copy_from_slice(&(i as u32).wrapping_mul(0x9E37_79B1).to_le_bytes());
    }
    let output = Buffer::new(context, 1 << 18)?;
    kernel.set(&[&input, &output]);
    let commands = context.record(|device, commands| {
        kernel.bind(commands, &[]);
        // SAFETY: recording into a command buffer that has begun.
        unsafe { device.cmd_dispatch(commands, GROUPS, 1, 1) }
    })?;
    Ok(Some((commands, vec![Box::new(kernel), Box::new(input), Box::new(output)])))
}

fn has(context: &Context, need: Need) -> bool {
    let mut twelve = vk::PhysicalDeviceVulkan12Features::default();
    let mut thirteen = vk::PhysicalDeviceVulkan13Features::default();
    let mut all = vk::PhysicalDeviceFeatures2::default().push_next(&mut twelve).push_next(&mut thirteen);
    // SAFETY: a plain Vulkan call with structures that outlive it.
    unsafe { context.instance.get_physical_device_features2(context.physical, &mut all) };
    let core = all.features;
    let on = match need {
        Need::Float16 => twelve.shader_float16,
        Need::Float64 => core.shader_float64,
        Need::Int8 => twelve.shader_int8,
        Need::Int16 => core.shader_int16,
        Need::Int64 => core.shader_int64,
        Need::SubgroupTypes => twelve.shader_subgroup_extended_types,
        Need::DotProduct => thirteen.shader_integer_dot_product,
    };
    on != 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use rspirv::spirv::{GlslStd450Op, Op};

    /// Those of the specification's classes that Vulkan has: by the ranges of their numbers.
    #[test]
    fn no_operation_is_forgotten() {
        let known = |name: &str| TABLE.iter().any(|row| row.0 == name);
        for n in 1..=81 {
            let Some(op) = GlslStd450Op::from_u32(n) else { continue };
            let name = format!("{op:?}");
            // Fragment shaders alone, and 16 bits of the same.
            assert!(known(&name) || name.starts_with("Interpolate") || name == "IMix", "{name}");
        }
        let kernels = [
            "ConvertPtrToU",
            "SatConvertSToU",
            "SatConvertUToS",
            "ConvertUToPtr",
            "PtrCastToGeneric",
            "GenericCastToPtr",
            "GenericCastToPtrExplicit",
            "IsFinite",
            "IsNormal",
            "SignBitSet",
            "LessOrGreater",
            "Ordered",
            "Unordered",
            "AtomicFlagTestAndSet",
            "AtomicFlagClear",
            "AtomicCompareExchangeWeak",
            "Any",
            "All",
        ];
        let ranges = [109..=124u32, 126..=152, 154..=191, 194..=205, 227..=242, 333..=366];
        for n in ranges.into_iter().flatten() {
            let Some(op) = Op::from_u32(n) else { continue };
            let name = format!("{op:?}");
            assert!(known(&name) || kernels.contains(&&*name), "{name}");
        }
    }
}
