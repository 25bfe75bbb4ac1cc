//! The IR as text, for people, snapshots and tests of passes; [`crate::ir_read`] reads it back.
//!
//! One line an instruction. Constants and inputs are shown where they are read; under `elsewhere` come those that no
//! block lists. A second constant of equal bits is shown by its number. What gives no value has no number.

use crate::interface::{At, DepthMode};
use crate::ir::*;
use std::collections::HashMap;
use std::fmt::Write;

/// The text of one shader.
pub fn print(s: &Shader) -> String {
    let mut o = String::new();
    header(s, &mut o);
    let mut shown = HashMap::new();
    for (i, d) in s.values.iter().enumerate() {
        if let Inst::Const(_) | Inst::Input(_) = d.inst {
            shown.entry(plain(d)).or_insert(Value(i as u32));
        }
    }
    let text = Text { s, shown };
    let mut listed = vec![false; s.values.len()];
    let mut stretch = 0;
    for (k, b) in s.blocks.iter().enumerate() {
        let _ = write!(o, "b{k}:");
        match b.merge {
            Merge::None => {}
            Merge::Selection(m) => {
                let _ = write!(o, " selection, merge {m:?}");
            }
            Merge::Loop { merge, cont } => {
                let _ = write!(o, " loop, merge {merge:?} continue {cont:?}");
            }
        }
        if b.origin != Origin::default() {
            o.push_str(&from(b.origin));
        }
        o.push('\n');
        for &v in &b.insts {
            listed[v.0 as usize] = true;
            text.line(v, &mut o);
            let origin = s.origin(v, &mut stretch);
            let told = !s.origins.is_empty() && origin != b.origin;
            if told && !matches!(s.data(v).inst, Inst::Const(_) | Inst::Input(_)) {
                o.truncate(o.trim_end().len());
                let _ = writeln!(o, "{}", from(origin));
            }
        }
        let _ = match b.term {
            Term::Jump(t) => writeln!(o, "    jump {t:?}"),
            Term::Branch { cond, yes, no } => writeln!(o, "    if {} {yes:?} else {no:?}", text.val(cond)),
            Term::Return => writeln!(o, "    return"),
        };
    }
    let mut rest = (0..s.values.len() as u32)
        .map(Value)
        .filter(|v| !listed[v.0 as usize] && matches!(s.data(*v).inst, Inst::Const(_) | Inst::Input(_)))
        .peekable();
    if rest.peek().is_some() {
        o.push_str("elsewhere:\n");
        rest.for_each(|v| text.line(v, &mut o));
    }
    o
}

/// What a line ends with that is of another place than its block's.
fn from(o: Origin) -> String {
    format!(" ; from {}.{} at {}:{}", o.function, o.label, o.file, o.line)
}

/// A shader's facts that are true or not, by their names in the text; with `mut` to be changed.
macro_rules! switches {
    ($s:ident $($mutable:tt)?) => {
        [
            ("keeps_signs", &$($mutable)? $s.signed_zero_inf_nan),
            ("keeps_denormals", &$($mutable)? $s.keeps_denormals),
            ("shared_is_initialized", &$($mutable)? $s.shared_is_initialized),
            ("quad_derivatives", &$($mutable)? $s.quad_derivatives),
            ("writes_memory", &$($mutable)? $s.interface.writes_memory),
            ("early_tests", &$($mutable)? $s.interface.early_tests),
            ("writes_stencil", &$($mutable)? $s.interface.writes_stencil),
            ("writes_sample_mask", &$($mutable)? $s.interface.writes_sample_mask),
            ("discards", &$($mutable)? $s.interface.discards),
            ("per_sample", &$($mutable)? $s.interface.per_sample),
            ("reads_tile", &$($mutable)? $s.interface.reads_tile),
            ("reads_depth", &$($mutable)? $s.interface.reads_depth),
            ("post_depth_coverage", &$($mutable)? $s.interface.post_depth_coverage),
            ("sample_interlock", &$($mutable)? $s.interface.sample_interlock),
            ("pixel_interlock", &$($mutable)? $s.interface.pixel_interlock),
            ("needs_quads", &$($mutable)? $s.interface.needs_quads),
        ]
    };
}
pub(crate) use switches;

