//! What somebody meets who installs a package: in a bare Debian 12, made in a chroot, with vulkan-tools and an X server.

use super::{Packages, VERSION, guides, output, pack};
use crate::cargo::{call, root};
use crate::docs::blocks::How;
use crate::fresh::chroot::Chroot;
use crate::fresh::host::{Host, Mirrors};
use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// What is there before ours comes. xvfb stands for a screen.
const PACKAGES: &str = "vulkan-tools,libvulkan1,xvfb,ca-certificates";

/// Programs of the installed package, found by nothing but the standard folders; a line each that they must print.
const INSTALLED: [(&str, &str); 9] = [
    ("dpkg --verify tuff && echo verified", "verified"),
    ("ls /usr/share/vulkan/icd.d | wc -l", "1"),
    ("vulkaninfo --summary", "deviceName         = Tuff"),
    ("with_screen vkcube --c 30", "Selected GPU 0: Tuff"),
    ("tuff --version", VERSION),
    ("tuff info", "Tuff"),
    ("with_screen tuff run --counters a.json --check -- vkcube --c 5 && ls a.json", "a.json"),
    ("with_screen tuff run --workloads a.csv -- vkcube --c 5 && head -1 a.csv", "MaliFragWarp"),
    ("zcat /usr/share/man/man1/tuff-run.1.gz", ".TH tuff-run 1"),
];

/// Before each: an X server for one program, and a home that is nobody's.
const PRELUDE: &str = r#"set -eu; mkdir -p /tmp/home; cd /tmp/home; export HOME=/tmp/home XDG_RUNTIME_DIR=/tmp/home
with_screen() {
    Xvfb :9 -screen 0 640x480x24 -nolisten tcp >/tmp/xvfb.log 2>&1 & x=$!
    while [ ! -S /tmp/.X11-unix/X9 ]; do sleep 0.1; done
    if DISPLAY=:9 "$@"; then kill $x; wait $x || true; else kill $x; return 1; fi
}
"#;

/// Installs, runs, removes; then unpacks the archive. The machine is removed in any case.
pub fn run(packages: &Packages, mirror: Option<&str>) -> Result<(), String> {
    // SAFETY: geteuid has no preconditions.
    if unsafe { libc::geteuid() } != 0 {
        return Err("--try makes a chroot and mounts into it: run it as root".into());
    }
    crate::needs::provide("a bare Debian", &crate::fresh::NEEDS)?;
    let host = Host::read()?;
    let mirrors = match mirror {
        Some(main) => Mirrors { main: main.into(), security: None },
        None => Mirrors::of_host()?,
    };
    let chroot = Chroot::temporary("tuff-try-")?;
    let tried = trial(&chroot, &host, &mirrors, packages);
    let removed = chroot.remove();
    tried.and(removed)
}

fn trial(chroot: &Chroot, host: &Host, mirrors: &Mirrors, packages: &Packages) -> Result<(), String> {
    chroot.install(&mirrors.main, PACKAGES)?;
    host.give(chroot, mirrors)?;
    for file in packages.files() {
        let name = file.file_name().unwrap_or_default();
        std::fs::copy(file, chroot.path.join("opt").join(name))
            .map_err(|e| format!("{}: {e}", file.display()))?;
    }
    let before = files(&chroot.path)?;
    let deb = packages.deb.file_name().unwrap_or_default().display().to_string();
    // What programs say on stderr is among what is asked of them.
    let inside = |script: &str| chroot.bare(host, &["sh", "-c", &format!("exec 2>&1; {PRELUDE}{script}")]);
    // What the package itself brings, and what removing it leaves.
    call(chroot.bare(host, &["dpkg", "--install", &format!("/opt/{deb}")]))?;
    let with = files(&chroot.path)?;
    println!("xtask: {} files and folders came with the package", with.difference(&before).count());
    for (script, wanted) in INSTALLED {
        ask(inside(script), script, wanted)?;
    }
    call(chroot.bare(host, &["dpkg", "--purge", "tuff"]))?;
    let after = files(&chroot.path)?;
    // For the guides, below: not the package's.
    let left: Vec<_> = after.symmetric_difference(&before).collect();
    if !left.is_empty() {
        return Err(format!("dpkg --purge tuff leaves a difference: {left:?}"));
    }
    println!("xtask: after dpkg --purge the lists of files are equal ({} entries)", after.len());
    let name = pack::folder_name();
    let unpacked = format!("cd /opt && tar -xzf {name}.tar.gz && {name}/bin/tuff info");
    ask(inside(&unpacked), "the tar.gz: tuff info", "Tuff")?;
    let manifest = format!("/opt/{name}/share/vulkan/icd.d/tuff_icd.{}.json", super::machine());
    let variable = format!("VK_DRIVER_FILES={manifest} VK_ICD_FILENAMES={manifest} vulkaninfo --summary");
    ask(inside(&variable), "the tar.gz: vulkaninfo --summary", "deviceName         = Tuff")?;
    wrappers(chroot, host)?;
    guides(chroot, host, packages)?;
    pages(chroot, host)
}

