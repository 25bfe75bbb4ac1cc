//! Settings that say nothing sensible: each is told in one line, and its default holds.

mod common;

use ash::vk;
use std::ffi::{CStr, c_void};
use std::process::Command;
use std::sync::Mutex;

const CHILD: &str = "TUFF_TEST_CHILD";
const LINES: [&str; 3] = [
    "TUFF_THREADS=many: must be a number from 1 to 256; the default is used",
    "TUFF_LOG=loud: must be off, error, warn or info; the default is used",
    "TUFF_GPU=/no/such: neither one of g720, g610, g57, g77, g78, g710, g715, g725, small, big nor a file: No such file or \
     directory (os error 2); the default GPU is modelled",
];

unsafe extern "system" fn listen(
    severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    _: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    heard: *mut c_void,
) -> vk::Bool32 {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let heard = &*heard.cast::<Mutex<Vec<String>>>();
        let text = CStr::from_ptr((*data).p_message).to_string_lossy().into_owned();
        // The loader's own are heard too.
        if severity == vk::DebugUtilsMessageSeverityFlagsEXT::WARNING && text.starts_with("TUFF_") {
            heard.lock().expect("no panic").push(text);
        }
        vk::FALSE
    }
}

/// What an instance's own messenger hears while the instance is made.
fn heard() -> Vec<String> {
    let heard = Mutex::new(vec![]);
    let mut messenger = vk::DebugUtilsMessengerCreateInfoEXT::default()
        .message_severity(vk::DebugUtilsMessageSeverityFlagsEXT::WARNING)
        .message_type(vk::DebugUtilsMessageTypeFlagsEXT::GENERAL)
        .pfn_user_callback(Some(listen))
        .user_data((&raw const heard).cast_mut().cast());
    let names = [ash::ext::debug_utils::NAME.as_ptr()];
    let info = vk::InstanceCreateInfo::default().enabled_extension_names(&names).push_next(&mut messenger);
    // SAFETY: all pointers outlive the calls.
    unsafe {
        let i = common::entry().create_instance(&info, None).expect("an instance");
        i.destroy_instance(None);
    }
    heard.into_inner().expect("no panic")
}

/// Not a test of its own: what runs in a process with bad settings.
#[test]
fn child() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    let _ = common::entry();
    // SAFETY: no other thread reads the environment; the driver does with its first instance.
    unsafe { std::env::set_var("TUFF_LOG", "loud") };
    // The loader forgets the driver, and the driver what it has said, with the last instance.
    let i = common::instance(&[]);
    for instance in 0..2 {
        assert_eq!(heard(), LINES, "of instance {instance}");
    }
    // SAFETY: the instance is alive.
    let p = unsafe { i.get_physical_device_properties(common::physical_device(&i)) };
    assert!(p.device_name_as_c_str().is_ok_and(|n| !n.is_empty()));
    unsafe { i.destroy_instance(None) };
}

#[test]
fn bad_values_are_told_once_and_to_each_messenger() {
    let me = std::env::current_exe().expect("this program");
    let mut child = Command::new(me);
    child.args(["--exact", "child", "--test-threads=1"]).env(CHILD, "1");
    let out = child.env("TUFF_THREADS", "many").env("TUFF_GPU", "/no/such").output().expect("it runs");
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{said}{}", String::from_utf8_lossy(&out.stdout));
    for line in LINES {
        assert_eq!(said.matches(line).count(), 1, "{line}: {said}");
    }
}

/// A program that makes a device without the loader, and the driver beside it, in a folder of their own that all may look into.
struct Alone {
    folder: temporary::Folder,
    library: std::path::PathBuf,
}

impl Alone {
    fn new() -> Alone {
        use std::os::unix::fs::PermissionsExt;
        let folder = temporary::folder("tuff-").expect("a temporary folder");
        let all = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(folder.path(), all.clone()).expect("it is ours");
        let library = folder.path().join("libvulkan_tuff.so");
        std::fs::copy(common::library(), &library).expect("a copy of the driver");
        std::fs::set_permissions(&library, all).expect("it is ours");
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/common/device.c");
        let alone = Alone { folder, library };
        let made = Command::new("cc").arg("-o").arg(alone.program()).arg(source).arg("-ldl").status();
        assert!(made.expect("cc, with which Rust links, is installed").success());
        alone
    }

