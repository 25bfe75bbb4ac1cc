//! Optical flow: where the pixels of one image are found in another.
//!
//! Both images are of luma, a byte a pixel. Blocks of 8 × 8 pixels are compared by the sum of their absolute differences, first in images of
//! a fraction of the size, where all vectors of a few pixels are tried; from level to level the vectors found are doubled and corrected. A
//! cell of the result is compared by the block around its middle. Of equal sums the shortest vector is taken, so that results do not depend
//! on threads.

use crate::cost::Cost;
use crate::op::Pool;
use crate::plan::Stop;

/// Pixels of a block's side, and of the border around an image, in which its outermost pixels repeat.
const BLOCK: usize = 8;
/// Images are not halved to less than this.
const LEAST: usize = 16;
/// Pixels around a place that are tried in the smallest image, and at most by an application's hint.
const AROUND: i32 = 4;
const MOST_AROUND: i32 = 16;
/// Times that a vector is corrected.
const CORRECTIONS: usize = 4;

/// A vector in whole pixels.
pub type Vector = [i16; 2];

/// How much is tried.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Effort {
    Fast,
    /// Vectors have parts of pixels.
    Medium,
    /// More levels, and corrections of two pixels.
    Slow,
}

/// What is computed: of images of so many pixels, a vector for each cell of `grid` × `grid`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Flow {
    pub size: [u32; 2],
    pub grid: u32,
    pub effort: Effort,
}

/// An image of luma with its border.
pub struct Plane {
    size: [usize; 2],
    data: Vec<u8>,
}

impl Plane {
    /// # Errors
    /// There is no memory.
    pub fn new(width: usize, height: usize) -> Result<Plane, Stop> {
        let mut data = Vec::new();
        let bytes = (width + 2 * BLOCK).checked_mul(height + 2 * BLOCK).ok_or(Stop::Memory)?;
        data.try_reserve_exact(bytes).map_err(|_| Stop::Memory)?;
        data.resize(bytes, 0);
        Ok(Plane { size: [width, height], data })
    }

    fn stride(&self) -> usize {
        self.size[0] + 2 * BLOCK
    }

    pub fn row(&mut self, y: usize) -> &mut [u8] {
        let at = (y + BLOCK) * self.stride() + BLOCK;
        &mut self.data[at..][..self.size[0]]
    }

    /// All rows are there: the border follows from them.
    fn bordered(mut self) -> Plane {
        let ([width, height], stride) = (self.size, self.stride());
        for row in self.data.chunks_exact_mut(stride).skip(BLOCK).take(height) {
            let (first, last) = (row[BLOCK], row[BLOCK + width - 1]);
            row[..BLOCK].fill(first);
            row[BLOCK + width..].fill(last);
        }
        for y in 0..BLOCK {
            self.data.copy_within(BLOCK * stride..(BLOCK + 1) * stride, y * stride);
            let last = (BLOCK + height - 1) * stride;
            self.data.copy_within(last..last + stride, (BLOCK + height + y) * stride);
        }
        self
    }

    /// Of half the size: means of four, rounded.
    fn halved(&self) -> Result<Plane, Stop> {
        let stride = self.stride();
        let [width, height] = self.size.map(|n| n.div_ceil(2));
        let mut half = Plane::new(width, height)?;
        for y in 0..height {
            // (An odd last row or column is halved with the border's.)
            let above = &self.data[(2 * y + BLOCK) * stride + BLOCK..][..stride + 2 * width];
            for (x, to) in half.row(y).iter_mut().enumerate() {
                let four = [above[2 * x], above[2 * x + 1], above[2 * x + stride], above[2 * x + stride + 1]];
                *to = ((four.iter().map(|v| *v as u16).sum::<u16>() + 2) / 4) as u8;
            }
        }
        Ok(half.bordered())
    }

