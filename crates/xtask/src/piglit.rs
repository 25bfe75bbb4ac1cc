//! `cargo xtask piglit`: OpenGL through Mesa's zink on Tuff and lavapipe, by a fixed sample of piglit's tests. It fails if a test
//! crashes on Tuff, or passes on lavapipe and not on Tuff.

use crate::cargo::{call, on_driver, own_driver, target_folder};
use crate::needs::{LAVAPIPE, Need, has_program, has_zink, lavapipe, provide_whole};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

#[derive(clap::Args)]
pub struct Args {
    /// Piglit's test lists to use.
    #[arg(long, value_delimiter = ',', default_value = "quick_gl,quick_shader")]
    profiles: Vec<String>,
    /// Number of tests from each list.
    #[arg(long, default_value_t = 2000)]
    tests: usize,
    /// Number of tests to run at once.
    #[arg(long, default_value_t = 2)]
    jobs: u32,
    /// Tuff's ICD file; default: build the driver.
    #[arg(long)]
    icd: Option<PathBuf>,
    /// Lavapipe's ICD file; default: the system's.
    #[arg(long)]
    lavapipe: Option<PathBuf>,
    /// Another Mesa's files, where the system's has /usr: a folder with usr/lib/x86_64-linux-gnu/dri.
    #[arg(long)]
    mesa: Option<PathBuf>,
}

const NEEDS: [Need; 7] = [
    LAVAPIPE,
    Need { what: "python3", package: "python3", here: has_program },
    Need {
        what: "piglit with its tests",
        package: "piglit",
        here: |_| Path::new(TESTS).join("quick_gl.xml.gz").exists(),
    },
    // Without it shaders' tests skip themselves.
    Need { what: "wflinfo", package: "waffle-utils", here: has_program },
    Need { what: "Xvfb", package: "xvfb", here: has_program },
    Need { what: "xauth", package: "xauth", here: has_program },
    Need { what: "Mesa's zink", package: "libgl1-mesa-dri", here: |_| has_zink() },
];

/// The sample: all names of a profile, shuffled by Python's generator with this seed; the first of them.
const SAMPLE: &str = "import gzip, random, sys, xml.etree.ElementTree as E
names = [e.get('name') for _, e in E.iterparse(gzip.open(sys.argv[1])) if e.tag == 'Test']
random.seed(1124)
random.shuffle(names)
print('\\n'.join(sorted(names[:int(sys.argv[2])])))";
const TESTS: &str = "/usr/lib/x86_64-linux-gnu/piglit/tests";

/// Results by test.
type Results = BTreeMap<String, String>;

pub fn run(args: &Args) -> Result<(), String> {
    provide_whole("piglit's tests", &NEEDS)?;
    let folder = target_folder().join("piglit");
    let icd = match &args.icd {
        Some(icd) => icd.clone(),
        None => own_driver(&folder, &[])?,
    };
    let peer = args.lavapipe.clone().or_else(lavapipe).ok_or("lavapipe has no ICD file")?;
    std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut worse = 0;
    for profile in &args.profiles {
        let list = folder.join(format!("{profile}.list"));
        let tests = Path::new(TESTS).join(format!("{profile}.xml.gz"));
        let output =
            Command::new("python3").args(["-c", SAMPLE]).arg(&tests).arg(args.tests.to_string()).output();
        let output = output.map_err(|e| format!("python3: {e}"))?;
        if !output.status.success() {
            return Err(format!("{}: {}", tests.display(), String::from_utf8_lossy(&output.stderr)));
        }
        std::fs::write(&list, &output.stdout).map_err(|e| format!("{}: {e}", list.display()))?;
        let of = |driver: &str, icd: &Path| {
            let at = folder.join(format!("{profile}-{driver}"));
            let mut piglit = piglit(args, profile, &list, icd);
            piglit.arg(&at);
            call(piglit)?;
            let file = at.join("results.json");
            let text = std::fs::read_to_string(&file).map_err(|e| format!("{}: {e}", file.display()))?;
            let results = results(&text).map_err(|e| format!("{}: {e}", file.display()))?;
            println!("{profile} on {driver}: {}", counts(&results));
            if is_skipped(&results) {
                return Err(format!("{profile} on {driver}: nearly all is skipped, which is no result"));
            }
            Ok::<_, String>(results)
        };
        let (tuff, others) = (of("tuff", &icd)?, of("lavapipe", &peer)?);
        let list = regressions(&tuff, &others);
        list.iter().for_each(|line| println!("{line}"));
        worse += list.len();
    }
    if worse > 0 { Err(format!("{worse} tests crash on Tuff or pass on lavapipe alone")) } else { Ok(()) }
}