    fn program(&self) -> std::path::PathBuf {
        self.folder.path().join("device")
    }

    /// Runs it after these words, with these variables: what it says, also on stderr.
    fn run(&self, before: &[&str], variables: &[(&str, &std::path::Path)]) -> (bool, String) {
        let program = self.program().display().to_string();
        let words = [before, &[&program]].concat();
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).arg(&self.library).envs(variables.iter().copied()).env("TUFF_LOG", "warn");
        let out = command.output().expect("it runs");
        let text = [out.stdout, out.stderr].map(|t| String::from_utf8_lossy(&t).into_owned()).concat();
        (out.status.success(), text)
    }
}

/// A set-uid program reads and writes no files for the user who starts it.
#[test]
fn a_program_with_more_rights_takes_no_files() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    const TEST: &str = "a_program_with_more_rights_takes_no_files";
    // SAFETY: it has no conditions.
    if unsafe { libc::geteuid() } != 0 || !not_run::has_program("setpriv") {
        return not_run::say(TEST, "root's rights, and setpriv (util-linux)");
    }
    let alone = Alone::new();
    let secret = alone.folder.path().join("secret");
    std::fs::write(&secret, "root's own").unwrap();
    std::fs::set_permissions(&secret, std::fs::Permissions::from_mode(0o600)).unwrap();
    std::fs::set_permissions(alone.program(), std::fs::Permissions::from_mode(0o4755)).unwrap();
    let other = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
    let kinds = ["TUFF_COUNTERS", "TUFF_CAPTURE", "TUFF_INSTRUMENT", "TUFF_PROCESSES", "TUFF_SHADER_DUMP"]
        .into_iter()
        .chain(["TUFF_JIT_DUMP", "TUFF_CACHE_KEY", "TUFF_GPU"]);
    let all: Vec<_> = kinds.map(|k| (k, secret.as_path())).collect();
    let (fine, said) = alone.run(&other, &all);
    if fine && said.contains("secure 0") {
        return not_run::say(TEST, "a temporary folder whose file system knows set-uid programs");
    }
    assert!(fine && said.contains("a device; secure 1"), "{said}");
    assert_eq!(std::fs::read_to_string(&secret).unwrap(), "root's own");
    for (name, _) in &all {
        assert_eq!(said.matches(&format!("tuff: {name} is ignored")).count(), 1, "{name}: {said}");
    }
    assert!(!said.contains("root's own"), "{said}");
    // Without other rights they count, root's too.
    let (fine, said) = alone.run(&["env"], &[("TUFF_COUNTERS", &secret)]);
    assert!(fine && said.contains("secure 0") && !said.contains("left out"), "{said}");
    assert!(std::fs::read_to_string(&secret).unwrap().contains("\"workloads\""));
    assert_eq!(std::fs::metadata(&secret).unwrap().uid(), 0);
}

/// What a setting names is read if it is a file; nothing waits for a FIFO, or reads a device without end.
#[test]
fn files_that_are_none_are_told_of() {
    let alone = Alone::new();
    let fifo = alone.folder.path().join("fifo");
    let made = Command::new("mkfifo").arg(&fifo).status().expect("coreutils are installed");
    assert!(made.success());
    let large = alone.folder.path().join("large.toml");
    std::fs::write(&large, vec![b'#'; 2 << 20]).unwrap();
    for (file, why) in [
        (fifo.as_path(), "no regular file"),
        (std::path::Path::new("/dev/zero"), "no regular file"),
        (&large, "larger than 1048576 bytes"),
    ] {
        let (fine, said) = alone.run(&["timeout", "20"], &[("TUFF_GPU", file), ("TUFF_CACHE_KEY", file)]);
        assert!(fine && said.contains("a device"), "{}: {said}", file.display());
        assert!(said.contains(why), "{}: {said}", file.display());
    }
}

/// A limit on the size of files is an error where a file is wanted, and ends nobody.
#[test]
fn a_limit_on_files_ends_nobody() {
    let alone = Alone::new();
    let file = alone.folder.path().join("counters.json");
    let limited = ["sh", "-c", "ulimit -f 0; exec \"$@\"", "sh"];
    let (fine, said) = alone.run(&limited, &[("TUFF_COUNTERS", &file)]);
    assert!(fine && said.contains("a device"), "{said}");
    assert!(said.contains("tuff: TUFF_COUNTERS=") && said.contains("File too large"), "{said}");
}