    /// The block whose first pixel is at a place, brought to within the border.
    fn block(&self, at: [i32; 2]) -> &[u8] {
        let [x, y] =
            [0, 1].map(|i| (at[i].clamp(-(BLOCK as i32), self.size[i] as i32) + BLOCK as i32) as usize);
        &self.data[y * self.stride() + x..]
    }
}

/// Vectors of an image's cells, row by row.
struct Field {
    columns: usize,
    vectors: Vec<Vector>,
}

impl Field {
    fn at(&self, column: i32, row: i32) -> [i32; 2] {
        let rows = self.vectors.len() / self.columns;
        let [x, y] = [column.clamp(0, self.columns as i32 - 1), row.clamp(0, rows as i32 - 1)];
        self.vectors[y as usize * self.columns + x as usize].map(i32::from)
    }
}

/// A level of both images.
struct Level {
    images: [Plane; 2],
    /// Times that it was halved.
    halvings: u32,
}

/// Where a block is found.
#[derive(Clone, Copy)]
struct Found {
    sum: u32,
    vector: [i32; 2],
}

impl Found {
    fn better(self, o: Found) -> Found {
        // (Of hints of any length.)
        let length = |f: Found| f.vector.map(|v| i64::from(v) * i64::from(v)).iter().sum::<i64>();
        if (o.sum, length(o)) < (self.sum, length(self)) { o } else { self }
    }
}

impl Level {
    fn sum(&self, at: [i32; 2], vector: [i32; 2]) -> u32 {
        let [a, b] = &self.images;
        let (first, second) = (a.block(at), b.block([at[0] + vector[0], at[1] + vector[1]]));
        let rows = first.chunks(a.stride()).zip(second.chunks(b.stride())).take(BLOCK);
        let row = |(a, b): (&[u8], &[u8])| -> u32 {
            a[..BLOCK].iter().zip(&b[..BLOCK]).map(|(a, b)| a.abs_diff(*b) as u32).sum()
        };
        rows.map(row).sum()
    }

    fn tried(&self, at: [i32; 2], vector: [i32; 2]) -> Found {
        Found { sum: self.sum(at, vector), vector }
    }

    /// The best of all vectors around one.
    fn around(&self, at: [i32; 2], from: Found, radius: i32) -> Found {
        let mut best = from;
        for dy in -radius..=radius {
            for dx in -radius..=radius {
                if [dx, dy] != [0, 0] {
                    best = best.better(self.tried(at, [from.vector[0] + dx, from.vector[1] + dy]));
                }
            }
        }
        best
    }

    /// The parts of pixels by which a vector is longer: the vertex of the parabola through three sums.
    fn parts(&self, at: [i32; 2], found: Found) -> [f32; 2] {
        if found.sum == 0 {
            return [0.0; 2];
        }
        [0, 1].map(|axis| {
            let beside = |by: i32| {
                let mut vector = found.vector;
                vector[axis] += by;
                self.sum(at, vector) as f32
            };
            let (before, after) = (beside(-1), beside(1));
            let bend = before + after - 2.0 * found.sum as f32;
            if bend > 0.0 { ((before - after) / (2.0 * bend)).clamp(-0.5, 0.5) } else { 0.0 }
        })
    }
}

/// What is known before: vectors of the result's cells.
pub type Hints<'a> = [Option<&'a [Vector]>; 2];

impl Flow {
    /// Cells of a row, and rows of them.
    pub fn cells(&self) -> [usize; 2] {
        self.size.map(|n| n.div_ceil(self.grid) as usize)
    }

    fn levels(&self) -> usize {
        let most = match self.effort {
            Effort::Fast => 3,
            Effort::Medium => 4,
            Effort::Slow => 5,
        };
        let least = self.size[0].min(self.size[1]) as usize;
        (1..most).take_while(|l| least >> l >= LEAST).count() + 1
    }

    fn correction(&self) -> i32 {
        if self.effort == Effort::Slow { 2 } else { 1 }
    }

