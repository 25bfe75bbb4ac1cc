//! A session with one driver: the child is a process that sees that driver alone, reads a request a line and answers
//! each with one line of JSON ([`serve`]); the parent asks through a [`Voice`].

use crate::drivers::{Driver, Threads};
use crate::kernels::{self, Spec};
use crate::launch;
use crate::matrix::{self, Group};
use crate::measure::Moment;
use crate::pictures;
use crate::products;
use crate::rays;
use crate::{Buffer, Context, Error, Kernel};
use serde::{Deserialize, Serialize};
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, ExitCode, Stdio};
use std::rc::Rc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// What the parent asks for.
#[derive(Serialize, Deserialize, Clone, Debug)]
pub enum Request {
    /// Who is the driver?
    Hello,
    /// Repeat a kernel's whole workload for about so many milliseconds.
    Time { kernel: String, budget_ms: u64 },
    /// Run a kernel once on fresh buffers and write its output there.
    Output { kernel: String, path: PathBuf },
    /// Create a kernel's pipeline and dispatch one workgroup. Meaningful once per kernel and process.
    Create { kernel: String },
    /// Submit and wait for an empty dispatch so many times.
    Empty { times: u32 },
    /// Repeat a picture, and its clear alone, for about so many milliseconds.
    Picture { picture: String, budget_ms: u64, whole: bool },
    /// Repeat what a row of [`launch`](crate::launch) does for about so many milliseconds.
    Launch { row: String, budget_ms: u64 },
    /// Draw a picture and compare its pixels with the formula.
    Check { picture: String },
    /// Create a pipeline and draw one tile with it. Meaningful once per shader and process.
    FirstFrame { shader: String, seed: u64 },
    /// Draw a large multisampled pass. Meaningful once per process.
    Footprint,
    /// Repeat a row of the matrix for about so many milliseconds.
    Matrix { group: Group, row: String, budget_ms: u64 },
    /// Repeat a row of [`rays`](crate::rays) for about so many milliseconds.
    Rays { row: String, budget_ms: u64 },
    /// Repeat a row of [`products`](crate::products) for about so many milliseconds.
    Product { row: String, budget_ms: u64 },
    /// Create a pipeline and trace rays with it. Meaningful once per pipeline and process.
    FirstTrace { name: String, seed: u64 },
    /// Something that only this program's child knows.
    Own(serde_json::Value),
}

/// What it gets.
#[derive(Serialize, Deserialize, Clone, Debug)]
pub enum Answer {
    Hello {
        device: String,
        driver: String,
        /// The version of Vulkan that the device has: major, minor.
        vulkan: (u32, u32),
        /// Its extensions.
        extensions: Vec<String>,
    },
    /// Seconds per dispatch (Time, Empty, Product), per thing of a row (Launch), per million things of a row (Rays), per picture, net of clear if not whole (Picture), or for the whole (Create, FirstFrame, FirstTrace).
    Span {
        wall: f64,
        cpu: f64,
    },
    /// Resident bytes before, at the peak, and of the resolved image.
    Footprint {
        before: u64,
        peak: u64,
        image: u64,
    },
    Own(serde_json::Value),
    Done,
    Error(String),
}

/// The child's whole life: answers until its input ends.
pub fn serve() -> ExitCode {
    serve_with(|_, _| Err(Error("this child has no requests of its own".into())))
}

/// As [`serve`], with an answer to [`Request::Own`].
pub fn serve_with(
    mut own: impl FnMut(&Rc<Context>, serde_json::Value) -> crate::Result<serde_json::Value>,
) -> ExitCode {
    let mut stdout = std::io::stdout().lock();
    let context = Context::staged();
    let mut state = State::default();
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        let answer = match (&context, serde_json::from_str(&line)) {
            (Ok(context), Ok(Request::Own(value))) => {
                own(context, value).map_or_else(|e| Answer::Error(e.to_string()), Answer::Own)
            }
            (Ok(context), Ok(request)) => {
                answer(context, &mut state, request).unwrap_or_else(|e| Answer::Error(e.to_string()))
            }
            (Err(e), _) => Answer::Error(e.to_string()),
            (_, Err(e)) => Answer::Error(format!("bad request: {e}")),
        };
        let text = serde_json::to_string(&answer).expect("an answer is plain data");
        if writeln!(stdout, "{text}").and_then(|()| stdout.flush()).is_err() {
            break;
        }
    }
    ExitCode::SUCCESS
}

/// What is kept from round to round.
#[derive(Default)]
struct State {
    kernel: Option<Ready>,
    picture: Option<pictures::Ready>,
    matrix: Option<matrix::Ready>,
    launch: Option<launch::Ready>,
    rays: Option<rays::Ready>,
    product: Option<products::Ready>,
}

/// A kernel that is set up, kept from round to round.
struct Ready {
    name: String,
    kernel: Kernel,
    buffers: Vec<Buffer>,
}

fn spec(name: &str) -> crate::Result<&'static Spec> {
    kernels::find(name).ok_or_else(|| Error(format!("no kernel is called {name}")))
}

