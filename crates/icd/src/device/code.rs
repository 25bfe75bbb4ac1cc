//! The application's SPIR-V, which modules, pipelines and measurements share.

/// A module and the hash of its words.
pub(crate) struct Code {
    pub module: shader::Module,
    pub hash: u128,
    /// Whether the device has all that it declares: pipelines need that, a module by itself does not.
    pub allowed: Result<(), shader::options::Error>,
}
