//! A GL context without a window or screen, and the functions that the examples use, found as a program without headers
//! finds them: libEGL is opened, its eglGetProcAddress tells the rest.

#![allow(dead_code, reason = "each example uses some")]

use std::ffi::{CStr, CString, c_char, c_void};

const ARRAY_BUFFER: u32 = 0x8892;
const STATIC_DRAW: u32 = 0x88E4;
pub const COLOR_BUFFER_BIT: u32 = 0x4000;
pub const INVALID_ENUM: u32 = 0x0500;
pub const INVALID_VALUE: u32 = 0x0501;
pub const INVALID_OPERATION: u32 = 0x0502;
pub const EXTENSIONS: u32 = 0x1F03;
pub const UNSIGNED_INT: u32 = 0x1405;
pub const FLOAT: u32 = 0x1406;
pub const COUNTER_TYPE: u32 = 0x8BC0;
pub const COUNTER_RANGE: u32 = 0x8BC1;
pub const UNSIGNED_INT64: u32 = 0x8BC2;
pub const PERCENTAGE: u32 = 0x8BC3;
pub const AVAILABLE: u32 = 0x8BC4;
pub const SIZE: u32 = 0x8BC5;
pub const RESULT: u32 = 0x8BC6;

const EGL_OPENGL_API: u32 = 0x30A2;
const EGL_OPENGL_ES_API: u32 = 0x30A0;
const EGL_PLATFORM_SURFACELESS_MESA: u32 = 0x31DD;

macro_rules! functions {
    ($($field:ident = $name:literal: ($($arg:ty),*) $(-> $result:ty)?;)*) => {
        #[derive(Clone)]
        pub struct Gl {
            egl: Egl,
            $(pub $field: unsafe extern "C" fn($($arg),*) $(-> $result)?,)*
        }
        impl Gl {
            /// A context of OpenGL (or ES 2) that is current, with a surface of 256 × 256 pixels.
            pub fn new(es: bool) -> Result<Gl, String> {
                let egl = Egl::new(es)?;
                // SAFETY: the registry's types of these names.
                Ok(unsafe { Gl { $($field: egl.find($name)?,)* egl } })
            }
        }
    };
}

functions! {
    get_string = c"glGetString": (u32) -> *const c_char;
    get_error = c"glGetError": () -> u32;
    clear_color = c"glClearColor": (f32, f32, f32, f32);
    clear = c"glClear": (u32);
    flush = c"glFlush": ();
    finish = c"glFinish": ();
    create_shader = c"glCreateShader": (u32) -> u32;
    shader_source = c"glShaderSource": (u32, i32, *const *const c_char, *const i32);
    compile_shader = c"glCompileShader": (u32);
    create_program = c"glCreateProgram": () -> u32;
    attach_shader = c"glAttachShader": (u32, u32);
    link_program = c"glLinkProgram": (u32);
    use_program = c"glUseProgram": (u32);
    gen_buffers = c"glGenBuffers": (i32, *mut u32);
    bind_buffer = c"glBindBuffer": (u32, u32);
    buffer_data = c"glBufferData": (u32, isize, *const c_void, u32);
    vertex_attrib_pointer = c"glVertexAttribPointer": (u32, i32, u32, u8, i32, *const c_void);
    enable_vertex_attrib_array = c"glEnableVertexAttribArray": (u32);
    draw_arrays = c"glDrawArrays": (u32, i32, i32);
    enable = c"glEnable": (u32);
    disable = c"glDisable": (u32);
    blend_func = c"glBlendFunc": (u32, u32);
    gen_queries = c"glGenQueries": (i32, *mut u32);
    query_counter = c"glQueryCounter": (u32, u32);
    viewport = c"glViewport": (i32, i32, i32, i32);
    get_uniform_location = c"glGetUniformLocation": (u32, *const c_char) -> i32;
    uniform_2f = c"glUniform2f": (i32, f32, f32);
    get_attrib_location = c"glGetAttribLocation": (u32, *const c_char) -> i32;
    gen_textures = c"glGenTextures": (i32, *mut u32);
    bind_texture = c"glBindTexture": (u32, u32);
    tex_parameter = c"glTexParameteri": (u32, u32, i32);
    tex_image = c"glTexImage2D": (u32, i32, i32, i32, i32, i32, u32, u32, *const c_void);
    tex_sub_image = c"glTexSubImage2D": (u32, i32, i32, i32, i32, i32, u32, u32, *const c_void);
    copy_tex_sub_image = c"glCopyTexSubImage2D": (u32, i32, i32, i32, i32, i32, i32, i32);
    gen_framebuffers = c"glGenFramebuffers": (i32, *mut u32);
    bind_framebuffer = c"glBindFramebuffer": (u32, u32);
    framebuffer_texture = c"glFramebufferTexture2D": (u32, u32, u32, u32, i32);
    check_framebuffer = c"glCheckFramebufferStatus": (u32) -> u32;
    read_pixels = c"glReadPixels": (i32, i32, i32, i32, u32, u32, *mut c_void);
    groups = c"glGetPerfMonitorGroupsAMD": (*mut i32, i32, *mut u32);
    counters = c"glGetPerfMonitorCountersAMD": (u32, *mut i32, *mut i32, i32, *mut u32);
    group_string = c"glGetPerfMonitorGroupStringAMD": (u32, i32, *mut i32, *mut c_char);
    counter_string = c"glGetPerfMonitorCounterStringAMD": (u32, u32, i32, *mut i32, *mut c_char);
    counter_info = c"glGetPerfMonitorCounterInfoAMD": (u32, u32, u32, *mut c_void);
    gen_monitors = c"glGenPerfMonitorsAMD": (i32, *mut u32);
    delete_monitors = c"glDeletePerfMonitorsAMD": (i32, *mut u32);
    select = c"glSelectPerfMonitorCountersAMD": (u32, u8, u32, i32, *mut u32);
    begin = c"glBeginPerfMonitorAMD": (u32);
    end = c"glEndPerfMonitorAMD": (u32);
    data = c"glGetPerfMonitorCounterDataAMD": (u32, u32, i32, *mut u32, *mut i32);
}

