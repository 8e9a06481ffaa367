//! Rows for the tests of searches: seeded, so that a failure can be run again.

use super::Arena;

/// How rows lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Around centres of their own, with a direction that all share, as the vectors of a model do.
    Clustered,
    /// Every direction alike: the hardest.
    Uniform,
}

struct Draw(u64);

impl Draw {
    fn uniform(&mut self) -> f32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 40) as f32 + 0.5) / (1 << 24) as f32
    }

    /// Normal, near enough: the sum of uniform numbers.
    fn normal(&mut self) -> f32 {
        (0..4).map(|_| self.uniform() - 0.5).sum::<f32>() * 3f32.sqrt()
    }

    fn vector(&mut self, dims: usize) -> Vec<f32> {
        (0..dims).map(|_| self.normal()).collect()
    }
}

/// `n` rows of `dims` numbers. Another seed gives other rows around the same centres.
pub(crate) fn rows(seed: u64, n: usize, dims: usize, shape: Shape) -> Vec<Vec<f32>> {
    const CENTRES: usize = 50;
    let mut draw = Draw(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut fixed = Draw(0x2545_f491_4f6c_dd1d);
    let shared = fixed.vector(dims);
    let centres: Vec<Vec<f32>> = (0..CENTRES).map(|_| fixed.vector(dims)).collect();
    (0..n)
        .map(|_| {
            let mut row = draw.vector(dims);
            if shape == Shape::Clustered {
                let centre = &centres[(draw.uniform() * CENTRES as f32) as usize];
                row.iter_mut().zip(centre).zip(&shared).for_each(|((x, c), s)| *x += c + s);
            }
            row
        })
        .collect()
}

/// An arena of `n` rows, and 30 queries of the same shape.
pub(crate) fn arena(seed: u64, n: usize, dims: usize, shape: Shape) -> (Arena, Vec<Vec<f32>>) {
    let mut arena = Arena::new(dims);
    for row in rows(seed, n, dims, shape) {
        assert!(arena.push(&row).is_ok());
    }
    (arena, rows(seed + 1_000_000, 30, dims, shape))
}
