//! Reads the text that [`crate::ir_print`] writes back into IR: for tests of passes, which can say their input in a
//! few lines.
//!
//! Constants and inputs that no line defines are made where they are read. Numbers that no line defines are left out:
//! [`crate::verify`] tells their reader.

use crate::interface::{At, DepthMode, Varying};
use crate::ir::*;
use crate::ir_print::switches;
use crate::notes::{Frame, Note};
use crate::options::Heap;
use crate::stage_io::StageIo;
use small_sort::SmallSort;
use std::collections::HashMap;
use std::fmt::Debug;

/// A shader's text → the shader. Errors name the line.
pub fn read(text: &str) -> Result<Shader, String> {
    let mut reader = Reader { s: Shader::empty(), shown: HashMap::new(), next: 0, origins: vec![] };
    reader.find_numbers(text)?;
    let mut place = Where::Header;
    for (n, line) in text.lines().enumerate() {
        let words = Words { rest: line.trim() };
        if words.rest.is_empty() || words.rest.starts_with(';') {
            continue;
        }
        reader.line(words, &mut place).map_err(|e| format!("line {}: {e}: {line}", n + 1))?;
    }
    if reader.s.blocks.is_empty() || place != Where::Between {
        return Err("the last block has no end".into());
    }
    reader.keep_origins();
    Ok(reader.s)
}

/// Of a number that no line has.
/// Whether nothing but a value's flags is left of a line.
fn is_flags(rest: &str) -> bool {
    matches!(rest, "exact" | "relaxed" | "exact relaxed")
}

fn nothing() -> ValueData {
    ValueData { inst: Inst::Phi(vec![]), ty: Ty::Void, flags: ValueFlags::default() }
}

#[derive(PartialEq)]
enum Where {
    Header,
    Block,
    /// After a block's end, or among the values that no block lists.
    Between,
}

struct Reader {
    s: Shader,
    /// Constants and inputs by their text.
    shown: HashMap<String, Value>,
    /// The next number that no line has.
    next: u32,
    /// Where values come from that say so, by their numbers.
    origins: Vec<(u32, Origin)>,
}

/// What is left of a line.
#[derive(Clone, Copy)]
struct Words<'a> {
    rest: &'a str,
}

type Read<T> = Result<T, String>;

impl<'a> Words<'a> {
    fn eat(&mut self, what: &str) -> bool {
        let Some(rest) = self.rest.strip_prefix(what) else { return false };
        // A whole word: `at` does not begin `atomic`.
        let word = |c: char| c.is_alphanumeric() || c == '_';
        if what.ends_with(word) && rest.starts_with(word) {
            return false;
        }
        self.rest = rest.trim_start();
        true
    }
    fn want(&mut self, what: &str) -> Read<()> {
        if self.eat(what) { Ok(()) } else { Err(format!("no `{what}`")) }
    }
    /// Up to a character that no name, number or value has; an input's part in brackets belongs to its name.
    fn word(&mut self) -> Read<&'a str> {
        let inside = |c: char| c.is_alphanumeric() || matches!(c, '_' | '%' | '-');
        let mut end = self.rest.find(|c| !inside(c)).unwrap_or(self.rest.len());
        let number = self.rest.starts_with(|c: char| c.is_ascii_digit() || c == '-');
        if number && self.rest[end..].starts_with('.') {
            let more = &self.rest[end + 1..];
            end += 1 + more.find(|c| !inside(c)).unwrap_or(more.len());
        }
        if end > 0 && self.rest[end..].starts_with('(') {
            let close = self.rest.find(')').ok_or("no `)`")?;
            end = close + 1;
        }
        if end == 0 {
            return Err("a word is missing".into());
        }
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest.trim_start();
        Ok(word)
    }
    fn number<T: std::str::FromStr>(&mut self) -> Read<T> {
        let end = self.rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest.len());
        let (digits, rest) = self.rest.split_at(end);
        self.rest = rest.trim_start();
        digits.parse().map_err(|_| format!("`{digits}` is no number"))
    }
    /// One of some by its name.
    fn one_of<T: Copy + Debug>(&mut self, all: &[T]) -> Read<T> {
        let word = self.word()?;
        all.iter().copied().find(|x| format!("{x:?}") == word).ok_or_else(|| format!("what is `{word}`?"))
    }
    fn block(&mut self) -> Read<Block> {
        self.rest = self.rest.strip_prefix('b').ok_or("no block")?;
        Ok(Block(self.number()?))
    }
    /// What a line ends with, if it does.
    fn origin(&mut self) -> Read<Origin> {
        let mut origin = Origin::default();
        if self.eat("; from") || self.eat(";") {
            (origin.function, origin.label) = self.two(".")?;
            self.want("at")?;
            (origin.file, origin.line) = self.two(":")?;
        }
        Ok(origin)
    }
    /// Two numbers and what is between them.
    fn descriptor_source(&mut self) -> Read<DescriptorSource> {
        if self.rest.starts_with(|c: char| c.is_ascii_digit()) {
            let (set, binding) = self.two(".")?;
            return Ok(DescriptorSource::Binding { set, binding });
        }
        Ok(match self.word()? {
            "null" => DescriptorSource::Null,
            "heap" => DescriptorSource::Heap(self.one_of(&HEAPS)?),
            "bytes" => DescriptorSource::HeapBytes(self.one_of(&HEAPS)?),
            "address" => DescriptorSource::Address,
            "embedded" => DescriptorSource::Embedded(self.number()?),
            "data" => DescriptorSource::Data(self.number()?),
            other => return Err(format!("`{other}` is no source of descriptors")),
        })
    }
    fn two(&mut self, between: &str) -> Read<(u32, u32)> {
        let a = self.number()?;
        self.want(between)?;
        Ok((a, self.number()?))
    }
}

