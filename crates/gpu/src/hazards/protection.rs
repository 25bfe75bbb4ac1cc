//! Accesses that protected memory does not allow (§ Protected Memory Access Rules).

use super::tell;
use crate::protection::rule;
use ash::vk;
use machine::hazards::Hazards;
use machine::shared::Report;
use sanitize::Kind;
use sanitize::hazards::{Access, What};
use std::ops::Range;

/// Tells of an access that a submission, `protected` or not, does not allow. None: it allows all.
pub fn check(
    hazards: &Hazards,
    report: &dyn Report,
    protected: Option<bool>,
    new: &Access,
    bytes: &[Range<u64>],
) {
    let all = hazards.protected.lock();
    let Some(protected) = protected.filter(|p| *p || !all.is_empty()) else { return };
    let Some(message) = rule(protected, !protected, new.what != What::Read) else { return };
    // Images of swapchains have memory of the driver.
    let shown = |at| hazards.resource(at).and_then(|r| r.image?.upgrade());
    let shown = |at| shown(at).is_some_and(|i| i.flags.contains(vk::ImageCreateFlags::PROTECTED));
    let is = |r: &Range<u64>| all.iter().any(|p| p.start < r.end && r.start < p.end) || shown(r.start);
    let Some(first) = bytes.iter().find(|r| is(r) != protected) else { return };
    let (resource, ..) = tell::resource(hazards, report, first.start);
    tell::tile(Kind::Protection, message.into(), new, None, resource, first.end - first.start);
}
