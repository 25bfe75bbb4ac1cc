//! GL's types and numbers, as its registry has them.

use std::ffi::{c_char, c_int, c_uint, c_void};

pub type Enum = c_uint;
pub type Int = c_int;
pub type Uint = c_uint;
pub type Sizei = c_int;
pub type Boolean = u8;

pub const FALSE: Boolean = 0;

pub const INVALID_ENUM: Enum = 0x0500;
pub const INVALID_VALUE: Enum = 0x0501;
pub const INVALID_OPERATION: Enum = 0x0502;

pub const RENDER_MODE: Enum = 0x0C40;
pub const RENDER: Enum = 0x1C00;
pub const RENDERER: Enum = 0x1F01;
pub const VERSION: Enum = 0x1F02;
pub const EXTENSIONS: Enum = 0x1F03;
pub const NUM_EXTENSIONS: Enum = 0x821D;
pub const CONTEXT_PROFILE_MASK: Enum = 0x9126;
pub const CONTEXT_COMPATIBILITY_PROFILE_BIT: Int = 2;

pub const DONT_CARE: Enum = 0x1100;
pub const DEBUG_SOURCE_THIRD_PARTY: Enum = 0x8249;
pub const DEBUG_TYPE_MARKER: Enum = 0x8268;
pub const DEBUG_SEVERITY_NOTIFICATION: Enum = 0x826B;
pub const TIMESTAMP: Enum = 0x8E28;

pub const UNSIGNED_INT: Enum = 0x1405;
pub const FLOAT: Enum = 0x1406;
pub const COUNTER_TYPE_AMD: Enum = 0x8BC0;
pub const COUNTER_RANGE_AMD: Enum = 0x8BC1;
pub const UNSIGNED_INT64_AMD: Enum = 0x8BC2;
pub const PERCENTAGE_AMD: Enum = 0x8BC3;
pub const PERFMON_RESULT_AVAILABLE_AMD: Enum = 0x8BC4;
pub const PERFMON_RESULT_SIZE_AMD: Enum = 0x8BC5;
pub const PERFMON_RESULT_AMD: Enum = 0x8BC6;

pub type GetString = unsafe extern "C" fn(Enum) -> *const u8;
pub type GetStringi = unsafe extern "C" fn(Enum, Uint) -> *const u8;
pub type GetIntegerv = unsafe extern "C" fn(Enum, *mut Int);
pub type GetError = unsafe extern "C" fn() -> Enum;
pub type Plain = unsafe extern "C" fn();
pub type RenderMode = unsafe extern "C" fn(Enum) -> Int;
pub type DebugMessageControl = unsafe extern "C" fn(Enum, Enum, Enum, Sizei, *const Uint, Boolean);
pub type DebugMessageInsert = unsafe extern "C" fn(Enum, Enum, Uint, Enum, Sizei, *const c_char);
pub type GenQueries = unsafe extern "C" fn(Sizei, *mut Uint);
pub type QueryCounter = unsafe extern "C" fn(Uint, Enum);

pub type GetProcAddress = unsafe extern "C" fn(*const c_char) -> *mut c_void;
pub type GetCurrent = unsafe extern "C" fn() -> *mut c_void;
/// Of a display and a context; its result is EGL's.
pub type DestroyContext = unsafe extern "C" fn(*mut c_void, *mut c_void) -> c_uint;
pub type Terminate = unsafe extern "C" fn(*mut c_void) -> c_uint;
