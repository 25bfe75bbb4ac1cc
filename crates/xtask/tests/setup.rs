//! The action setup-tuff, without GitHub: its script with releases in folders, and the forms of the files that CI systems read.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

const NAME: &str = "tuff-0.1.0-x86_64-linux";

/// A folder for one run: a release with one package, whose `tuff` is a script, and a folder for false programs.
struct Runner {
    folder: temporary::Folder,
}

impl Runner {
    fn new() -> Runner {
        let it = Runner { folder: temporary::folder("tuff-setup-").unwrap() };
        it.write(&format!("{NAME}/bin/tuff"), "#!/bin/sh\necho tuff 0.1.0\n");
        it.write(&format!("{NAME}/share/vulkan/icd.d/tuff_icd.x86_64.json"), "{}");
        it.write("release/SHA256SUMS", "");
        it.write("programs/none", "");
        it.shell(&format!(
            "tar -czf release/{NAME}.tar.gz {NAME} && cd release && sha256sum tuff-* > sums && mv sums SHA256SUMS"
        ));
        it
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A file that may be executed.
    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    fn shell(&self, script: &str) {
        let status = Command::new("sh").args(["-ec", script]).current_dir(self.folder.path()).status();
        assert!(status.unwrap().success(), "{script}");
    }

    /// Runs the script as the action does, with these inputs.
    fn setup(&self, inputs: &[(&str, &str)]) -> Output {
        let mut command = Command::new(root().join(".github/actions/setup-tuff/setup.sh"));
        let path = std::env::var("PATH").unwrap();
        command
            .current_dir(self.folder.path())
            .env("PATH", format!("{}:{path}", self.path("programs").display()))
            .env("TUFF_SETUP_PREFIX", self.path("prefix"))
            .env_remove("GITHUB_SERVER_URL");
        for (name, file) in [("GITHUB_ENV", "env"), ("GITHUB_PATH", "path"), ("GITHUB_OUTPUT", "output")] {
            command.env(name, self.path(file));
        }
        for (name, value) in inputs {
            command.env(format!("TUFF_SETUP_{}", name.to_uppercase()), value);
        }
        command.output().unwrap()
    }

    /// The same; it must go well.
    fn installs(&self, inputs: &[(&str, &str)]) {
        let out = self.setup(inputs);
        assert!(out.status.success(), "{inputs:?}: {}", String::from_utf8_lossy(&out.stderr));
        let icd = self.path("prefix/share/vulkan/icd.d/tuff_icd.x86_64.json").display().to_string();
        assert_eq!(
            self.read("env"),
            format!("VK_DRIVER_FILES={icd}\nVK_ICD_FILENAMES={icd}\nTUFF_CONFORMANCE=1.4.0.0\n")
        );
        assert_eq!(self.read("path"), format!("{}\n", self.path("prefix/bin").display()));
        assert_eq!(self.read("output"), format!("version=0.1.0\nicd={icd}\n"));
    }

    /// The same; it must fail with one line that has these words, and leave nothing.
    fn refuses(&self, inputs: &[(&str, &str)], words: &str) {
        let out = self.setup(inputs);
        let said = String::from_utf8_lossy(&out.stderr);
        assert!(!out.status.success(), "{inputs:?}");
        assert!(
            said.lines().last().is_some_and(|l| l.starts_with("setup-tuff: ") && l.contains(words)),
            "{said}"
        );
        assert!(!self.path("env").exists() && !self.path("prefix/bin").exists(), "{inputs:?}");
    }
}

/// Whether the script's tools are here; the loader keeps it from asking apt for one.
fn can_run() -> bool {
    let loader = Command::new("ldconfig").arg("-p").output();
    let loader = loader.is_ok_and(|o| String::from_utf8_lossy(&o.stdout).contains("libvulkan.so.1 "));
    if !loader || std::env::consts::ARCH != "x86_64" {
        not_run::say("the action setup-tuff", "x86-64 and the Vulkan loader");
        return false;
    }
    true
}

#[test]
fn a_release_is_installed_if_it_is_what_its_sums_say() {
    if !can_run() {
        return;
    }
    Runner::new().installs(&[("release", "release")]);
    let pinned = Runner::new();
    let hash = pinned.read("release/SHA256SUMS")[..64].to_string();
    pinned.installs(&[("release", "release/"), ("sha256", &hash)]);
    Runner::new().installs(&[("package", &format!("release/{NAME}.tar.gz"))]);

    let changed = Runner::new();
    changed.shell(&format!("printf x >> release/{NAME}.tar.gz"));
    changed.refuses(&[("release", "release")], "is not what release/SHA256SUMS says");
    let other = "0".repeat(64);
    Runner::new().refuses(&[("release", "release"), ("sha256", &other)], "has the SHA-256");
    let twice = Runner::new();
    twice.shell("cat release/SHA256SUMS release/SHA256SUMS > x && mv x release/SHA256SUMS");
    twice.refuses(&[("release", "release")], "does not name one");
    let outside = Runner::new();
    outside.write("release/SHA256SUMS", &format!("{other}  ../../{NAME}.tar.gz\n"));
    outside.refuses(&[("release", "release")], "does not name one");
}

#[test]
fn inputs_are_checked() {
    if !can_run() {
        return;
    }
    let it = Runner::new();
    it.refuses(&[], "0 are named");
    it.refuses(&[("release", "release"), ("version", "latest")], "2 are named");
    it.refuses(&[("version", "1.0; id"), ("repository", "a/b")], "is no version");
    it.refuses(&[("version", "latest")], "repository must be OWNER/NAME");
    it.refuses(&[("version", "latest"), ("repository", "a/b/../c")], "repository must be OWNER/NAME");
    it.refuses(&[("package", "http://example.org/a.deb")], "is no https address");
    it.refuses(&[("release", "release"), ("conformance", "1.4\nA=b")], "is no version");
    it.refuses(&[("package", "absent.tar.gz")], "cannot be read");
    it.refuses(&[("build", "release")], "is no checkout of Tuff");
    it.write("text.zip", "");
    it.refuses(&[("package", "text.zip")], "is no .deb and no .tar.gz");
    it.refuses(&[("release", "release"), ("prefix", "a\nPATH=b")], "more than one line");
}

/// What would be fetched and built, by false programs that say what they were asked.
#[test]
fn versions_are_addresses_and_checkouts_are_built() {
    if !can_run() {
        return;
    }
    let curl = "#!/bin/bash\nfor last; do :; done\necho \"$last\" >> asked\n\
        while [ \"$1\" != --output ]; do shift; done; cp \"release/${last##*/}\" \"$2\"\n";
    for (version, place) in
        [("0.1.0", "download/v0.1.0"), ("v0.1.0", "download/v0.1.0"), ("latest", "latest/download")]
    {
        let it = Runner::new();
        it.write("programs/curl", curl);
        it.installs(&[("version", version), ("repository", "a/b")]);
        let base = format!("https://github.com/a/b/releases/{place}");
        assert_eq!(it.read("asked"), format!("{base}/SHA256SUMS\n{base}/{NAME}.tar.gz\n"));
    }
    let it = Runner::new();
    it.write("programs/curl", curl);
    it.refuses(&[("version", "0.2.0"), ("repository", "a/b")], "not version 0.2.0");

    let it = Runner::new();
    it.write("source/crates/xtask/Cargo.toml", "");
    it.write(
        "programs/cargo",
        "#!/bin/bash\necho \"$PWD: ${*:1:6}\" > ../asked\nmkdir \"${*: -1}\" && cp ../release/*.tar.gz \"${*: -1}\"\n",
    );
    it.installs(&[("build", "source")]);
    let source = it.path("source").canonicalize().unwrap();
    assert_eq!(it.read("asked"), format!("{}: run --quiet --locked --package xtask --\n", source.display()));
    it.write("programs/cargo", "#!/bin/sh\nexit 101\n");
    assert!(!it.setup(&[("build", "source")]).status.success());
}

/// Without GitHub's files the script prints lines for `eval`.
#[test]
fn a_shell_can_evaluate_what_is_printed() {
    if !can_run() {
        return;
    }
    let it = Runner::new();
    let script = "eval \"$($SETUP --release release --prefix 'pre fix')\" && echo \"$VK_DRIVER_FILES\" && tuff --version";
    let mut shell = Command::new("bash");
    shell.args(["-ec", script]).current_dir(it.folder.path());
    shell.env("SETUP", root().canonicalize().unwrap().join(".github/actions/setup-tuff/setup.sh"));
    for name in ["GITHUB_ENV", "GITHUB_PATH", "GITHUB_OUTPUT"] {
        shell.env_remove(name);
    }
    let out = shell.output().unwrap();
    let expected = it.path("pre fix/share/vulkan/icd.d/tuff_icd.x86_64.json").display().to_string();
    assert_eq!(String::from_utf8_lossy(&out.stdout), format!("{expected}\ntuff 0.1.0\n"), "{out:?}");
}

/// The script's list of inputs is the action's, and docs/ci.md has each.
#[test]
fn inputs_stand_in_the_page() {
    let read = |name: &str| std::fs::read_to_string(root().join(name)).unwrap();
    let action = read(".github/actions/setup-tuff/action.yml");
    let inputs: Vec<&str> = action
        .split("outputs:")
        .next()
        .unwrap()
        .lines()
        .filter_map(|l| l.strip_prefix("  ")?.strip_suffix(':'))
        .filter(|l| !l.starts_with(' '))
        .collect();
    let script = read(".github/actions/setup-tuff/setup.sh");
    assert!(script.contains(&format!("names=\"{}\"", inputs.join(" "))), "{inputs:?}");
    let page = read("docs/ci.md");
    for input in inputs {
        assert!(page.contains(&format!("| `{input}` |")), "docs/ci.md: {input}");
        assert!(action.contains(&format!("TUFF_SETUP_{}: ", input.to_uppercase())), "{input}");
    }
}

/// Against the schemas that check-jsonschema (of PyPI) brings.
#[test]
fn files_for_ci_systems_have_their_forms() {
    let program = std::env::var("TUFF_CHECK_JSONSCHEMA").unwrap_or("check-jsonschema".into());
    if Command::new(&program).arg("--version").output().is_err() {
        return not_run::say("the forms of files for CI systems", "check-jsonschema, of PyPI");
    }
    let workflows = std::fs::read_dir(root().join(".github/workflows")).unwrap().flatten().map(|e| e.path());
    let mut files: BTreeMap<&str, Vec<PathBuf>> = BTreeMap::new();
    files.insert("github-workflows", workflows.chain([root().join("docs/ci/github.yml")]).collect());
    files.insert("github-actions", vec![root().join(".github/actions/setup-tuff/action.yml")]);
    files.insert("gitlab-ci", vec![root().join("docs/ci/gitlab-ci.yml")]);
    for (schema, files) in files {
        let mut command = Command::new(&program);
        let out =
            command.arg("--builtin-schema").arg(format!("vendor.{schema}")).args(&files).output().unwrap();
        assert!(out.status.success(), "{schema}: {}", String::from_utf8_lossy(&out.stdout));
    }
}