/// EGL's part: the context that is current, and what others are made of.
#[derive(Clone)]
struct Egl {
    get: unsafe extern "C" fn(*const c_char) -> *mut c_void,
    display: *mut c_void,
    config: *mut c_void,
    surface: *mut c_void,
    context: *mut c_void,
}

type Four = unsafe extern "C" fn(*mut c_void, *mut c_void, *mut c_void, *mut c_void) -> u32;
type Make = unsafe extern "C" fn(*mut c_void, *mut c_void, *mut c_void, *const i32) -> *mut c_void;

impl Egl {
    fn new(es: bool) -> Result<Egl, String> {
        let null = std::ptr::null_mut();
        // SAFETY: EGL's functions, by its registry's types; all of it stays loaded.
        unsafe {
            let library = libloading::Library::new("libEGL.so.1").map_err(|e| e.to_string())?;
            let get = *library.get(b"eglGetProcAddress\0").map_err(|e| e.to_string())?;
            std::mem::forget(library);
            let mut egl = Egl { get, display: null, config: null, surface: null, context: null };
            let display: unsafe extern "C" fn(u32, *mut c_void, *const isize) -> *mut c_void =
                egl.find(c"eglGetPlatformDisplay")?;
            egl.display = display(EGL_PLATFORM_SURFACELESS_MESA, null, std::ptr::null());
            let initialize: unsafe extern "C" fn(*mut c_void, *mut i32, *mut i32) -> u32 =
                egl.find(c"eglInitialize")?;
            if initialize(egl.display, null.cast(), null.cast()) == 0 {
                return Err("eglInitialize fails".into());
            }
            let bind: unsafe extern "C" fn(u32) -> u32 = egl.find(c"eglBindAPI")?;
            bind(if es { EGL_OPENGL_ES_API } else { EGL_OPENGL_API });
            let choose: unsafe extern "C" fn(
                *mut c_void,
                *const i32,
                *mut *mut c_void,
                i32,
                *mut i32,
            ) -> u32 = egl.find(c"eglChooseConfig")?;
            // Pbuffers; OpenGL or ES 2.
            let wanted = [0x3033, 1, 0x3040, if es { 4 } else { 8 }, 0x3038];
            let mut count = 0;
            choose(egl.display, wanted.as_ptr(), &mut egl.config, 1, &mut count);
            let surface: unsafe extern "C" fn(*mut c_void, *mut c_void, *const i32) -> *mut c_void =
                egl.find(c"eglCreatePbufferSurface")?;
            egl.surface = surface(egl.display, egl.config, [0x3057, 256, 0x3056, 256, 0x3038].as_ptr());
            egl.context = egl.another(null)?;
            egl.make_current(egl.context)?;
            Ok(egl)
        }
    }

