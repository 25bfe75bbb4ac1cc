//! Counters by region (VK_ARM_performance_counters_by_region): what each 64 × 64 task of a render pass counted, written
//! to the application's buffers when the pass ends.
//!
//! Regions are the tasks of the main phase, in rows. The first one begins where the render area does, for the application has room for
//! as many as its extent holds: so do the tiles of such a pass ([`Grid`]). Tiles begin at multiples of four pixels, so of an area that
//! does not up to three columns or rows at its end may have no region; they count in with their neighbours.
//! Subpasses that are drawn together, tile by tile, are one physical subpass; addresses after those of the last one get
//! zeros.

use super::layout::Grid;
use super::state::Rect;
use counters::{Counter, Counts, Model, Value};
use machine::count;
use parking_lot::Mutex;
use texel::memory::AddressSpace;
use texel::memory::sparse::resident;

/// Side of a region in pixels.
pub const REGION: u32 = counters::model::TASK as u32;
/// Counters that a render pass can ask for.
pub const MAX_COUNTERS: u32 = 8;
/// Bytes that a region's values, and a row of regions, are aligned to.
pub const REGION_ALIGNMENT: u32 = 32;
pub const ROW_ALIGNMENT: u32 = 64;

/// What a render pass instance asks for.
#[derive(Clone, Debug, Default)]
pub struct Regions {
    /// Device addresses by physical subpass, then by layer or view; 0: not wanted.
    pub addresses: Vec<u64>,
    /// `None`: no such counter; its values are 0.
    pub counters: Vec<Option<&'static Counter>>,
    /// One region after the other, each with the GPU's one core that draws it. Regions' counts are their own either way, but for their
    /// cycles: alone on a core, a region has no other's warps to hide its waits.
    pub serialize: bool,
    /// Regions lie in memory as in a framebuffer that is turned upside down.
    pub rotated: bool,
}

/// Where values lie after an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Regions in a row, and rows.
    pub width: u32,
    pub height: u32,
    /// Bytes from region to region, and from row to row.
    pub stride: u64,
    pub row_stride: u64,
}

impl Layout {
    pub fn new(area: Rect, counters: usize) -> Layout {
        let across = |a: i32, b: i32| ((b as i64 - a as i64).max(0) as u64).div_ceil(REGION as u64) as u32;
        let (width, height) = (across(area.x0, area.x1), across(area.y0, area.y1));
        let stride = (counters as u64 * 4).next_multiple_of(REGION_ALIGNMENT as u64);
        Layout {
            width,
            height,
            stride,
            row_stride: (width as u64 * stride).next_multiple_of(ROW_ALIGNMENT as u64),
        }
    }
    /// Bytes after each address.
    pub fn bytes(&self) -> u64 {
        self.row_stride * self.height as u64
    }
}

type Cell = Mutex<Option<Box<Counts>>>;

/// What each region of a pass counted, over all its subpasses and layers.
pub struct Map {
    /// Pixels of the framebuffer before region 0.
    pub origin: [i32; 2],
    /// Regions in a row, and rows.
    pub size: [u32; 2],
    /// Row by row; time as that of a task of its own.
    pub counts: Vec<Counts>,
}

/// Regions that a pass's map may have, by subpass and layer: of more there is none.
const MAPPED: u64 = 1 << 16;

/// The counts of a render pass under way, by physical subpass, layer and region.
pub struct Collected {
    /// By the application, which [`Collected::write`] is for.
    asked: bool,
    layout: Layout,
    layers: u32,
    /// The task that is region 0.
    first: [i32; 2],
    /// Its first pixel.
    origin: [i32; 2],
    /// One for each address; empty where nobody wants it.
    planes: Vec<Vec<Cell>>,
}

impl Collected {
    pub fn new(regions: &Regions, area: Rect, grid: Grid, layers: u32) -> Collected {
        let layout = Layout::new(area, regions.counters.len());
        let cells = |&a: &u64| if a == 0 { 0 } else { layout.width as u64 * layout.height as u64 };
        let plane = |a| (0..cells(a)).map(|_| Mutex::default()).collect();
        let first = grid.tile([area.x0, area.y0]);
        Collected {
            asked: true,
            layout,
            layers: layers.max(1),
            first,
            origin: grid.origin(first),
            planes: regions.addresses.iter().map(plane).collect(),
        }
    }