const HEAPS: [Heap; 2] = [Heap::Samplers, Heap::Resources];
const TYPES: [Ty; 5] = [Ty::Void, Ty::Bool, Ty::B32, Ty::B64, Ty::Tuple];
const MEMS: [Mem; 5] = [Mem::U8, Mem::U16, Mem::F16, Mem::B32, Mem::B64];

/// The constant or input that a word is, and its type.
fn plain(word: &str) -> Option<(Inst, Ty)> {
    let whole = |digits: &str| match digits.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => digits.parse().ok(),
    };
    if let Some((name, part)) = word.split_once('(') {
        let input = Input::named(name, Some(part.strip_suffix(')')?.parse().ok()?))?;
        return Some((Inst::Input(input), input.ty()));
    }
    if let Some(input) = Input::named(word, None) {
        return Some((Inst::Input(input), input.ty()));
    }
    let (bits, ty) = match word {
        "true" => (1, Ty::Bool),
        "false" => (0, Ty::Bool),
        _ => match word.strip_suffix('l') {
            Some(wide) => (whole(wide)?, Ty::B64),
            None => match whole(word) {
                Some(bits) => (bits, Ty::B32),
                None => (word.strip_suffix('f')?.parse::<f32>().ok()?.to_bits() as u64, Ty::B32),
            },
        },
    };
    Some((Inst::Const(bits), ty))
}

impl Reader {
    /// Stretches of values from the same place.
    fn keep_origins(&mut self) {
        self.origins.retain(|o| o.1 != Origin::default());
        self.origins.small_sort_by_key(|o| o.0);
        let all = &mut self.s.origins;
        for &(v, origin) in &self.origins {
            match all.last() {
                Some(&(end, _)) if end == v => drop(all.pop()),
                _ => {}
            }
            if all.last().is_none_or(|last| last.1 != origin) {
                all.push((v, origin));
            }
            all.push((v + 1, Origin::default()));
        }
    }

    /// Makes room for all numbers, and finds the constants and inputs that have one.
    fn find_numbers(&mut self, text: &str) -> Read<()> {
        for line in text.lines() {
            let mut words = Words { rest: line.trim() };
            if !words.rest.starts_with('%') {
                continue;
            }
            let (v, _) = definition(&mut words)?;
            self.next = self.next.max(v.0 + 1);
            if let Some((Inst::Const(_) | Inst::Input(_), _)) = words.word().ok().and_then(plain)
                && words.rest.is_empty()
            {
                let text = line.split_once('=').map_or("", |l| l.1).trim();
                let first = self.shown.entry(text.to_string()).or_insert(v);
                *first = (*first).min(v);
            }
        }
        if self.next > 1 << 24 {
            return Err("too many values".into());
        }
        self.s.values = vec![nothing(); self.next as usize];
        Ok(())
    }

