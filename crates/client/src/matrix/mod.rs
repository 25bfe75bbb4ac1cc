//! The matrix: every format as a texture, as a target and in transfers, every operation of shaders: rows that come from
//! tables, so that none is left out for being slow. A row's name says all of it.

mod assemble;
mod formats;
mod modules;
mod operations;
mod targets;
mod texels;
mod textures;
mod transfers;

pub use operations::all_modules;

use crate::{Context, Error, Result};
use ash::vk;
use serde::{Deserialize, Serialize};
use std::any::Any;
use std::rc::Rc;

/// A table of rows.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, Debug)]
pub enum Group {
    Textures,
    Targets,
    Transfers,
    Operations,
}

impl Group {
    pub const ALL: [Group; 4] = [Group::Textures, Group::Targets, Group::Transfers, Group::Operations];

    pub fn name(self) -> &'static str {
        match self {
            Group::Textures => "textures",
            Group::Targets => "targets",
            Group::Transfers => "transfers",
            Group::Operations => "operations",
        }
    }

    /// Every row, whether a driver has it or not.
    pub fn rows(self) -> Vec<String> {
        match self {
            Group::Textures => textures::rows(),
            Group::Targets => targets::rows(),
            Group::Transfers => transfers::rows(),
            Group::Operations => operations::rows(),
        }
    }
}

/// A row that is set up: its commands can be submitted many times.
pub struct Ready {
    context: Rc<Context>,
    pub group: Group,
    pub row: String,
    pub commands: vk::CommandBuffer,
    /// What the commands use.
    _held: Vec<Box<dyn Any>>,
}

/// Commands, and what they use.
type Made = (vk::CommandBuffer, Vec<Box<dyn Any>>);

impl Ready {
    /// # Errors
    /// Those that begin with [`crate::pictures::MISSING`] say that the driver does not have it.
    pub fn new(context: &Rc<Context>, group: Group, row: &str) -> Result<Ready> {
        let unknown = || Error(format!("no row of {} is called {row}", group.name()));
        let (way, of) = row.split_once(": ").ok_or_else(unknown)?;
        let made = match group {
            Group::Textures => textures::make(context, way, of),
            Group::Targets => targets::make(context, way, of),
            Group::Transfers => transfers::make(context, way, of),
            Group::Operations => operations::make(context, way, of),
        };
        let (commands, held) = made?.ok_or_else(unknown)?;
        Ok(Ready { context: context.clone(), group, row: row.into(), commands, _held: held })
    }
}

impl Drop for Ready {
    fn drop(&mut self) {
        self.context.free(self.commands);
    }
}

/// The error of what a driver does not have.
fn missing(what: impl std::fmt::Display) -> Error {
    Error(format!("{}{what}", crate::pictures::MISSING))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_names_of_their_own() {
        for group in Group::ALL {
            let mut rows = group.rows();
            assert!(rows.len() > 60, "{}: {}", group.name(), rows.len());
            assert!(rows.iter().all(|r| r.contains(": ")));
            let all = rows.len();
            rows.sort();
            rows.dedup();
            assert_eq!(rows.len(), all, "{}", group.name());
        }
    }
}