    /// What it asks of the modelled GPU's arithmetic units: of the vectors that are tried at least, absolute differences of bytes and
    /// their sums, four of each to an operation of the CVT pipe.
    pub fn cost(&self) -> Cost {
        let square = |radius: i32| (2 * radius as u64 + 1).pow(2);
        let (tried, top) = (6 + square(self.correction()), self.levels() - 1);
        let pixels = self.size[0] as u64 * self.size[1] as u64;
        let cells = self.cells().iter().product::<usize>() as u64;
        let blocks = |level: usize| (pixels >> (2 * level)).div_ceil((BLOCK * BLOCK) as u64);
        let mut vectors = cells * if top == 0 { square(AROUND) } else { tried };
        for level in 1..=top {
            vectors += blocks(level) * if level == top { square(AROUND) } else { tried };
        }
        let others = vectors * (BLOCK * BLOCK) as u64;
        let lanes = [0, others.div_ceil(2), 0];
        Cost { others, lanes, narrow: lanes[1], read: 2 * pixels, written: 6 * cells, ..Cost::default() }
    }

    /// Computes the vector of each cell. `images`: that whose pixels are looked for, and where. `hints`: vectors to try besides. `mean`: how
    /// long vectors are expected to be, or 0. `put` gets the number of a cell, row by row, its vector, and the sum of the differences that
    /// are left, which is at most 64 · 255. The vectors in whole pixels are given back.
    ///
    /// # Errors
    /// There is no memory.
    pub fn run(
        &self,
        images: [Plane; 2],
        hints: Hints,
        mean: u32,
        pool: &dyn Pool,
        put: &(dyn Fn(usize, [f32; 2], u16) + Sync),
    ) -> Result<Vec<Vector>, Stop> {
        let mut levels = vec![Level { images: images.map(Plane::bordered), halvings: 0 }];
        for halvings in 1..self.levels() as u32 {
            let [a, b] = &levels[levels.len() - 1].images;
            levels.push(Level { images: [a.halved()?, b.halved()?], halvings });
        }
        let top = levels.len() as u32 - 1;
        let around = (mean.div_ceil(1 << top) as i32).clamp(AROUND, MOST_AROUND);
        let mut field: Option<Field> = None;
        while let Some(level) = levels.pop() {
            let last = level.halvings == 0;
            let grid = if last { self.grid as usize } else { BLOCK };
            let [columns, rows] = level.images[0].size.map(|n| n.div_ceil(grid));
            let mut vectors: Vec<Vector> = Vec::new();
            vectors.try_reserve_exact(columns * rows).map_err(|_| Stop::Memory)?;
            vectors.resize(columns * rows, [0; 2]);
            let all = Cells(vectors.as_mut_ptr());
            pool.run(rows as u64, &|row| {
                for column in 0..columns {
                    let at = [column, row as usize].map(|c| (c * grid + grid / 2) as i32 - BLOCK as i32 / 2);
                    let found = self.find(&level, at, field.as_ref(), hints, around);
                    let cell = row as usize * columns + column;
                    let vector = found.vector.map(|v| v as i16);
                    // SAFETY: each row's cells are its task's alone, and the vector outlives the run.
                    unsafe { all.put(cell, vector) };
                    if last {
                        let parts = match self.effort {
                            Effort::Fast => [0.0; 2],
                            _ => level.parts(at, found),
                        };
                        let [x, y] = [0, 1].map(|i| vector[i] as f32 + parts[i]);
                        put(cell, [x, y], found.sum as u16);
                    }
                }
            });
            field = Some(Field { columns, vectors });
        }
        Ok(field.map(|f| f.vectors).unwrap_or_default())
    }