/// The packages of other languages, from a folder as an index: nothing is fetched for them.
fn wrappers(chroot: &Chroot, host: &Host) -> Result<(), String> {
    let install = "export DEBIAN_FRONTEND=noninteractive; apt-get update -q && \
                   apt-get install -q -y --no-install-recommends python3-venv npm";
    call(chroot.bare(host, &["sh", "-c", install]))?;
    let all = [
        (
            "Python: pip install --no-index --find-links /opt tuff-gpu",
            "python3 -m venv /tmp/venv && /tmp/venv/bin/pip install -q --no-index --find-links /opt tuff-gpu && \
             /tmp/venv/bin/tuff info && with_screen /tmp/venv/bin/python -c '\
             import tuff; run = tuff.run([\"vkcube\", \"--c\", \"3\"], capture_output=True); \
             print(run.table(\"MaliGPUActiveCy\")); print(\"bytes of the page:\", run.report(\"a.html\").stat().st_size)'",
            "bytes of the page:",
        ),
        (
            "Node.js: npm install --offline /opt/tuff-gpu-*.tgz",
            "npm install --offline --no-audit --no-fund /opt/tuff-gpu-*.tgz && npx --offline tuff --version && \
             VK_DRIVER_FILES=$(node -p 'require(\"tuff-gpu\").icd') vulkaninfo --summary",
            "deviceName         = Tuff",
        ),
    ];
    for (name, script, wanted) in all {
        ask(chroot.bare(host, &["sh", "-c", &format!("exec 2>&1; {PRELUDE}{script}")]), name, wanted)?;
    }
    Ok(())
}

/// The files of docs/ci, each from a system without the package.
fn guides(chroot: &Chroot, host: &Host, packages: &Packages) -> Result<(), String> {
    let docs = root().join("docs/ci");
    let text = |name: &str| std::fs::read_to_string(docs.join(name)).map_err(|e| format!("{name}: {e}"));
    let setup = "/opt/setup.sh";
    let copied =
        std::fs::copy(root().join(".github/actions/setup-tuff/setup.sh"), chroot.path.join(&setup[1..]));
    copied.map_err(|e| format!("setup.sh: {e}"))?;
    let hub = text("github.yml")?;
    let deb = packages.deb.file_name().unwrap_or_default().display().to_string();
    let with_deb = hub.replace("release: packages", &format!("package: {deb}"));
    if with_deb == hub {
        return Err("github.yml no longer has `release: packages`".into());
    }
    let all = [
        ("GitLab's file", guides::gitlab(&text("gitlab-ci.yml")?)?),
        ("GitHub's file, and our action with a release", guides::github(&hub, setup)?),
        ("the same with the .deb", guides::github(&with_deb, setup)?),
        ("the Dockerfile", guides::dockerfile(&text("Dockerfile")?)?),
    ];
    for (name, script) in all {
        // In a job's folder: the package, and no baseline yet.
        let start = Instant::now();
        let script = format!(
            "rm -rf /tmp/job && mkdir /tmp/job && cd /tmp/job && cp /opt/tuff*.deb . && ln -s /opt packages && bash -c '{}'",
            script.replace('\'', "'\\''")
        );
        call(chroot.bare(host, &["sh", "-c", &script])).map_err(|_| format!("{name}: failed"))?;
        println!("xtask: {:5.1} s  {name}", start.elapsed().as_secs_f64());
        let left = "dpkg-query --show tuff >/dev/null 2>&1 && dpkg --purge tuff; rm -rf /opt/tuff/";
        call(chroot.bare(host, &["sh", "-c", left]))?;
    }
    Ok(())
}

/// What the pages say of an installed package.
fn pages(chroot: &Chroot, host: &Host) -> Result<(), String> {
    let mut script = "export DEBIAN_FRONTEND=noninteractive\napt-get update -q\ncd /opt\n".to_string();
    let mut count = 0;
    for (name, blocks) in crate::docs::pages()? {
        for line in blocks.iter().flat_map(|b| &b.lines).filter(|l| l.how == How::Installed) {
            script += &format!("echo '{name}:{}' >&2\n{}\n", line.number, line.text);
            count += 1;
        }
    }
    let program = chroot.path.join("usr/local/bin/PROGRAM");
    std::fs::write(&program, "#!/bin/sh\nexec xvfb-run -a vkcube --c 3\n")
        .and_then(|()| std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)))
        .map_err(|e| format!("{}: {e}", program.display()))?;
    call(chroot.bare(host, &["bash", "-euo", "pipefail", "-c", &script]))?;
    println!("xtask: {count} commands of the pages were run where the package is installed");
    Ok(())
}

/// Runs a script; its output must have the words.
fn ask(mut command: Command, name: &str, wanted: &str) -> Result<(), String> {
    let start = Instant::now();
    let said = output(&mut command).map_err(|e| format!("{name}: {e}"))?;
    let line = said
        .lines()
        .find(|l| l.contains(wanted))
        .ok_or_else(|| format!("{name}: no {wanted:?} in\n{said}"))?;
    let line: String = line.trim().chars().take(90).collect();
    println!("xtask: {:5.1} s  {name}\n                  {line}", start.elapsed().as_secs_f64());
    Ok(())
}

/// All entries of a system but what programs keep for a while, and where apt and dpkg write what they did.
fn files(root: &Path) -> Result<BTreeSet<String>, String> {
    const LEFT_OUT: [&str; 5] = ["proc", "sys", "dev", "tmp", "run"];
    let mut found = BTreeSet::new();
    let mut open = vec![root.to_path_buf()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))?.flatten() {
            let path = entry.path();
            let Ok(name) = path.strip_prefix(root) else { continue };
            let name = name.to_string_lossy().into_owned();
            // dpkg's own copies of its list, made the first time that it is used.
            if LEFT_OUT.contains(&name.as_str())
                || name.starts_with("var/lib/dpkg/") && name.ends_with("-old")
            {
                continue;
            }
            if entry.file_type().is_ok_and(|t| t.is_dir()) {
                open.push(path);
            }
            found.insert(name);
        }
    }
    Ok(found)
}
