//! The instructions of the IR by kind: what each reads, what it does besides giving a value, whether it may be moved,
//! what makes lanes' results differ, and what it costs on the modelled GPU ([`crate::cost`]).

use super::code::ROWS;
use crate::cost::Cost;
use crate::ir::{Block, ImageInst, ImageOp, Inst, Mem, Place, RayOp, Stored, TraceOp, Value};

/// What an instruction does besides giving a value. Those that do something are kept when nobody reads the result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    None,
    /// Writes memory that others see.
    Memory,
    /// Writes the invocation's own memory, orders, ends lanes, counts, or hands a value on.
    Other,
}

/// Where an instruction may be executed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Motion {
    /// Where it stands: the result depends on memory, other lanes or the place in the program.
    Stays,
    /// Wherever its operands are known, speculatively too: equal ones may be merged.
    Moves,
    /// As `Moves`, and no place is needed: known when the wave begins.
    Given,
    /// With the tuple that it is a part of.
    Follows,
}

/// When the lanes that execute an instruction have the same result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SameResult {
    /// When their operands are the same.
    Operands,
    /// When their operands are, and the wave has no more than one workgroup.
    OneGroup,
    /// When the tuple's are.
    Tuple,
    /// By the ways that lead there.
    Ways,
    /// Never, as far as one knows.
    Differ,
}

macro_rules! column {
    ({ $e:expr }) => {
        $e
    };
    (none) => {
        Effect::None
    };
    (effect) => {
        Effect::Other
    };
    (stays) => {
        Motion::Stays
    };
    (moves) => {
        Motion::Moves
    };
    (given) => {
        Motion::Given
    };
    (follows) => {
        Motion::Follows
    };
    (operands) => {
        SameResult::Operands
    };
    (tuple) => {
        SameResult::Tuple
    };
    (ways) => {
        SameResult::Ways
    };
    (differ) => {
        SameResult::Differ
    };
    (free) => {
        Cost::FREE
    };
    (ls) => {
        Cost::LS
    };
    ([$fma:literal $cvt:literal $sfu:literal]) => {
        Cost::arithmetic($fma, $cvt, $sfu)
    };
}

/// Rows: an instruction, its operands in order, effect, motion, lanes, cost (of arithmetic what its own row says).
macro_rules! table {
    (($wide:ident) $($inst:pat => [$($operand:ident)*] $effect:tt $motion:tt $lanes:tt $cost:tt;)*) => {
        /// Calls `f` for each operand, phi sources included.
        #[allow(unused_variables, reason = "a row's names are for all its columns")]
        pub fn operands(inst: &Inst, mut f: impl FnMut(Value)) {
            use Inst::*;
            match inst {
                $($inst => { $($operand.each(&mut f);)* })*
            }
        }
        /// Calls `f` for each operand to change it in place, phi sources included.
        #[allow(unused_variables, reason = "a row's names are for all its columns")]
        pub fn operands_mut(inst: &mut Inst, mut f: impl FnMut(&mut Value)) {
            use Inst::*;
            match inst {
                $($inst => { $($operand.each_mut(&mut f);)* })*
            }
        }
        #[allow(unused_variables, reason = "a row's names are for all its columns")]
        pub fn effect(inst: &Inst) -> Effect {
            use Inst::*;
            match inst {
                $($inst => column!($effect),)*
            }
        }
        #[allow(unused_variables, reason = "a row's names are for all its columns")]
        pub fn motion(inst: &Inst) -> Motion {
            use Inst::*;
            match inst {
                $($inst => column!($motion),)*
            }
        }
        #[allow(unused_variables, reason = "a row's names are for all its columns")]
        pub fn lanes(inst: &Inst) -> SameResult {
            use Inst::*;
            match inst {
                $($inst => column!($lanes),)*
            }
        }
        /// What one execution by one warp costs; `wide`: instructions for one of arithmetic, by its operands' width.
        #[allow(unused_variables, reason = "a row's names are for all its columns")]
        pub fn cost(inst: &Inst, $wide: u32) -> Cost {
            use Inst::*;
            match inst {
                $($inst => column!($cost),)*
            }
        }
    };
}