    fn find(&self, level: &Level, at: [i32; 2], above: Option<&Field>, hints: Hints, around: i32) -> Found {
        let mut best = level.tried(at, [0; 2]);
        if above.is_none() {
            best = level.around(at, best, around);
        }
        let middle = at.map(|c| c + BLOCK as i32 / 2);
        if let Some(above) = above {
            let [x, y] = middle.map(|c| c / 2 / BLOCK as i32);
            for [dx, dy] in [[0, 0], [-1, 0], [1, 0], [0, -1], [0, 1]] {
                best = best.better(level.tried(at, above.at(x + dx, y + dy).map(|v| 2 * v)));
            }
        }
        let columns = self.cells()[0];
        for hint in hints.into_iter().flatten() {
            let [x, y] = middle.map(|c| (c << level.halvings) as usize / self.grid as usize);
            let cell = y.min(self.cells()[1] - 1) * columns + x.min(columns - 1);
            let vector = hint.get(cell).copied().unwrap_or_default();
            best = best.better(level.tried(at, vector.map(|v| v as i32 >> level.halvings)));
        }
        for _ in 0..CORRECTIONS {
            let next = level.around(at, best, self.correction());
            if next.vector == best.vector {
                break;
            }
            best = next;
        }
        best
    }
}

/// Cells that tasks write, each its own.
struct Cells(*mut Vector);

// SAFETY: an address; who writes through it says why he may.
unsafe impl Sync for Cells {}

impl Cells {
    /// # Safety
    /// The cell is there, and nobody else uses it.
    unsafe fn put(&self, cell: usize, vector: Vector) {
        // SAFETY: the caller's.
        unsafe { self.0.add(cell).write(vector) }
    }
}

/// A byte of luma: 77 parts of red, 150 of green and 29 of blue.
pub fn luma([r, g, b]: [u8; 3]) -> u8 {
    ((77 * r as u32 + 150 * g as u32 + 29 * b as u32 + 128) >> 8) as u8
}

