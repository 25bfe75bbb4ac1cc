//! Three frames of two triangles each, which know nothing of counters: for programs that trace and replay.

mod surfaceless;

fn main() -> Result<(), String> {
    let gl = surfaceless::Gl::new(false)?;
    for _ in 0..3 {
        gl.draw();
        gl.draw();
        gl.swap()?;
    }
    Ok(())
}
