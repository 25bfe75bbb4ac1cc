//! Reads vk.xml into plain tables: types, commands, core versions and extensions of the `vulkan` API.

use roxmltree::{Document, Node};
use std::collections::{BTreeMap, HashMap};

/// A parameter or member: `const VkFoo* const* name[3]`.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Decl {
    pub name: String,
    /// The base type, as in C (`VkFoo`, `uint32_t`, `void`).
    pub ty: String,
    /// Whether the base type is const.
    pub is_const: bool,
    /// Number of `*`.
    pub pointers: usize,
    /// Array lengths, outermost first, as numbers or names of constants.
    pub arrays: Vec<String>,
    /// The parameter or member that holds this array's length.
    pub len: Option<String>,
    /// Whether the elements of an array of pointers are strings.
    pub strings: bool,
    /// Whether it may be null or zero.
    pub optional: bool,
    /// Whether it is valid only under conditions that other members or parameters decide.
    pub conditional: bool,
    /// The value of an `sType` member.
    pub value: Option<String>,
    /// Whether the member is a bit field.
    pub bits: bool,
}

#[derive(Clone, PartialEq, Debug)]
pub enum TypeKind {
    Handle {
        object_type: String,
    },
    Enum,
    /// A flags type: 32 or 64 bits, and the enum with its bits.
    Bitmask {
        wide: bool,
        bits: Option<String>,
    },
    Struct {
        members: Vec<Decl>,
        extends: Vec<String>,
    },
    Union {
        members: Vec<Decl>,
    },
    FuncPointer,
    /// A number under another name.
    Base,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Type {
    pub name: String,
    pub alias: Option<String>,
    pub kind: TypeKind,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Command {
    pub name: String,
    pub alias: Option<String>,
    pub ret: String,
    pub params: Vec<Decl>,
}

/// A value added to an enum by a version or an extension.
#[derive(Clone, PartialEq, Debug)]
pub struct Value {
    pub name: String,
    pub value: i64,
}

/// A core version or an extension: what it makes available.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Feature {
    pub name: String,
    /// `100 * major + minor` for a core version, 0 for an extension.
    pub version: u32,
    pub is_instance: bool,
    pub spec_version: u32,
    pub promoted_to: Option<String>,
    /// What an extension needs: an expression of versions and extensions.
    pub requires: String,
    pub types: Vec<String>,
    pub commands: Vec<String>,
    /// Commands that are there only with other extensions: the condition.
    pub depends: HashMap<String, String>,
    /// Enum → values this one adds to it.
    pub values: Vec<(String, Value)>,
    /// Feature bits that must be on when this one is reported, of those between commas one: (member, struct).
    pub features: Vec<(String, String)>,
}

#[derive(PartialEq, Debug)]
pub struct Registry {
    pub types: BTreeMap<String, Type>,
    /// Types in the order of the file, which defines before it uses.
    pub order: Vec<String>,
    pub commands: BTreeMap<String, Command>,
    /// Own values of each enum (without those of extensions).
    pub enums: HashMap<String, Vec<Value>>,
    pub constants: HashMap<String, String>,
    pub cores: Vec<Feature>,
    pub extensions: BTreeMap<String, Feature>,
    /// SPIR-V capabilities, and of each what allows it: any one.
    pub capabilities: Vec<(String, Vec<Enable>)>,
    /// SPIR-V extensions, as capabilities.
    pub spirv_extensions: Vec<(String, Vec<Enable>)>,
    pub header_version: u32,
}

/// What a device reports that allows a SPIR-V capability.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Enable {
    /// A core version, as in `102` for 1.2.
    Version(u32),
    Extension(String),
    Feature(String),
    /// A feature of this extension.
    FeatureOf(String, String),
    /// A member of a property structure that has this bit, or is true (bit 0).
    Property(String, u64),
}

pub fn for_vulkan(node: &Node, attribute: &str) -> bool {
    node.attribute(attribute).is_none_or(|apis| apis.split(',').any(|a| a == "vulkan"))
}

pub fn child_text<'a>(node: &Node<'a, 'a>, tag: &str) -> Option<&'a str> {
    node.children().find(|c| c.has_tag_name(tag)).and_then(|c| c.text())
}

