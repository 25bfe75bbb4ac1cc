use super::*;
use crate::channel::tests::PUBLISHED;
use crate::channel::{Done, MadeBy, Publisher, WorkloadKind};
use counters::{Counts, Event};
use machine::lost::Labels;
use machine::time::Span;
use std::io::{BufRead, BufReader};

fn publish(p: &mut Publisher, name: &str, triangles: u64) {
    let mut counts = Counts::default();
    counts[Event::Triangles] = triangles;
    let done = Done {
        kind: WorkloadKind::Dispatch,
        views: 1,
        span: Span { begin: 10, end: 30 },
        phases: None,
        spent: Default::default(),
        counts: &counts,
        seen: None,
    };
    let executed = p.executed(&Labels::default(), || (name.to_string(), MadeBy::default()));
    p.publish(executed, done);
}

/// A folder for sockets, which is this user's.
fn folder() -> temporary::Folder {
    temporary::folder("tuff-listen-").unwrap()
}

struct Client(BufReader<UnixStream>);

impl Client {
    fn new(server: &Server) -> Client {
        let stream = UnixStream::connect(&server.path).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        Client(BufReader::new(stream))
    }
    fn say(&mut self, what: &str) {
        self.0.get_mut().write_all(what.as_bytes()).unwrap();
    }
    /// The next line; `None`: the connection has ended.
    fn line(&mut self) -> Option<serde_json::Value> {
        let mut line = String::new();
        match self.0.read_line(&mut line) {
            Ok(0) | Err(_) => None,
            Ok(_) => Some(serde_json::from_str(&line).unwrap()),
        }
    }
    fn ask(&mut self, what: &str) -> serde_json::Value {
        self.say(what);
        self.line().unwrap()
    }
    /// The next record of this device, for other tests publish too.
    fn record(&mut self, device: u32) -> serde_json::Value {
        loop {
            let line = self.line().unwrap();
            if line["device"] == device {
                return line;
            }
        }
    }
}

/// A counter that is an event as it is.
const TRIANGLES: &str = "MaliGeomTrianglePrim";

#[test]
fn another_process_would_read_totals_workloads_and_marks() {
    let _few = PUBLISHED.read();
    let folder = folder();
    let server = Server::start(folder.path(), "7").unwrap();
    assert_eq!(std::fs::metadata(&server.path).unwrap().mode() & 0o777, 0o600);
    let mut client = Client::new(&server);
    let info = client.ask("info\n");
    assert_eq!((&info["tuff"], &info["process"]), (&1.into(), &std::process::id().into()));
    let names = info["counters"].as_array().unwrap();
    assert!(names.iter().any(|c| c["machine"] == TRIANGLES), "{names:?}");

    let (device, mut queues) = crate::channel::open(1, false);
    let total = |client: &mut Client| {
        client.ask(&format!("totals {TRIANGLES}\n"))["totals"][TRIANGLES].as_u64().unwrap()
    };
    let before = total(&mut client);
    publish(&mut queues[0], "early", 5);
    assert!(total(&mut client) >= before + 5);
    assert_eq!(client.ask(&format!("read {TRIANGLES} {TRIANGLES}\n")), serde_json::json!({"reading": true}));
    publish(&mut queues[0], "a \"name\"\nof two lines", 3);
    let labels = Labels::default();
    let mark = queues[0].mark(&labels, &"tuff.mark:here".into()).unwrap();
    let mut counts = Counts::default();
    counts[Event::Triangles] = 8;
    queues[0].publish_mark(mark, counts, 31);
    let one = client.record(device);
    assert_eq!(one["name"], "a \"name\"\nof two lines");
    assert_eq!((&one["kind"], &one["queue_order"]), (&"dispatch".into(), &1.into()));
    assert_eq!(one["span"], serde_json::json!([10, 30]));
    assert_eq!(one["counters"], serde_json::json!({TRIANGLES: 3}));
    let two = client.record(device);
    assert_eq!((&two["kind"], &two["name"]), (&"mark".into(), &"tuff.mark:here".into()));
    assert_eq!(two["counters"][TRIANGLES], 8);
    // The first reader that asks for all has what was there before it came.
    let mut late = Client::new(&server);
    assert_eq!(late.ask("all\n")["reading"], true);
    assert_eq!(late.record(device)["name"], "early");
    // What has finished when the process ends is sent, and the socket is gone.
    publish(&mut queues[0], "late", 1);
    server.close();
    assert_eq!(client.record(device)["name"], "late");
    while let Some(line) = client.line() {
        assert!(line["device"].is_u64() || line["ended"] == true, "{line}");
    }
    assert!(!server.path.exists());
}

