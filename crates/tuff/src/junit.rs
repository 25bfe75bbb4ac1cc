//! JUnit files, as CI systems read them.

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite, XmlString};

pub fn failed(kind: &str, message: String, text: String) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
    status.set_type(kind).set_message(message).set_description(text);
    status
}

/// A suite's name is also the class of its cases: readers group cases by it.
pub fn suite<N: Into<XmlString>>(
    name: &str,
    cases: impl IntoIterator<Item = (N, TestCaseStatus)>,
) -> TestSuite {
    let mut suite = TestSuite::new(name);
    for (case, status) in cases {
        let mut case = TestCase::new(case, status);
        case.set_classname(name);
        suite.add_test_case(case);
    }
    suite
}

pub fn xml(name: &str, suites: Vec<TestSuite>) -> String {
    let mut report = Report::new(name);
    report.add_test_suites(suites);
    report.to_string().expect("a string takes all that is written")
}
