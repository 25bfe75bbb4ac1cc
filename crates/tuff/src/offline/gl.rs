//! GLSL of OpenGL and OpenGL ES that a compiler for SPIR-V does not take: the same shader in a newer version of the language, each line
//! where it was.

use shader::ir::Stage;

/// Functions and qualifiers of the old versions, and what they are called since GLSL 1.30 and GLSL ES 3.00.
const RENAMED: [(&str, &str); 18] = [
    ("attribute", "in"),
    ("texture1D", "texture"),
    ("texture2D", "texture"),
    ("texture3D", "texture"),
    ("textureCube", "texture"),
    ("texture2DProj", "textureProj"),
    ("texture3DProj", "textureProj"),
    ("texture2DLod", "textureLod"),
    ("texture3DLod", "textureLod"),
    ("textureCubeLod", "textureLod"),
    ("texture2DProjLod", "textureProjLod"),
    ("texture2DLodEXT", "textureLod"),
    ("textureCubeLodEXT", "textureLod"),
    ("texture2DProjLodEXT", "textureProjLod"),
    ("texture2DGradEXT", "textureGrad"),
    ("textureCubeGradEXT", "textureGrad"),
    ("gl_FragColor", "tuff_FragColor"),
    ("gl_FragData", "tuff_FragData"),
];

/// The line of `#version`, the number, and whether it is ES's.
fn version(text: &str) -> Option<(usize, u32, bool)> {
    text.lines().enumerate().find_map(|(i, line)| {
        let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("version")?;
        let mut words = rest.split_whitespace();
        let number = words.next()?.parse().ok()?;
        Some((i, number, number == 100 || words.next() == Some("es")))
    })
}

/// The text with identifiers renamed.
fn renamed(line: &str, stage: Option<Stage>) -> String {
    let varying = if stage == Some(Stage::Fragment) { "in" } else { "out" };
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        let end = match is_word(c) {
            true => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            false => c.len_utf8(),
        };
        let (word, after) = rest.split_at(end);
        let new = RENAMED.iter().find(|(old, _)| *old == word).map(|(_, new)| *new);
        out += if word == "varying" { varying } else { new.unwrap_or(word) };
        rest = after;
    }
    out
}

/// The first line that may begin with a declaration: after the last `#extension`, outside of conditions and of comments.
fn first_of_code(lines: &[String]) -> usize {
    let last = lines.iter().rposition(|l| directive(l).is_some_and(|d| d.starts_with("extension")));
    let (mut depth, mut comment) = (0, false);
    for (i, line) in lines.iter().enumerate() {
        let was_comment = comment;
        let mut rest = line.split("//").next().unwrap_or("");
        while let Some(at) = rest.find(if comment { "*/" } else { "/*" }) {
            comment = !comment;
            rest = &rest[at + 2..];
        }
        match directive(line) {
            Some(d) if d.starts_with("if") => depth += 1,
            Some(d) if d.starts_with("endif") => depth -= 1,
            None if depth == 0 && !was_comment && last.is_none_or(|last| i > last) => return i,
            _ => {}
        }
    }
    lines.len()
}

/// What follows the `#` of a preprocessor's line.
fn directive(line: &str) -> Option<&str> {
    Some(line.trim_start().strip_prefix('#')?.trim_start())
}

/// The text in a version that can become SPIR-V; `None`: it has one.
pub fn modern(text: &str, stage: Option<Stage>) -> Option<String> {
    let (line, number, es) = match version(text) {
        Some((line, number, es)) => (Some(line), number, es),
        // Text without a version is ES's 1.00, as WebGL's, or OpenGL's 1.10, whose floats have no precision.
        None if stage == Some(Stage::Fragment) && !text.contains("precision") => (None, 110, false),
        None => (None, 100, true),
    };
    if (es && number >= 310) || (!es && number > 130) {
        return None;
    }
    let old = number < 300 && (es || number < 140);
    let mut lines: Vec<String> =
        text.lines().map(|l| if old { renamed(l, stage) } else { l.into() }).collect();
    if let Some(line) = line {
        lines[line].clear();
    }
    if old && stage == Some(Stage::Fragment) {
        let precision = if es { "mediump " } else { "" };
        let mut declared = String::new();
        for (name, array) in [("tuff_FragColor", ""), ("tuff_FragData", "[4]")] {
            if lines.iter().any(|l| l.contains(name)) {
                declared += &format!("layout(location = 0) out {precision}vec4 {name}{array}; ");
            }
        }
        let at = first_of_code(&lines);
        match lines.get_mut(at) {
            Some(line) => line.insert_str(0, &declared),
            None => lines.push(declared),
        }
    }
    let head = if es { "#version 310 es\n#line 1\n" } else { "#version 450\n#line 1\n" };
    Some(head.to_string() + &lines.join("\n") + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_stay_where_they_were() {
        let text = "// a\n#version 100\n#ifdef X\n#extension GL_OES_standard_derivatives : enable\n#endif\n\
                    precision mediump float;\nvarying vec2 uv;\nuniform sampler2D my_texture2D;\n\
                    void main() { gl_FragColor = texture2D(my_texture2D, uv); }\n";
        let new = modern(text, Some(Stage::Fragment)).unwrap();
        let lines: Vec<_> = new.lines().collect();
        assert_eq!(lines[..2], ["#version 310 es", "#line 1"]);
        assert_eq!(lines[2..].len(), text.lines().count());
        assert_eq!(
            lines[7],
            "layout(location = 0) out mediump vec4 tuff_FragColor; precision mediump float;"
        );
        assert_eq!(lines[8], "in vec2 uv;");
        assert_eq!(lines[10], "void main() { tuff_FragColor = texture(my_texture2D, uv); }");
    }

    #[test]
    fn what_can_become_spirv_stays() {
        for text in ["#version 310 es\n", "#version 450\n", "#version 330 core\n", "  # version 460\n"] {
            assert_eq!(modern(text, Some(Stage::Fragment)), None, "{text}");
        }
        assert!(
            modern("#version 300 es\nin vec2 a;\n", Some(Stage::Vertex)).unwrap().contains("\nin vec2 a;")
        );
        let vertex =
            modern("#version 120\nvarying vec2 a; attribute vec2 b;\n", Some(Stage::Vertex)).unwrap();
        assert_eq!(vertex, "#version 450\n#line 1\n\nout vec2 a; in vec2 b;\n");
        let without = |text| modern(text, Some(Stage::Fragment)).unwrap();
        assert!(without("void main() {}\n").starts_with("#version 450\n"));
        assert!(without("precision highp float;\nvoid main() {}\n").starts_with("#version 310 es\n"));
    }
}
