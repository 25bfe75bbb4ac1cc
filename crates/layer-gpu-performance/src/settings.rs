//! What is to be measured and where it goes: VK_EXT_layer_settings, and the environment, which comes first because it
//! is who runs the program that sets it.

use crate::frames::Choice;
use crate::{NAME, chain};
use ash::vk;
use std::ffi::{CStr, OsString, c_char, c_void};
use std::path::PathBuf;

/// Prefix of the environment's variables: a setting's name in capitals follows.
const PREFIX: &str = "TUFF_PERFORMANCE_";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Time,
    /// And the driver's counters.
    Counters,
}

/// Where counters come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// The channel where there is one, else queries.
    Any,
    Channel,
    /// VK_KHR_performance_query.
    Query,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Table {
    Off,
    Stderr,
    File(PathBuf),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Settings {
    pub mode: Mode,
    pub source: Source,
    /// Workloads run one at a time.
    pub serialise: bool,
    pub frames: Choice,
    pub csv: Option<PathBuf>,
    pub json: Option<PathBuf>,
    pub table: Table,
    /// Names of the counters that are written, as their source has them; none: all.
    pub counters: Vec<String>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            mode: Mode::Time,
            source: Source::Any,
            serialise: true,
            frames: Choice::default(),
            csv: None,
            json: None,
            table: Table::Stderr,
            counters: vec![],
        }
    }
}

const NAMES: [&str; 8] = ["mode", "source", "serialise", "frames", "csv", "json", "table", "counters"];

impl Settings {
    /// # Safety
    /// `p_next` is VkInstanceCreateInfo's chain.
    pub unsafe fn read(p_next: *const c_void) -> Settings {
        // SAFETY: the caller keeps what is asked for above.
        unsafe {
            let mut s = Settings::default();
            for (name, value) in from_chain(p_next) {
                s.take(&name, &value);
            }
            s.environment(|name| std::env::var_os(name), files::is_secure());
            s
        }
    }

    /// Takes what the environment says. `secure`: the program has rights that the user who started it has not (set-uid and its like,
    /// getauxval(3)), and writes no files for them.
    fn environment(&mut self, get: impl Fn(&str) -> Option<OsString>, secure: bool) {
        for name in NAMES {
            let variable = format!("{PREFIX}{}", name.to_uppercase());
            let Some(value) = get(&variable) else { continue };
            let value = value.to_string_lossy();
            let is_file = match name {
                "csv" | "json" => true,
                "table" => !["off", "", "stderr"].contains(&value.trim()),
                _ => false,
            };
            if secure && is_file {
                crate::say(&format!(
                    "{variable} is ignored: the program has privileges that the user who set it may lack"
                ));
                continue;
            }
            self.take(name, &value);
        }
    }

    /// Sets one; what is wrong with it is said, and it stays as it was.
    fn take(&mut self, name: &str, value: &str) {
        if let Err(why) = self.set(name, value) {
            crate::say(&format!("setting '{name}': {why}"));
        }
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        let value = value.trim();
        let own = || value.replace("%p", &std::process::id().to_string());
        let path = || (!value.is_empty()).then(|| PathBuf::from(own()));
        match name {
            "mode" => {
                self.mode = match value {
                    "time" => Mode::Time,
                    "counters" => Mode::Counters,
                    _ => return Err(format!("'{value}' is neither time nor counters")),
                }
            }
            "source" => {
                self.source = match value {
                    "any" => Source::Any,
                    "channel" => Source::Channel,
                    "query" => Source::Query,
                    _ => return Err(format!("'{value}' is neither any, channel nor query")),
                }
            }
            "serialise" => {
                self.serialise = match value {
                    "1" | "true" | "on" => true,
                    "0" | "false" | "off" => false,
                    _ => return Err(format!("'{value}' is neither 1 nor 0")),
                }
            }
            "frames" => self.frames = Choice::parse(value)?,
            "csv" => self.csv = path(),
            "json" => self.json = path(),
            "table" => {
                self.table = match value {
                    "off" | "" => Table::Off,
                    "stderr" => Table::Stderr,
                    path => Table::File(path.into()),
                }
            }
            "counters" => {
                let names = value.split(',').map(|n| n.trim().to_string());
                self.counters = names.filter(|n| !n.is_empty() && n != "all").collect();
            }
            _ => return Err(format!("there is none of that name; there are {}", NAMES.join(", "))),
        }
        Ok(())
    }
}

