//! Max-sim: each distinct row of the question takes its best row in the atom, the turn and the turn +-1; the sum of these
//! cosines weighted by idf. Rows are compared by their integer codes, whose scale cancels in a cosine.

use super::query::Query;
use crate::index::Index;
use crate::index::kernel::dot_i8;
use crate::text::StaticTable;

/// Sums by atom handle, by place, by place with its neighbours.
#[derive(Debug)]
pub(crate) struct MaxSim {
    pub(crate) atoms: Vec<f32>,
    pub(crate) turns: Vec<f32>,
    pub(crate) near: Vec<f32>,
}

/// Question rows whose cosines are taken together.
const LANES: usize = 4;
/// Rows of a question that count. A question has about a dozen; a whole page pasted as one would cost without end.
const MAX_ROWS: usize = 64;
/// No slot.
const NONE: u32 = u32::MAX;

/// Max-sim of `atoms` (handles with their places, in chronological order); all others have 0.
pub(crate) fn max_sim(index: &Index, table: &StaticTable, query: &Query<'_>, atoms: &[(u32, u32)]) -> MaxSim {
    let layout = index.layout();
    let n_turns = layout.n_turns();
    let mut sums = MaxSim { atoms: vec![0.0; index.atoms.cues.len()], turns: vec![0.0; n_turns], near: vec![0.0; n_turns] };
    let (weights, rows) = question_rows(index, table, query);
    let width = rows.len().next_multiple_of(LANES);
    if rows.is_empty() {
        return sums;
    }

    // Cosines of every distinct row of the atoms with every row of the question.
    let mut slot_of = vec![NONE; table.len()];
    let mut cosines: Vec<f32> = Vec::new();
    let mut best = vec![0f32; width];
    // Best cosines by turn, for the turns that have atoms here, in chronological order.
    let mut places: Vec<u32> = Vec::new();
    let mut turn_best: Vec<f32> = Vec::new();
    for &(atom, place) in atoms {
        best.fill(0.0);
        for &row in index.atoms.rows(atom) {
            let Some(slot) = slot_of.get_mut(usize::from(row)) else { continue };
            if *slot == NONE {
                *slot = (cosines.len() / width) as u32;
                push_cosines(table, row, &rows, width, &mut cosines);
            }
            let at = *slot as usize * width;
            most(&mut best, &cosines[at..at + width]);
        }
        sums.atoms[atom as usize] = weighted(&best, &weights);
        if places.last() == Some(&place) {
            let at = turn_best.len() - width;
            most(&mut turn_best[at..], &best);
        } else {
            places.push(place);
            turn_best.extend_from_slice(&best);
        }
    }

    for (k, &place) in places.iter().enumerate() {
        sums.turns[place as usize] = weighted(&turn_best[k * width..(k + 1) * width], &weights);
    }
    // Turns with atoms here and the neighbours of such turns, each once.
    let mut done = 0;
    for &place in &places {
        for near in layout.window(place as usize, 1) {
            if near < done {
                continue;
            }
            done = near + 1;
            best.fill(0.0);
            let window = layout.window(near, 1);
            let first = places.partition_point(|&place| (place as usize) < window.start);
            for k in first..places.len() {
                if places[k] as usize >= window.end {
                    break;
                }
                most(&mut best, &turn_best[k * width..(k + 1) * width]);
            }
            sums.near[near] = weighted(&best, &weights);
        }
    }
    sums
}

/// Weights and widened codes (with their length) of the question's rows: the rarest when there are too many.
fn question_rows(index: &Index, table: &StaticTable, query: &Query<'_>) -> (Vec<f32>, Vec<(Vec<i16>, f32)>) {
    let n = index.len() as f32;
    let mut rows: Vec<(u16, f32)> = query
        .rows
        .iter()
        .map(|&row| match index.row_df(row) {
            0 => (row, (1.0 + 2.0 * n).ln()),
            df => (row, (1.0 + (n - df as f32 + 0.5) / (df as f32 + 0.5)).ln()),
        })
        .collect();
    if rows.len() > MAX_ROWS {
        rows.sort_by(|a, b| b.1.total_cmp(&a.1));
        rows.truncate(MAX_ROWS);
    }
    let widen = |row: u16| table.codes(row).iter().map(|&code| i16::from(code)).collect::<Vec<i16>>();
    rows.into_iter().map(|(row, weight)| (weight, (widen(row), table.code_norm(row)))).unzip()
}

/// Appends the cosines of `row` with the question's rows, none below 0.
fn push_cosines(table: &StaticTable, row: u16, rows: &[(Vec<i16>, f32)], width: usize, cosines: &mut Vec<f32>) {
    let (codes, norm) = (table.codes(row), table.code_norm(row));
    for (query, query_norm) in rows {
        let scale = norm * query_norm;
        cosines.push(if scale > 0.0 { (dot_i8(query, codes) as f32 / scale).max(0.0) } else { 0.0 });
    }
    cosines.resize(cosines.len() + width - rows.len(), 0.0);
}

fn most(best: &mut [f32], values: &[f32]) {
    for (best, &value) in best.iter_mut().zip(values) {
        *best = if value > *best { value } else { *best };
    }
}

fn weighted(best: &[f32], weights: &[f32]) -> f32 {
    best.iter().zip(weights).map(|(best, weight)| best * weight).sum()
}
