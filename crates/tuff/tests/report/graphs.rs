//! The operators of a data graph, in a capture and on its page.

use super::*;

#[test]
fn operators_of_a_data_graph_are_shown_with_what_they_cost() {
    const NAME: &str = "operators_of_a_data_graph_are_shown_with_what_they_cost";
    let program = Path::new(env!("CARGO_BIN_EXE_tuff")).with_file_name("examples").join("hazards");
    let folder = Folder::new("operators");
    let mut command = tuff();
    command.args(["run", "--check", "--capture"]).arg(folder.at("graph")).arg("--");
    command.arg(program).args(["graph_after_copy", "twin"]);
    run(command, "");
    let c = read(&folder.at("graph"));
    let workloads = list(&c["workloads"]);
    let graph = workloads.iter().find(|w| w["name"] == "data graph main").expect("a data graph");
    // 24 sums of floats: 24 lanes of FMA, two warps. Two operands of 96 bytes, which are three lines of 64, and two lines of results: five
    // issues, more than the arithmetic, and 20 cycles of a task.
    let operator = json!({
        "operator": "ADD", "result": "F32 [4, 6]", "products": 0, "others": 24, "fma": 2, "cvt": 0, "sfu": 0,
        "read_bytes": 192, "written_bytes": 96, "cycles": 25,
    });
    assert_eq!(graph["operators"], json!([operator]));
    assert_eq!(graph["counters"]["TuffFmaInstr"], 2);
    assert_eq!(graph["jobs"][0]["active_cycles"], 1_025);
    if !not_run::has_program("chromium") {
        return not_run::say(NAME, "chromium");
    }
    let page = folder.at("page.html");
    report(&[&folder.at("graph")], &page);
    let seen = browse(&folder, &page, None);
    let shown: Vec<String> = texts(&seen["operators"][0]).iter().map(|t| t.replace('\u{a0}', " ")).collect();
    assert_eq!(
        (&shown[0][..], &shown[1][..], &shown[3..7]),
        ("ADD", "1", &["0", "24", "2", "0"].map(String::from)[..])
    );
    let shown = texts(&seen["nodes"][0]);
    assert_eq!(shown[..2], ["0 ADD", "F32 [4, 6]"]);
}
