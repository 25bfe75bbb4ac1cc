//! What the generator reads of Khronos's vk.xml, as a file that is checked in (`registry/`): the same elements without
//! those that nobody asks for, an element a line, so that one parser reads both.

use super::registry::{Registry, child_text, for_vulkan};
use roxmltree::{Document, Node, NodeType};

/// What the repository has of vk.xml.
pub const FILE: &str = "registry/vulkan.xml";

const TAGS: [&str; 19] = [
    "types",
    "type",
    "member",
    "name",
    "commands",
    "command",
    "proto",
    "param",
    "enums",
    "enum",
    "feature",
    "extensions",
    "extension",
    "require",
    "spirvcapabilities",
    "spirvcapability",
    "spirvextensions",
    "spirvextension",
    "enable",
];

const ATTRIBUTES: [&str; 27] = [
    "alias",
    "bitpos",
    "bitvalues",
    "category",
    "depends",
    "dir",
    "extends",
    "extension",
    "extnumber",
    "feature",
    "len",
    "member",
    "name",
    "noautovalidity",
    "number",
    "objtypeenum",
    "offset",
    "optional",
    "promotedto",
    "requires",
    "struct",
    "structextends",
    "supported",
    "type",
    "value",
    "values",
    "version",
];

/// Elements whose children stand on lines of their own.
const SECTIONS: [&str; 7] =
    ["types", "commands", "enums", "feature", "extensions", "spirvcapabilities", "spirvextensions"];

fn wanted(n: &Node) -> bool {
    let tag = n.tag_name().name();
    let of_vulkan = for_vulkan(n, "api") && (tag != "extension" || for_vulkan(n, "supported"));
    let category = n.attribute("category").unwrap_or_default();
    let defines = n.parent().is_some_and(|p| p.has_tag_name("types"));
    let read = match category {
        "define" => child_text(n, "name") == Some("VK_HEADER_VERSION"),
        "" | "include" => !defines,
        _ => true,
    };
    let signature =
        n.parent().is_some_and(|p| p.attribute("category") == Some("funcpointer")) && tag == "param";
    let macro_name = n.attribute("name").is_some_and(|n| n.ends_with("_EXTENSION_NAME"));
    TAGS.contains(&tag) && of_vulkan && read && !signature && !macro_name
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn write(n: &Node, out: &mut String) {
    let tag = n.tag_name().name();
    *out += &format!("<{tag}");
    for a in n.attributes().filter(|a| ATTRIBUTES.contains(&a.name())) {
        // Which of Khronos's interfaces an extension is of has been asked already.
        if a.name() != "supported" {
            *out += &format!(" {}=\"{}\"", a.name(), escaped(a.value()));
        }
    }
    let section = SECTIONS.contains(&tag);
    // Of a declaration the stars, brackets and colons between the elements matter; elsewhere they are C around names.
    let declares = matches!(tag, "member" | "param") || n.attribute("category") == Some("define");
    let mut inner = String::new();
    for c in n.children() {
        match c.node_type() {
            NodeType::Element if wanted(&c) => {
                inner += if section { "\n" } else { "" };
                write(&c, &mut inner);
            }
            NodeType::Text if declares || n.children().count() == 1 => {
                inner += &escaped(c.text().unwrap_or_default());
            }
            _ => {}
        }
    }
    if inner.trim().is_empty() {
        *out += "/>";
    } else {
        *out += &format!(">{inner}{}</{tag}>", if section { "\n" } else { "" });
    }
}

/// The text of [`FILE`] from that of vk.xml; fails if the generator would read anything else in it.
pub fn extract(vk_xml: &str) -> Result<String, String> {
    let doc = Document::parse(vk_xml).map_err(|e| format!("vk.xml: {e}"))?;
    let root = doc.root_element();
    let notice = root.children().find(|c| c.has_tag_name("comment")).and_then(|c| c.text());
    let notice = notice.filter(|t| t.contains("SPDX-License-Identifier")).ok_or("vk.xml has no licence")?;
    let whole = Registry::parse(vk_xml)?;
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!--\n{}\n\nExtracted by `cargo xtask codegen` from Khronos's \
         vk.xml, VK_HEADER_VERSION {}: do not edit.\n-->\n<registry>",
        notice.trim(),
        whole.header_version
    );
    for section in root.children().filter(wanted) {
        out.push('\n');
        write(&section, &mut out);
    }
    out += "\n</registry>\n";
    if Registry::parse(&out)? != whole {
        return Err(format!("{FILE} would not say the same as vk.xml"));
    }
    Ok(out)
}