    /// For a map of all of a pass of so many physical subpasses and layers, which nobody has asked for in memory of the
    /// application's; `None`: of too many regions.
    pub fn whole(physical: u32, layers: u32, area: Rect) -> Option<Collected> {
        let layers = layers.max(1);
        let planes = physical as u64 * layers as u64;
        let Layout { width, height, .. } = Layout::new(area, 1);
        if planes.saturating_mul(width as u64 * height as u64) > MAPPED {
            return None;
        }
        // Each plane is wanted, at no address.
        let regions = Regions { addresses: vec![u64::MAX; planes as usize], ..Regions::default() };
        Some(Collected { asked: false, ..Collected::new(&regions, area, Grid::default(), layers) })
    }

    pub fn is_asked(&self) -> bool {
        self.asked
    }

    /// Over subpasses and layers.
    pub fn map(&self, model: &Model) -> Map {
        let Layout { width, height, .. } = self.layout;
        let mut counts = vec![Counts::default(); width as usize * height as usize];
        for plane in &self.planes {
            for (sum, cell) in counts.iter_mut().zip(plane) {
                if let Some(c) = cell.lock().as_deref() {
                    *sum += c;
                }
            }
        }
        counts.iter_mut().for_each(|c| count::task(c, model));
        Map { origin: self.origin, size: [width, height], counts }
    }

    /// Adds what a task counted; `task` is its place in the grid.
    pub fn add(&self, physical: u32, layer: u32, task: [i32; 2], counts: &Counts) {
        let Layout { width, height, .. } = self.layout;
        if width == 0 || height == 0 || layer >= self.layers {
            return;
        }
        let at = |i: usize, n: u32| ((task[i] - self.first[i]).max(0) as u32).min(n - 1) as usize;
        let plane = self.planes.get(physical as usize * self.layers as usize + layer as usize);
        if let Some(cell) = plane.and_then(|p| p.get(at(1, height) * width as usize + at(0, width))) {
            **cell.lock().get_or_insert_default() += counts;
        }
    }

