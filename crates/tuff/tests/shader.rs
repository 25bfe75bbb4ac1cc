//! `tuff shader` on files, folders and languages, and its golden costs.

use std::path::Path;
use std::process::{Command, Stdio};

const LIT: &str = "#version 450\nlayout(location=0) in vec2 uv; layout(location=0) out vec4 o;\n\
                   layout(set=0,binding=0) uniform sampler2D t;\n\
                   void main() {\n  vec4 c = texture(t, uv);\n  o = fma(c, c, c);\n}\n";
const KERNEL: &str = "#version 450\nlayout(local_size_x=64) in;\nlayout(set=0,binding=0) buffer B { float v[]; };\n\
                      void main() { v[gl_GlobalInvocationID.x] = 1.0; }\n";

struct Folder(temporary::Folder);

/// What a run says and ends with.
struct Said {
    code: i32,
    out: String,
    err: String,
}

impl Folder {
    /// A folder with these files; `None`: no compiler of GLSL is here, which is said.
    fn new(test: &str, files: &[(&str, &str)]) -> Option<Folder> {
        if !not_run::has_program("glslangValidator") {
            not_run::say(test, "glslangValidator (package glslang-tools)");
            return None;
        }
        let folder = Folder(temporary::folder("tuff-shader-").unwrap());
        files.iter().for_each(|(name, text)| folder.write(name, text));
        Some(folder)
    }
    fn path(&self) -> &Path {
        self.0.path()
    }
    fn write(&self, name: &str, text: &str) {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path().join(name)).unwrap()
    }
    fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tuff"));
        command.current_dir(self.path()).arg("shader").args(line.split(' '));
        command
    }
    fn run(&self, line: &str) -> Said {
        said(self.command(line), "")
    }
}

fn said(mut command: Command, input: &str) -> Said {
    use std::io::Write;
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Said { code: output.status.code().unwrap(), out: text(output.stdout), err: text(output.stderr) }
}

/// The cells of a summary's line that begins with this file's name.
fn row<'a>(text: &'a str, file: &str, gpu: &str) -> Vec<&'a str> {
    let cells = |line: &'a str| line.split_whitespace().collect::<Vec<_>>();
    let mut lines = text.lines().map(cells);
    lines.find(|c| c[0] == file && c.contains(&gpu)).unwrap_or_else(|| panic!("{file}, {gpu}: {text}"))
}

#[test]
fn a_folders_shaders_have_a_line_for_each_gpu() {
    let files = [
        ("all/lit.frag", LIT),
        ("all/deep/fill.comp.glsl", KERNEL),
        ("all/common.glsl", "not a shader\n"),
        ("all/readme.txt", "neither\n"),
    ];
    let Some(folder) = Folder::new("a_folders_shaders_have_a_line_for_each_gpu", &files) else { return };
    let all = folder.run("all --gpu g57,g720");
    assert_eq!((all.code, all.out.lines().count(), all.err.as_str()), (0, 5, ""), "{}", all.out);
    // Two components of four quads: a G57 interpolates one of these slots a cycle, a G720 four.
    assert_eq!(row(&all.out, "all/lit.frag", "g57")[3..], ["6", "100", "%", "8", "8", "varying"]);
    assert_eq!(row(&all.out, "all/lit.frag", "g720")[5..], ["%", "2", "2", "varying,", "texture"]);
    assert_eq!(row(&all.out, "all/deep/fill.comp.glsl", "g720")[1], "compute");
    // One that is broken does not hide the others.
    folder.write("all/bad.vert", "#version 450\nvoid main() { x }\n");
    let all = folder.run("all");
    assert_eq!((all.code, all.out.lines().count()), (2, 3));
    assert!(all.err.starts_with("tuff: all/bad.vert: ") && all.err.contains("says\n"), "{}", all.err);
    assert_eq!(folder.run("all --gpu g9").code, 2);
    std::fs::create_dir(folder.path().join("none")).unwrap();
    assert_eq!(folder.run("none").err, "tuff: none: no shaders in this folder\n");
}

