//! The disc that the emulated machine boots from: a kernel, and an initramfs with all that the jobs need.

use super::jobs::Job;
use crate::cargo::{call, root};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

pub const ISOLINUX: &str = "/usr/lib/ISOLINUX/isolinux.bin";
pub const LDLINUX: &str = "/usr/lib/syslinux/modules/bios/ldlinux.c32";

/// Where Debian has put its busybox.
fn busybox() -> Option<&'static Path> {
    ["/usr/bin/busybox", "/bin/busybox"].into_iter().map(Path::new).find(|p| p.exists())
}

/// busybox-static's, which needs no library.
pub fn has_busybox() -> bool {
    busybox().is_some_and(|p| libraries(p).is_empty())
}

/// Shared objects that a program loads, by the dynamic loader's own word.
fn libraries(program: &Path) -> Vec<PathBuf> {
    let output = Command::new("ldd").arg(program).output();
    let text = output.map(|o| String::from_utf8_lossy(&o.stdout).into_owned()).unwrap_or_default();
    text.split_whitespace().filter(|w| w.starts_with('/')).map(PathBuf::from).collect()
}

/// A cpio archive ("newc") being written: an initramfs.
#[derive(Default)]
struct Archive {
    bytes: Vec<u8>,
    folders: BTreeSet<PathBuf>,
    count: u32,
}

impl Archive {
    fn entry(&mut self, name: &str, mode: u32, data: &[u8]) {
        self.count += 1;
        let name = name.trim_start_matches('/');
        let links = if mode & 0o40000 != 0 { 2 } else { 1 };
        let fields =
            [self.count, mode, 0, 0, links, 0, data.len() as u32, 0, 0, 0, 0, name.len() as u32 + 1, 0];
        self.bytes.extend(b"070701");
        fields.iter().for_each(|f| self.bytes.extend(format!("{f:08X}").bytes()));
        self.bytes.extend(name.bytes());
        self.bytes.push(0);
        self.pad();
        self.bytes.extend(data);
        self.pad();
    }
    fn pad(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }
    fn folder(&mut self, path: &Path) {
        if path == Path::new("/") || !self.folders.insert(path.into()) {
            return;
        }
        if let Some(up) = path.parent() {
            self.folder(up);
        }
        self.entry(&path.to_string_lossy(), 0o40755, &[]);
    }
    fn file(&mut self, path: &Path, data: &[u8]) {
        if let Some(up) = path.parent() {
            self.folder(up);
        }
        self.entry(&path.to_string_lossy(), 0o100755, data);
    }
    fn copy(&mut self, from: &Path, to: &Path) -> Result<(), String> {
        self.file(to, &std::fs::read(from).map_err(|e| format!("{}: {e}", from.display()))?);
        Ok(())
    }
    /// A folder's files, at their own path.
    fn tree(&mut self, folder: &Path) -> Result<(), String> {
        for e in std::fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?.flatten() {
            if e.path().is_file() {
                self.copy(&e.path(), &e.path())?;
            }
        }
        Ok(())
    }
    fn finish(mut self) -> Vec<u8> {
        self.entry("TRAILER!!!", 0, &[]);
        self.bytes
    }
}

/// The first process: runs the jobs one after the other, on the serial line.
fn script(jobs: &[Job]) -> String {
    let mut text = String::from(
        "#!/bin/busybox sh\n\
         /bin/busybox mount -t proc proc /proc\n\
         /bin/busybox mount -t devtmpfs dev /dev\n\
         /bin/busybox mount -t tmpfs tmp /scratch\n\
         /bin/busybox grep -m1 ^flags /proc/cpuinfo\n\
         export TMPDIR=/scratch RUST_BACKTRACE=0 TUFF_THREADS=1 TUFF_WATCHDOG_MS=0 TUFF_LOG=info TUFF_NO_LOADER=1\n\
         export TUFF_ICD=/jobs/icd.json VK_DRIVER_FILES=/jobs/icd.json\n\
         run() {\n\
         name=$1; shift\necho \"== run $name\"\n\"$@\" 2>&1 </dev/null\nr=$?\n\
         [ $r -lt 128 ] || /bin/busybox dmesg | /bin/busybox tail -n 2\necho \"== end $name $r\"\n}\n",
    );
    for job in jobs {
        text += &format!("run {} /bin/busybox env {}\n", job.name, job.words.join(" "));
    }
    // The line takes its time to say what it was given.
    text + "echo == all\n/bin/busybox sleep 2\n/bin/busybox poweroff -f\n"
}

