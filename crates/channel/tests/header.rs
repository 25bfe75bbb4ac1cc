//! `include/tuff_channel.h`, as a C compiler understands it, has the sizes, places and numbers of the Rust types.

use channel::raw;
use std::mem::offset_of;
use std::path::Path;
use std::process::Command;

/// `_Static_assert`s that each member has its place and its size, and the whole its size: (struct, type, [(C's name, Rust's)]).
macro_rules! layout {
    ($c:literal, $rust:ty, [$($member:ident $(as $name:literal)?),+ $(,)?]) => {{
        let mut text = format!("_Static_assert(sizeof({}) == {}, \"size\");\n", $c, size_of::<$rust>());
        $(
            let name = [$($name,)? stringify!($member)][0];
            let at = offset_of!($rust, $member);
            let size = size_of_member(|r: &$rust| &raw const r.$member);
            text += &format!("_Static_assert(offsetof({}, {name}) == {at}, \"{name}\");\n", $c);
            text += &format!("_Static_assert(sizeof((({} *)0)->{name}) == {size}, \"{name}\");\n", $c);
        )+
        text
    }};
}

fn size_of_member<T, M>(_: impl FnOnce(&T) -> *const M) -> usize {
    size_of::<M>()
}

fn assertions() -> String {
    let mut text = String::from("#include <stddef.h>\n#include \"tuff_channel.h\"\n");
    text += &format!("_Static_assert(sizeof(TuffValue) == {}, \"size\");\n", size_of::<raw::Value>());
    text += &layout!("TuffSpan", raw::Span, [begin, end]);
    text += &layout!(
        "TuffCounter",
        raw::Counter,
        [id, ty as "type", name, machine, unit, block, description]
    );
    text += &layout!(
        "TuffRecord",
        raw::Record,
        [
            order,
            queue_order,
            submission,
            device,
            queue,
            kind,
            views,
            frame,
            span,
            binning,
            main,
            label,
            name,
            events
        ]
    );
    text += &layout!(
        "TuffChannel",
        raw::Channel,
        [
            version,
            size,
            gpu,
            counter_count,
            event_count,
            counters,
            event_names,
            evaluate,
            device_number,
            queue_number,
            totals,
            open,
            close,
            start,
            stop,
            read,
            lost
        ]
    );
    let numbers: [(&str, u64); 15] = [
        ("TUFF_CHANNEL_VERSION", raw::VERSION.into()),
        ("TUFF_ALL", raw::ALL.into()),
        ("TUFF_NONE", raw::NONE.into()),
        ("TUFF_NO_FRAME", raw::NO_FRAME),
        ("TUFF_TYPE_UINT64", raw::TYPE_UINT64.into()),
        ("TUFF_TYPE_FLOAT64", raw::TYPE_FLOAT64.into()),
        ("TUFF_KIND_DISPATCH", raw::KIND_DISPATCH.into()),
        ("TUFF_KIND_RENDER_PASS", raw::KIND_RENDER_PASS.into()),
        ("TUFF_KIND_TRANSFER", raw::KIND_TRANSFER.into()),
        ("TUFF_KIND_MARK", raw::KIND_MARK.into()),
        ("TUFF_KIND_TRACE_RAYS", raw::KIND_TRACE_RAYS.into()),
        ("TUFF_READ_RECORD", raw::READ_RECORD as u64),
        ("TUFF_READ_NOTHING", raw::READ_NOTHING as u64),
        ("TUFF_READ_ENDED", raw::READ_ENDED as u64),
        ("TUFF_READ_ERROR", raw::READ_ERROR as u64),
    ];
    for (name, value) in numbers {
        text += &format!("_Static_assert({name} == {value}u, \"{name}\");\n");
    }
    // Types of functions: an assignment of another is an error.
    let functions = [
        ("void (*evaluate)(const uint64_t *, TuffValue *)", "evaluate"),
        ("uint32_t (*device_number)(const void *)", "device_number"),
        ("uint32_t (*queue_number)(const void *)", "queue_number"),
        ("int (*totals)(uint32_t, uint64_t *)", "totals"),
        ("TuffReader *(*open)(uint32_t)", "open"),
        ("void (*close)(TuffReader *)", "close"),
        ("int (*start)(TuffReader *)", "start"),
        ("int (*stop)(TuffReader *)", "stop"),
        ("int (*read)(TuffReader *, TuffRecord *, uint64_t)", "read"),
        ("uint64_t (*lost)(const TuffReader *)", "lost"),
    ];
    text += "void functions(const TuffChannel *c);\nvoid functions(const TuffChannel *c) {\n";
    for (declaration, name) in functions {
        text += &format!("    {{ {declaration} = c->{name}; (void){name}; }}\n");
    }
    text + "}\nconst TuffChannel *(*get)(uint32_t) = tuff_channel;\n"
}

#[test]
fn the_header_and_the_rust_types_are_the_same() {
    if !not_run::has_program("cc") {
        return not_run::say("the channel's header against its Rust types", "cc (Debian's gcc)");
    }
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../include");
    let folder = temporary::folder("tuff-").expect("a temporary folder");
    let file = folder.path().join("header.c");
    let compile = |text: &str| {
        std::fs::write(&file, text).unwrap();
        let flags = ["-std=c11", "-Wall", "-Wextra", "-Wno-type-limits", "-Werror", "-fsyntax-only"];
        Command::new("cc").args(flags).arg("-I").arg(&include).arg(&file).output().unwrap()
    };
    let output = compile(&assertions());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let header = std::fs::read_to_string(include.join("tuff_channel.h")).unwrap();
    assert!(header.contains(&format!("#define TUFF_MARK_PREFIX \"{}\"\n", raw::MARK_PREFIX)));
    // It can fail.
    let wrong = assertions().replace("sizeof(TuffRecord) ==", "sizeof(TuffRecord) + 1 ==");
    assert!(!compile(&wrong).status.success());
}
