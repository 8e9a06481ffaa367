//! Max-sim: each distinct row of the question takes its best row in the atom, the turn and the turn +-1; the sum of these
//! cosines weighted by idf. Rows are compared by their integer codes, whose scale cancels in a cosine.

use super::fuse::Site;
use super::query::Query;
use crate::index::Index;
use crate::index::kernel::column::keep_most;
use crate::index::kernel::{dot_f32, dot_i16};
use crate::order::{sort_by, sort_by_key};
use crate::text::StaticTable;

/// Sums by atom handle, by place, by place with its neighbours.
#[derive(Debug)]
pub(crate) struct MaxSim {
    pub(crate) atoms: Vec<f32>,
    pub(crate) turns: Vec<f32>,
    pub(crate) near: Vec<f32>,
    /// By atom handle: the mean over its rows, by idf, of the best cosine with a content row of the question.
    pub(crate) reverse: Vec<f32>,
    /// By atom handle: mean idf of its content rows, as a share of that of a row no turn has.
    pub(crate) telling: Vec<f32>,
}

/// What is added up over the rows of an atom.
#[derive(Clone, Copy, Default)]
struct Weighed {
    idf: f32,
    near: f32,
    content_idf: f32,
    n_content: f32,
}

/// Question rows whose cosines are taken together.
const LANES: usize = 4;
/// Rows of a question that count, the rarest. A pasted page would cost without end. Source: RealMem dev (long questions), with
/// 24 rows S@1/5/10 .346 .687 .806, with 64 .343 .688 .805: no loss on the set it was chosen on.
const MAX_ROWS: usize = 24;
/// No slot.
const NONE: u32 = u32::MAX;

/// Max-sim of `atoms`, which are in chronological order; all others have 0.
pub(crate) fn max_sim(index: &Index, table: &StaticTable, query: &Query<'_>, atoms: &[Site]) -> MaxSim {
    let layout = index.layout();
    let n_turns = layout.n_turns();
    let by_atom = vec![0.0; index.atoms.cues.len()];
    let mut sums = MaxSim {
        atoms: by_atom.clone(),
        turns: vec![0.0; n_turns],
        near: vec![0.0; n_turns],
        reverse: by_atom.clone(),
        telling: by_atom,
    };
    let rows = Rows::new(index, table, query);
    let width = rows.width;
    if width == 0 {
        return sums;
    }

    // Cosines of every distinct row of the atoms with every row of the question.
    let mut slot_of = vec![NONE; table.len()];
    let mut cosines: Vec<f32> = Vec::new();
    let mut weighed: Vec<Weighed> = Vec::new();
    let (mut best, mut wide) = (vec![0f32; width], Vec::new());
    // Best cosines by turn, for the turns that have atoms here, in chronological order.
    let mut places: Vec<u32> = Vec::new();
    let mut turn_best: Vec<f32> = Vec::new();
    for &Site { atom, place, .. } in atoms {
        best.fill(0.0);
        let mut sum = Weighed::default();
        for &row in index.atoms.rows(atom) {
            let Some(slot) = slot_of.get_mut(usize::from(row)) else { continue };
            if *slot == NONE {
                *slot = (cosines.len() / width) as u32;
                rows.push_cosines(table, row, &mut wide, &mut cosines);
                weighed.push(rows.weigh(index, table, row, &cosines[cosines.len() - width..]));
            }
            let of = &weighed[*slot as usize];
            sum.idf += of.idf;
            sum.near += of.near;
            sum.content_idf += of.content_idf;
            sum.n_content += of.n_content;
            let at = *slot as usize * width;
            keep_most(&mut best, &cosines[at..at + width]);
        }
        sums.atoms[atom as usize] = rows.sum(&best);
        sums.reverse[atom as usize] = sum.near / sum.idf.max(1e-6);
        sums.telling[atom as usize] = sum.content_idf / (sum.n_content.max(1.0) * idf_of(index, 0));
        if places.last() == Some(&place) {
            let at = turn_best.len() - width;
            keep_most(&mut turn_best[at..], &best);
        } else {
            places.push(place);
            turn_best.extend_from_slice(&best);
        }
    }

    for (k, &place) in places.iter().enumerate() {
        sums.turns[place as usize] = rows.sum(&turn_best[k * width..(k + 1) * width]);
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
                keep_most(&mut best, &turn_best[k * width..(k + 1) * width]);
            }
            sums.near[near] = rows.sum(&best);
        }
    }
    sums
}

