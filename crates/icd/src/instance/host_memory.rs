//! How much memory the process may have: the machine's, or what its control groups (cgroups(7)), which containers have, leave of it.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Where control groups of both versions are mounted.
const GROUPS: &str = "/sys/fs/cgroup";
/// What is assumed where the system tells nothing.
const UNKNOWN: u64 = 4 << 30;
/// Less than it is not reported: a driver that could allocate nothing would be of no use.
const LEAST: u64 = 64 << 20;

/// Bytes of the heap.
pub(crate) fn heap_size() -> u64 {
    static SIZE: OnceLock<u64> = OnceLock::new();
    *SIZE.get_or_init(|| {
        let limits = groups().into_iter().filter_map(|g| g.limit());
        limits.chain([meminfo("MemTotal:").unwrap_or(UNKNOWN)]).min().unwrap_or(UNKNOWN).max(LEAST)
    })
}

/// Bytes that there are to be had now.
pub(crate) fn available() -> u64 {
    let left = groups().into_iter().filter_map(|g| g.left());
    left.chain([meminfo("MemAvailable:").unwrap_or(heap_size())]).min().unwrap_or(0)
}

/// A line of a file of names and numbers.
fn named(path: &Path, name: &str) -> Option<u64> {
    let text = std::fs::read_to_string(path).ok()?;
    let line = text.lines().find(|l| l.starts_with(name))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// A `/proc/meminfo` line in bytes.
fn meminfo(key: &str) -> Option<u64> {
    named(Path::new("/proc/meminfo"), key).map(|kib| kib << 10)
}

/// The folder of a control group that limits memory.
struct Group {
    folder: PathBuf,
    /// Of the second version.
    unified: bool,
}

impl Group {
    fn number(&self, file: [&str; 2]) -> Option<u64> {
        let path = self.folder.join(file[self.unified as usize]);
        std::fs::read_to_string(path).ok()?.trim().parse().ok()
    }
    /// None: it has none (`max`, which is no number).
    fn limit(&self) -> Option<u64> {
        self.number(["memory.limit_in_bytes", "memory.max"])
    }
    /// Pages of files that nobody has used of late count as free: the system takes them back before it refuses anything.
    fn left(&self) -> Option<u64> {
        let used = self.number(["memory.usage_in_bytes", "memory.current"])?;
        let files = ["total_inactive_file ", "inactive_file "][self.unified as usize];
        let files = named(&self.folder.join("memory.stat"), files).unwrap_or(0);
        Some(self.limit()?.saturating_sub(used.saturating_sub(files)))
    }
}

fn groups() -> Vec<Group> {
    let told = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    groups_in(&told, Path::new(GROUPS))
}

/// The groups that `/proc/self/cgroup` names, and those that they lie in, each of which limits them. A container may not see the names
/// that the host has for them; what is mounted is then the container's own.
fn groups_in(told: &str, mounted: &Path) -> Vec<Group> {
    let mut all = vec![];
    for line in told.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else { continue };
        let unified = controllers.is_empty();
        if !unified && !controllers.split(',').any(|c| c == "memory") {
            continue;
        }
        let base = if unified { mounted.to_path_buf() } else { mounted.join("memory") };
        let relative = Path::new(path.trim_start_matches('/'));
        // No folder above the mount.
        let plain = relative.components().all(|c| matches!(c, std::path::Component::Normal(_)));
        for part in relative.ancestors().filter(|p| plain || p.as_os_str().is_empty()) {
            all.push(Group { folder: base.join(part), unified });
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_limit_of_all_groups_holds() {
        let mounted = temporary::folder("tuff-groups").expect("a folder");
        let mounted = mounted.path();
        let write = |file: &str, text: &str| {
            let path = mounted.join(file);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            std::fs::write(path, text).expect("a file");
        };
        // The first version, whose root is without limit.
        write("memory/memory.limit_in_bytes", "9223372036854771712\n");
        write("memory/a/memory.limit_in_bytes", "3000\n");
        write("memory/a/memory.usage_in_bytes", "1000\n");
        write("memory/a/b/memory.limit_in_bytes", "5000\n");
        write("memory/a/b/memory.usage_in_bytes", "4000\n");
        write("memory/a/b/memory.stat", "cache 1\ntotal_inactive_file 500\n");
        let of = |told: &str| {
            let all = groups_in(told, mounted);
            let limit = all.iter().filter_map(Group::limit).min();
            (limit, all.iter().filter_map(Group::left).min())
        };
        assert_eq!(of("5:cpu:/x\n4:memory,hugetlb:/a/b\n"), (Some(3000), Some(1500)));
        assert_eq!(of("4:memory:/names/of/the/host\n"), (Some(9223372036854771712), None));
        // The second one.
        write("c/memory.max", "max\n");
        write("c/d/memory.max", "700\n");
        write("c/d/memory.current", "600\n");
        assert_eq!(of("0::/c/d\n"), (Some(700), Some(100)));
        assert_eq!(of("0::/c\n"), (None, None));
        assert_eq!(of("0::/../../c/d\n0::\nnothing\n"), (None, None));
    }
}
