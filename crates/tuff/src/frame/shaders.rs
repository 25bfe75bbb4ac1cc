//! Shaders of a frame for the page: source, and what variables and blocks are called.

use super::spirv;
use super::spirv::module::Parts;
use super::spirv::types::Field;
use rspirv::spirv::{Decoration, StorageClass};
use serde::Serialize;
use shader::Module;
use shader::instrument::sources;

/// Bytes of a shader's text that a page has.
const MOST: usize = 400_000;

/// A shader's text.
#[derive(Serialize)]
pub struct Text {
    pub title: String,
    pub text: String,
}

/// A resource of a shader.
#[derive(Serialize, Clone)]
pub struct Resource {
    pub set: u32,
    pub binding: u32,
    pub name: String,
    pub ty: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<Field>,
}

#[derive(Serialize, Default)]
pub struct Shader {
    /// The application's own source first, then what is made of the SPIR-V.
    #[serde(skip)]
    pub texts: Vec<Text>,
    pub resources: Vec<Resource>,
    pub push: Vec<Field>,
    /// Locations and names.
    pub inputs: Vec<(u32, String)>,
    pub outputs: Vec<(u32, String)>,
    /// SpecIds and names.
    pub constants: Vec<(u32, String)>,
}

impl Shader {
    /// Of a module's bytes. One that cannot be read has no text.
    pub fn of(bytes: &[u8]) -> Shader {
        let Ok(m) = Module::parse(shader::words(bytes)) else { return Shader::default() };
        let mut own = Shader::default();
        for s in sources(&m) {
            if !s.text.trim().is_empty() {
                own.texts.push(Text { title: s.file, text: cut(s.text) });
            }
        }
        let Some(parts) = Parts::of(&m) else { return own };
        own.texts.push(Text { title: "from SPIR-V".into(), text: cut(spirv::source(&parts)) });
        own.names(&parts);
        own
    }

    fn names(&mut self, m: &Parts) {
        for v in &m.globals {
            let number = |d| m.decorated_number((v.id, None), d);
            let inner = m.pointee(v.ty);
            let block = m.block_of(inner);
            let fields = block.map(|b| m.fields(b)).unwrap_or_default();
            // Of a block without a variable's name, the block's is known.
            let name = m.given(v.id).or_else(|| m.given(block?)).unwrap_or_default().to_string();
            if let (Some(set), Some(binding)) =
                (number(Decoration::DescriptorSet), number(Decoration::Binding))
            {
                self.resources.push(Resource { set, binding, name, ty: m.type_name(inner), fields });
            } else if v.storage == StorageClass::PushConstant {
                self.push = fields;
            } else if let Some(location) = number(Decoration::Location) {
                match v.storage {
                    StorageClass::Input => self.inputs.push((location, name)),
                    StorageClass::Output => self.outputs.push((location, name)),
                    _ => {}
                }
            }
        }
        self.constants = m.spec_constants.iter().map(|c| (c.number, m.name(c.id))).collect();
    }
}

fn cut(mut text: String) -> String {
    if text.len() > MOST {
        let at = (0..=MOST).rev().find(|i| text.is_char_boundary(*i)).unwrap_or(0);
        text.truncate(at);
        text.push_str("\n… cut here");
    }
    text
}