fn header(s: &Shader, o: &mut String) {
    let _ = writeln!(o, "{:?} {:?}", s.stage, s.workgroup);
    if s.shared_bytes != 0 || s.scratch_words != 0 {
        let _ = write!(o, "shared {} bytes, scratch {} words", s.shared_bytes, s.scratch_words);
        let [from, to] = s.zeroed;
        let _ = if [from, to] == [0, s.scratch_words] {
            writeln!(o)
        } else {
            writeln!(o, ", zeroed {from} to {to}")
        };
    }
    if s.queries != 0 {
        let _ = writeln!(o, "queries {}", s.queries);
    }
    for (name, is) in switches!(s) {
        if *is {
            let _ = writeln!(o, "{name}");
        }
    }
    if s.interface.depth != DepthMode::Unwritten {
        let _ = writeln!(o, "depth {:?}", s.interface.depth);
    }
    if s.interface.io != Default::default() {
        let _ = writeln!(o, "io {}", s.interface.io.to_text());
    }
    for site in &s.sites {
        let _ = writeln!(o, "site {}", site.to_text());
    }
    for frame in &s.notes.frames {
        let _ = writeln!(o, "frame {}", frame.to_text());
    }
    for note in &s.notes.all {
        let _ = writeln!(o, "note {}", note.to_text());
    }
    for v in &s.interface.varyings {
        let flat = if v.flat { " flat" } else { "" };
        let linear = if v.no_perspective { " no_perspective" } else { "" };
        let half = if v.half { " half" } else { "" };
        let at = if v.at == At::Center { String::new() } else { format!(" {:?}", v.at) };
        let _ = writeln!(o, "varying {}{flat}{linear}{half}{at}", v.slot);
    }
    for (slot, (function, label)) in &s.varying_loads {
        let _ = writeln!(o, "first read of {slot} in {function}.{label}");
    }
    for words in &s.data {
        let _ = writeln!(o, "data {words:08x?}");
    }
    for name in s.files.iter().skip(1) {
        let _ = writeln!(o, "file {name:?}");
    }
}

/// A constant or an input as it is shown.
fn plain(d: &ValueData) -> String {
    match (&d.inst, d.ty) {
        (Inst::Const(c), Ty::Bool) => format!("{}", *c != 0),
        (Inst::Const(c), Ty::B64) => format!("{c:#x}l"),
        (Inst::Const(c), _) if *c < 0x1_0000 => format!("{c}"),
        (Inst::Const(c), _) => {
            let f = f32::from_bits(*c as u32);
            if f.is_normal() && (1e-6..1e9).contains(&f.abs()) {
                format!("{f:?}f")
            } else {
                format!("{c:#x}")
            }
        }
        (inst, _) => match inst {
            Inst::Input(i) => format!("{i:?}"),
            _ => String::new(),
        },
    }
}

struct Text<'a> {
    s: &'a Shader,
    /// The value that each text of a constant or input stands for.
    shown: HashMap<String, Value>,
}

