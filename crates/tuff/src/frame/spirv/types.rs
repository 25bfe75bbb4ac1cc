//! Names of types and constants, declarations, and where members of blocks lie.

use super::module::{Parts, id, number};
use rspirv::dr::Operand;
use rspirv::spirv::{Decoration, Dim, Op};
use serde::Serialize;

/// Types within types that are followed.
const DEEP: usize = 24;
/// Fields of a block that are told.
const MOST_FIELDS: usize = 512;

/// A number, vector or matrix of a block.
#[derive(Serialize, Clone, Debug, PartialEq)]
pub struct Field {
    /// Names and indices from the block on.
    pub path: String,
    pub offset: u32,
    /// `f`, `i` or `u`, and the bits.
    pub kind: String,
    /// Rows and columns; bytes from one column to the next.
    pub rows: u32,
    pub columns: u32,
    pub stride: u32,
    pub row_major: bool,
    /// Of an array that ends with the buffer: bytes from one element to the next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeats: Option<u32>,
}

impl Parts {
    pub fn type_name(&self, ty: u32) -> String {
        self.type_at(ty, 0)
    }

    fn type_at(&self, ty: u32, deep: usize) -> String {
        let Some(i) = self.def(ty).filter(|_| deep < DEEP) else { return format!("t{ty}") };
        let inner = |k: usize| id(i, k).map_or("?".into(), |t| self.type_at(t, deep + 1));
        match i.class.opcode {
            Op::TypeVoid => "void".into(),
            Op::TypeBool => "bool".into(),
            Op::TypeInt => {
                let (bits, signed) = (number(i, 0).unwrap_or(32), number(i, 1) != Some(0));
                let word = if signed { "int" } else { "uint" };
                if bits == 32 { word.into() } else { format!("{word}{bits}_t") }
            }
            Op::TypeFloat => match number(i, 0) {
                Some(16) => "float16_t".into(),
                Some(64) => "double".into(),
                _ => "float".into(),
            },
            Op::TypeVector => {
                let n = number(i, 1).unwrap_or(4);
                match inner(0).as_str() {
                    "float" => format!("vec{n}"),
                    "int" => format!("ivec{n}"),
                    "uint" => format!("uvec{n}"),
                    "bool" => format!("bvec{n}"),
                    "double" => format!("dvec{n}"),
                    "float16_t" => format!("f16vec{n}"),
                    other => format!("{other}x{n}"),
                }
            }
            Op::TypeMatrix => {
                let columns = number(i, 1).unwrap_or(4);
                let rows = id(i, 0).and_then(|v| number(self.def(v)?, 1)).unwrap_or(4);
                if rows == columns { format!("mat{rows}") } else { format!("mat{columns}x{rows}") }
            }
            Op::TypeArray => {
                let n = id(i, 1).map_or("?".into(), |n| self.constant(n));
                format!("{}[{}]", inner(0), n.trim_end_matches('u'))
            }
            Op::TypeRuntimeArray => format!("{}[]", inner(0)),
            Op::TypePointer => inner(1),
            Op::TypeStruct => self.given(ty).map_or_else(|| format!("Struct{ty}"), String::from),
            Op::TypeSampler => "sampler".into(),
            Op::TypeSampledImage => inner(0).replacen("texture", "sampler", 1),
            Op::TypeImage => self.image(i),
            Op::TypeAccelerationStructureKHR => "accelerationStructureEXT".into(),
            Op::TypeRayQueryKHR => "rayQueryEXT".into(),
            other => format!("{other:?}").trim_start_matches("Type").into(),
        }
    }

