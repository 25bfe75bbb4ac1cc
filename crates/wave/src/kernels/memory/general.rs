//! Forms of the general loads and stores that the fast ones call out of line: their code is large, and within the fast
//! loops it would cost registers.

use super::linear::{ld_buf, ld_shared, st_buf, st_shared};
use crate::kernels::levels::kernel_forms;
use crate::kernels::lines::touch;

kernel_forms! {
    LD_BUF = ld_buf;
    ST_BUF = st_buf;
    LD_SHARED = ld_shared;
    ST_SHARED = st_shared;
    // No op's kernel: it counts for several.
    LD_GLOBAL = touch;
}