    /// # Safety
    /// `F` is the function's type.
    unsafe fn find<F: Copy>(&self, name: &CStr) -> Result<F, String> {
        // SAFETY: the caller keeps what is asked for above.
        unsafe {
            let at = (self.get)(name.as_ptr());
            if at.is_null() {
                return Err(format!("{name:?} is not found"));
            }
            Ok(std::mem::transmute_copy(&at))
        }
    }

    /// A context that shares with `share`.
    unsafe fn another(&self, share: *mut c_void) -> Result<*mut c_void, String> {
        // SAFETY: valid usage: the call's pointers lead to what they are said to.
        unsafe {
            let create: Make = self.find(c"eglCreateContext")?;
            // The version counts for ES.
            let context = create(self.display, self.config, share, [0x3098, 2, 0x3038].as_ptr());
            if context.is_null() { Err("eglCreateContext fails".into()) } else { Ok(context) }
        }
    }

    unsafe fn make_current(&self, context: *mut c_void) -> Result<(), String> {
        // SAFETY: valid usage: the call's pointers lead to what they are said to.
        unsafe {
            let make: Four = self.find(c"eglMakeCurrent")?;
            let done = make(self.display, self.surface, self.surface, context);
            if done == 0 { Err("eglMakeCurrent fails".into()) } else { Ok(()) }
        }
    }
}

/// A context that shares with the first, for another thread.
pub struct Seat(Gl);
// SAFETY: EGL's handles belong to no thread; the context is current in none.
unsafe impl Send for Seat {}

impl Seat {
    /// Makes it current in this thread, without a surface.
    pub fn sit(self) -> Gl {
        let mut gl = self.0;
        gl.egl.surface = std::ptr::null_mut();
        // SAFETY: EGL's functions with what it gave out. Each thread has an API of its own, at first OpenGL ES.
        unsafe {
            let bind: unsafe extern "C" fn(u32) -> u32 = gl.egl.find(c"eglBindAPI").expect("it was there");
            bind(EGL_OPENGL_API);
            gl.egl.make_current(gl.egl.context).expect("a context without a surface");
        }
        gl
    }
}

impl Gl {
    /// Another context of OpenGL.
    pub fn seat(&self) -> Result<Seat, String> {
        // SAFETY: EGL's function with what it gave out.
        let context = unsafe { self.egl.another(self.egl.context)? };
        Ok(Seat(Gl { egl: Egl { context, ..self.egl.clone() }, ..self.clone() }))
    }

    /// Destroys the current context.
    pub fn leave(self) {
        // SAFETY: EGL's functions with what it gave out.
        unsafe {
            let destroy: unsafe extern "C" fn(*mut c_void, *mut c_void) -> u32 =
                self.egl.find(c"eglDestroyContext").expect("it was there");
            destroy(self.egl.display, self.egl.context);
            let make: Four = self.egl.find(c"eglMakeCurrent").expect("it was there");
            let null = std::ptr::null_mut();
            make(self.egl.display, null, null, null);
        }
    }

    /// Runs `f` with another context current, which shares with the first and is destroyed afterwards.
    pub fn in_another_context(&self, f: impl FnOnce()) -> Result<(), String> {
        // SAFETY: EGL's functions with what it gave out.
        unsafe {
            let context = self.egl.another(self.egl.context)?;
            self.egl.make_current(context)?;
            f();
            self.egl.make_current(self.egl.context)?;
            let destroy: unsafe extern "C" fn(*mut c_void, *mut c_void) -> u32 =
                self.egl.find(c"eglDestroyContext")?;
            destroy(self.egl.display, context);
            Ok(())
        }
    }

    /// The end of a frame.
    pub fn swap(&self) -> Result<(), String> {
        // SAFETY: EGL's function with what it gave out.
        unsafe {
            let swap: unsafe extern "C" fn(*mut c_void, *mut c_void) -> u32 =
                self.egl.find(c"eglSwapBuffers")?;
            swap(self.egl.display, self.egl.surface);
        }
        Ok(())
    }

    pub fn extensions(&self) -> String {
        // SAFETY: GL's strings end in 0.
        unsafe { CStr::from_ptr((self.get_string)(EXTENSIONS)) }.to_string_lossy().into_owned()
    }

    /// A program of these shaders.
    pub fn program(&self, vertex: &str, fragment: &str) -> u32 {
        // SAFETY: GL's functions; texts outlive the calls.
        unsafe {
            let program = (self.create_program)();
            for (kind, text) in [(0x8B31, vertex), (0x8B30, fragment)] {
                let shader = (self.create_shader)(kind);
                let text = CString::new(text).expect("no 0 in it");
                (self.shader_source)(shader, 1, &text.as_ptr(), std::ptr::null());
                (self.compile_shader)(shader);
                (self.attach_shader)(program, shader);
            }
            (self.link_program)(program);
            program
        }
    }

