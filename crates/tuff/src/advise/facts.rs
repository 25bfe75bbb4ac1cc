//! The facts of a capture: `facts.json` (docs/capture.md). These structures are the reader's: the driver's (`machine::facts`,
//! `raster::facts`) borrow names that live as long as it does, and write more; these own what they read of a file that anybody may have
//! made, and take only what rules look at. Every scene of advice's tests goes through both.

use client::{Error, Result};
use counters::work::Counted;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// The newest shape that is understood.
const VERSION: u32 = 1;

#[derive(Deserialize)]
pub struct Facts {
    version: u32,
    pub images: Vec<Image>,
    pub uses: Vec<Uses>,
    /// Order of a run, and which of `uses` are its.
    pub runs: Vec<(u64, usize)>,
    pub passes: Vec<Pass>,
}

#[derive(Deserialize)]
pub struct Image {
    pub name: String,
    pub format: String,
    pub extent: [u32; 3],
    pub levels: u32,
    pub layers: u32,
    pub samples: u32,
    pub block_bytes: u32,
    pub block_extent: [u32; 3],
    pub usage: String,
    pub compressed: bool,
    pub presented: bool,
}

pub use counters::how;

#[derive(Default, Deserialize)]
pub struct Uses {
    #[serde(default)]
    pub images: BTreeMap<usize, u32>,
    /// First byte, end, how.
    #[serde(default)]
    pub buffers: Vec<(u64, u64, u32)>,
    #[serde(default)]
    pub anything: u32,
}

#[derive(Deserialize)]
pub struct Pass {
    pub workload: usize,
    pub order: u64,
    pub area: [u32; 2],
    pub layers: u32,
    pub attachments: Vec<Attachment>,
    pub draws: Vec<Draw>,
}

impl Pass {
    pub fn pixels(&self) -> u64 {
        self.area[0] as u64 * self.area[1] as u64 * self.layers as u64
    }
}

#[derive(Deserialize)]
pub struct Attachment {
    pub image: Option<usize>,
    pub role: String,
    pub format: String,
    pub bytes: u32,
    pub load: String,
    pub store: String,
    pub stencil_load: String,
    pub stencil_store: String,
    #[serde(default)]
    pub cleared: bool,
}

impl Attachment {
    pub fn loads(&self) -> bool {
        self.load == "load" || self.stencil_load == "load"
    }
    pub fn stores(&self) -> bool {
        self.store == "store" || self.stencil_store == "store"
    }
}

#[derive(Deserialize)]
pub struct Draw {
    pub name: String,
    pub label: String,
    pub pipeline: Option<String>,
    pub topology: String,
    pub indexed: bool,
    pub vertices: Vertices,
    pub streams: Vec<Stream>,
    pub attributes: Vec<Attribute>,
    pub depth_test: bool,
    pub depth_compare: String,
    pub stencil: bool,
    pub alpha_to_coverage: bool,
    pub samples: u32,
    pub blends: bool,
    pub replaces: Vec<usize>,
    pub fragment: Option<Program>,
    #[serde(default)]
    pub textures: Vec<Texture>,
    pub counted: Counted,
}

#[derive(Deserialize)]
pub struct Vertices {
    pub instances: u64,
    pub distinct: u64,
    pub span: u64,
    pub different: u64,
}

#[derive(Deserialize)]
pub struct Stream {
    pub binding: u32,
    pub stride: u32,
    pub per_instance: bool,
}

#[derive(Deserialize)]
pub struct Attribute {
    pub location: u32,
    pub binding: u32,
    pub format: String,
    pub offset: u32,
    pub bytes: u32,
    pub read: bool,
}

#[derive(Deserialize)]
pub struct Program {
    pub registers: u32,
    #[serde(default)]
    pub discards: bool,
    #[serde(default)]
    pub writes_depth: bool,
    #[serde(default)]
    pub writes_memory: bool,
    #[serde(default)]
    pub early_tests: bool,
    #[serde(default)]
    pub reads_tile: bool,
    /// Scalar inputs: all, those of half precision, flat ones.
    pub inputs: [u32; 3],
}

#[derive(Deserialize)]
pub struct Texture {
    pub image: usize,
    pub levels: u32,
    pub sampler: Option<Sampler>,
}

#[derive(Deserialize)]
pub struct Sampler {
    pub max_lod: f32,
}

impl Facts {
    pub fn read(folder: &Path) -> Result<Facts> {
        let file = folder.join(crate::report::capture::FACTS);
        let text = std::fs::read_to_string(&file).map_err(|e| match e.kind() {
            std::io::ErrorKind::NotFound => Error(format!(
                "{}: not found: the capture is from an older version or of several processes, or this is not a folder from \
                 `tuff run --capture`",
                file.display()
            )),
            _ => Error::file(&file, e),
        })?;
        let facts: Facts = serde_json::from_str(&text).map_err(|e| Error::file(&file, e))?;
        if facts.version > VERSION {
            return Err(Error::file(&file, format!("has version {}, newer than {VERSION}", facts.version)));
        }
        facts.check().map_err(|e| Error::file(&file, e))?;
        Ok(facts)
    }

    /// That all numbers of images and uses exist.
    fn check(&self) -> std::result::Result<(), &'static str> {
        let images = self.images.len();
        let used = self.uses.iter().flat_map(|u| u.images.keys().copied());
        let attached = self.passes.iter().flat_map(|p| p.attachments.iter().filter_map(|a| a.image));
        let draws = self.passes.iter().flat_map(|p| &p.draws);
        let sampled =
            draws.flat_map(|d| d.textures.iter().map(|t| t.image).chain(d.replaces.iter().copied()));
        if used.chain(attached).chain(sampled).any(|i| i >= images) {
            return Err("names an image that does not exist");
        }
        if self.runs.iter().any(|r| r.1 >= self.uses.len()) {
            return Err("names uses that do not exist");
        }
        Ok(())
    }
}

impl Image {
    /// Its name between quotes, or its number; and what it is.
    pub fn called(&self, number: usize) -> String {
        let name = match self.name.is_empty() {
            true => format!("image {number}"),
            false => format!("'{}'", plain::line(&self.name)),
        };
        let [w, h, d] = self.extent;
        let depth = if d > 1 { format!(" × {d}") } else { String::new() };
        let samples = if self.samples > 1 { format!(", {} samples", self.samples) } else { String::new() };
        format!("{name} ({}, {w} × {h}{depth}{samples})", plain::line(&self.format))
    }

    /// Bytes of all levels, layers and samples.
    pub fn bytes(&self) -> u64 {
        let level = |n: u32| {
            let of = |i: usize| {
                let texels = (self.extent[i] >> n.min(31)).max(1) as u64;
                texels.div_ceil(self.block_extent[i].max(1) as u64)
            };
            of(0) * of(1) * of(2)
        };
        let blocks: u64 = (0..self.levels.min(32)).map(level).sum();
        blocks * self.block_bytes as u64 * self.layers as u64 * self.samples as u64
    }
}