/// piglit on a screen of its own, which stays when the last of its programs goes.
fn piglit(args: &Args, profile: &str, list: &Path, icd: &Path) -> Command {
    let mut command = Command::new("xvfb-run");
    command.args([
        "-a",
        "-s",
        "-noreset -maxclients 512 -screen 0 1280x1024x24",
        "piglit",
        "run",
        "--overwrite",
    ]);
    command.args(["--platform", "glx", "--timeout", "240", "--jobs", &args.jobs.to_string(), "--test-list"]);
    command.arg(list).arg(profile);
    on_driver(&mut command, icd);
    command.env("PIGLIT_COMPRESSION", "none").env("LIBGL_ALWAYS_SOFTWARE", "1").env("LIBGL_KOPPER_DRI2", "1");
    command.env("MESA_LOADER_DRIVER_OVERRIDE", "zink").env("GALLIUM_DRIVER", "zink");
    if let Some(mesa) = &args.mesa {
        let libraries = mesa.join("usr/lib/x86_64-linux-gnu");
        command.env("LIBGL_DRIVERS_PATH", libraries.join("dri")).env("LD_LIBRARY_PATH", libraries);
        let vendor = mesa.join("usr/share/glvnd/egl_vendor.d/50_mesa.json");
        command.env("__EGL_VENDOR_LIBRARY_FILENAMES", vendor);
    }
    command
}

/// What piglit's results file says.
fn results(text: &str) -> Result<Results, String> {
    let json: serde_json::Value = serde_json::from_str(text).map_err(|e| e.to_string())?;
    let tests = json["tests"].as_object().ok_or("no tests")?;
    let pairs = tests.iter().map(|(name, t)| Some((name.clone(), t["result"].as_str()?.to_string())));
    pairs.collect::<Option<_>>().ok_or("a test without a result".into())
}

fn counts(results: &Results) -> String {
    let mut counts = BTreeMap::<&str, usize>::new();
    results.values().for_each(|r| *counts.entry(r).or_default() += 1);
    counts.iter().map(|(result, n)| format!("{n} {result}")).collect::<Vec<_>>().join(", ")
}

/// Whether so much was skipped that piglit itself must lack something.
fn is_skipped(results: &Results) -> bool {
    2 * results.values().filter(|r| *r == "skip").count() > results.len()
}

/// Tests that crash on Tuff, never end there, or pass on lavapipe alone.
fn regressions(tuff: &Results, lavapipe: &Results) -> Vec<String> {
    let bad = |name: &String, result: &str| match lavapipe.get(name).map(String::as_str) {
        Some("pass") => result != "pass",
        _ => ["crash", "timeout", "incomplete"].contains(&result),
    };
    let worse = tuff.iter().filter(|(name, result)| bad(name, result));
    worse.map(|(name, result)| format!("{result}: {name}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_worse_than_lavapipe() {
        let of = |all: &[(&str, &str)]| {
            let tests: Vec<_> =
                all.iter().map(|(n, r)| format!("\"{n}\": {{\"result\": \"{r}\"}}")).collect();
            results(&format!("{{\"tests\": {{{}}}}}", tests.join(","))).unwrap()
        };
        let tuff = of(&[("a", "pass"), ("b", "fail"), ("c", "fail"), ("d", "crash"), ("e", "skip")]);
        let lavapipe = of(&[("a", "fail"), ("b", "pass"), ("c", "fail"), ("d", "crash"), ("e", "pass")]);
        assert_eq!(regressions(&tuff, &lavapipe), ["fail: b", "crash: d", "skip: e"]);
        assert_eq!(counts(&tuff), "1 crash, 2 fail, 1 pass, 1 skip");
        assert!(!is_skipped(&tuff) && is_skipped(&of(&[("a", "skip"), ("b", "skip"), ("c", "pass")])));
        assert!(results("{}").is_err());
    }
}
