//! What can become of a case.

use serde::{Deserialize, Serialize};

/// A case's result: what deqp-vk said, or what became of deqp-vk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Outcome {
    Pass,
    Fail,
    NotSupported,
    QualityWarning,
    CompatibilityWarning,
    InternalError,
    ResourceError,
    Waiver,
    /// The process died in this case.
    Crash,
    /// No result came in time.
    Timeout,
    /// deqp-vk does not know the case.
    NotRun,
}

impl Outcome {
    /// The word at the start of deqp-vk's result line.
    pub fn from_word(word: &str) -> Option<Self> {
        Some(match word {
            "Pass" => Self::Pass,
            "Fail" => Self::Fail,
            "NotSupported" => Self::NotSupported,
            "QualityWarning" => Self::QualityWarning,
            "CompatibilityWarning" => Self::CompatibilityWarning,
            "InternalError" => Self::InternalError,
            "ResourceError" => Self::ResourceError,
            "Waiver" => Self::Waiver,
            "Crash" => Self::Crash,
            "Timeout" => Self::Timeout,
            "Pending" | "NotRun" => Self::NotRun,
            _ => return None,
        })
    }

    /// Neither passed, nor a warning, nor skipped.
    pub fn is_bad(self) -> bool {
        matches!(
            self,
            Self::Fail
                | Self::InternalError
                | Self::ResourceError
                | Self::Crash
                | Self::Timeout
                | Self::NotRun
        )
    }

    pub fn is_warning(self) -> bool {
        matches!(self, Self::QualityWarning | Self::CompatibilityWarning | Self::Waiver)
    }
}

/// One case that has run.
#[derive(Clone, Debug)]
pub struct CaseResult {
    pub name: String,
    pub outcome: Outcome,
    /// deqp-vk's words in the result line, or how the process ended.
    pub message: String,
    /// Texts of the log, for bad cases.
    pub details: Vec<String>,
    pub seconds: f64,
}
