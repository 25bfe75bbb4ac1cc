//! What the counter interfaces of hardware's drivers do and Tuff's do not, for tests of tools: `TUFF_INTERFACES`.

use crate::Kind;
use std::ffi::OsStr;

/// How the interfaces present themselves; by default as what they are.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Interfaces {
    /// Passes that a query of all counters takes; 0: as the model's counter slots say.
    pub passes: u32,
    pub lock: Lock,
    /// Of counters of performance queries; `None`: each its own.
    pub storage: Option<Storage>,
    /// Shader instrumentation adds a shader's blocks up (`perBasicBlockGranularity` is false).
    pub whole_shaders: bool,
    /// Shader instrumentation adds the stages of a draw up.
    pub merged_stages: bool,
    /// Counters by region come in another order than the framebuffer's (`identityTransformOrder` is false).
    pub rotated_regions: bool,
}

/// The profiling lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Lock {
    /// Any number of devices hold it.
    #[default]
    Free,
    /// One device of all processes holds it.
    Exclusive,
    /// Somebody else always holds it.
    Busy,
}

/// VkPerformanceCounterStorageKHR.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Storage {
    Int32,
    Int64,
    Uint32,
    Uint64,
    Float32,
    Float64,
}

const STORAGES: [(&str, Storage); 6] = [
    ("int32", Storage::Int32),
    ("int64", Storage::Int64),
    ("uint32", Storage::Uint32),
    ("uint64", Storage::Uint64),
    ("float32", Storage::Float32),
    ("float64", Storage::Float64),
];
const LOCKS: [(&str, Lock); 3] = [("free", Lock::Free), ("exclusive", Lock::Exclusive), ("busy", Lock::Busy)];
const MOST_PASSES: u32 = 64;

/// `key=value` with commas between them.
pub struct Parts;

/// What each key may say, and what that does: rows of a page's table.
pub const KEYS: [[&str; 3]; 7] = [
    [
        "`passes`",
        "1 to 64",
        "number of passes that a query of all counters takes; each pass has an equal share of the counters",
    ],
    [
        "`lock`",
        "`exclusive`",
        "only one device in all processes holds the profiling lock; others wait, and get VK_TIMEOUT",
    ],
    ["`lock`", "`busy`", "no device ever gets the lock"],
    [
        "`storage`",
        "`int32`, `int64`, `uint32`, `uint64`, `float32`, `float64`",
        "storage type of all counters; values that do not fit are clamped to the greatest value",
    ],
    [
        "`blocks`",
        "`shader`",
        "shader instrumentation adds up the blocks of a shader (`perBasicBlockGranularity` is false)",
    ],
    ["`stages`", "`merged`", "shader instrumentation adds up the stages of a draw, block by block"],
    [
        "`regions`",
        "`rotated`",
        "counters by region are stored as if the framebuffer were turned upside down (`identityTransformOrder` is false)",
    ],
];

fn one_of<T: Copy>(all: &[(&str, T)], word: &str) -> Option<T> {
    all.iter().find(|(w, _)| *w == word).map(|w| w.1)
}

impl Kind for Parts {
    type Value = Interfaces;
    fn read(&self, text: &OsStr) -> Option<Interfaces> {
        let mut i = Interfaces::default();
        for part in text.to_str()?.split(',') {
            let (key, value) = part.split_once('=')?;
            match key {
                "passes" => i.passes = value.parse().ok().filter(|n| (1..=MOST_PASSES).contains(n))?,
                "lock" => i.lock = one_of(&LOCKS, value)?,
                "storage" => i.storage = Some(one_of(&STORAGES, value)?),
                "blocks" => i.whole_shaders = one_of(&[("block", false), ("shader", true)], value)?,
                "stages" => i.merged_stages = one_of(&[("apart", false), ("merged", true)], value)?,
                "regions" => i.rotated_regions = one_of(&[("framebuffer", false), ("rotated", true)], value)?,
                _ => return None,
            }
        }
        Some(i)
    }
    fn allowed(&self) -> String {
        let words = |all: Vec<&str>| all.join("|");
        format!(
            "passes=1..{MOST_PASSES}, lock={}, storage={}, blocks=block|shader, stages=apart|merged, regions=framebuffer|rotated, \
             with commas between them",
            words(LOCKS.iter().map(|l| l.0).collect()),
            words(STORAGES.iter().map(|s| s.0).collect())
        )
    }
    fn form(&self) -> String {
        "passes=4,lock=exclusive,…".into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each key and value of the table, and no other key.
    #[test]
    fn the_table_has_what_is_read() {
        for [key, values, _] in KEYS {
            let key = key.trim_matches('`');
            for value in values.split(", ").map(|v| v.trim_matches('`').split(' ').next().unwrap_or_default())
            {
                let text = format!("{key}={value}");
                assert!(Parts.read(OsStr::new(&text)).is_some_and(|i| i != Interfaces::default()), "{text}");
            }
        }
        let keys: std::collections::BTreeSet<_> = KEYS.iter().map(|k| k[0].trim_matches('`')).collect();
        let allowed = Parts.allowed();
        assert_eq!(allowed.matches('=').count(), keys.len(), "{allowed}");
        assert!(keys.iter().all(|k| allowed.contains(&format!("{k}="))), "{allowed}");
    }

    #[test]
    fn parts_are_read_and_others_refused() {
        let read = |text: &str| Parts.read(OsStr::new(text));
        let all = "passes=4,lock=exclusive,storage=float32,blocks=shader,stages=merged,regions=rotated";
        let want = Interfaces {
            passes: 4,
            lock: Lock::Exclusive,
            storage: Some(Storage::Float32),
            whole_shaders: true,
            merged_stages: true,
            rotated_regions: true,
        };
        assert_eq!(read(all), Some(want));
        assert_eq!(
            read("lock=free,blocks=block,stages=apart,regions=framebuffer"),
            Some(Interfaces::default())
        );
        for wrong in [
            "passes",
            "passes=0",
            "passes=65",
            "lock=mine",
            "storage=float16",
            "rows=2",
            "lock=busy,",
            " lock=busy",
        ] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
