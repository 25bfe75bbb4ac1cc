use super::*;
use ::sanitize::{Location, Memory, Space};

/// A data race of two lines.
pub fn finding() -> Finding {
    let at = |what: &str, line| Location {
        what: what.into(),
        file: "sum.comp".into(),
        line,
        function: 4,
        block: 7,
    };
    Finding {
        kind: Kind::DataRace,
        message: "write and read of one workgroup are not ordered".into(),
        pipeline: "'sum' (main)".into(),
        stage: "compute".into(),
        command: "vkCmdDispatch (command 3 of 'frame')".into(),
        here: at("read", 12),
        there: Some(at("write", 10)),
        invocations: vec![[0, 0], [0, 16]],
        memory: Memory {
            space: Space::Shared,
            binding: None,
            offset: 64,
            bytes: 4,
            size: Some(256),
            texel: None,
        },
        between: None,
        count: 3,
    }
}

fn report() -> Report {
    Report { findings: vec![finding()], suppressed: 0, accesses: 100, unfollowed: 0 }
}

#[test]
fn a_finding_is_told_with_both_places() {
    let wanted = "\
sum.comp:12: data-race: write and read of one workgroup are not ordered: bytes 64 to 67 of 256 of the workgroup's memory \
[pipeline 'sum' (main), compute shader]
  read here: sum.comp:12
  write before it: sum.comp:10
  first seen in vkCmdDispatch (command 3 of 'frame'), workgroup 0, invocation 0 and workgroup 0, invocation 16
  3 times
tuff: 1 finding in 100 accesses of shaders
";
    assert_eq!(text::told(&report()), wanted);
}

#[test]
fn sarif_has_the_place_the_other_place_and_the_count() {
    let file: serde_json::Value = serde_json::from_str(&formats::sarif(&report())).unwrap();
    let result = &file["runs"][0]["results"][0];
    assert_eq!(result["ruleId"], "data-race");
    let line = |of: &serde_json::Value| of["physicalLocation"]["region"]["startLine"].as_u64();
    assert_eq!(line(&result["locations"][0]), Some(12));
    assert_eq!(line(&result["relatedLocations"][0]), Some(10));
    assert_eq!(result["occurrenceCount"], 3);
}

#[test]
fn junit_has_a_failed_case_for_each_finding_or_one_that_passed() {
    let failed = formats::junit(&report(), "p");
    assert!(failed.contains("failures=\"1\"") && failed.contains("sum.comp:12"), "{failed}");
    let none = formats::junit(&Report { findings: vec![], ..report() }, "p");
    assert!(none.contains("tests=\"1\" skipped=\"0\" errors=\"0\" failures=\"0\""), "{none}");
}

#[test]
fn a_page_escapes_what_a_program_says() {
    let mut f = finding();
    f.command = "<script>".into();
    let page = page::html(&Report { findings: vec![f], ..report() }, "p");
    assert!(page.contains("&lt;script&gt;") && !page.contains("<script>"));
}