/// The rows of a question.
struct Rows {
    /// By row: idf.
    weights: Vec<f32>,
    /// Widened codes, row by row.
    codes: Vec<i16>,
    /// By row: 1 / length of its codes, 0 for a row of zeros.
    inverse: Vec<f32>,
    /// Number of rows, rounded up to whole lanes.
    width: usize,
    /// How many content rows there are; they come first. All are, if there is none.
    n_content: usize,
}

impl Rows {
    /// The rows that `query` names: the rarest when there are too many.
    fn new(index: &Index, table: &StaticTable, query: &Query<'_>) -> Self {
        let mut rows: Vec<(u16, f32)> = query.rows.iter().map(|&row| (row, idf_of(index, index.row_df(row)))).collect();
        if rows.len() > MAX_ROWS {
            sort_by(&mut rows, |a, b| b.1.total_cmp(&a.1));
            rows.truncate(MAX_ROWS);
        }
        sort_by_key(&mut rows, |&(row, _)| !table.is_content(row));
        let n_content = rows.iter().filter(|&&(row, _)| table.is_content(row)).count();
        Self {
            weights: rows.iter().map(|&(_, idf)| idf).collect(),
            codes: rows.iter().flat_map(|&(row, _)| table.codes(row)).map(|&code| i16::from(code)).collect(),
            inverse: rows.iter().map(|&(row, _)| inverse(table.code_norm(row))).collect(),
            width: rows.len().next_multiple_of(LANES),
            n_content: if n_content == 0 { rows.len() } else { n_content },
        }
    }

    /// Appends the cosines of the question's rows with `row`, none below 0; `wide` is a buffer.
    fn push_cosines(&self, table: &StaticTable, row: u16, wide: &mut Vec<i16>, cosines: &mut Vec<f32>) {
        wide.clear();
        wide.extend(table.codes(row).iter().map(|&code| i16::from(code)));
        let scale = inverse(table.code_norm(row));
        let end = cosines.len() + self.width;
        let rows = self.codes.chunks_exact(wide.len().max(1)).zip(&self.inverse);
        cosines.extend(rows.map(|(codes, inverse)| (dot_i16(codes, wide) as f32 * (scale * inverse)).max(0.0)));
        cosines.resize(end, 0.0);
    }

    /// What a row of an atom adds to its sums.
    fn weigh(&self, index: &Index, table: &StaticTable, row: u16, cosines: &[f32]) -> Weighed {
        let idf = idf_of(index, index.row_df(row));
        let nearest = cosines[..self.n_content].iter().fold(0.0, |most: f32, &cosine| most.max(cosine));
        let n_content = f32::from(u8::from(table.is_content(row)));
        Weighed { idf, near: idf * nearest, content_idf: idf * n_content, n_content }
    }

    /// The sum of the best cosines by weight.
    fn sum(&self, best: &[f32]) -> f32 {
        dot_f32(&best[..self.weights.len()], &self.weights)
    }
}

/// Inverse document frequency over turns of a row that `df` of them name.
fn idf_of(index: &Index, df: u32) -> f32 {
    let n = index.len() as f32;
    if df == 0 { (1.0 + 2.0 * n).ln() } else { (1.0 + (n - df as f32 + 0.5) / (df as f32 + 0.5)).ln() }
}

fn inverse(norm: f32) -> f32 {
    if norm > 0.0 { 1.0 / norm } else { 0.0 }
}