/// The same shader in each language: a multiply–add of a word of a buffer.
#[test]
fn languages_agree() {
    let glsl = "#version 450\nlayout(local_size_x=64) in;\nlayout(set=0,binding=0) buffer B { float v[]; };\n\
                void main() { uint i = gl_GlobalInvocationID.x; v[i] = fma(v[i], K, 1.0); }\n";
    let hlsl = "RWStructuredBuffer<float> v : register(u0);\n[numthreads(64, 1, 1)]\n\
                void scale(uint3 id : SV_DispatchThreadID) { v[id.x] = mad(v[id.x], K, 1.0); }\n";
    let wgsl = "@group(0) @binding(0) var<storage, read_write> v: array<f32>;\n@compute @workgroup_size(64)\n\
                fn main(@builtin(global_invocation_id) id: vec3<u32>) { v[id.x] = fma(v[id.x], 2.0, 1.0); }\n";
    let files = [("a.comp", glsl), ("b.cs.hlsl", hlsl), ("c.wgsl", wgsl)];
    let Some(folder) = Folder::new("languages_agree", &files) else { return };
    let costs = |line: &str| {
        let said = folder.run(&format!("{line} --format json"));
        assert_eq!(said.code, 0, "{}", said.err);
        let all: serde_json::Value = serde_json::from_str(&said.out).unwrap();
        all["shaders"][0]["variants"][0]["performance"]["total_cycles"]["cycle_count"].clone()
    };
    let of_glsl = costs("a.comp -D K=2.0");
    // A multiply–add (of 8 a cycle) and two accesses.
    assert_eq!((&of_glsl[1], &of_glsl[4]), (&serde_json::json!(0.125), &serde_json::json!(2.0)));
    assert_eq!(costs("b.cs.hlsl --entry scale -D K=2.0"), of_glsl);
    match not_run::has_program("naga") {
        true => assert_eq!(costs("c.wgsl"), of_glsl),
        false => not_run::say("languages_agree, WGSL", "naga (cargo install naga-cli)"),
    }
    let custom = "a.comp --compiler";
    let mut command = folder.command(custom);
    command.args(["glslangValidator -V -S {stage} -DK=2.0 {in} -o {out}", "--format", "json"]);
    let by_command: serde_json::Value = serde_json::from_str(&said(command, "").out).unwrap();
    let cycles = &by_command["shaders"][0]["variants"][0]["performance"]["total_cycles"]["cycle_count"];
    assert_eq!(*cycles, of_glsl);
    let wrong = said(
        {
            let mut c = folder.command(custom);
            c.arg("glslangValidator {in}");
            c
        },
        "",
    );
    assert_eq!(
        (wrong.code, wrong.err.as_str()),
        (2, "tuff: --compiler needs {in} and {out} in its command\n")
    );
    let from_pipe = said(folder.command("- --stage comp --format lines -D K=2.0"), glsl);
    assert_eq!(row(&from_pipe.out, "stdin", "g720")[1], "compute", "{}", from_pipe.err);
    let nothing = folder.run("a.comp");
    assert!(nothing.code == 2 && nothing.err.contains("'K'"), "{}", nothing.err);
}