table! { (wide)
    // instruction                     operands       effect            motion             lanes              cost
    Const(_)                        => []             none              given              operands           free;
    // Interpolated by units of its own; lowering counts what a program reads.
    Input(_)                        => []             none              given              operands           free;
    Un(op, a)                       => [a]            none              moves              operands           { op.facts().cost.times(wide) };
    Bin(op, a, b)                   => [a b]          none              moves              operands           { op.facts().cost.times(wide) };
    Tri(op, a, b, c)                => [a b c]        none              moves              operands           { op.facts().cost.times(wide) };
    Phi(sources)                    => [sources]      none              stays              ways               free;
    Part(tuple, _)                  => [tuple]        none              follows            tuple              free;
    Descriptor { index, .. }        => [index]        none              moves              operands           free;
    BufferSize { desc }             => [desc]         none              moves              operands           free;
    BufferAddress { desc }          => [desc]         none              moves              operands           free;
    Structure { desc }              => [desc]         none              moves              operands           free;
    Ray { op, query, args }         => [query args]   { op.effect() }   stays              differ             { op.cost() };
    // An address outside memory is a fault that the application may count on seeing.
    Load { place, mem, n, flags, .. } => [place]
        { if flags.volatile { Effect::Other } else { Effect::None } }
        { if flags.read_only && !flags.volatile && place.never_faults() { Motion::Moves } else { Motion::Stays } }
        { place.lanes() } { place.access(*mem, *n as u32) };
    Store { place, mem, values, .. } => [place values] { place.written() } stays             operands           { place.access(*mem, values.len() as u32) };
    LoadRows { place, mem, stride, flags, .. } => [place stride]
        { if flags.volatile { Effect::Other } else { Effect::None } } stays differ { place.access(*mem, 1).times(ROWS as u32) };
    StoreRows { place, mem, stride, values, .. } => [place stride values]
        { place.written() } stays operands { place.access(*mem, 1).times(ROWS as u32) };
    Atomic { place, a, b, .. }      => [place a b]    { place.written() } stays              differ             ls;
    Image(image)                    => [image]        { image.effect() } stays               { image.lanes() }  { image.cost() };
    Trace { op, args }              => [args]         { op.effect() }   stays              differ             { op.cost() };
    Probe { args, .. }              => [args]         effect            stays              differ             free;
    Note { args, .. }               => [args]         effect            stays              differ             free;
    Ballot(a)                       => [a]            none              stays              differ             [0 1 0];
    First(a)                        => [a]            none              stays              differ             [0 0 1];
    Shuffle(a, lane)                => [a lane]       none              stays              differ             [0 0 1];
    // Four steps of exchange and operation.
    Reduce { value, .. }            => [value]        none              stays              differ             { Cost::arithmetic(0, 4, 4).times(wide) };
    Product { kind, rows }          => [rows]         none              stays              differ             { kind.cost() };
    Quad(_, a)                      => [a]            none              stays              differ             [0 0 1];
    Barrier                         => []             effect            stays              operands           { Cost::BARRIER };
    MemoryBarrier                   => []             effect            stays              operands           free;
    Clock                           => []             none              stays              differ             [0 1 0];
    Demote                          => []             effect            stays              operands           free;
    IsHelper                        => []             none              stays              differ             [0 1 0];
    Mark(_)                         => []             effect            stays              operands           free;
    Resume(_)                       => []             effect            stays              operands           free;
    Output { value, .. }            => [value]        effect            stays              operands           free;
}

/// Calls a macro with what it is given and an image instruction's operands in order.
macro_rules! image_operands {
    ($then:ident $($given:tt)*) => {
        $then! { $($given)* image coords grad offsets data sampler dref lod bias sample min_lod }
    };
}
pub(crate) use image_operands;

/// The instruction must be kept even when nobody reads its result.
pub fn has_effect(inst: &Inst) -> bool {
    effect(inst) != Effect::None
}

/// The result depends on the operands alone, so that equal ones may be merged and the instruction be moved or executed
/// speculatively. Read-only loads that cannot fault count.
pub fn is_movable(inst: &Inst) -> bool {
    matches!(motion(inst), Motion::Moves | Motion::Given)
}

impl Place {
    fn never_faults(&self) -> bool {
        matches!(self, Place::Buffer { .. } | Place::Push { .. })
    }
    fn lanes(&self) -> SameResult {
        match self {
            Place::Scratch { .. } => SameResult::Differ,
            Place::Shared { .. } => SameResult::OneGroup,
            Place::Buffer { .. } | Place::Global { .. } | Place::Push { .. } => SameResult::Operands,
        }
    }
    /// The unit moves up to 16 bytes a lane at once. Push constants are in registers when a program begins.
    fn access(&self, mem: Mem, n: u32) -> Cost {
        if matches!(self, Place::Push { .. }) {
            return Cost::FREE;
        }
        Cost::LS.times((n * mem.bytes()).div_ceil(16).max(1))
    }
    fn written(&self) -> Effect {
        if matches!(self, Place::Scratch { .. }) { Effect::Other } else { Effect::Memory }
    }
}