/// Writes the disc's image, and says where.
pub fn make(folder: &Path, kernel: &Path, jobs: &[Job]) -> Result<PathBuf, String> {
    let mut archive = Archive::default();
    for folder in ["/proc", "/dev", "/scratch", "/sys"] {
        archive.folder(Path::new(folder));
    }
    archive.copy(busybox().ok_or("no busybox")?, Path::new("/bin/busybox"))?;
    archive.file(Path::new("/init"), script(jobs).as_bytes());
    // What tests read, by the checkout's own path.
    archive.folder(&root().join("crates/wave"));
    archive.tree(&root().join("benches/kernels"))?;
    archive.tree(&root().join("crates/conformance/pictures"))?;
    let icd = crate::cargo::icd_file(Path::new("/jobs/libvulkan_tuff.so"));
    archive.file(Path::new("/jobs/icd.json"), icd.as_bytes());
    let programs: BTreeSet<&PathBuf> = jobs.iter().flat_map(|j| &j.files).collect();
    let mut shared = BTreeSet::new();
    let bare = folder.join("stripped");
    for program in programs {
        shared.extend(libraries(program));
        // Less to read for a machine that reads slowly.
        let mut strip = Command::new("strip");
        strip.arg("-o").arg(&bare).arg(program);
        let stripped = strip.status().is_ok_and(|s| s.success());
        let name = program.file_name().unwrap_or_default();
        archive.copy(if stripped { &bare } else { program }, &Path::new("/jobs").join(name))?;
    }
    for library in shared {
        archive.copy(&library, &library)?;
    }
    let iso = folder.join("disc");
    let _ = std::fs::remove_dir_all(&iso);
    let at = |e: std::io::Error| format!("{}: {e}", iso.display());
    std::fs::create_dir_all(iso.join("isolinux")).map_err(at)?;
    for (from, to) in [
        (kernel, "vmlinuz"),
        (Path::new(ISOLINUX), "isolinux/isolinux.bin"),
        (Path::new(LDLINUX), "isolinux/ldlinux.c32"),
    ] {
        std::fs::copy(from, iso.join(to)).map_err(at)?;
    }
    std::fs::write(iso.join("initrd"), archive.finish()).map_err(at)?;
    // What a machine with one CPU, no disk and no enemies can do without. Bochs 2.7 tells a wrong size of compacted
    // XSAVE areas, and without a right one the kernel goes without AVX.
    let options = "console=ttyS0,115200 loglevel=4 nosmp mitigations=off tsc=reliable tsc_early_khz=100000 clearcpuid=xsavec,xsaves audit=0 \
        apparmor=0 ipv6.disable=1 nowatchdog rcupdate.rcu_cpu_stall_suppress=1 panic=1";
    let config = format!(
        "default tests\nprompt 0\ntimeout 0\nlabel tests\n  kernel /vmlinuz\n  initrd /initrd\n  append {options}\n"
    );
    std::fs::write(iso.join("isolinux/isolinux.cfg"), config).map_err(at)?;
    let disc = folder.join("disc.iso");
    let mut burn = Command::new("xorriso");
    burn.args(["-as", "mkisofs", "-quiet", "-o"]).arg(&disc);
    burn.args(["-b", "isolinux/isolinux.bin", "-c", "isolinux/boot.cat", "-no-emul-boot"]);
    burn.args(["-boot-load-size", "4", "-boot-info-table"]).arg(&iso);
    call(burn)?;
    Ok(disc)
}
