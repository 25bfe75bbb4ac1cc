//! What a variable may say.

use std::ffi::OsStr;
use std::ops::RangeInclusive;
use std::path::PathBuf;

pub trait Kind {
    type Value;
    /// The value, or `None` for what is none.
    fn read(&self, text: &OsStr) -> Option<Self::Value>;
    /// What is allowed, for messages: "must be …".
    fn allowed(&self) -> String;
    /// What stands after the `=` in README.
    fn form(&self) -> String;
    /// Whether such a value is a path.
    fn names_file(&self, _: &Self::Value) -> bool {
        false
    }
}

/// A whole number.
pub struct Number {
    pub form: &'static str,
    pub least: u64,
    pub most: u64,
}

impl Kind for Number {
    type Value = u64;
    fn read(&self, text: &OsStr) -> Option<u64> {
        let n = text.to_str()?.trim().parse().ok()?;
        (self.least..=self.most).contains(&n).then_some(n)
    }
    fn allowed(&self) -> String {
        match (self.least, self.most) {
            (0, u64::MAX) => "a whole number".into(),
            (least, most) => format!("a number from {least} to {most}"),
        }
    }
    fn form(&self) -> String {
        self.form.into()
    }
}

/// One of a few words.
pub struct OneOf<T: 'static>(pub &'static [(&'static str, T)]);

impl<T: Copy> Kind for OneOf<T> {
    type Value = T;
    fn read(&self, text: &OsStr) -> Option<T> {
        self.0.iter().find(|(word, _)| text == *word).map(|w| w.1)
    }
    fn allowed(&self) -> String {
        let words: Vec<_> = self.0.iter().map(|w| w.0).collect();
        match words.split_last() {
            Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
            _ => words.concat(),
        }
    }
    fn form(&self) -> String {
        let words: Vec<_> = self.0.iter().map(|w| w.0).collect();
        words.join(r"\|")
    }
}

/// Up to four numbers of one byte with dots between them; absent ones are 0.
pub struct Version(pub &'static str);

impl Kind for Version {
    type Value = [u8; 4];
    fn read(&self, text: &OsStr) -> Option<[u8; 4]> {
        let mut version = [0; 4];
        let mut places = version.iter_mut();
        for part in text.to_str()?.split('.') {
            *places.next()? = part.parse().ok()?;
        }
        Some(version)
    }
    fn allowed(&self) -> String {
        "up to four numbers from 0 to 255, with dots between them".into()
    }
    fn form(&self) -> String {
        self.0.into()
    }
}

/// A path of what is so called (a file, a folder). Whether it is one shows when it is used.
pub struct Place(pub &'static str);

impl Kind for Place {
    type Value = PathBuf;
    fn read(&self, text: &OsStr) -> Option<PathBuf> {
        Some(text.into())
    }
    fn allowed(&self) -> String {
        format!("a {}", self.0)
    }
    fn form(&self) -> String {
        self.0.into()
    }
    fn names_file(&self, _: &PathBuf) -> bool {
        true
    }
}

/// Numbers from this one on and ranges of them, with commas between them: `1,5-10`.
pub struct Ranges(pub u64);

impl Kind for Ranges {
    type Value = Vec<RangeInclusive<u64>>;
    fn read(&self, text: &OsStr) -> Option<Self::Value> {
        let range = |part: &str| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let range: RangeInclusive<u64> = first.trim().parse().ok()?..=last.trim().parse().ok()?;
            (*range.start() >= self.0 && !range.is_empty()).then_some(range)
        };
        text.to_str()?.split(',').map(range).collect()
    }
    fn allowed(&self) -> String {
        format!("numbers from {} and ranges of them ({})", self.0, self.form())
    }
    fn form(&self) -> String {
        format!("{},5-10", self.0)
    }
}

/// Text of that form, words with bars between them; its user says more. Where one of them is `file`, what is no other word is a path.
pub struct Text(pub &'static str);

impl Kind for Text {
    type Value = String;
    fn read(&self, text: &OsStr) -> Option<String> {
        text.to_str().map(String::from)
    }
    fn allowed(&self) -> String {
        format!("UTF-8 ({})", self.0)
    }
    fn form(&self) -> String {
        self.0.replace('|', r"\|")
    }
    fn names_file(&self, value: &String) -> bool {
        let mut words = self.0.split('|');
        words.clone().any(|w| w == "file") && !words.any(|w| w == value && w != "file")
    }
}
