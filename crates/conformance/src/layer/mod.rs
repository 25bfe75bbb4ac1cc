//! Programs whose workloads are known, for what VK_LAYER_TUFF_gpu_performance says of them (`tests/layer`).

mod bare;
mod buffers;
mod hurt;
mod passes;
mod queries;
mod queues;
mod rays;
mod rig;
mod settings;

/// What a program does, or why it could not: `needs: …` where the driver lacks something.
pub type Done = Result<(), String>;

/// The programs by name.
pub const PROGRAMS: &[(&str, fn() -> Done)] = &[
    ("diagram", passes::diagram),
    ("passes", passes::kinds),
    ("multiview", passes::multiview),
    ("suspended", passes::suspended),
    ("labelled", passes::labelled),
    ("transfers", buffers::transfers),
    ("resubmitted", buffers::resubmitted),
    ("simultaneous", buffers::simultaneous),
    ("secondaries", buffers::secondaries),
    ("pools", buffers::pools),
    ("threads", buffers::threads),
    ("labels", buffers::labels),
    ("semaphores", queues::semaphores),
    ("future", queues::future),
    ("both queues", queues::both),
    ("devices", queues::devices),
    ("many", hurt::many),
    ("odd", hurt::odd),
    #[cfg(unix)]
    ("forked", hurt::forked),
    ("lost", hurt::lost),
    ("once", queries::once),
    ("own queries", queries::own),
    ("rays", rays::rays),
    ("old", settings::old),
    ("settings", settings::settings),
    ("unfinished", settings::unfinished),
];

/// Runs the program of this name.
pub fn run(name: &str) -> Done {
    let found = PROGRAMS.iter().find(|p| p.0 == name);
    found.ok_or(format!("no program '{name}'"))?.1()
}
