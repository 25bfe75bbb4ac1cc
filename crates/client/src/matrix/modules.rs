//! The matrix's shaders, compiled beforehand (benches/matrix).

macro_rules! modules {
    ($($name:literal)*) => {
        const MODULES: &[(&str, &[u8])] = &[
            $(($name, include_bytes!(concat!("../../../../benches/matrix/", $name, ".spv")))),*
        ];
    };
}

modules! {
    "array.f" "array.i" "array.u" "cube.f" "cube.i" "cube.u" "fetch.f" "fetch.i" "fetch.u" "gather.f" "gather.i" "gather.u"
    "load.f" "load.i" "load.u" "sample.f" "sample.i" "sample.u" "shadow.f" "store.f" "store.i" "store.u"
    "target.f" "target.i" "target.u" "volume.f" "volume.i" "volume.u"
}

/// One triangle over the whole target.
pub const FULL: &[u8] = include_bytes!("../../../../benches/matrix/full.vert.spv");

pub fn find(name: &str) -> Option<&'static [u8]> {
    MODULES.iter().find(|m| m.0 == name).map(|m| m.1)
}
