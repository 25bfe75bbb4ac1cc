//! `tuff sanitize` on small programs with one hazard between commands, or one fault of tiles, each, and on their twins without it
//! (`examples/hazards`).

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A situation, the kind of its fault, and parts of the finding's message. Where the specification leaves two commands without order, the
/// message names the hazard; where a barrier is there, what it lacks.
const SITUATIONS: &[(&str, &str, &[&str])] = &[
    ("copy_then_copy", "hazard", &["read-after-write: nothing orders"]),
    ("copy_over_a_source", "hazard", &["write-after-read: nothing orders"]),
    ("copy_twice_to_one_place", "hazard", &["write-after-write: nothing orders"]),
    ("barrier_of_other_bytes", "hazard", &["read-after-write", "available: stage COPY with TRANSFER_WRITE"]),
    (
        "barrier_of_half_the_bytes",
        "hazard",
        &["read-after-write", "available: stage COPY with TRANSFER_WRITE"],
    ),
    (
        "execution_without_memory",
        "hazard",
        &["read-after-write", "available: stage COPY with TRANSFER_WRITE"],
    ),
    ("available_and_not_visible", "hazard", &["read-after-write", "visible: stage COPY with TRANSFER_READ"]),
    (
        "available_first_visible_later",
        "hazard",
        &["read-after-write", "visible: stage COPY with TRANSFER_READ"],
    ),
    ("fill_then_copy", "hazard", &["read-after-write: nothing orders"]),
    ("chain_through_other_stages", "hazard", &["read-after-write", "does not wait in stage COPY"]),
    ("dispatch_after_copy", "hazard", &["read-after-write", "visible: stage COMPUTE_SHADER"]),
    (
        "copy_after_dispatch",
        "hazard",
        &["read-after-write", "available: stage COMPUTE_SHADER with SHADER_STORAGE_WRITE"],
    ),
    ("dispatches_in_a_row", "hazard", &["read-after-write: nothing orders"]),
    ("dispatches_of_neighbouring_words", "hazard", &["write-after-write: nothing orders"]),
    (
        "fences_of_shaders_alone",
        "hazard",
        &["read-after-write", "available: stage COMPUTE_SHADER with SHADER_STORAGE_WRITE"],
    ),
    ("counting_by_atomics", "hazard", &["write-after-write: nothing orders"]),
    ("vertices_after_copy", "hazard", &["read-after-write: nothing orders"]),
    ("indices_after_fill", "hazard", &["read-after-write", "does not wait in stage INDEX_INPUT"]),
    ("arguments_after_fill", "hazard", &["read-after-write: nothing orders"]),
    ("fragments_after_copy", "hazard", &["read-after-write", "visible: stage FRAGMENT_SHADER"]),
    ("copy_over_what_fragments_read", "hazard", &["write-after-read: nothing orders"]),
    ("query_results_then_copy", "hazard", &["read-after-write: nothing orders"]),
    ("clear_then_read", "hazard", &["read-after-write: nothing orders"]),
    ("rows_of_an_image", "hazard", &["read-after-write: nothing orders"]),
    (
        "layout_changed_too_early",
        "hazard",
        &["write-after-write", "changes the layout does not wait for TRANSFER_WRITE"],
    ),
    (
        "layout_changed_without_availability",
        "hazard",
        &["write-after-write", "available: stage COPY with TRANSFER_WRITE"],
    ),
    (
        "layout_changed_while_read",
        "hazard",
        &["write-after-read", "changes the layout does not wait for TRANSFER_READ"],
    ),
    ("layout_changed_for_another_stage", "hazard", &["read-after-write", "does not wait in stage COPY"]),
    ("two_changes_of_layout", "hazard", &["read-after-write", "visible: stage COPY with TRANSFER_READ"]),
    ("stores_of_two_dispatches", "hazard", &["write-after-write: nothing orders"]),
    ("fetch_after_store", "hazard", &["read-after-write: nothing orders"]),
    ("sampled_after_copy", "hazard", &["read-after-write", "does not wait in stage FRAGMENT_SHADER"]),
    (
        "image_in_the_memory_of_a_buffer",
        "hazard",
        &["write-after-write", "changes the layout does not wait for TRANSFER_WRITE"],
    ),
    ("rendering_after_copy", "hazard", &["write-after-write", "visible: stage COLOR_ATTACHMENT_OUTPUT"]),
    (
        "loaded_after_copy",
        "hazard",
        &["read-after-write", "visible: stage COLOR_ATTACHMENT_OUTPUT with COLOR_ATTACHMENT_READ"],
    ),
    ("two_passes_to_one_target", "hazard", &["read-after-write: nothing orders"]),
    ("depth_of_two_passes", "hazard", &["write-after-write: nothing orders"]),
    ("copied_while_rendered", "hazard", &["read-after-write: nothing orders"]),
    ("rendered_while_copied", "hazard", &["write-after-read: nothing orders"]),
    (
        "target_read_by_fragments_of_the_next_pass",
        "hazard",
        &["read-after-write", "visible: stage FRAGMENT_SHADER"],
    ),
    (
        "initial_layout_without_dependency",
        "hazard",
        &["write-after-write", "does not wait for COLOR_ATTACHMENT_WRITE"],
    ),
    (
        "dependency_for_another_access",
        "hazard",
        &["write-after-write", "visible: stage COLOR_ATTACHMENT_OUTPUT with COLOR_ATTACHMENT_WRITE"],
    ),
    ("final_layout_then_copy", "hazard", &["read-after-write: nothing orders"]),
    (
        "input_attachment_of_the_subpass_before",
        "hazard",
        &["read-after-write", "visible: stage FRAGMENT_SHADER with INPUT_ATTACHMENT_READ"],
    ),
    ("views_of_two_subpasses", "hazard", &["write-after-write: nothing orders"]),
    ("clear_outside_then_load", "hazard", &["read-after-write: nothing orders"]),
    ("submissions_without_a_barrier", "hazard", &["read-after-write: nothing orders"]),
    ("host_waits_between_submissions", "hazard", &["read-after-write: nothing orders"]),
    ("fence_of_the_right_submission", "hazard", &["read-after-write: nothing orders"]),
    ("queues_without_a_semaphore", "hazard", &["read-after-write: nothing orders"]),
    ("semaphore_for_another_stage", "hazard", &["read-after-write", "does not wait in stage COPY"]),
    ("timeline_of_an_earlier_value", "hazard", &["read-after-write: nothing orders"]),
    ("host_waits_for_a_timeline", "hazard", &["read-after-write: nothing orders"]),
    (
        "event_of_the_right_stage",
        "hazard",
        &["read-after-write", "available: stage COPY with TRANSFER_WRITE"],
    ),
    ("event_set_too_early", "hazard", &["read-after-write: nothing orders"]),
    ("secondary_command_buffers", "hazard", &["read-after-write: nothing orders"]),
    ("source_rewritten_too_early", "hazard", &["write-after-read: the host has not waited"]),
    ("result_cleared_too_early", "hazard", &["write-after-write: the host has not waited"]),
    ("two_frames_in_one_place", "hazard", &["write-after-read: the host has not waited"]),
    ("words_beside_those_of_a_dispatch", "hazard", &["write-after-read: the host has not waited"]),
    ("fence_of_the_frame_before", "hazard", &["write-after-read: the host has not waited"]),
    ("presented_without_a_semaphore", "hazard", &["read-after-write: nothing orders"]),
    (
        "layout_changed_before_it_is_acquired",
        "hazard",
        &["write-after-read", "does not wait for presentation"],
    ),
    ("built_of_vertices_after_copy", "hazard", &["read-after-write: nothing orders"]),
    ("instances_of_what_is_built", "hazard", &["read-after-write: nothing orders"]),
    ("traced_after_build", "hazard", &["read-after-write: nothing orders"]),
    ("queried_after_build", "hazard", &["read-after-write", "does not wait in stage COMPUTE_SHADER"]),
    ("built_while_traced", "hazard", &["write-after-read"]),
    ("hits_copied_after_trace", "hazard", &["read-after-write"]),
    ("graph_after_copy", "hazard", &["read-after-write: nothing orders"]),
    (
        "graph_after_barrier_of_another_stage",
        "hazard",
        &["read-after-write", "does not wait in stage DATA_GRAPH"],
    ),
    ("copy_after_graph", "hazard", &["read-after-write: nothing orders"]),
    (
        "graph_twice_in_one_session",
        "hazard",
        &["write-after-write", "available: stage DATA_GRAPH with DATA_GRAPH_WRITE"],
    ),
    ("protected_memory_filled", "protection", &["writes protected memory in an unprotected submission"]),
    ("protected_memory_in_a_shader", "protection", &["writes protected memory in an unprotected submission"]),
    ("sampled_after_dont_care", "discarded-read", &["did not store", "16384 bytes"]),
    ("copied_after_dont_care", "discarded-read", &["did not store", "16384 bytes"]),
    (
        "loaded_after_dont_care",
        "discarded-read",
        &["VK_ATTACHMENT_LOAD_OP_LOAD", "did not store", "16384 bytes"],
    ),
    ("loaded_after_undefined", "discarded-read", &["VK_ATTACHMENT_LOAD_OP_LOAD", "UNDEFINED", "16384 bytes"]),
    ("loaded_before_anything", "discarded-read", &["VK_ATTACHMENT_LOAD_OP_LOAD", "UNDEFINED", "16384 bytes"]),
    ("its_own_target_sampled", "feedback-loop", &["an attachment of its own pass"]),
    ("depth_stored_for_nothing", "needless-traffic", &["nothing has read it: 16384 bytes"]),
    ("cleared_twice", "needless-traffic", &["LOAD_OP_CLEAR writes 16384 bytes"]),
    ("transient_target_stored", "needless-traffic", &["STORE_OP_STORE writes 16384 bytes of a transient"]),
];