/// Texts of OpenGL ES 2.0, ES 3.0 and OpenGL 3.3 for one shader: the costs of the one for Vulkan, and their own lines.
#[test]
fn opengl_is_read() {
    let es2 = "precision mediump float;\nuniform sampler2D t;\nvarying vec2 uv;\n\
               void main() {\n  vec4 c = texture2D(t, uv);\n  gl_FragColor = c * c + c;\n}\n";
    let es3 = "#version 300 es\nprecision mediump float;\nuniform sampler2D t;\nin vec2 uv;\nout vec4 o;\n\
               void main() {\n  vec4 c = texture(t, uv);\n  o = c * c + c;\n}\n";
    let gl = "#version 330 core\nuniform sampler2D t;\nuniform vec4 tint;\nin vec2 uv;\nout vec4 o;\n\
              void main() {\n  vec4 c = texture(t, uv);\n  o = c * c + c * tint;\n}\n";
    let files = [("es2.frag", es2), ("es3.frag", es3), ("gl.frag", gl), ("lit.frag", LIT)];
    let Some(folder) = Folder::new("opengl_is_read", &files) else { return };
    let all = folder.run("es2.frag es3.frag gl.frag lit.frag");
    assert_eq!((all.code, all.err.as_str()), (0, ""), "{}", all.out);
    for file in ["es2.frag", "es3.frag"] {
        // With mediump a sample's coordinates are interpolated at half the cost.
        assert_eq!(row(&all.out, file, "g720")[3..], ["6", "100", "%", "2", "2", "texture"], "{file}");
    }
    assert_eq!(row(&all.out, "gl.frag", "g720")[5..], row(&all.out, "lit.frag", "g720")[5..]);
    let lines = folder.run("es2.frag --annotate").out;
    let line = lines.lines().find(|l| l.contains("|    6 ")).unwrap();
    assert!(line.ends_with("  gl_FragColor = c * c + c;"), "{line}");
    assert_eq!(line.split_whitespace().next(), Some("0.25"), "four multiply–adds of 16 a cycle: {line}");
    assert!(lines.contains("\nes2.frag\n"), "{lines}");
}

#[test]
fn golden_costs_hold_or_fail() {
    let files = [("shaders/lit.frag", LIT), ("shaders/fill.comp", KERNEL)];
    let Some(folder) = Folder::new("golden_costs_hold_or_fail", &files) else { return };
    let gate = "shaders --gpu g610,g720 --golden costs.toml";
    let absent = folder.run(gate);
    assert_eq!(absent.code, 2);
    assert!(absent.err.starts_with("tuff: costs.toml: "), "{}", absent.err);
    let first = folder.run(&format!("{gate} --update"));
    assert_eq!((first.code, first.out.lines().last()), (0, Some("4 without golden costs")), "{}", first.err);
    let golden = folder.read("costs.toml");
    assert_eq!(golden.matches("[[shader]]").count(), 4);
    assert_eq!(golden.matches("\nfile = \"shaders/lit.frag\"\nstage = \"fragment\"\n").count(), 2);
    assert_eq!(folder.run(gate).out, "4 the same\n");
    // From elsewhere the files are called otherwise, and are the same.
    let from_inside = said(
        {
            let mut c = folder.command(". --gpu g720 --golden ../costs.toml");
            c.current_dir(folder.path().join("shaders"));
            c
        },
        "",
    );
    assert_eq!((from_inside.code, from_inside.out.as_str()), (0, "2 the same\n"), "{}", from_inside.err);
    // Other names, other lines, another order.
    let edited =
        LIT.replace("vec4 c", "\n\n  vec4 colour").replace("fma(c, c, c)", "fma(colour, colour, colour)");
    folder.write("shaders/lit.frag", &edited);
    assert_eq!(folder.run(gate).out, "4 the same\n");
    // Four multiply–adds more.
    folder.write("shaders/lit.frag", &LIT.replace("fma(c, c, c)", "fma(fma(c, c, c), c, c)"));
    let dearer = folder.run(&format!("{gate} --markdown a.md --junit a.xml"));
    assert_eq!(dearer.code, 1);
    let expected = "shaders/lit.frag fragment, g720: dearer\n  \
                    the path, Arithmetic: 0.75 to 1.25 (+25.0 %)  dearer\n  the path, Arith FMA: 0.5 to 1 (+25.0 %)  dearer\n";
    assert!(dearer.out.contains(expected), "{}", dearer.out);
    assert_eq!(dearer.out.lines().last(), Some("2 dearer, 2 the same"));
    let markdown = folder.read("a.md");
    assert!(markdown.starts_with("### Tuff: shaders: 2 dearer, 2 the same\n"), "{markdown}");
    assert!(
        markdown
            .contains("| shaders/lit.frag fragment, g720 | **the path, Arith FMA** | 0.5 | 1 | +25.0 % |\n")
    );
    let junit = folder.read("a.xml");
    assert!(junit.contains("tests=\"4\"") && junit.contains("failures=\"2\""), "{junit}");
    assert_eq!(folder.run(&format!("{gate} --max-increase 25")).code, 0);
    assert_eq!(folder.run(&format!("{gate} --max-increase 24.9")).code, 1);
    // Cheaper is never dearer; what is new fails until it is written down, what is gone does not.
    folder.write("shaders/lit.frag", &LIT.replace("fma(c, c, c)", "c"));
    assert_eq!(folder.run(gate).code, 0);
    std::fs::remove_file(folder.path().join("shaders/fill.comp")).unwrap();
    folder.write("shaders/copy.comp", KERNEL);
    let moved = folder.run(gate);
    assert_eq!(moved.code, 1);
    let last = "2 without golden costs, 2 changed, not dearer than allowed, 2 gone";
    assert_eq!(moved.out.lines().last(), Some(last));
    // One file alone is judged alone.
    let alone = folder.run("shaders/lit.frag --gpu g720 --golden costs.toml");
    assert_eq!(alone.out.lines().last(), Some("1 changed, not dearer than allowed, 2 gone"), "{}", alone.out);
    assert_eq!(folder.run(&format!("{gate} --update")).code, 0);
    assert_eq!(folder.run(gate).out, "4 the same\n");
    assert!(!folder.read("costs.toml").contains("fill.comp"));
    // A loop has no longest path: it is dearer than a shader without one.
    folder.write(
        "shaders/copy.comp",
        &KERNEL.replace("= 1.0;", "= 1.0; for (int i = 0; i < int(v[0]); i++) v[i] += 1.0;"),
    );
    let looped = folder.run(gate);
    assert!(looped.out.contains("longest path, loops of unknown length: 0 to 1  dearer\n"), "{}", looped.out);
    // A file that is none.
    folder.write("costs.toml", "version = 2\n");
    let other = "tuff: costs.toml: version 2 of golden costs; this program reads 1\n";
    assert_eq!((folder.run(gate).code, folder.run(gate).err.as_str()), (2, other));
}