fn decl(node: Node) -> Decl {
    let mut d = Decl {
        len: node.attribute("len").map(|l| l.split(',').next().unwrap_or_default().to_string()),
        strings: node.attribute("len").is_some_and(|l| l.ends_with(",null-terminated")),
        optional: node.attribute("optional").is_some_and(|o| o.split(',').next() == Some("true")),
        conditional: node.attribute("noautovalidity") == Some("true"),
        value: node.attribute("values").map(str::to_string),
        ..Default::default()
    };
    let (mut before, mut between, mut after) = (String::new(), String::new(), String::new());
    for c in node.children() {
        if c.has_tag_name("type") {
            d.ty = c.text().unwrap_or_default().to_string();
        } else if c.has_tag_name("name") {
            d.name = c.text().unwrap_or_default().to_string();
        } else if c.has_tag_name("enum") {
            after += c.text().unwrap_or_default();
        } else if let Some(text) = c.text().filter(|_| c.is_text()) {
            if d.ty.is_empty() {
                before += text;
            } else if d.name.is_empty() {
                between += text;
            } else {
                after += text;
            }
        }
    }
    d.is_const = before.contains("const");
    d.pointers = between.matches('*').count();
    d.bits = after.contains(':');
    d.arrays = after
        .split('[')
        .skip(1)
        .map(|p| p.split(']').next().unwrap_or_default().trim().to_string())
        .collect();
    d
}

fn number(text: &str) -> Option<i64> {
    let t = text.trim();
    if let Some(hex) = t.strip_prefix("0x") { i64::from_str_radix(hex, 16).ok() } else { t.parse().ok() }
}

/// The value of an `<enum>`: given, a bit, or counted from its extension's number.
fn value(node: &Node, extension: i64) -> Option<i64> {
    if let Some(v) = node.attribute("value") {
        return number(v);
    }
    if let Some(bit) = node.attribute("bitpos") {
        return Some(1i64 << bit.parse::<u32>().ok()?);
    }
    let offset: i64 = node.attribute("offset")?.parse().ok()?;
    let number = node.attribute("extnumber").and_then(|n| n.parse().ok()).unwrap_or(extension);
    let v = 1_000_000_000 + (number - 1) * 1000 + offset;
    Some(if node.attribute("dir") == Some("-") { -v } else { v })
}

fn ty(node: Node) -> Option<Type> {
    let proto = node.children().find(|c| c.has_tag_name("proto"));
    let name = node
        .attribute("name")
        .or_else(|| child_text(&node, "name"))
        .or_else(|| proto.as_ref().and_then(|p| child_text(p, "name")))?
        .to_string();
    let members = || {
        node.children()
            .filter(|m| m.has_tag_name("member") && for_vulkan(m, "api"))
            .map(decl)
            .collect::<Vec<_>>()
    };
    let kind = match node.attribute("category").unwrap_or_default() {
        "handle" => {
            TypeKind::Handle { object_type: node.attribute("objtypeenum").unwrap_or_default().to_string() }
        }
        "enum" => TypeKind::Enum,
        "bitmask" => TypeKind::Bitmask {
            wide: child_text(&node, "type") == Some("VkFlags64"),
            bits: node.attribute("requires").or(node.attribute("bitvalues")).map(str::to_string),
        },
        "struct" => TypeKind::Struct {
            members: members(),
            extends: node
                .attribute("structextends")
                .map(|e| e.split(',').map(str::to_string).collect())
                .unwrap_or_default(),
        },
        "union" => TypeKind::Union { members: members() },
        "funcpointer" => TypeKind::FuncPointer,
        "basetype" => TypeKind::Base,
        _ => return None,
    };
    Some(Type { name, alias: node.attribute("alias").map(str::to_string), kind })
}

fn command(node: Node) -> Option<Command> {
    if let Some(alias) = node.attribute("alias") {
        let name = node.attribute("name")?.to_string();
        return Some(Command { name, alias: Some(alias.into()), ret: String::new(), params: vec![] });
    }
    let proto = node.children().find(|c| c.has_tag_name("proto"))?;
    Some(Command {
        name: child_text(&proto, "name")?.to_string(),
        alias: None,
        ret: child_text(&proto, "type")?.to_string(),
        params: node
            .children()
            .filter(|p| p.has_tag_name("param") && for_vulkan(p, "api"))
            .map(decl)
            .collect(),
    })
}