    fn line(&mut self, mut w: Words, place: &mut Where) -> Read<()> {
        if w.eat("elsewhere:") {
            return if *place == Where::Between { Ok(()) } else { Err("within a block".into()) };
        }
        if w.rest.starts_with('b') && w.rest[1..].starts_with(|c: char| c.is_ascii_digit()) {
            if *place == Where::Block {
                return Err("the block before has no end".into());
            }
            *place = Where::Block;
            return self.begin(w);
        }
        match place {
            Where::Header => self.header(w),
            Where::Block => {
                if let Some(term) = self.term(&mut w)? {
                    self.s.blocks.last_mut().expect("begun").term = term;
                    *place = Where::Between;
                    return Ok(());
                }
                let v = self.definition(w)?;
                self.s.blocks.last_mut().expect("begun").insts.push(v);
                Ok(())
            }
            Where::Between => self.definition(w).map(|_| ()),
        }
    }

    fn begin(&mut self, mut w: Words) -> Read<()> {
        if w.block()?.0 as usize != self.s.blocks.len() {
            return Err("blocks come in order".into());
        }
        w.want(":")?;
        let mut merge = Merge::None;
        if w.eat("selection,") {
            w.want("merge")?;
            merge = Merge::Selection(w.block()?);
        } else if w.eat("loop,") {
            w.want("merge")?;
            let to = w.block()?;
            w.want("continue")?;
            merge = Merge::Loop { merge: to, cont: w.block()? };
        }
        let origin = w.origin()?;
        self.s.blocks.push(BlockData { insts: vec![], term: Term::Return, merge, origin });
        Ok(())
    }

    fn header(&mut self, mut w: Words) -> Read<()> {
        let s = &mut self.s;
        let word = w.word()?;
        match word {
            _ if Stage::ALL.iter().any(|s| format!("{s:?}") == word) => {
                s.stage = Words { rest: word }.one_of(&Stage::ALL)?;
                w.want("[")?;
                for (k, n) in s.workgroup.iter_mut().enumerate() {
                    *n = w.number()?;
                    w.want(if k < 2 { "," } else { "]" })?;
                }
            }
            "shared" => {
                s.shared_bytes = w.number()?;
                w.want("bytes, scratch")?;
                s.scratch_words = w.number()?;
                s.zeroed = [0, s.scratch_words];
                if w.eat("words, zeroed") {
                    s.zeroed[0] = w.number()?;
                    w.want("to")?;
                    s.zeroed[1] = w.number()?;
                }
            }
            "queries" => s.queries = w.number()?,
            "depth" => {
                use DepthMode::*;
                s.interface.depth = w.one_of(&[Unwritten, Any, Greater, Less, Unchanged])?;
            }
            "io" => {
                let io = StageIo::from_text(w.rest);
                s.interface.io = io.ok_or("no stage's memory")?;
            }
            "site" => s.sites.push(Site::from_text(w.rest).ok_or("no site")?),
            "frame" => s.notes.frames.push(Frame::from_text(w.rest).ok_or("no frame")?),
            "note" => s.notes.all.push(Note::from_text(w.rest).ok_or("no note")?),
            "varying" => {
                let slot = w.number()?;
                let (flat, no_perspective, half) = (w.eat("flat"), w.eat("no_perspective"), w.eat("half"));
                let at = if w.rest.is_empty() {
                    At::Center
                } else {
                    w.one_of(&[At::Center, At::Centroid, At::Sample])?
                };
                s.interface.varyings.push(Varying { slot, flat, no_perspective, at, half });
            }
            "first" => {
                w.want("read of")?;
                let slot = w.number()?;
                w.want("in")?;
                s.varying_loads.push((slot, w.two(".")?));
            }
            "data" => {
                let list =
                    w.rest.trim().strip_prefix('[').and_then(|l| l.strip_suffix(']')).ok_or("no words")?;
                let words = list.split(", ").filter(|x| !x.is_empty());
                let words: Result<_, _> = words.map(|x| u32::from_str_radix(x, 16)).collect();
                s.data.push(words.map_err(|e| e.to_string())?);
            }
            "file" => s.files.push(unquote(w.rest)?),
            _ => match switches!(s mut).into_iter().find(|(name, _)| *name == word) {
                Some((_, is)) => *is = true,
                None => return Err(format!("what is `{word}`?")),
            },
        }
        Ok(())
    }