/// Multiply–adds of the longest path, 8 a cycle: counted by hand from each loop.
#[test]
fn loops_of_known_length_have_a_longest_path() {
    let body = |body: &str| {
        format!(
            "#version 450\nlayout(local_size_x=64) in;\nlayout(constant_id=0) const int N = 5;\n\
             layout(set=0,binding=0) buffer B {{ int n; float v[]; }};\nvoid main() {{\n\
             float a = v[gl_GlobalInvocationID.x];\n{body}\nv[gl_GlobalInvocationID.x] = a;\n}}\n"
        )
    };
    const A: &str = "a = fma(a, a, a);";
    let rows = [
        ("up", format!("for (int k = 0; k < 1000; k++) {A}"), "", Some(1000)),
        ("down", format!("for (uint k = 300u; k > 0u; k -= 3u) {A}"), "", Some(100)),
        (
            "nested",
            format!("for (int k = 0; k < 70; k++) {{ {A} for (int j = 0; j <= 90; j++) {A} }}"),
            "",
            Some(70 * 92),
        ),
        ("late", format!("int k = 0; do {{ {A} k++; }} while (k < 80);"), "", Some(80)),
        (
            "doubling",
            format!("for (int k = 1; k < 100000; k *= 2) {{ {A} {A} {A} {A} {A} {A} {A} {A} {A} {A} }}"),
            "",
            Some(170),
        ),
        // Its counter is added in the same pipe.
        ("floats", format!("for (float f = 0.0; f < 1.0; f += 0.0078125) {A}"), "", Some(256)),
        // Left early for some values, but no later than after 200.
        ("early", format!("for (int k = 0; k < 200; k++) {{ if (a > 9.0) break; {A} }}"), "", Some(200)),
        // The dearer of two ways, each time.
        (
            "two",
            format!("for (int k = 0; k < 90; k++) {{ if (a > 9.0) {{ {A} {A} {A} }} else {A} }}"),
            "",
            Some(270),
        ),
        ("switch", format!("for (int k = 0; k < 20 * N; k++) {A}"), "", Some(100)),
        ("specialised", format!("for (int k = 0; k < 20 * N; k++) {A}"), " --spec 0=20", Some(400)),
        ("unknown", format!("for (int k = 0; k < n; k++) {A}"), "", None),
        ("given", format!("for (int k = 0; k < n; k++) {A}"), " --trips 7=77", Some(77)),
        ("elsewhere", format!("for (int k = 0; k < n; k++) {A}"), " --trips 8=77", None),
        ("for ever", format!("for (int k = 0; k >= 0; k = 0) {{ {A} if (a > 9.0) break; }}"), "", None),
    ];
    let Some(folder) = Folder::new("loops_of_known_length_have_a_longest_path", &[]) else { return };
    for (name, text, options, multiply_adds) in rows {
        folder.write("a.comp", &body(&text));
        let said = folder.run(&format!("a.comp --format json{options}"));
        assert_eq!(said.code, 0, "{name}: {}", said.err);
        let all: serde_json::Value = serde_json::from_str(&said.out).unwrap();
        let cycles = &all["shaders"][0]["variants"][0]["performance"]["longest_path_cycles"]["cycle_count"];
        assert_eq!(cycles[1].as_f64().map(|c| c * 8.0), multiply_adds.map(f64::from), "{name}");
        // A load and a store of the float; the number is read before each iteration, and once more before none follows.
        let accesses = if text.contains("< n") { 2.0 + 78.0 } else { 2.0 };
        assert_eq!(cycles[4].as_f64(), multiply_adds.map(|_| accesses), "{name}");
    }
    folder.write("a.comp", &body(&format!("for (int k = 0; k < n; k++) {A}")));
    let table = folder.run("a.comp").out;
    assert!(
        table.contains("\n  loop                  line 7: unknown iterations (--trips 7=N)\n"),
        "{table}"
    );
}