#[test]
fn what_is_no_request_gets_an_error_and_ends() {
    let folder = folder();
    let server = Server::start(folder.path(), "7").unwrap();
    let all = [
        ("reed\n".to_string(), "a request is"),
        ("\n".into(), "a request is"),
        ("\u{0}\u{1b}[2J\n".into(), "a request is"),
        ("totals MaliNone\u{1b}[2J\n".into(), "there is no counter MaliNone\\x1b[2J"),
        (format!("read {TRIANGLES} x\n"), "there is no counter x"),
        ("x".repeat(session::MAX_REQUEST), "bytes at most"),
    ];
    for (said, why) in all {
        let mut client = Client::new(&server);
        let answer = client.ask(&said);
        assert!(answer["error"].as_str().unwrap().contains(why), "{answer}");
        assert_eq!(client.line(), None, "{said:?}");
    }
    // No text at all, half a request, and nothing.
    let mut client = Client::new(&server);
    client.0.get_mut().write_all(&[0xff, b'\n']).unwrap();
    assert!(client.line().unwrap()["error"].is_string());
    let mut client = Client::new(&server);
    client.say("tot");
    drop(client);
    drop(Client::new(&server));
    assert!(Client::new(&server).ask("info\n")["counters"].is_array(), "it goes on");
}

/// Readers that never take anything cost records, not time, and a process may end beside them.
#[test]
fn a_reader_that_stalls_holds_nobody_up() {
    let _many = PUBLISHED.write();
    let folder = folder();
    let server = Server::start(folder.path(), "7").unwrap();
    let mut stalled: Vec<Client> = (0..3).map(|_| Client::new(&server)).collect();
    for client in &mut stalled {
        assert_eq!(client.ask("read *\n")["reading"], true);
    }
    let (_, mut queues) = crate::channel::open(1, false);
    let begin = Instant::now();
    let count = 3 * u64::from(session::CAPACITY);
    for _ in 0..count {
        publish(&mut queues[0], "x", 1);
    }
    assert!(begin.elapsed() < Duration::from_secs(20), "{:?}", begin.elapsed());
    // One is read after all: what was lost is told.
    let mut lost = 0;
    let mut seen = 0;
    let one = &mut stalled[0];
    while seen + lost < count {
        let line = one.line().unwrap();
        lost = line["lost"].as_u64().unwrap_or(lost);
        seen += line["kind"].is_string() as u64;
    }
    assert!(lost > 0 && seen > 1000, "{lost} {seen}");
    let begin = Instant::now();
    server.close();
    assert!(begin.elapsed() < 4 * LAST, "{:?}", begin.elapsed());
}

#[test]
fn there_is_room_for_so_many_readers() {
    let folder = folder();
    let server = Server::start(folder.path(), "7").unwrap();
    let mut all: Vec<Client> = (0..MAX_READERS).map(|_| Client::new(&server)).collect();
    all.iter_mut().for_each(|c| assert!(c.ask("totals\n")["totals"].is_object()));
    let mut more = Client::new(&server);
    assert_eq!(more.line().unwrap()["error"], format!("there are {MAX_READERS} readers already"));
    assert_eq!(more.line(), None);
    all.pop();
    let until = Instant::now() + Duration::from_secs(20);
    loop {
        let mut again = Client::new(&server);
        again.0.get_mut().write_all(b"totals\n").ok();
        if again.line().is_some_and(|l| l["totals"].is_object()) {
            break;
        }
        assert!(Instant::now() < until, "a place that is free is given again");
    }
}

#[test]
fn folders_that_others_may_write_to_and_other_processes_sockets_are_left_alone() {
    let folder = folder();
    let refuses = |path: &Path, name: &str| Server::start(path, name).err().map(|e| e.to_string()).unwrap();
    let mode = |mode| std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(mode)).unwrap();
    mode(0o777);
    assert!(refuses(folder.path(), "7").contains("nobody else can write"));
    mode(0o700);
    let file = folder.path().join("file");
    std::fs::write(&file, "x").unwrap();
    assert!(refuses(&file, "7").contains("nobody else can write"));
    let link = folder.path().join("link");
    std::os::unix::fs::symlink(folder.path(), &link).unwrap();
    assert!(refuses(&link, "7").contains("nobody else can write"));
    assert!(refuses(&folder.path().join("a/b"), "7").contains("No such file"));
    assert!(refuses(folder.path(), &"x".repeat(200)).contains("SUN_LEN"));
    // A socket that nobody listens at any more is replaced, one that is in use is not, and what is no socket is not either.
    drop(UnixListener::bind(folder.path().join("7.sock")).unwrap());
    let server = Server::start(folder.path(), "7").unwrap();
    assert!(refuses(folder.path(), "7").contains("another process listens there"));
    assert!(Client::new(&server).ask("info\n")["process"].is_u64());
    std::fs::write(folder.path().join("8.sock"), "mine").unwrap();
    assert!(refuses(folder.path(), "8").contains("in use"));
    assert_eq!(std::fs::read(folder.path().join("8.sock")).unwrap(), b"mine");
    // A folder of its own is made for its user alone.
    let made = folder.path().join("new");
    Server::start(&made, "7").unwrap();
    assert_eq!(std::fs::metadata(&made).unwrap().mode() & 0o777, 0o700);
}