fn feature(node: Node, registry_name: &str) -> Feature {
    let extension: i64 = node.attribute("number").and_then(|n| n.parse().ok()).unwrap_or(0);
    let mut f = Feature {
        name: registry_name.to_string(),
        is_instance: node.attribute("type") == Some("instance"),
        promoted_to: node.attribute("promotedto").map(str::to_string),
        requires: node.attribute("depends").unwrap_or_default().to_string(),
        ..Default::default()
    };
    for require in node.children().filter(|r| r.has_tag_name("require") && for_vulkan(r, "api")) {
        for item in require.children().filter(|i| i.is_element() && for_vulkan(i, "api")) {
            let Some(name) = item.attribute("name") else { continue };
            match item.tag_name().name() {
                "type" => f.types.push(name.to_string()),
                "command" => {
                    f.commands.push(name.to_string());
                    if let Some(depends) = require.attribute("depends") {
                        f.depends.insert(name.to_string(), depends.to_string());
                    }
                }
                "feature" if require.attribute("depends").is_none() => {
                    let of = item.attribute("struct").unwrap_or_default();
                    f.features.push((name.to_string(), of.to_string()));
                }
                "enum" => {
                    if name.ends_with("_SPEC_VERSION") {
                        f.spec_version = item.attribute("value").and_then(|v| v.parse().ok()).unwrap_or(0);
                    }
                    if let (Some(of), None) = (item.attribute("extends"), item.attribute("alias"))
                        && let Some(value) = value(&item, extension)
                    {
                        f.values.push((of.to_string(), Value { name: name.to_string(), value }));
                    }
                }
                _ => {}
            }
        }
    }
    f
}

/// A flag in vk.xml.
enum Bit<'a> {
    Alias(&'a str),
    At(u32),
}

impl Registry {
    pub fn parse(text: &str) -> Result<Registry, String> {
        let doc = Document::parse(text).map_err(|e| format!("vk.xml: {e}"))?;
        let root = doc.root_element();
        let mut r = Registry {
            types: BTreeMap::new(),
            order: vec![],
            commands: BTreeMap::new(),
            enums: HashMap::new(),
            constants: HashMap::new(),
            cores: vec![],
            extensions: BTreeMap::new(),
            capabilities: vec![],
            spirv_extensions: vec![],
            header_version: 0,
        };
        for section in root.children().filter(|s| s.is_element()) {
            let items = section.children().filter(|i| i.is_element() && for_vulkan(i, "api"));
            match section.tag_name().name() {
                "types" => {
                    for t in items.filter(|i| i.has_tag_name("type")).filter_map(ty) {
                        r.order.push(t.name.clone());
                        r.types.insert(t.name.clone(), t);
                    }
                }
                "commands" => {
                    for c in items.filter(|i| i.has_tag_name("command")).filter_map(command) {
                        r.commands.insert(c.name.clone(), c);
                    }
                }
                "enums" => {
                    let name = section.attribute("name").unwrap_or_default();
                    if section.attribute("type") == Some("constants") {
                        for e in items.filter(|e| e.has_tag_name("enum")) {
                            if let (Some(n), Some(v)) = (e.attribute("name"), e.attribute("value")) {
                                r.constants.insert(n.to_string(), v.to_string());
                            }
                        }
                    } else {
                        let values = items.filter(|e| e.has_tag_name("enum")).filter_map(|e| {
                            e.attribute("alias").is_none().then_some(())?;
                            Some(Value { name: e.attribute("name")?.to_string(), value: value(&e, 0)? })
                        });
                        r.enums.insert(name.to_string(), values.collect());
                    }
                }
                "feature" if for_vulkan(&section, "api") => {
                    let mut f = feature(section, section.attribute("name").unwrap_or_default());
                    let number = section.attribute("number").unwrap_or("0.0").replace('.', "0");
                    f.version = number.parse().map_err(|_| "a version number in vk.xml".to_string())?;
                    r.cores.push(f);
                }
                "extensions" => {
                    for e in items.filter(|e| e.has_tag_name("extension") && for_vulkan(e, "supported")) {
                        let name = e.attribute("name").unwrap_or_default();
                        r.extensions.insert(name.to_string(), feature(e, name));
                    }
                }
                _ => {}
            }
        }
        let mut bits = HashMap::new();
        for e in root.descendants().filter(|n| n.has_tag_name("enum")) {
            let position = e.attribute("bitpos").and_then(|b| b.parse().ok()).map(Bit::At);
            if let (Some(name), Some(bit)) =
                (e.attribute("name"), e.attribute("alias").map(Bit::Alias).or(position))
            {
                bits.entry(name).or_insert(bit);
            }
        }
        let allowed = |tag: &str| -> Result<Vec<(String, Vec<Enable>)>, String> {
            let all = root.descendants().filter(|c| c.has_tag_name(tag));
            all.map(|c| {
                let enables = c.children().filter(|e| e.has_tag_name("enable")).map(|e| r.enable(&e, &bits));
                let name = c.attribute("name").unwrap_or_default().to_string();
                Ok((name, enables.collect::<Result<_, _>>()?))
            })
            .collect()
        };
        (r.capabilities, r.spirv_extensions) = (allowed("spirvcapability")?, allowed("spirvextension")?);
        let defines = root.descendants().filter(|t| t.attribute("category") == Some("define"));
        for d in defines.filter(|t| for_vulkan(t, "api")) {
            if child_text(&d, "name") == Some("VK_HEADER_VERSION") {
                let tail = d.last_child().and_then(|c| c.text()).unwrap_or_default();
                r.header_version = tail.trim().parse().unwrap_or(0);
            }
        }
        Ok(r)
    }