impl Text<'_> {
    fn line(&self, v: Value, o: &mut String) {
        let d = self.s.data(v);
        let exact = if d.flags.exact { " exact" } else { "" };
        let relaxed = if d.flags.relaxed { " relaxed" } else { "" };
        let text = match d.inst {
            Inst::Const(_) | Inst::Input(_) => plain(d),
            _ => self.inst(&d.inst),
        };
        let _ = if d.ty == Ty::Void {
            writeln!(o, "    {text}{exact}{relaxed}")
        } else {
            writeln!(o, "    {v:?}: {:?} = {text}{exact}{relaxed}", d.ty)
        };
    }

    /// An operand: a constant's value, an input's name, or the value's number.
    fn val(&self, v: Value) -> String {
        match self.s.values.get(v.0 as usize) {
            Some(d) if matches!(d.inst, Inst::Const(_) | Inst::Input(_)) => {
                let text = plain(d);
                if self.shown.get(&text) == Some(&v) { text } else { format!("{v:?}") }
            }
            _ => format!("{v:?}"),
        }
    }

    fn list(&self, l: &[Value]) -> String {
        l.iter().map(|&v| self.val(v)).collect::<Vec<_>>().join(", ")
    }

    fn place(&self, p: &Place, offset: u32) -> String {
        match *p {
            Place::Buffer { desc, addr } => {
                format!("buffer {}[{} + {offset}]", self.val(desc), self.val(addr))
            }
            Place::Global { addr } => format!("global[{} + {offset}]", self.val(addr)),
            Place::Shared { addr } => format!("shared[{} + {offset}]", self.val(addr)),
            Place::Scratch { addr } => format!("scratch[{} + {offset}]", self.val(addr)),
            Place::Push { addr } => format!("push[{} + {offset}]", self.val(addr)),
        }
    }

    fn inst(&self, i: &Inst) -> String {
        match i {
            Inst::Un(op, a) => format!("{op:?} {}", self.val(*a)),
            Inst::Bin(op, a, b) => format!("{op:?} {}", self.list(&[*a, *b])),
            Inst::Tri(op, a, b, c) => format!("{op:?} {}", self.list(&[*a, *b, *c])),
            Inst::Phi(args) => {
                let each: Vec<String> = args.iter().map(|(b, v)| format!("{b:?} {}", self.val(*v))).collect();
                format!("phi {}", each.join(", "))
            }
            Inst::Part(t, k) => format!("part {}.{k}", self.val(*t)),
            Inst::Descriptor { source, index, texels } => {
                let of = if *texels { " texels" } else { "" };
                format!("descriptor {source}[{}]{of}", self.val(*index))
            }
            Inst::Load { place: p, offset, mem, n, flags: f } => {
                format!("load {n}×{mem:?} {}{}", self.place(p, *offset), flags(f))
            }
            Inst::Store { place: p, offset, mem, values, flags: f } => {
                format!("store {mem:?} {}{} = {}", self.place(p, *offset), flags(f), self.list(values))
            }
            Inst::LoadRows { place: p, offset, mem, stride, flags: f } => {
                format!("load-rows {mem:?} {}{} by {}", self.place(p, *offset), flags(f), self.val(*stride))
            }
            Inst::StoreRows { place: p, offset, mem, stride, values, flags: f } => {
                let [place, stride] = [self.place(p, *offset), self.val(*stride)];
                format!("store-rows {mem:?} {place}{} by {stride} = {}", flags(f), self.list(values))
            }
            Inst::Atomic { place: p, offset, mem, op, a, b } => {
                let b = b.map(|b| format!(" if {}", self.val(b))).unwrap_or_default();
                format!("atomic {op:?} {mem:?} {} {}{b}", self.place(p, *offset), self.val(*a))
            }
            Inst::BufferSize { desc } => format!("size of {}", self.val(*desc)),
            Inst::BufferAddress { desc } => format!("address of {}", self.val(*desc)),
            Inst::Structure { desc } => format!("structure {}", self.val(*desc)),
            Inst::Ray { op: RayOp::Get(attribute, which), query, .. } => {
                format!("ray Get {attribute:?} {which:?} {}", self.val(*query))
            }
            Inst::Ray { op, query, args } => {
                let all: Vec<Value> = [*query].into_iter().chain(args.iter().copied()).collect();
                format!("ray {op:?} {}", self.list(&all))
            }
            Inst::Trace { op, args } => format!("trace {op:?} {}", self.list(args)),
            Inst::Note { note, args } => format!("note {note} {}", self.list(args)),
            Inst::Probe { op, site, args } => format!("probe {op:?} {site} {}", self.list(args)),
            Inst::Ballot(a) => format!("ballot {}", self.val(*a)),
            Inst::First(a) => format!("first {}", self.val(*a)),
            Inst::Shuffle(a, b) => format!("shuffle {}", self.list(&[*a, *b])),
            Inst::Reduce { op, scan, cluster, value } => {
                format!("reduce {scan:?} {op:?} of {cluster} {}", self.val(*value))
            }
            Inst::Product { kind, rows } => format!("product {kind:?} {}", self.list(rows)),
            Inst::Quad(q, a) => format!("quad {q:?} {}", self.val(*a)),
            Inst::Output { slot, value } => format!("output {slot} = {}", self.val(*value)),
            Inst::Image(i) => self.image(i),
            Inst::Barrier => "barrier".into(),
            Inst::MemoryBarrier => "memory-barrier".into(),
            Inst::Clock => "clock".into(),
            Inst::Demote => "demote".into(),
            Inst::Mark(n) => format!("mark {n}"),
            Inst::Resume(n) => format!("resume {n}"),
            Inst::IsHelper => "is-helper".into(),
            Inst::Const(_) | Inst::Input(_) => unreachable!("shown as they are"),
        }
    }

    fn image(&self, i: &ImageInst) -> String {
        let mut o = format!("image {:?} {:?} {:?} {}", i.op, i.dim, i.texel, self.val(i.image));
        for (name, is) in
            [("array", i.arrayed), ("multisampled", i.multisampled), ("sparse", i.sparse), ("half", i.half)]
        {
            if is {
                let _ = write!(o, " {name}");
            }
        }
        for (name, n) in [("format", i.format), ("component", i.component)] {
            if n != 0 {
                let _ = write!(o, " {name} {n}");
            }
        }
        for (name, l) in [("at", &i.coords), ("grad", &i.grad), ("offsets", &i.offsets), ("data", &i.data)] {
            if !l.is_empty() {
                let _ = write!(o, " {name} ({})", self.list(l));
            }
        }
        let single = [
            ("sampler", i.sampler),
            ("dref", i.dref),
            ("lod", i.lod),
            ("bias", i.bias),
            ("sample", i.sample),
            ("min_lod", i.min_lod),
        ];
        for (name, v) in single {
            if let Some(v) = v {
                let _ = write!(o, " {name} {}", self.val(v));
            }
        }
        o
    }
}

fn flags(f: &MemFlags) -> &'static str {
    match (f.read_only, f.volatile) {
        (true, false) => " read_only",
        (false, true) => " volatile",
        (true, true) => " read_only volatile",
        _ => "",
    }
}
