use super::Rule;
use crate::advise::facts::how;
use crate::advise::{Case, Gain, Item};

pub const RULE: Rule = Rule {
    id: "transient",
    title: "An attachment has memory that it never uses",
    threshold: "all uses of the image in the capture are as an attachment that is neither loaded nor stored, and its usage lacks \
                TRANSIENT_ATTACHMENT",
    why: "Such an attachment lives in tile memory alone. With lazily allocated memory the system need not commit a page for it.",
    cure: "Create the image with VK_IMAGE_USAGE_TRANSIENT_ATTACHMENT_BIT and bind it to memory of a type with \
           VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT.",
    source: "Efficient render passes with Vulkan; Multisampling for Vulkan",
    find,
};

fn find(rule: &'static Rule, case: &Case) -> Vec<Item> {
    let mut about = vec![];
    let mut memory = 0;
    for (n, i) in case.facts.images.iter().enumerate() {
        let mut uses = case.uses().filter_map(|(_, u)| u.images.get(&n)).peekable();
        let inside = how::UNLOADED | how::UNSTORED;
        let used = uses.peek().is_some();
        // Input attachments are read in the tile, but count as what a fragment reads.
        let alone = uses.all(|h| *h & !(inside | how::FRAGMENT_READ) == 0 && *h & inside == inside);
        if used && alone && !i.presented && !i.usage.contains("TRANSIENT") {
            let pass = case.facts.passes.iter().find(|p| p.attachments.iter().any(|a| a.image == Some(n)));
            let pass = pass.map_or(String::new(), |p| format!(", of {}", case.workload(p).line()));
            about.push(case.image_about(n, format!("{} bytes{pass}", i.bytes())));
            memory += i.bytes();
        }
    }
    if about.is_empty() {
        return vec![];
    }
    let says = match about.len() {
        1 => "An attachment is never loaded or stored, yet it has memory of its own.".to_string(),
        n => format!("{n} attachments are never loaded or stored, yet they have memory of their own."),
    };
    let gain = Gain { memory: memory as f64, how: "the size of the images", ..Gain::default() };
    vec![Item { rule, says, cure: None, about, more: 0, lines: vec![], gain }]
}