fn answer(context: &Rc<Context>, state: &mut State, request: Request) -> crate::Result<Answer> {
    match request {
        Request::Hello => Ok(Answer::Hello {
            device: context.device_name(),
            driver: format!("{} {}", context.driver_name, context.driver_info).trim().to_string(),
            vulkan: {
                let version = context.properties.api_version;
                (ash::vk::api_version_major(version), ash::vk::api_version_minor(version))
            },
            extensions: context.extensions(),
        }),
        Request::Time { kernel, budget_ms } => {
            let spec = spec(&kernel)?;
            let fresh = state.kernel.as_ref().is_none_or(|s| s.name != kernel);
            if fresh {
                *state = State::default(); // frees the last kernel's buffers first
                let ready = Ready {
                    name: kernel,
                    kernel: spec.make_kernel(context)?,
                    buffers: spec.make_buffers(context)?,
                };
                run_once(context, spec, &ready.kernel, &ready.buffers)?; // compiled, and pages touched
                state.kernel = Some(ready);
            }
            let ready = state.kernel.as_ref().expect("set up above");
            let buffers: Vec<&Buffer> = ready.buffers.iter().collect();
            let commands = ready.kernel.record(&buffers, &spec.push(), &spec.dispatches())?;
            let span = repeat(budget_ms, || context.submit_and_wait(commands));
            context.free(commands);
            span
        }
        Request::Output { kernel, path } => {
            let spec = spec(&kernel)?;
            let kernel = spec.make_kernel(context)?;
            let buffers = spec.make_buffers(context)?;
            run_once(context, spec, &kernel, &buffers)?;
            std::fs::write(&path, buffers[0].bytes())
                .map_err(|e| Error(format!("{}: {e}", path.display())))?;
            Ok(Answer::Done)
        }
        Request::Create { kernel } => {
            let spec = spec(&kernel)?;
            let buffers = spec.make_buffers(context)?;
            let references: Vec<&Buffer> = buffers.iter().collect();
            let push = vec![0; spec.push().len()]; // n = 0: the loops over n do nothing
            warm_up(context)?;
            let start = Moment::now();
            let kernel = spec.make_kernel(context)?;
            kernel.run(&references, &push, [1, 1, 1])?;
            let span = start.elapsed();
            Ok(Answer::Span { wall: span.wall, cpu: span.cpu })
        }
        Request::Empty { times } => {
            let kernel = kernels::EMPTY.make_kernel(context)?;
            let commands = kernel.record(&[], &[], &kernels::EMPTY.dispatches())?;
            context.submit_and_wait(commands)?;
            let start = Moment::now();
            for _ in 0..times {
                context.submit_and_wait(commands)?;
            }
            let span = start.elapsed();
            context.free(commands);
            Ok(Answer::Span { wall: span.wall / f64::from(times), cpu: span.cpu / f64::from(times) })
        }
        Request::Picture { picture, budget_ms, whole } => {
            if state.picture.as_ref().is_none_or(|p| p.spec.name != picture) {
                *state = State::default();
                let ready = pictures::Ready::new(context, pictures::find(&picture)?)?;
                ready.time(0, whole)?; // compiled, and pages touched
                state.picture = Some(ready);
            }
            let span = state.picture.as_ref().expect("set up above").time(budget_ms, whole)?;
            Ok(Answer::Span { wall: span.wall, cpu: span.cpu })
        }
        Request::Launch { row, budget_ms } => {
            if state.launch.as_ref().is_none_or(|l| l.spec.name != row) {
                *state = State::default();
                let spec = launch::find(&row).ok_or_else(|| Error(format!("no row is called {row}")))?;
                state.launch = Some(launch::Ready::new(context, spec)?);
            }
            let span = state.launch.as_mut().expect("set up above").time(budget_ms)?;
            Ok(Answer::Span { wall: span.wall, cpu: span.cpu })
        }
        Request::Check { picture } => {
            *state = State::default();
            pictures::Ready::new(context, pictures::find(&picture)?)?.check()?;
            Ok(Answer::Done)
        }
        Request::FirstFrame { shader, seed } => {
            let span = pictures::first_frame(context, &shader, seed)?;
            Ok(Answer::Span { wall: span.wall, cpu: span.cpu })
        }
        Request::Footprint => {
            let f = pictures::footprint(context)?;
            Ok(Answer::Footprint { before: f.before, peak: f.peak, image: f.image })
        }
        Request::Matrix { group, row, budget_ms } => {
            if state.matrix.as_ref().is_none_or(|m| m.group != group || m.row != row) {
                *state = State::default();
                let ready = matrix::Ready::new(context, group, &row)?;
                context.submit_and_wait(ready.commands)?; // compiled, and pages touched
                state.matrix = Some(ready);
            }
            let commands = state.matrix.as_ref().expect("set up above").commands;
            repeat(budget_ms, || context.submit_and_wait(commands))
        }
        Request::Rays { row, budget_ms } => {
            let spec = rays::find(&row).ok_or_else(|| Error(format!("no row is called {row}")))?;
            if state.rays.is_none() {
                *state = State::default();
                state.rays = Some(rays::Ready::new(context)?);
            }
            let span = state.rays.as_mut().expect("set up above").time(spec, budget_ms)?;
            Ok(Answer::Span { wall: span.wall, cpu: span.cpu })
        }
        Request::Product { row, budget_ms } => {
            if state.product.as_ref().is_none_or(|p| p.spec.name != row) {
                *state = State::default();
                let spec = products::find(&row).ok_or_else(|| Error(format!("no row is called {row}")))?;
                let ready = products::Ready::new(&products::open()?, spec, Default::default())?;
                ready.time(0)?; // compiled, and pages touched
                match ready.wrong() {
                    0 => state.product = Some(ready),
                    n => return Err(Error(format!("{n} elements are wrong"))),
                }
            }
            let (span, _) = state.product.as_ref().expect("set up above").time(budget_ms)?;
            Ok(Answer::Span { wall: span.wall, cpu: span.cpu })
        }
        Request::FirstTrace { name, seed } => {
            let span = rays::first(context, &name, seed)?;
            Ok(Answer::Span { wall: span.wall, cpu: span.cpu })
        }
        Request::Own(_) => Err(Error("answered before".into())),
    }
}

