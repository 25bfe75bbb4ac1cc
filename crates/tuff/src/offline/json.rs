//! The reports of Arm's Mali Offline Compiler as JSON: schema "performance", version 0, as far as the model has what they tell.

use super::analysis::{Analysis, code};
use super::{Shader, names};
use counters::Model;
use counters::once::{PIPES, occupancy};
use serde_json::{Value, json};
use shader::cost::Cost;
use shader::ir::Stage;

fn property(name: &str, display_name: &str, description: &str, value: Value) -> Value {
    json!({ "name": name, "display_name": display_name, "description": description, "value": value })
}

/// One way through the code; nobody knows the longest of a loop.
fn cycles(cost: Option<&Cost>, model: &Model) -> Value {
    let Some(cost) = cost else {
        return json!({ "cycle_count": vec![Value::Null; PIPES.len()], "bound_pipelines": [Value::Null] });
    };
    let all = code(cost).cycles(&model.core);
    let most = all.iter().map(|p| p.1).fold(0.0, f64::max);
    let bound: Vec<_> = match most {
        0.0 => vec![Value::Null],
        _ => all.iter().filter(|p| p.1 == most).map(|p| json!(p.0.name)).collect(),
    };
    json!({ "cycle_count": all.map(|p| p.1), "bound_pipelines": bound })
}

fn variant(a: &Analysis, v: &super::analysis::Variant, model: &Model) -> Value {
    let spills = a.spilled_bytes();
    json!({
        "name": v.name,
        "performance": {
            "pipelines": PIPES.map(|p| p.name),
            "total_cycles": cycles(Some(&v.ways.total), model),
            "shortest_path_cycles": cycles(Some(&v.ways.shortest), model),
            "longest_path_cycles": cycles(v.ways.longest.as_ref(), model),
        },
        "properties": [
            property("work_registers_used", "Work registers used", "32-bit registers of a thread.",
                json!(a.work_registers())),
            property("thread_occupancy", "Thread occupancy", "Percent of a core's threads that can be resident.",
                json!(occupancy(a.registers))),
            property("has_stack_spilling", "Has stack spilling",
                "More registers are needed than a thread has.", json!(spills > 0)),
            property("stack_spill_bytes", "Stack spill size (bytes)",
                "Bytes of a thread's registers that go to memory.", json!(spills)),
            property("stack_alloca_bytes", "Stack alloca size (bytes)",
                "Bytes of a thread's private arrays in memory.", json!(a.stack_bytes)),
            property("fp16_arithmetic", "16-bit arithmetic",
                "Percent of the arithmetic instructions that work on 16 bits or fewer.", json!(a.narrow.round() as u64)),
        ],
    })
}

fn shader(of: &Shader) -> Value {
    let Shader { file, compiled, analysis: a, gpu, .. } = of;
    let model = &gpu.model;
    let pipelines: Vec<_> = PIPES
        .iter()
        .map(|p| json!({ "name": p.name, "display_name": p.title, "description": format!("Cycles {}.", p.of) }))
        .collect();
    let mut notes =
        vec![format!("Entry point '{}'. Modelled by Tuff, not compiled by Arm's compiler.", a.entry)];
    if a.spilled_bytes() > 0 {
        notes.push("Cycles are without the accesses of registers that spill.".into());
    }
    if *compiled {
        notes.push("The source was compiled to SPIR-V first.".into());
    }
    let mut shader = json!({
        "filename": file.display().to_string(),
        "driver": format!("Tuff {}", env!("CARGO_PKG_VERSION")),
        "hardware": { "architecture": "Tuff", "core": model.name, "revision": "", "pipelines": pipelines },
        "shader": { "api": "Vulkan", "type": names(a.stage).2 },
        "notes": notes,
        "warnings": [],
        "properties": [
            property("has_uniform_computation", "Has uniform computation",
                "Some of the code gives the same for every thread of a draw or dispatch, and runs once.",
                json!(a.has_uniform)),
            property("has_side_effects", "Has side-effects", "It writes memory.", json!(a.side_effects)),
            property("modifies_coverage", "Modifies coverage", "It may discard fragments or write a sample mask.",
                json!(a.modifies_coverage)),
            property("uses_late_zs_test", "Uses late ZS test",
                "Depth and stencil are tested when it has run.", json!(a.late_test)),
            property("uses_late_zs_update", "Uses late ZS update",
                "Depth and stencil are written when it has run.", json!(a.late_update)),
            property("reads_color_buffer", "Reads color buffer", "It reads its attachments.", json!(a.reads_colour)),
        ],
        "variants": a.variants.iter().map(|v| variant(a, v, model)).collect::<Vec<_>>(),
    });
    if a.stage == Stage::Vertex && a.variants.len() == 2 {
        let list = |k: usize| -> Value {
            a.variants[k].attributes.iter().map(|l| json!({ "location": l, "symbol": "" })).collect()
        };
        shader["attribute_streams"] = json!({ "position": list(0), "nonposition": list(1) });
    }
    shader
}

/// The whole report.
pub fn report(all: &[Shader]) -> String {
    let version: Vec<u32> = env!("CARGO_PKG_VERSION").split('.').filter_map(|n| n.parse().ok()).collect();
    let report = json!({
        "schema": { "name": "performance", "version": 0 },
        "producer": { "name": "Tuff", "version": version, "build": "", "documentation": "docs/shader.md" },
        "shaders": all.iter().map(shader).collect::<Vec<_>>(),
    });
    serde_json::to_string_pretty(&report).expect("plain data")
}