    fn image(&self, i: &rspirv::dr::Instruction) -> String {
        let of = id(i, 0).map_or(String::new(), |t| self.type_at(t, DEEP - 1));
        let prefix = match of.as_str() {
            "int" => "i",
            "uint" => "u",
            _ => "",
        };
        let storage = number(i, 5) == Some(2);
        let dim = match i.operands.get(1) {
            Some(Operand::Dim(Dim::Dim1D)) => "1D",
            Some(Operand::Dim(Dim::Dim3D)) => "3D",
            Some(Operand::Dim(Dim::DimCube)) => "Cube",
            Some(Operand::Dim(Dim::DimBuffer)) => "Buffer",
            Some(Operand::Dim(Dim::DimSubpassData)) => return format!("{prefix}subpassInput"),
            _ => "2D",
        };
        let flag = |k: usize, word: &'static str| if number(i, k) == Some(1) { word } else { "" };
        let word = if storage { "image" } else { "texture" };
        format!("{prefix}{word}{dim}{}{}{}", flag(4, "MS"), flag(3, "Array"), flag(2, "Shadow"))
    }

    /// A constant's value.
    pub fn constant(&self, of: u32) -> String {
        self.constant_at(of, 0)
    }

    fn constant_at(&self, of: u32, deep: usize) -> String {
        let Some(i) = self.def(of).filter(|_| deep < DEEP) else { return self.name(of) };
        let ty = i.result_type.map_or(String::new(), |t| self.type_name(t));
        match i.class.opcode {
            Op::ConstantTrue | Op::SpecConstantTrue => "true".into(),
            Op::ConstantFalse | Op::SpecConstantFalse => "false".into(),
            Op::Constant | Op::SpecConstant => literal(&ty, i.operands.first()),
            Op::ConstantNull => format!("{ty}(0)"),
            Op::Undef => format!("{ty}(undefined)"),
            Op::ConstantComposite | Op::SpecConstantComposite => {
                let all: Vec<String> = super::module::ids(i).map(|c| self.constant_at(c, deep + 1)).collect();
                let same = all.windows(2).all(|w| w[0] == w[1]) && ty.contains("vec");
                match same {
                    true => format!("{ty}({})", all.first().cloned().unwrap_or_default()),
                    false => format!("{ty}({})", all.join(", ")),
                }
            }
            _ => self.name(of),
        }
    }

    /// Whether an id is a constant whose value is written in its place.
    pub fn is_constant(&self, of: u32) -> bool {
        self.def(of).is_some_and(|i| {
            matches!(
                i.class.opcode,
                Op::ConstantTrue
                    | Op::ConstantFalse
                    | Op::Constant
                    | Op::ConstantNull
                    | Op::Undef
                    | Op::ConstantComposite
                    | Op::SpecConstantComposite
            )
        })
    }

    /// Numbers of a block, in order.
    pub fn fields(&self, block: u32) -> Vec<Field> {
        let mut all = vec![];
        self.lay_out(block, Place::default(), 0, &mut all);
        all
    }