    fn term(&mut self, w: &mut Words) -> Read<Option<Term>> {
        Ok(Some(if w.eat("jump") {
            Term::Jump(w.block()?)
        } else if w.eat("if") {
            let cond = self.value(w)?;
            let yes = w.block()?;
            w.want("else")?;
            Term::Branch { cond, yes, no: w.block()? }
        } else if w.eat("return") {
            Term::Return
        } else {
            return Ok(None);
        }))
    }

    /// A line of an instruction; its number.
    fn definition(&mut self, mut w: Words) -> Read<Value> {
        let (v, ty) = match w.rest.starts_with('%') {
            true => definition(&mut w)?,
            false => (self.fresh(), Ty::Void),
        };
        let mut flags = ValueFlags::default();
        let (text, from) = w.rest.split_once(" ; ").unwrap_or((w.rest, ""));
        let from = if from.is_empty() { from } else { &w.rest[text.len() + 1..] };
        let origin = match (from.is_empty(), self.s.blocks.last()) {
            (true, Some(block)) => block.origin,
            _ => Words { rest: from }.origin()?,
        };
        w.rest = text;
        let before = w;
        let inst = match w.word().ok().and_then(plain) {
            Some((inst, _)) if w.rest.is_empty() || is_flags(w.rest) => inst,
            _ => {
                w = before;
                self.inst(&mut w)?
            }
        };
        flags.exact = w.eat("exact");
        flags.relaxed = w.eat("relaxed");
        if !w.rest.is_empty() {
            return Err(format!("what is `{}`?", w.rest));
        }
        self.s.values[v.0 as usize] = ValueData { inst, ty, flags };
        self.origins.push((v.0, origin));
        Ok(v)
    }

    fn fresh(&mut self) -> Value {
        self.s.values.push(nothing());
        Value(self.s.values.len() as u32 - 1)
    }

    fn value(&mut self, w: &mut Words) -> Read<Value> {
        let word = w.word()?;
        if let Some(number) = word.strip_prefix('%') {
            let n: u32 = number.parse().map_err(|_| format!("`{word}` is no value"))?;
            return if n < self.next { Ok(Value(n)) } else { Err(format!("{word} is not defined")) };
        }
        if let Some(&v) = self.shown.get(word) {
            return Ok(v);
        }
        let (inst, ty) = plain(word).ok_or_else(|| format!("`{word}` is no value"))?;
        let v = self.fresh();
        self.s.values[v.0 as usize] = ValueData { inst, ty, flags: ValueFlags::default() };
        self.shown.insert(word.to_string(), v);
        Ok(v)
    }

    fn values(&mut self, w: &mut Words) -> Read<Vec<Value>> {
        let mut list = vec![self.value(w)?];
        while w.eat(",") {
            list.push(self.value(w)?);
        }
        Ok(list)
    }

    fn array<const N: usize>(&mut self, w: &mut Words) -> Read<[Value; N]> {
        self.values(w)?.try_into().map_err(|l: Vec<Value>| format!("{} operands, not {N}", l.len()))
    }

    fn place(&mut self, w: &mut Words) -> Read<(Place, u32)> {
        let kind = w.word()?;
        let desc = if kind == "buffer" { Some(self.value(w)?) } else { None };
        w.want("[")?;
        let addr = self.value(w)?;
        w.want("+")?;
        let offset = w.number()?;
        w.want("]")?;
        let place = match (kind, desc) {
            ("buffer", Some(desc)) => Place::Buffer { desc, addr },
            ("global", _) => Place::Global { addr },
            ("shared", _) => Place::Shared { addr },
            ("scratch", _) => Place::Scratch { addr },
            ("push", _) => Place::Push { addr },
            _ => return Err(format!("what is `{kind}`?")),
        };
        Ok((place, offset))
    }

