//! JUnit XML, as CI systems read it: suites of cases, each passed, failed, skipped or impossible.

use plain::xml as escape;
use std::fmt::Write;

/// What became of a case.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    Passed,
    /// The kind of failure, a line that says what is wrong, and text of any length.
    Failed {
        kind: String,
        message: String,
        text: String,
    },
    Skipped {
        message: String,
    },
    /// It could not be judged.
    Impossible {
        message: String,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    pub name: String,
    pub outcome: Outcome,
    /// Where it took time that means something.
    pub seconds: Option<f64>,
}

/// Its name is also its cases' class.
#[derive(Debug, Clone, PartialEq)]
pub struct Suite {
    pub name: String,
    pub cases: Vec<Case>,
    pub seconds: Option<f64>,
}

/// The file's text.
pub fn xml(name: &str, suites: &[Suite]) -> String {
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(out, "<testsuites name=\"{}\">", escape(name));
    for suite in suites {
        let class = escape(&suite.name);
        let count = |of: fn(&Outcome) -> bool| suite.cases.iter().filter(|c| of(&c.outcome)).count();
        let _ = writeln!(
            out,
            " <testsuite name=\"{class}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\"{}>",
            suite.cases.len(),
            count(|o| matches!(o, Outcome::Failed { .. })),
            count(|o| matches!(o, Outcome::Impossible { .. })),
            count(|o| matches!(o, Outcome::Skipped { .. })),
            time(suite.seconds)
        );
        for case in &suite.cases {
            let (name, time) = (escape(&case.name), time(case.seconds));
            let _ = write!(out, "  <testcase name=\"{name}\" classname=\"{class}\"{time}");
            let _ = match &case.outcome {
                Outcome::Passed => writeln!(out, "/>"),
                Outcome::Failed { kind, message, text } => writeln!(
                    out,
                    "><failure type=\"{}\" message=\"{}\">{}</failure></testcase>",
                    escape(kind),
                    escape(message),
                    escape(text)
                ),
                Outcome::Skipped { message } => {
                    writeln!(out, "><skipped message=\"{}\"/></testcase>", escape(message))
                }
                Outcome::Impossible { message } => {
                    writeln!(out, "><error message=\"{}\"/></testcase>", escape(message))
                }
            };
        }
        out += " </testsuite>\n";
    }
    out + "</testsuites>\n"
}

fn time(seconds: Option<f64>) -> String {
    seconds.map(|s| format!(" time=\"{s:.3}\"")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suites_count_their_cases() {
        let case = |name: &str, outcome| Case { name: name.into(), outcome, seconds: None };
        let failed = Outcome::Failed { kind: "Dear".into(), message: "1 < 2".into(), text: "a\nb".into() };
        let cases = vec![
            case("a", Outcome::Passed),
            case("b", failed),
            case("c", Outcome::Skipped { message: "no".into() }),
            case("d", Outcome::Impossible { message: "\"why\"".into() }),
        ];
        let text = xml("all", &[Suite { name: "s & t".into(), cases, seconds: Some(0.25) }]);
        let want = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
            <testsuites name=\"all\">\n \
            <testsuite name=\"s &amp; t\" tests=\"4\" failures=\"1\" errors=\"1\" skipped=\"1\" time=\"0.250\">\n  \
            <testcase name=\"a\" classname=\"s &amp; t\"/>\n  \
            <testcase name=\"b\" classname=\"s &amp; t\"><failure type=\"Dear\" message=\"1 &lt; 2\">a&#10;b</failure></testcase>\n  \
            <testcase name=\"c\" classname=\"s &amp; t\"><skipped message=\"no\"/></testcase>\n  \
            <testcase name=\"d\" classname=\"s &amp; t\"><error message=\"&quot;why&quot;\"/></testcase>\n \
            </testsuite>\n</testsuites>\n";
        assert_eq!(text, want);
    }

    #[test]
    fn xml_cannot_hold_control_characters() {
        assert_eq!(escape("a\u{1}\"&\u{85}\u{ffff}"), "a?&quot;&amp;??");
    }
}