    fn lay_out(&self, ty: u32, at: Place, deep: usize, all: &mut Vec<Field>) {
        let Some(i) = self.def(ty).filter(|_| deep < DEEP && all.len() < MOST_FIELDS) else { return };
        match i.class.opcode {
            Op::TypeStruct => {
                for (k, member) in self.members(ty).into_iter().enumerate() {
                    let of = (ty, Some(k as u32));
                    let number = |d| self.decorated_number(of, d);
                    let name = self.member_name(ty, k as u32);
                    let path = if at.path.is_empty() { name } else { format!("{}.{name}", at.path) };
                    let offset = at.offset.saturating_add(number(Decoration::Offset).unwrap_or(0));
                    let row_major = self.decorated(of, Decoration::RowMajor).is_some();
                    let stride = number(Decoration::MatrixStride).unwrap_or(0);
                    self.lay_out(
                        member,
                        Place { path, offset, row_major, stride, ..at.clone() },
                        deep + 1,
                        all,
                    );
                }
            }
            Op::TypeArray => {
                let n = id(i, 1).and_then(|n| number(self.def(n)?, 0)).unwrap_or(0);
                let stride = self.decorated_number((ty, None), Decoration::ArrayStride).unwrap_or(0);
                for k in 0..n.min(64) {
                    let offset = at.offset.saturating_add(k.saturating_mul(stride));
                    let place = Place { path: format!("{}[{k}]", at.path), offset, ..at.clone() };
                    self.lay_out(id(i, 0).unwrap_or(0), place, deep + 1, all);
                }
            }
            Op::TypeRuntimeArray => {
                let stride = self.decorated_number((ty, None), Decoration::ArrayStride);
                let place = Place { path: format!("{}[]", at.path), repeats: stride, ..at };
                self.lay_out(id(i, 0).unwrap_or(0), place, deep + 1, all);
            }
            Op::TypeMatrix => {
                let columns = number(i, 1).unwrap_or(1);
                let vector = id(i, 0).and_then(|v| self.def(v));
                let rows = vector.and_then(|v| number(v, 1)).unwrap_or(1);
                let scalar = vector.and_then(|v| id(v, 0)).unwrap_or(0);
                self.field(scalar, at, [rows, columns], all);
            }
            Op::TypeVector => {
                let (rows, scalar) = (number(i, 1).unwrap_or(1), id(i, 0).unwrap_or(0));
                self.field(scalar, at, [rows, 1], all);
            }
            Op::TypeInt | Op::TypeFloat => self.field(ty, at, [1, 1], all),
            Op::TypePointer => all.push(Field {
                path: at.path,
                offset: at.offset,
                kind: "u64".into(),
                rows: 1,
                columns: 1,
                stride: 0,
                row_major: false,
                repeats: at.repeats,
            }),
            _ => {}
        }
    }

    fn field(&self, scalar: u32, at: Place, [rows, columns]: [u32; 2], all: &mut Vec<Field>) {
        let Some(i) = self.def(scalar) else { return };
        let bits = number(i, 0).unwrap_or(32);
        let letter = match i.class.opcode {
            Op::TypeFloat => 'f',
            Op::TypeInt if number(i, 1) != Some(0) => 'i',
            _ => 'u',
        };
        all.push(Field {
            path: at.path,
            offset: at.offset,
            kind: format!("{letter}{bits}"),
            rows,
            columns,
            stride: at.stride,
            row_major: at.row_major,
            repeats: at.repeats,
        });
    }
}

#[derive(Clone, Default)]
struct Place {
    path: String,
    offset: u32,
    stride: u32,
    row_major: bool,
    repeats: Option<u32>,
}

fn literal(ty: &str, of: Option<&Operand>) -> String {
    match (of, ty) {
        (Some(Operand::LiteralBit32(n)), "float") => float(f32::from_bits(*n)),
        (Some(Operand::LiteralBit32(n)), "float16_t") => format!("float16({n:#x})"),
        (Some(Operand::LiteralBit32(n)), "uint") => format!("{n}u"),
        (Some(Operand::LiteralBit32(n)), _) => (*n as i32).to_string(),
        (Some(Operand::LiteralBit64(n)), "double") => format!("{:?}", f64::from_bits(*n)),
        (Some(Operand::LiteralBit64(n)), _) => format!("{n}"),
        _ => "?".into(),
    }
}

fn float(v: f32) -> String {
    if v.is_finite() { format!("{v:?}") } else { format!("uintBitsToFloat({:#010x})", v.to_bits()) }
}

/// A declaration: dimensions of arrays follow the name.
pub fn declared(m: &Parts, ty: u32, name: &str) -> String {
    let whole = m.type_name(ty);
    match whole.find('[') {
        Some(at) => format!("{} {name}{}", &whole[..at], reversed(&whole[at..])),
        None => format!("{whole} {name}"),
    }
}

/// After a name, the dimensions of an array of arrays are in the opposite order.
fn reversed(dimensions: &str) -> String {
    dimensions.split_inclusive(']').rev().collect()
}

/// Dimensions alone.
pub fn dimensions(m: &Parts, ty: u32) -> String {
    let whole = m.type_name(ty);
    whole.find('[').map_or(String::new(), |at| reversed(&whole[at..]))
}