    fn inst(&mut self, w: &mut Words) -> Read<Inst> {
        let word = w.word()?;
        Ok(match word {
            "phi" => {
                let mut sources = vec![(w.block()?, self.value(w)?)];
                while w.eat(",") {
                    sources.push((w.block()?, self.value(w)?));
                }
                Inst::Phi(sources)
            }
            "part" => {
                let tuple = self.value(w)?;
                w.want(".")?;
                Inst::Part(tuple, w.number()?)
            }
            "descriptor" => {
                let source = w.descriptor_source()?;
                w.want("[")?;
                let index = self.value(w)?;
                w.want("]")?;
                Inst::Descriptor { source, index, texels: w.eat("texels") }
            }
            "load" => {
                let n = w.number()?;
                w.want("×")?;
                let mem = w.one_of(&MEMS)?;
                let (place, offset) = self.place(w)?;
                Inst::Load { place, offset, mem, n, flags: flags(w) }
            }
            "store" => {
                let mem = w.one_of(&MEMS)?;
                let (place, offset) = self.place(w)?;
                let flags = flags(w);
                w.want("=")?;
                Inst::Store { place, offset, mem, values: self.values(w)?.into(), flags }
            }
            "load-rows" => {
                let mem = w.one_of(&MEMS)?;
                let (place, offset) = self.place(w)?;
                let flags = flags(w);
                w.want("by")?;
                Inst::LoadRows { place, offset, mem, stride: self.value(w)?, flags }
            }
            "store-rows" => {
                let mem = w.one_of(&MEMS)?;
                let (place, offset) = self.place(w)?;
                let flags = flags(w);
                w.want("by")?;
                let stride = self.value(w)?;
                w.want("=")?;
                Inst::StoreRows { place, offset, mem, stride, values: self.values(w)?, flags }
            }
            "atomic" => {
                let op = w.one_of(AtomicOp::ALL)?;
                let mem = w.one_of(&MEMS)?;
                let (place, offset) = self.place(w)?;
                let a = self.value(w)?;
                let b = if w.eat("if") { Some(self.value(w)?) } else { None };
                Inst::Atomic { place, offset, mem, op, a, b }
            }
            "size" => {
                w.want("of")?;
                Inst::BufferSize { desc: self.value(w)? }
            }
            "address" => {
                w.want("of")?;
                Inst::BufferAddress { desc: self.value(w)? }
            }
            "structure" => Inst::Structure { desc: self.value(w)? },
            "ray" if w.eat("Get") => {
                let op = RayOp::Get(w.one_of(&RayAttribute::ALL)?, w.one_of(&Intersection::ALL)?);
                Inst::Ray { op, query: self.value(w)?, args: vec![] }
            }
            "ray" => {
                let op = w.one_of(&RayOp::STEPS)?;
                let mut all = self.values(w)?;
                Inst::Ray { op, query: all.remove(0), args: all }
            }
            "trace" => Inst::Trace { op: w.one_of(&TraceOp::ALL)?, args: self.values(w)? },
            "probe" => {
                let op = w.one_of(&ProbeOp::ALL)?;
                let site = w.number()?;
                Inst::Probe { op, site, args: self.values(w)? }
            }
            "note" => {
                let note = w.number()?;
                let args = if w.rest.is_empty() { vec![] } else { self.values(w)? };
                Inst::Note { note, args }
            }
            "ballot" => Inst::Ballot(self.value(w)?),
            "first" => Inst::First(self.value(w)?),
            "shuffle" => {
                let [a, lane] = self.array(w)?;
                Inst::Shuffle(a, lane)
            }
            "reduce" => {
                let scan = w.one_of(Scan::ALL)?;
                let op = w.one_of(ReduceOp::ALL)?;
                w.want("of")?;
                Inst::Reduce { op, scan, cluster: w.number()?, value: self.value(w)? }
            }
            "product" => Inst::Product { kind: w.one_of(Product::ALL)?, rows: self.values(w)? },
            "quad" => Inst::Quad(w.one_of(Quad::ALL)?, self.value(w)?),
            "output" => {
                let slot = w.number()?;
                w.want("=")?;
                Inst::Output { slot, value: self.value(w)? }
            }
            "image" => Inst::Image(Box::new(self.image(w)?)),
            "barrier" => Inst::Barrier,
            "memory-barrier" => Inst::MemoryBarrier,
            "clock" => Inst::Clock,
            "demote" => Inst::Demote,
            "mark" => Inst::Mark(w.number()?),
            "resume" => Inst::Resume(w.number()?),
            "is-helper" => Inst::IsHelper,
            _ => return self.arithmetic(word, w),
        })
    }