impl ImageInst {
    fn effect(&self) -> Effect {
        match self.op {
            ImageOp::Write | ImageOp::Atomic(_) => Effect::Memory,
            ImageOp::Check(_) => Effect::Other,
            _ => Effect::None,
        }
    }
    /// The texture unit only reads; what a descriptor says itself is one instruction's arithmetic.
    fn cost(&self) -> Cost {
        match self.op {
            ImageOp::Write | ImageOp::Atomic(_) => Cost::LS,
            ImageOp::Check(_) => Cost::FREE,
            ImageOp::QuerySize | ImageOp::QueryLevels | ImageOp::QuerySamples => Cost::arithmetic(0, 1, 0),
            ImageOp::Sample | ImageOp::Gather | ImageOp::Fetch | ImageOp::Read | ImageOp::QueryLod => {
                Cost::TEX
            }
        }
    }
    fn lanes(&self) -> SameResult {
        match self.op {
            ImageOp::Fetch | ImageOp::QuerySize | ImageOp::QueryLevels | ImageOp::QuerySamples => {
                SameResult::Operands
            }
            ImageOp::Sample if self.lod.is_some() => SameResult::Operands,
            _ => SameResult::Differ,
        }
    }
}

impl RayOp {
    fn effect(self) -> Effect {
        if matches!(self, RayOp::Get(..)) { Effect::None } else { Effect::Other }
    }
    /// What the ray tracing unit is asked goes there as messages of the load/store unit; it keeps the rest of a query in registers.
    fn cost(self) -> Cost {
        match self {
            RayOp::Begin | RayOp::Proceed => Cost::LS,
            RayOp::Get(..) => Cost::FREE,
            _ => Cost::arithmetic(0, 1, 0),
        }
    }
}

impl TraceOp {
    /// What other shaders do meanwhile, everybody sees.
    fn effect(self) -> Effect {
        match self {
            TraceOp::Trace
            | TraceOp::Report
            | TraceOp::Call
            | TraceOp::HitTrace
            | TraceOp::HitExecute
            | TraceOp::HitAttributes => Effect::Memory,
            TraceOp::TMax | TraceOp::HitGet => Effect::None,
            _ => Effect::Other,
        }
    }
    fn cost(self) -> Cost {
        match self {
            TraceOp::Trace | TraceOp::Report | TraceOp::Call | TraceOp::HitTrace | TraceOp::HitExecute => {
                Cost::LS
            }
            _ => Cost::arithmetic(0, 1, 0),
        }
    }
}

/// What holds operands.
trait Operand {
    fn each(&self, f: &mut impl FnMut(Value));
    fn each_mut(&mut self, f: &mut impl FnMut(&mut Value));
}

impl Operand for Value {
    fn each(&self, f: &mut impl FnMut(Value)) {
        f(*self);
    }
    fn each_mut(&mut self, f: &mut impl FnMut(&mut Value)) {
        f(self);
    }
}

impl Operand for (Block, Value) {
    fn each(&self, f: &mut impl FnMut(Value)) {
        f(self.1);
    }
    fn each_mut(&mut self, f: &mut impl FnMut(&mut Value)) {
        f(&mut self.1);
    }
}

impl Operand for Option<Value> {
    fn each(&self, f: &mut impl FnMut(Value)) {
        self.iter().for_each(|v| f(*v));
    }
    fn each_mut(&mut self, f: &mut impl FnMut(&mut Value)) {
        self.iter_mut().for_each(f);
    }
}

impl<T: Operand> Operand for Vec<T> {
    fn each(&self, f: &mut impl FnMut(Value)) {
        self.iter().for_each(|o| o.each(f));
    }
    fn each_mut(&mut self, f: &mut impl FnMut(&mut Value)) {
        self.iter_mut().for_each(|o| o.each_mut(f));
    }
}

impl Operand for Stored {
    fn each(&self, f: &mut impl FnMut(Value)) {
        self.iter().for_each(|v| f(*v));
    }
    fn each_mut(&mut self, f: &mut impl FnMut(&mut Value)) {
        self.iter_mut().for_each(f);
    }
}

impl Operand for Place {
    fn each(&self, f: &mut impl FnMut(Value)) {
        match self {
            Place::Buffer { desc, addr } => {
                f(*desc);
                f(*addr);
            }
            Place::Global { addr }
            | Place::Shared { addr }
            | Place::Scratch { addr }
            | Place::Push { addr } => f(*addr),
        }
    }
    fn each_mut(&mut self, f: &mut impl FnMut(&mut Value)) {
        match self {
            Place::Buffer { desc, addr } => {
                f(desc);
                f(addr);
            }
            Place::Global { addr }
            | Place::Shared { addr }
            | Place::Scratch { addr }
            | Place::Push { addr } => f(addr),
        }
    }
}

macro_rules! image_operand {
    ($($field:ident)*) => {
        impl Operand for Box<ImageInst> {
            fn each(&self, f: &mut impl FnMut(Value)) {
                $(self.$field.each(f);)*
            }
            fn each_mut(&mut self, f: &mut impl FnMut(&mut Value)) {
                $(self.$field.each_mut(f);)*
            }
        }
    };
}
image_operands!(image_operand);