/// Operations of medium precision share an instruction, two and two, as those of 16 bits do; FMA instructions by hand.
#[test]
fn medium_precision_takes_half() {
    const HEAD: &str = "#version 320 es\nprecision highp float;\n\
        layout(location=0) in mediump vec4 a; layout(location=1) in highp vec4 b; layout(location=0) out highp vec4 o;\n\
        layout(set=0,binding=0) uniform U { highp vec4 u; };\nvoid main() {\n";
    let rows = [
        ("four products and sums", "mediump vec4 m = a * a + a; o = m;", 2, 100),
        ("in high precision", "highp vec4 m = b * b + b; o = m;", 4, 0),
        ("a high operand makes it high", "o = a * b + b;", 4, 0),
        ("a uniform is converted once", "mediump vec4 w = u; mediump vec4 m = a * w + a; o = m;", 2, 100),
        // Each needs the one before: no two can share.
        (
            "a chain",
            "mediump float m = a.x; m = m * m + m; m = m * m + m; m = m * m + m; o = vec4(m);",
            3,
            100,
        ),
        // Two products are needed in high precision too, and are computed once.
        ("of two precisions", "mediump vec4 m = a * a; highp vec4 h = a; o = vec4(m.xy, (h * h).xy);", 2, 0),
        ("three of a kind", "mediump vec3 m = a.xyz * a.yzw + a.zwx; o = vec4(m, 0.0);", 2, 100),
    ];
    let Some(folder) = Folder::new("medium_precision_takes_half", &[]) else { return };
    for (name, body, instructions, percent) in rows {
        folder.write("a.frag", &format!("{HEAD}{body}\n}}\n"));
        let said = folder.run("a.frag --format json");
        assert_eq!(said.code, 0, "{name}: {}", said.err);
        let all: serde_json::Value = serde_json::from_str(&said.out).unwrap();
        let variant = &all["shaders"][0]["variants"][0];
        let cycles = &variant["performance"]["total_cycles"]["cycle_count"][1];
        assert_eq!(cycles.as_f64().map(|c| c * 8.0), Some(f64::from(instructions)), "{name}");
        let properties = variant["properties"].as_array().unwrap();
        let narrow = &properties.iter().find(|p| p["name"] == "fp16_arithmetic").unwrap()["value"];
        // ATEST and BLEND are of the CVT and have no width.
        let all = f64::from(instructions) + 2.0;
        let expected = (f64::from(instructions * percent) / all).round();
        assert_eq!(narrow.as_f64(), Some(expected), "{name}");
    }
}