/// Vectors of hints, of whole pixels: what is no number is 0.
pub fn whole(v: f32) -> i16 {
    v.round_ties_even() as i16
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Alone;
    use std::sync::Mutex;

    /// An image from its pixels.
    fn image(size: [usize; 2], of: impl Fn(i32, i32) -> u8) -> Plane {
        let mut p = Plane::new(size[0], size[1]).expect("memory");
        for y in 0..size[1] {
            p.row(y).iter_mut().enumerate().for_each(|(x, to)| *to = of(x as i32, y as i32));
        }
        p
    }

    /// Random numbers six pixels apart, and straight lines between them: what smaller images show too, and no block has twice.
    fn pattern(x: i32, y: i32) -> u8 {
        let number = |x: i32, y: i32| {
            let h = (x as u32).wrapping_mul(0x9E37_79B1) ^ (y as u32).wrapping_mul(0x85EB_CA6B);
            ((h ^ h >> 15).wrapping_mul(0x2C1B_3C6D) >> 24) as i32
        };
        let [(i, a), (j, b)] = [x, y].map(|c| (c.div_euclid(6), c.rem_euclid(6)));
        let row = |j: i32| (6 - a) * number(i, j) + a * number(i + 1, j);
        (((6 - b) * row(j) + b * row(j + 1)) / 36) as u8
    }

    fn run(f: &Flow, images: [Plane; 2], hints: Hints) -> Vec<([f32; 2], u16)> {
        let made = Mutex::new(vec![([f32::NAN; 2], 0); f.cells().iter().product()]);
        let put = |cell: usize, v, cost| made.lock().expect("no panic")[cell] = (v, cost);
        let vectors = f.run(images, hints, 0, &Alone, &put).expect("memory");
        let made = made.into_inner().expect("no panic");
        assert!(vectors.iter().zip(&made).all(|(v, (m, _))| (v[0] as f32 - m[0]).abs() <= 0.5));
        made
    }

    /// All of an image moves by (3, −2): each cell whose block stays inside finds it, and nothing is left.
    #[test]
    fn a_shift_is_found() {
        for (grid, effort) in [(1, Effort::Fast), (2, Effort::Medium), (4, Effort::Slow), (8, Effort::Medium)]
        {
            let f = Flow { size: [72, 56], grid, effort };
            let images = [image([72, 56], pattern), image([72, 56], |x, y| pattern(x - 3, y + 2))];
            let made = run(&f, images, [None; 2]);
            let [columns, rows] = f.cells();
            assert_eq!([columns, rows], [72usize.div_ceil(grid as usize), 56usize.div_ceil(grid as usize)]);
            for row in 12 / grid as usize..rows - 12 / grid as usize {
                for column in 12 / grid as usize..columns - 12 / grid as usize {
                    assert_eq!(made[row * columns + column], ([3.0, -2.0], 0), "{grid} {column} {row}");
                }
            }
        }
    }

    /// Vectors of an image that says nothing are 0, and so are its costs.
    #[test]
    fn nothing_moves_in_a_flat_image() {
        let f = Flow { size: [40, 24], grid: 4, effort: Effort::Slow };
        let made = run(&f, [image([40, 24], |_, _| 9), image([40, 24], |_, _| 9)], [None; 2]);
        assert!(made.iter().all(|m| *m == ([0.0; 2], 0)));
        // Three more everywhere: 64 pixels of a block differ by 3.
        let made = run(&f, [image([40, 24], |_, _| 9), image([40, 24], |_, _| 12)], [None; 2]);
        assert!(made.iter().all(|m| *m == ([0.0; 2], 192)));
    }

    /// A slope of 8 a pixel moves by a quarter of a pixel: 2 less everywhere. The sums beside are 64 · 6 and 64 · 10: the parabola's vertex is
    /// (10 − 6) / (2 · (10 + 6 − 4)), or a sixth.
    #[test]
    fn parts_of_pixels() {
        let f = Flow { size: [24, 16], grid: 8, effort: Effort::Medium };
        let images = [image([24, 16], |x, _| 20 + 8 * x as u8), image([24, 16], |x, _| 18 + 8 * x as u8)];
        let made = run(&f, images, [None; 2]);
        // The middle cell: pixels 8 to 15, whose neighbours are inside.
        let (v, cost) = made[4 - 3];
        assert_eq!((v[1], cost), (0.0, 128));
        assert!((v[0] - 1.0 / 6.0).abs() < 1e-6, "{v:?}");
    }

    /// Thirty pixels are more than are tried in an image of one level; a hint finds them.
    #[test]
    fn hints_are_tried() {
        let f = Flow { size: [90, 20], grid: 4, effort: Effort::Fast };
        let images = || [image([90, 20], pattern), image([90, 20], |x, y| pattern(x - 30, y))];
        let hint = vec![[30i16, 0]; f.cells().iter().product()];
        let cell = 2 * f.cells()[0] + 5;
        assert_ne!(run(&f, images(), [None; 2])[cell].0, [30.0, 0.0]);
        for hints in [[Some(&hint[..]), None], [None, Some(&hint)]] {
            assert_eq!(run(&f, images(), hints)[cell], ([30.0, 0.0], 0));
        }
        // The longest vectors that a hint can have lead outside the image; in smaller images they are halved, and doubled again.
        for v in [i16::MIN, i16::MAX] {
            let f = Flow { size: [180, 160], effort: Effort::Slow, ..f };
            let flat = || [image([180, 160], |_, _| 9), image([180, 160], |_, _| 9)];
            let hint = vec![[v; 2]; f.cells().iter().product()];
            assert!(run(&f, flat(), [Some(&hint[..]), None]).iter().all(|m| *m == ([0.0; 2], 0)));
        }
    }

    #[test]
    fn luma_of_colours() {
        assert_eq!(
            [[0; 3], [255; 3], [255, 0, 0], [0, 255, 0], [0, 0, 255]].map(luma),
            [0, 255, 77, 149, 29]
        );
        assert_eq!([whole(1.5), whole(-0.6), whole(f32::NAN), whole(1e9)], [2, -1, 0, i16::MAX]);
    }
}