    /// Writes all values. `Err`: an address that has not as many bytes of one allocation, where nothing was written.
    pub fn write(&self, regions: &Regions, model: &Model, memory: &AddressSpace) -> Result<(), u64> {
        let Layout { width, height, stride, row_stride } = self.layout;
        for (&address, plane) in regions.addresses.iter().zip(&self.planes).filter(|(_, p)| !p.is_empty()) {
            if !memory.holds(address, self.layout.bytes()) {
                return Err(address);
            }
            for (n, cell) in plane.iter().enumerate() {
                let mut counts = cell.lock().as_deref().copied().unwrap_or_default();
                count::task(&mut counts, model);
                let (mut x, mut y) = (n as u64 % width as u64, n as u64 / width as u64);
                if regions.rotated {
                    (x, y) = (width as u64 - 1 - x, height as u64 - 1 - y);
                }
                let at = address + y * row_stride + x * stride;
                for (i, c) in regions.counters.iter().enumerate() {
                    let value = match c.map_or(Value::Uint64(0), |c| c.value(&counts, model)) {
                        Value::Uint64(v) => v.min(u32::MAX as u64) as u32,
                        Value::Float64(v) => v as u32,
                    };
                    let to = (at as *mut u32).wrapping_add(i);
                    if resident(to.cast()) {
                        // SAFETY: within the layout's bytes from the address, which is live device memory of any alignment.
                        unsafe { to.write_unaligned(value) }
                    }
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use counters::{Event, Phase, Unit};
    use texel::for_tests::space;
    use texel::memory::DeviceMemory;

    fn rect(x0: i32, y0: i32, x1: i32, y1: i32) -> Rect {
        Rect { x0, y0, x1, y1 }
    }

    #[test]
    fn layout_by_the_specification() {
        // 100 × 65 pixels: 2 × 2 regions. Three counters are 12 bytes, aligned to 32; two of these are a row of 64.
        let l = Layout::new(rect(0, 0, 100, 65), 3);
        assert_eq!((l.width, l.height, l.stride, l.row_stride, l.bytes()), (2, 2, 32, 64, 128));
        let l = Layout::new(rect(0, 0, 192, 64), 8);
        assert_eq!((l.width, l.height, l.stride, l.row_stride, l.bytes()), (3, 1, 32, 128, 128));
    }

    #[test]
    fn values_reach_their_places() {
        let memory = DeviceMemory::allocate(space(), 4096, 0, false).unwrap();
        let base = memory.ptr() as u64;
        let find = |m| Some(counters::catalogue::by_machine(m).unwrap());
        let regions = Regions {
            addresses: vec![base, 0, base + 1024],
            counters: vec![find("MaliFragWarp"), None, find("TuffMainFmaInstr")],
            ..Regions::default()
        };
        // Pixels 32 to 160 of a framebuffer: two regions in rows, though three tasks; one layer of three subpasses.
        let collected = Collected::new(&regions, rect(32, 0, 160, 64), Grid::default(), 1);
        let counted = |warps, fma| {
            let mut c = Counts::default();
            c[(Phase::Main, Unit::Warps)] = warps;
            c[(Phase::Main, Unit::Fma)] = fma;
            c[(Phase::Binning, Unit::Fma)] = 1000;
            c[Event::MainTasks] = 1;
            c
        };
        collected.add(0, 0, [0, 0], &counted(128, 7));
        collected.add(0, 0, [1, 0], &counted(256, 0));
        collected.add(0, 0, [2, 0], &counted(1, 0));
        collected.add(0, 0, [0, 0], &counted(2, 1));
        collected.add(1, 0, [0, 0], &counted(77, 0));
        collected.add(2, 0, [1, 0], &counted(u32::MAX as u64 + 5, 3));
        collected.add(2, 1, [1, 0], &counted(9, 9));
        collected.add(3, 0, [0, 0], &counted(9, 9));
        // SAFETY: within what the test has made.
        let words = |at: u64| unsafe { std::slice::from_raw_parts((base + at) as *const u32, 16) };
        // SAFETY: within what the test has made.
        unsafe { std::ptr::write_bytes(base as *mut u8, 0xee, 4096) };
        let model = Model::default();
        collected.write(&regions, &model, space()).unwrap();
        const FREE: u32 = 0xeeee_eeee;
        let row = words(0);
        assert_eq!(row[..4], [130, 0, 8, FREE]);
        assert_eq!(row[8..12], [257, 0, 0, FREE]);
        assert_eq!(words(64), [FREE; 16]);
        let row = words(1024);
        assert_eq!((&row[..3], &row[8..11]), (&[0, 0, 0][..], &[u32::MAX, 0, 3][..]));
        // Turned upside down: the last region comes first.
        let turned = Regions { rotated: true, ..regions.clone() };
        collected.write(&turned, &model, space()).unwrap();
        assert_eq!((words(0)[0], words(0)[8]), (257, 130));
        // Outside of device memory, nothing is touched.
        let wild = Regions { addresses: vec![64], ..regions.clone() };
        assert_eq!(collected.write(&wild, &model, space()), Err(64));
        let last = Regions { addresses: vec![base + 4096 - 64], ..regions.clone() };
        assert_eq!(collected.write(&last, &model, space()), Ok(()));
        let end = Regions { addresses: vec![base + 4096 - 63], ..regions };
        assert!(collected.write(&end, &model, space()).is_err());
    }

    #[test]
    fn cycles_are_those_of_the_task() {
        let memory = DeviceMemory::allocate(space(), 4096, 0, false).unwrap();
        let regions = Regions {
            addresses: vec![memory.ptr() as u64],
            counters: vec![counters::catalogue::by_machine("MaliMainActiveCy")],
            serialize: true,
            ..Regions::default()
        };
        let collected = Collected::new(&regions, rect(0, 0, 64, 64), Grid::default(), 1);
        let mut c = Counts::default();
        c[Event::MainTasks] = 1;
        c[Event::TilePixelsWritten] = 4096;
        collected.add(0, 0, [0, 0], &c);
        collected.write(&regions, &Model::default(), space()).unwrap();
        // 4096 pixels at 4 a cycle, and 100 for the task.
        // SAFETY: within what the test has made.
        assert_eq!(unsafe { *(memory.ptr() as *const u32) }, 1124);
    }
}
