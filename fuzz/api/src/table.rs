//! What the generated tables are made of, and how a call is made by words.

/// What a parameter, a member or an element is. Numbers are places in the tables.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Ty {
    Byte,
    Char,
    U16,
    U32,
    I32,
    U64,
    I64,
    Usize,
    F32,
    F64,
    Bool,
    Handle(u16),
    Enum(u16),
    Flags(u16),
    Flags64(u16),
    /// A structure or a union.
    Struct(u16),
    SType,
    /// The head of a chain.
    Next,
    Address,
    Timeout,
    /// A file descriptor.
    Fd,
    /// An address of the program's own memory.
    Host,
    /// Bytes whose number something else says: an update template, an image.
    Blob,
    Callbacks,
    Function,
    /// A command's parameters, as words.
    Args(u16),
}

/// How many elements a pointer leads to.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Len {
    One,
    Two,
    Fixed(u32),
    /// As the parameter or member of this place says, itself or by pointer.
    Of(u8),
    /// As it says in bytes, of four-byte words.
    Words(u8),
    /// As a member says of what a parameter points to.
    In(u8, u8),
    Nul,
}

/// A parameter or a member.
#[derive(Debug)]
pub struct Member {
    pub name: &'static str,
    pub at: u32,
    pub ty: Ty,
    pub pointers: u8,
    /// The driver writes what it points to.
    pub out: bool,
    /// Elements of an array that is a member itself.
    pub count: u32,
    pub len: Len,
}

pub struct Struct {
    pub name: &'static str,
    pub size: u32,
    pub union: bool,
    /// −1 for what has none.
    pub s_type: i32,
    /// Structures in whose chains it may stand.
    pub extends: &'static [u16],
    pub members: &'static [Member],
}

pub struct Enum {
    pub name: &'static str,
    pub values: &'static [i32],
}

pub struct Flags {
    pub name: &'static str,
    pub mask: u64,
}

pub struct Command {
    pub name: &'static str,
    pub aliases: &'static [&'static str],
    /// It returns a VkResult.
    pub fails: bool,
    pub params: &'static [Member],
    /// Calls the function at an address.
    pub call: unsafe fn(usize, &[u64]) -> u64,
    /// A function of the command's own type, which records the call and passes it on.
    pub record: *const (),
}

// SAFETY: the pointers are functions'.
unsafe impl Sync for Command {}

impl Ty {
    pub fn size(self) -> usize {
        match self {
            Ty::Byte | Ty::Char | Ty::Blob => 1,
            Ty::U16 => 2,
            Ty::U32 | Ty::I32 | Ty::F32 | Ty::Bool | Ty::Enum(_) | Ty::Flags(_) | Ty::SType | Ty::Fd => 4,
            Ty::Struct(s) => crate::STRUCTS[s as usize].size as usize,
            Ty::Args(c) => crate::COMMANDS[c as usize].params.len() * 8,
            _ => 8,
        }
    }

    /// The members of a structure or a call; none of what is a value itself.
    pub fn members(self) -> &'static [Member] {
        match self {
            Ty::Struct(s) => crate::STRUCTS[s as usize].members,
            Ty::Args(c) => crate::COMMANDS[c as usize].params,
            _ => &[],
        }
    }

    /// One address, of what something beside it says.
    pub fn is_union_of_addresses(self) -> bool {
        self.is_union() && self.members().iter().any(Member::leads)
    }

    pub fn is_union(self) -> bool {
        matches!(self, Ty::Struct(s) if crate::STRUCTS[s as usize].union)
    }
}

impl Member {
    /// Whether it holds an address that is followed.
    pub fn leads(&self) -> bool {
        self.pointers > 0 || self.ty == Ty::Next
    }

    /// Bytes of one element.
    pub fn size(&self) -> usize {
        if self.pointers > 0 { 8 } else { self.ty.size() }
    }
}

/// What a call's parameters and results are, as words.
pub trait Word {
    fn of(word: u64) -> Self;
    fn word(self) -> u64;
}

macro_rules! words {
    ($($t:ty)*) => { $(
        impl Word for $t {
            fn of(word: u64) -> Self { word as Self }
            fn word(self) -> u64 { self as u64 }
        }
    )* };
}
words! { u64 u32 i32 }

impl Word for f32 {
    fn of(word: u64) -> Self {
        f32::from_bits(word as u32)
    }

    fn word(self) -> u64 {
        self.to_bits() as u64
    }
}

impl Word for () {
    fn of(_: u64) {}

    fn word(self) -> u64 {
        0
    }
}

/// For each command a function that calls it with words, and one that records a call as words.
#[macro_export]
macro_rules! thunks {
    ($($id:literal $name:ident($($a:ident: $t:ty),*) -> $r:ty;)*) => {
        #[allow(non_snake_case)]
        mod call {
            use $crate::table::Word;
            $(
                pub(super) unsafe fn $name(function: usize, words: &[u64]) -> u64 {
                    let mut words = words.iter().copied();
                    $( let $a: $t = Word::of(words.next().unwrap_or(0)); )*
                    // SAFETY: the caller has the address of the command of this name.
                    unsafe {
                        let f = std::mem::transmute::<usize, unsafe extern "system" fn($($t),*) -> $r>(function);
                        Word::word(f($($a),*))
                    }
                }
            )*
        }
        #[allow(non_snake_case)]
        mod record {
            use $crate::table::Word;
            $(
                pub(super) unsafe extern "system" fn $name($($a: $t),*) -> $r {
                    // SAFETY: a program's call of the command of this number, with what it passes.
                    Word::of(unsafe { $crate::record::recorded($id, &[$(Word::word($a)),*]) })
                }
            )*
        }
    };
}