    /// A bound buffer of vertices, which attribute 0 reads as pairs.
    pub fn vertices(&self, all: &[f32]) {
        // SAFETY: GL's functions; the array outlives the call that copies it.
        unsafe {
            // Not from the program's memory: Mesa 22.3 refuses that in ES where it calls zink from a thread of its own.
            let mut buffer = 0;
            (self.gen_buffers)(1, &mut buffer);
            (self.bind_buffer)(ARRAY_BUFFER, buffer);
            (self.buffer_data)(ARRAY_BUFFER, size_of_val(all) as isize, all.as_ptr().cast(), STATIC_DRAW);
            (self.vertex_attrib_pointer)(0, 2, FLOAT, 0, 0, std::ptr::null());
            (self.enable_vertex_attrib_array)(0);
        }
    }

    /// Clears the picture and draws a triangle over half of it.
    pub fn draw(&self) {
        const VERTEX: &str = "attribute vec4 p; void main() { gl_Position = p; }";
        const FRAGMENT: &str = "#ifdef GL_ES\nprecision mediump float;\n#endif\n\
            void main() { gl_FragColor = vec4(0.5, 0.25, 1.0, 1.0); }";
        const CORNERS: [f32; 6] = [-1.0, -1.0, 1.0, -1.0, -1.0, 1.0];
        // SAFETY: GL's functions.
        unsafe {
            (self.use_program)(self.program(VERTEX, FRAGMENT));
            (self.clear_color)(0.0, 0.0, 0.0, 1.0);
            (self.clear)(COLOR_BUFFER_BIT);
            self.vertices(&CORNERS);
            (self.draw_arrays)(4, 0, 3);
        }
    }

    /// Groups with their counters and how many of these can be active.
    pub fn catalogue(&self) -> Vec<(u32, Vec<u32>, usize)> {
        // SAFETY: arrays of the lengths that are told.
        unsafe {
            let mut n = 0;
            (self.groups)(&mut n, 0, std::ptr::null_mut());
            let mut groups = vec![0; n as usize];
            (self.groups)(std::ptr::null_mut(), n, groups.as_mut_ptr());
            let members = |group: u32| {
                let (mut n, mut active) = (0, 0);
                (self.counters)(group, &mut n, &mut active, 0, std::ptr::null_mut());
                let mut ids = vec![0; n as usize];
                (self.counters)(group, std::ptr::null_mut(), std::ptr::null_mut(), n, ids.as_mut_ptr());
                (group, ids, active as usize)
            };
            groups.into_iter().map(members).collect()
        }
    }

    pub fn number(&self, monitor: u32, what: u32) -> u32 {
        let mut value = u32::MAX;
        // SAFETY: room for one number.
        unsafe { (self.data)(monitor, what, 4, &mut value, std::ptr::null_mut()) };
        value
    }

    /// The result as text: group, counter, its name and value.
    pub fn result(&self, monitor: u32) -> Vec<(u32, u32, String, String)> {
        let mut words = vec![0u32; self.number(monitor, SIZE) as usize / 4];
        let mut written = 0;
        // SAFETY: room as it is told.
        unsafe { (self.data)(monitor, RESULT, words.len() as i32 * 4, words.as_mut_ptr(), &mut written) };
        let mut words = &words[..written as usize / 4];
        let mut all = vec![];
        while let [group, counter, value, rest @ ..] = words {
            let mut ty = 0u32;
            let mut name = [0u8; 256];
            // SAFETY: room for a type and a name.
            unsafe {
                (self.counter_info)(*group, *counter, COUNTER_TYPE, (&raw mut ty).cast());
                (self.counter_string)(*group, *counter, 256, std::ptr::null_mut(), name.as_mut_ptr().cast());
            }
            let name = CStr::from_bytes_until_nul(&name).unwrap_or_default().to_string_lossy().into_owned();
            let text = match (ty, rest) {
                (UNSIGNED_INT, _) => value.to_string(),
                (UNSIGNED_INT64, [high, after @ ..]) => {
                    words = after;
                    all.push((
                        *group,
                        *counter,
                        name,
                        (u64::from(*high) << 32 | u64::from(*value)).to_string(),
                    ));
                    continue;
                }
                _ => f32::from_bits(*value).to_string(),
            };
            all.push((*group, *counter, name, text));
            words = rest;
        }
        all
    }
}