/// Whatever a driver sets up once (threads, a compiler's tables) is not the cost of the kernel that comes next.
fn warm_up(context: &Rc<Context>) -> crate::Result<()> {
    kernels::EMPTY.make_kernel(context)?.run(&[], &[], [1, 1, 1])
}

fn run_once(context: &Rc<Context>, spec: &Spec, kernel: &Kernel, buffers: &[Buffer]) -> crate::Result<()> {
    let references: Vec<&Buffer> = buffers.iter().collect();
    let commands = kernel.record(&references, &spec.push(), &spec.dispatches())?;
    let result = context.submit_and_wait(commands);
    context.free(commands);
    result
}

fn repeat(budget_ms: u64, mut run: impl FnMut() -> crate::Result<()>) -> crate::Result<Answer> {
    let start = Moment::now();
    let mut times = 0;
    loop {
        run()?;
        times += 1;
        let span = start.elapsed();
        if span.wall * 1e3 >= budget_ms as f64 {
            let n = f64::from(times);
            return Ok(Answer::Span { wall: span.wall / n, cpu: span.cpu / n });
        }
    }
}

/// What a child has to end in.
const ENDS_WITHIN: Duration = Duration::from_secs(10);

/// A child process that talks to one driver.
pub struct Voice {
    process: Child,
    /// `None`: it is told to end.
    stdin: Option<ChildStdin>,
    answers: Receiver<String>,
    timeout: Duration,
}

impl Voice {
    /// Starts `command`, whose program calls [`serve`], as a child that sees `driver`. A request that is not answered
    /// within `timeout` ends it.
    pub fn start(
        mut command: Command,
        driver: &Driver,
        threads: Threads,
        timeout: Duration,
    ) -> crate::Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        driver.prepare(&mut command, threads);
        let mut process = command.spawn().map_err(|e| Error(format!("child: {e}")))?;
        let stdin = Some(process.stdin.take().expect("piped"));
        let stdout = BufReader::new(process.stdout.take().expect("piped"));
        let (send, answers) = channel();
        std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                if send.send(line).is_err() {
                    break;
                }
            }
        });
        Ok(Self { process, stdin, answers, timeout })
    }

    /// Asks and waits for the answer.
    pub fn ask(&mut self, request: &Request) -> Result<Answer, String> {
        let text = serde_json::to_string(request).expect("a request is plain data");
        let lost = |process: &mut Child| match process.wait() {
            Ok(status) => format!("the child died: {status}"),
            Err(e) => format!("the child is lost: {e}"),
        };
        let said = self.stdin.as_mut().is_some_and(|to| writeln!(to, "{text}").is_ok());
        if !said {
            return Err(lost(&mut self.process));
        }
        loop {
            match self.answers.recv_timeout(self.timeout) {
                // A driver may print lines of its own.
                Ok(line) if !line.starts_with(['{', '"']) => eprintln!("{}", plain::line(&line)),
                Ok(line) => {
                    return match serde_json::from_str(&line) {
                        Ok(Answer::Error(e)) => Err(e),
                        Ok(answer) => Ok(answer),
                        Err(e) => Err(format!("unreadable answer: {e}")),
                    };
                }
                Err(RecvTimeoutError::Timeout) => {
                    let _ = self.process.kill();
                    return Err(format!("no answer in {} s", self.timeout.as_secs()));
                }
                Err(RecvTimeoutError::Disconnected) => return Err(lost(&mut self.process)),
            }
        }
    }
}

impl Drop for Voice {
    fn drop(&mut self) {
        // It ends by itself, so that it leaves what processes leave at their end; but nobody waits for ever.
        drop(self.stdin.take());
        let start = Instant::now();
        while matches!(self.process.try_wait(), Ok(None)) && start.elapsed() < ENDS_WITHIN {
            std::thread::sleep(Duration::from_millis(1));
        }
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