/// The example, which `cargo xtask test` builds.
fn program() -> PathBuf {
    let path = Path::new(env!("CARGO_BIN_EXE_tuff")).with_file_name("examples").join("hazards");
    assert!(path.exists(), "{} is not built: cargo build -p tuff --examples", path.display());
    path
}

/// The findings of a situation.
fn sanitize(name: &str, variant: &str, options: &[&str], settings: &[(&str, &str)]) -> Vec<Value> {
    let folder = temporary::folder("tuff-").unwrap();
    let json = folder.path().join("findings.json");
    let mut command = Command::new(env!("CARGO_BIN_EXE_tuff"));
    command.arg("sanitize").args(options).arg("--json").arg(&json).arg("--").arg(program());
    let done = command.arg(name).arg(variant).envs(settings.iter().copied()).output().unwrap();
    assert!(done.status.success(), "{name}: {}", String::from_utf8_lossy(&done.stderr));
    let text = std::fs::read_to_string(&json).unwrap();
    let file: Value = serde_json::from_str(&text).unwrap();
    file["findings"].as_array().unwrap().clone()
}

#[test]
fn each_hazard_is_found_and_its_twin_is_silent() {
    let listed = Command::new(program()).output().unwrap().stdout;
    let listed = String::from_utf8(listed).unwrap();
    let names: Vec<&str> = SITUATIONS.iter().map(|s| s.0).collect();
    assert_eq!(listed.lines().collect::<Vec<_>>(), names, "the example has others");
    let mut wrong = vec![];
    for &(name, kind, parts) in SITUATIONS {
        // Advice is reported where it is asked for.
        let only: &[&str] = if kind == "needless-traffic" { &["--only", kind] } else { &[] };
        let found = sanitize(name, "fault", only, &[]);
        let message = |f: &Value| f["message"].as_str().unwrap_or_default().to_string();
        let fits = |f: &Value| f["kind"] == kind && parts.iter().all(|p| message(f).contains(p));
        // What a pass did not store is undefined too, which the shader that reads it is told of.
        let other = |f: &Value| {
            f["kind"] != kind && (kind, &f["kind"]) != ("discarded-read", &"uninitialized".into())
        };
        if !found.iter().any(fits) || found.iter().any(other) {
            wrong.push(format!("{name}: {kind} {parts:?} expected, found {found:#?}"));
        }
        let found = sanitize(name, "twin", only, &[]);
        if !found.is_empty() {
            wrong.push(format!("{name}'s twin: {found:#?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_hazard_names_both_commands_and_the_bytes() {
    let found = sanitize("rows_of_an_image", "fault", &[], &[]);
    let [finding] = &found[..] else { panic!("{found:#?}") };
    let sides = &finding["between"];
    let side = |s: &Value| ["command", "stage", "access"].map(|k| s[k].as_str().unwrap().to_string());
    assert_eq!(side(&sides["earlier"]), ["vkCmdCopyBufferToImage2 (command 0)", "COPY", "TRANSFER_WRITE"]);
    assert_eq!(side(&sides["later"]), ["vkCmdCopyImageToBuffer2 (command 1)", "COPY", "TRANSFER_READ"]);
    // Of rows 0 to 31 and 31 to 38 one has been written before it is read: 64 texels of four bytes.
    assert_eq!(
        (&finding["memory"]["offset"], &finding["memory"]["bytes"]),
        (&(31 * 256).into(), &256.into())
    );
    assert!(sides["resource"].as_str().unwrap().ends_with("level 0, layer 0, texel (0, 31)"), "{sides:#}");
}

/// The same report twice, and on 1, 2 and 16 threads.
#[test]
fn hazards_are_the_same_everywhere() {
    let names = [
        "stores_of_two_dispatches",
        "sampled_after_copy",
        "timeline_of_an_earlier_value",
        "depth_of_two_passes",
        "two_frames_in_one_place",
        "layout_changed_before_it_is_acquired",
        "built_while_traced",
        "sampled_after_dont_care",
        "its_own_target_sampled",
        "depth_stored_for_nothing",
        "protected_memory_in_a_shader",
    ];
    let mut seen = vec![];
    for name in names {
        let kind = SITUATIONS.iter().find(|s| s.0 == name).unwrap().1;
        seen.push(kind);
        let only: &[&str] = if kind == "needless-traffic" { &["--only", kind] } else { &[] };
        let first = sanitize(name, "fault", only, &[]);
        assert!(first.iter().any(|f| f["kind"] == kind), "{name}: {first:#?}");
        for settings in [
            &[][..],
            &[("TUFF_THREADS", "1"), ("TUFF_JIT", "always")],
            &[("TUFF_THREADS", "2"), ("TUFF_SIMD", "portable")],
            &[("TUFF_THREADS", "16"), ("TUFF_SIMD", "avx2")],
        ] {
            assert_eq!(first, sanitize(name, "fault", only, settings), "{name} {settings:?}");
        }
    }
    assert!(SITUATIONS.iter().all(|s| seen.contains(&s.1)), "each kind is there");
}