    /// `bits`: all that there are.
    fn enable(&self, e: &Node, bits: &HashMap<&str, Bit>) -> Result<Enable, String> {
        let wrong = || format!("vk.xml: what allows a capability: {:?}", e.attributes().collect::<Vec<_>>());
        if let Some(version) = e.attribute("version") {
            let core = self.cores.iter().find(|c| c.name == version).ok_or_else(wrong)?;
            return Ok(Enable::Version(core.version));
        }
        if let Some(extension) = e.attribute("extension") {
            return Ok(Enable::Extension(extension.to_string()));
        }
        if let Some(feature) = e.attribute("feature") {
            // The same name may be a feature of several extensions.
            let requires =
                e.attribute("requires").filter(|r| r.chars().all(|c| c.is_alphanumeric() || c == '_'));
            return Ok(match requires.filter(|r| !r.starts_with("VK_VERSION")) {
                Some(extension) => Enable::FeatureOf(extension.to_string(), feature.to_string()),
                None => Enable::Feature(feature.to_string()),
            });
        }
        let (Some(member), Some(value)) = (e.attribute("member"), e.attribute("value")) else {
            return Err(wrong());
        };
        if value == "VK_TRUE" {
            return Ok(Enable::Property(member.to_string(), 1));
        }
        let mut named = value;
        loop {
            match bits.get(named).ok_or_else(wrong)? {
                Bit::Alias(of) => named = of,
                Bit::At(bit) if *bit < 64 => return Ok(Enable::Property(member.to_string(), 1 << bit)),
                Bit::At(_) => return Err(wrong()),
            }
        }
    }

    /// Follows aliases of a type to the one that is defined.
    pub fn canonical_type<'a>(&'a self, name: &'a str) -> &'a str {
        let mut n = name;
        while let Some(a) = self.types.get(n).and_then(|t| t.alias.as_deref()) {
            n = a;
        }
        n
    }

    /// Follows aliases of a command to the one that is defined.
    pub fn canonical_command<'a>(&'a self, name: &'a str) -> Option<&'a Command> {
        let mut c = self.commands.get(name)?;
        while let Some(a) = &c.alias {
            c = self.commands.get(a)?;
        }
        Some(c)
    }

    /// Resolves an array length to a number.
    pub fn length(&self, text: &str) -> Option<usize> {
        let text = self.constants.get(text).map_or(text, |s| s.as_str());
        text.trim_end_matches('U').parse().ok()
    }

    /// All values of an enum, own ones and those that the given versions and extensions add.
    pub fn values<'a>(&'a self, name: &str, from: impl Iterator<Item = &'a Feature>) -> Vec<Value> {
        let mut all = self.enums.get(name).cloned().unwrap_or_default();
        for f in from {
            all.extend(f.values.iter().filter(|(of, _)| of == name).map(|(_, v)| v.clone()));
        }
        let mut seen = std::collections::HashSet::new();
        all.retain(|v| seen.insert(v.name.clone()));
        all
    }
}