    fn arithmetic(&mut self, word: &str, w: &mut Words) -> Read<Inst> {
        let mut name = Words { rest: word };
        if let Ok(op) = name.one_of(Un::ALL) {
            return Ok(Inst::Un(op, self.value(w)?));
        }
        name.rest = word;
        if let Ok(op) = name.one_of(Bin::ALL) {
            let [a, b] = self.array(w)?;
            return Ok(Inst::Bin(op, a, b));
        }
        name.rest = word;
        let op = name.one_of(Tri::ALL)?;
        let [a, b, c] = self.array(w)?;
        Ok(Inst::Tri(op, a, b, c))
    }

    fn image(&mut self, w: &mut Words) -> Read<ImageInst> {
        let op = image_op(w.word()?)?;
        use TexelType::*;
        let mut i = ImageInst {
            op,
            dim: w.one_of(&[Dim::D1, Dim::D2, Dim::D3, Dim::Cube, Dim::Buffer, Dim::SubpassData])?,
            texel: w.one_of(&[F32, S32, U32, S64, U64])?,
            image: self.value(w)?,
            arrayed: w.eat("array"),
            multisampled: w.eat("multisampled"),
            sparse: w.eat("sparse"),
            half: w.eat("half"),
            format: if w.eat("format") { w.number()? } else { 0 },
            component: if w.eat("component") { w.number()? } else { 0 },
            sampler: None,
            coords: vec![],
            dref: None,
            lod: None,
            bias: None,
            grad: vec![],
            offsets: vec![],
            sample: None,
            min_lod: None,
            data: vec![],
        };
        while !w.rest.is_empty() && !is_flags(w.rest) {
            let name = {
                let end = w.rest.find(' ').ok_or("no operand")?;
                let (name, rest) = w.rest.split_at(end);
                w.rest = rest.trim_start();
                name
            };
            if w.eat("(") {
                let list = self.values(w)?;
                w.want(")")?;
                match name {
                    "at" => i.coords = list,
                    "grad" => i.grad = list,
                    "offsets" => i.offsets = list,
                    "data" => i.data = list,
                    _ => return Err(format!("what is `{name}`?")),
                }
                continue;
            }
            let v = Some(self.value(w)?);
            match name {
                "sampler" => i.sampler = v,
                "dref" => i.dref = v,
                "lod" => i.lod = v,
                "bias" => i.bias = v,
                "sample" => i.sample = v,
                "min_lod" => i.min_lod = v,
                _ => return Err(format!("what is `{name}`?")),
            }
        }
        Ok(i)
    }
}

/// `%3: B32 =`
fn definition(w: &mut Words) -> Read<(Value, Ty)> {
    w.rest = w.rest.strip_prefix('%').ok_or("no value")?;
    let v = Value(w.number()?);
    w.want(":")?;
    let ty = w.one_of(&TYPES)?;
    w.want("=")?;
    Ok((v, ty))
}

fn flags(w: &mut Words) -> MemFlags {
    MemFlags { read_only: w.eat("read_only"), volatile: w.eat("volatile") }
}

fn image_op(word: &str) -> Read<ImageOp> {
    use ImageOp::*;
    if let Some(inner) = word.strip_prefix("Atomic(").and_then(|w| w.strip_suffix(')')) {
        return Words { rest: inner }.one_of(AtomicOp::ALL).map(Atomic);
    }
    if let Some(inner) = word.strip_prefix("Check(").and_then(|w| w.strip_suffix(')')) {
        return Words { rest: inner }.one_of(&Checked::ALL).map(Check);
    }
    let all = [Sample, Gather, Fetch, Read, Write, QuerySize, QueryLevels, QuerySamples, QueryLod];
    Words { rest: word }.one_of(&all)
}

/// What `{:?}` makes of a string, back.
fn unquote(text: &str) -> Read<String> {
    let inner = text.strip_prefix('"').and_then(|t| t.strip_suffix('"')).ok_or("no string")?;
    let mut out = String::new();
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        out.push(match chars.next() {
            Some('n') => '\n',
            Some('t') => '\t',
            Some('r') => '\r',
            Some('0') => '\0',
            Some('u') => {
                let hex: String = chars.by_ref().take_while(|c| *c != '}').skip(1).collect();
                u32::from_str_radix(&hex, 16).ok().and_then(char::from_u32).ok_or("no character")?
            }
            Some(c) => c,
            None => return Err("an open string".into()),
        });
    }
    Ok(out)
}
