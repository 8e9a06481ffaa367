//! The exact search: a scan of all rows. Codes choose, floats decide: the best rows by int8 code are scored again in f32.

use super::Arena;
use super::best::{Neighbour, better};
use super::filter::Filter;
use crate::error::Result;
use crate::order::sort_by;

/// Rows rescored in f32 whatever `k` is. Source: eval/EVAL.md, recall@10 of 1.0 on 10,000 real vectors with 20.
pub const RESCORE: usize = 20;

/// The `k` rows nearest to `query`, best first, equal ones by row number. Empty rows and those that `filter` holds back are
/// left out before the choice, so a filter never costs results. Fewer than `k` only when there are no more.
///
/// # Errors
/// Those of [`Codes::unit`](super::Codes::unit) for the query.
pub fn top_k(arena: &Arena, query: &[f32], k: usize, filter: &Filter<'_>) -> Result<Vec<Neighbour>> {
    let query = arena.unit(query)?;
    let best = arena.nearest(&arena.query(&query), RESCORE.max(2 * k), filter);
    Ok(rescored(arena, &query, best, k))
}

/// The `k` best of `found`, by exact cosines.
pub(crate) fn rescored(arena: &Arena, query: &[f32], mut found: Vec<Neighbour>, k: usize) -> Vec<Neighbour> {
    for neighbour in &mut found {
        neighbour.cosine = arena.exact_dot(query, neighbour.row as usize);
    }
    sort_by(&mut found, better);
    found.truncate(k);
    found
}

/// Cosines of `query` with every row into `out`; 0 for an empty row. In f32 up to `exact_rows` rows, by codes above
/// (a cosine is then off by less than .005).
///
/// # Errors
/// Those of [`Codes::unit`](super::Codes::unit) for the query.
///
/// # Panics
/// When `out` is not as long as the arena.
pub fn dots(arena: &Arena, query: &[f32], exact_rows: usize, out: &mut [f32]) -> Result<()> {
    assert_eq!(out.len(), arena.len(), "one cosine a row");
    let query = arena.unit(query)?;
    if arena.len() > exact_rows {
        arena.code_dots(&arena.query(&query), out);
    } else {
        for (row, out) in out.iter_mut().enumerate() {
            *out = arena.exact_dot(&query, row);
        }
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;

    use super::super::filter::{Window, Zones};
    use super::*;

    const DIMS: usize = 24;

    fn brute_force(arena: &Arena, query: &[f32], k: usize, keep: &dyn Fn(u32) -> bool) -> Vec<Neighbour> {
        let query = arena.unit(query).unwrap();
        let mut all: Vec<_> = (0..arena.len() as u32)
            .filter(|&row| arena.is_live(row as usize) && keep(row))
            .map(|row| Neighbour { row, cosine: arena.exact_dot(&query, row as usize) })
            .collect();
        all.sort_by(better);
        all.truncate(k);
        all
    }

    #[test]
    fn no_rows_one_row_and_identical_rows() {
        let mut arena = Arena::new(2);
        assert_eq!(top_k(&arena, &[1.0, 0.0], 5, &Filter::NONE), Ok(vec![]));
        assert!(top_k(&arena, &[f32::NAN, 0.0], 5, &Filter::NONE).is_err());
        for _ in 0..600 {
            arena.push(&[3.0, 4.0]).unwrap();
        }
        let rows = |k| top_k(&arena, &[3.0, 4.0], k, &Filter::NONE).unwrap().iter().map(|n| n.row).collect::<Vec<_>>();
        assert_eq!(rows(0), [0u32; 0]);
        assert_eq!(rows(3), [0, 1, 2]);
        assert_eq!(rows(1000), (0..600).collect::<Vec<u32>>());
    }

    proptest! {
        #[test]
        fn equals_brute_force(
            rows in prop::collection::vec(prop::collection::vec(-1f32..1.0, DIMS), 0..700),
            query in prop::collection::vec(-1f32..1.0, DIMS),
            k in 1usize..6,
            modulus in 1u32..4,
            // Of ten rows this many are removed.
            removed in 0usize..10,
            window in (0i64..700, 0i64..700),
        ) {
            let mut arena = Arena::new(DIMS);
            let mut zones = Zones::default();
            for row in &rows {
                if let Ok(row) = arena.push(row) {
                    zones.push(row as i64, 0);
                }
            }
            (0..arena.len()).filter(|row| row % 10 < removed).for_each(|row| { arena.remove(row); });
            let (from_ms, end_ms) = window;
            let keep = |row: u32| row.is_multiple_of(modulus);
            let inside = |row: u32| keep(row) && (from_ms..end_ms).contains(&i64::from(row));
            if arena.unit(&query).is_ok() {
                let found = top_k(&arena, &query, k, &Filter::keeping(&keep)).unwrap();
                prop_assert_eq!(found, brute_force(&arena, &query, k, &keep));
                let filter = Filter::keeping(&keep).within(&zones, Window { from_ms, end_ms, tags: 0 });
                let found = top_k(&arena, &query, k, &filter).unwrap();
                prop_assert_eq!(found, brute_force(&arena, &query, k, &inside));
                let (mut exact, mut coded) = (vec![0.0; arena.len()], vec![0.0; arena.len()]);
                dots(&arena, &query, usize::MAX, &mut exact).unwrap();
                dots(&arena, &query, 0, &mut coded).unwrap();
                for (a, b) in exact.iter().zip(&coded) {
                    prop_assert!((a - b).abs() < 5e-3 + 1e-6);
                }
            }
        }
    }
}