/// The program's settings for this layer, as text: several values of one setting are joined by commas.
unsafe fn from_chain(p_next: *const c_void) -> Vec<(String, String)> {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let mut all = vec![];
        let infos =
            chain::iter(p_next).filter(|s| (**s).s_type == vk::StructureType::LAYER_SETTINGS_CREATE_INFO_EXT);
        for info in infos {
            let info = &*info.cast::<vk::LayerSettingsCreateInfoEXT>();
            for s in chain::slice(info.p_settings, info.setting_count) {
                let text = |p: *const c_char| if p.is_null() { c"" } else { CStr::from_ptr(p) };
                if text(s.p_layer_name) != NAME || s.p_values.is_null() {
                    continue;
                }
                let values: Vec<String> = (0..s.value_count as usize).map(|i| value(s, i)).collect();
                all.push((text(s.p_setting_name).to_string_lossy().into_owned(), values.join(",")));
            }
        }
        all
    }
}

unsafe fn value(s: &vk::LayerSettingEXT, i: usize) -> String {
    // SAFETY: valid usage: the structure's pointers and its chain lead to what they are said to.
    unsafe {
        use vk::LayerSettingTypeEXT as Type;
        let p = s.p_values;
        match s.ty {
            Type::BOOL32 | Type::UINT32 => p.cast::<u32>().add(i).read().to_string(),
            Type::INT32 => p.cast::<i32>().add(i).read().to_string(),
            Type::INT64 => p.cast::<i64>().add(i).read().to_string(),
            Type::UINT64 => p.cast::<u64>().add(i).read().to_string(),
            Type::FLOAT32 => p.cast::<f32>().add(i).read().to_string(),
            Type::FLOAT64 => p.cast::<f64>().add(i).read().to_string(),
            Type::STRING => {
                let text = p.cast::<*const c_char>().add(i).read();
                if text.is_null() {
                    String::new()
                } else {
                    CStr::from_ptr(text).to_string_lossy().into_owned()
                }
            }
            _ => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_programs_settings_are_read_and_others_layers_are_not() {
        let off = [vk::FALSE];
        let frames = [c"1".as_ptr(), c"4-6".as_ptr()];
        let setting = |name, setting, ty, count, values: *const c_void| {
            let mut s = vk::LayerSettingEXT::default().layer_name(name).setting_name(setting).ty(ty);
            (s.value_count, s.p_values) = (count, values);
            s
        };
        let list = [
            setting(NAME, c"serialise", vk::LayerSettingTypeEXT::BOOL32, 1, off.as_ptr().cast()),
            setting(NAME, c"frames", vk::LayerSettingTypeEXT::STRING, 2, frames.as_ptr().cast()),
            setting(c"VK_LAYER_OTHER", c"mode", vk::LayerSettingTypeEXT::STRING, 2, frames.as_ptr().cast()),
        ];
        let info = vk::LayerSettingsCreateInfoEXT::default().settings(&list);
        // SAFETY: a valid chain.
        let s = unsafe { Settings::read((&raw const info).cast()) };
        let want =
            Settings { serialise: false, frames: Choice::parse("1,4-6").unwrap(), ..Default::default() };
        assert_eq!(s, want);
    }

    #[test]
    fn a_program_with_more_rights_writes_no_files() {
        let all = |name: &str| {
            let value = match name {
                "TUFF_PERFORMANCE_MODE" => "counters",
                "TUFF_PERFORMANCE_CSV" => "/a.csv",
                "TUFF_PERFORMANCE_JSON" => "/a.json",
                "TUFF_PERFORMANCE_TABLE" => "/a.txt",
                _ => return None,
            };
            Some(value.into())
        };
        let read = |secure| {
            let mut s = Settings::default();
            s.environment(all, secure);
            s
        };
        let want = Settings { mode: Mode::Counters, ..Settings::default() };
        assert_eq!(read(true), want);
        let table = Table::File("/a.txt".into());
        assert_eq!(
            read(false),
            Settings { csv: Some("/a.csv".into()), json: Some("/a.json".into()), table, ..want }
        );
    }

    #[test]
    fn wrong_values_are_told_and_change_nothing() {
        let mut s = Settings::default();
        for (name, value) in
            [("mode", "x"), ("source", "x"), ("serialise", "2"), ("frames", "a"), ("other", "1")]
        {
            assert!(s.set(name, value).is_err(), "{name}");
        }
        assert_eq!(s, Settings::default());
        s.set("counters", "a, b").unwrap();
        assert_eq!(s.counters, ["a", "b"]);
        s.set("source", "query").unwrap();
        assert_eq!(s.source, Source::Query);
        s.set("table", "off").unwrap();
        assert_eq!(s.table, Table::Off);
    }
}
