//! Answers what a test asks of the driver that the environment shows ([`client::session`]).

fn main() -> std::process::ExitCode {
    client::session::serve()
}
