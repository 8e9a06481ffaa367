//! Scaling the signals of a question to 0..1 and adding them up.

use super::weights::{Feature, Weights};
use crate::index::layout::Layout;
use crate::model::Cues;

/// Values of one feature over the candidates, at the scale where it is taken.
#[derive(Clone, Debug)]
pub(crate) enum Column {
    /// By atom handle.
    Atom(Vec<f32>),
    /// By place in chronological order.
    Turn(Vec<f32>),
    /// By session number.
    Session(Vec<f32>),
    /// The same wherever an atom has these cues.
    Cue(Cues),
}

/// Where an atom is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Site {
    pub(crate) atom: u32,
    pub(crate) place: u32,
    pub(crate) session: u32,
    pub(crate) cues: Cues,
}

/// Every feature of one question; one that does not apply has no column.
#[derive(Clone, Debug, Default)]
pub(crate) struct Features {
    columns: [Option<Column>; Feature::ALL.len()],
}

impl Features {
    pub(crate) fn set(&mut self, feature: Feature, column: Column) {
        self.columns[feature as usize] = Some(column);
    }

    /// The value of a feature at an atom.
    pub(crate) fn value(&self, feature: Feature, site: Site) -> f32 {
        match &self.columns[feature as usize] {
            None => 0.0,
            Some(Column::Atom(values)) => values[site.atom as usize],
            Some(Column::Turn(values)) => values[site.place as usize],
            Some(Column::Session(values)) => values[site.session as usize],
            Some(Column::Cue(cues)) => f32::from(u8::from(site.cues.has(*cues))),
        }
    }
}

/// Weighted sums of [`Features`], taken once a session, once a turn and once an atom.
#[derive(Debug)]
pub(crate) struct Fused<'a> {
    by_place: Vec<f32>,
    by_atom: Vec<(f32, &'a [f32])>,
    by_cue: Vec<(f32, Cues)>,
}

impl<'a> Fused<'a> {
    /// Sums the features that `kept` admits.
    pub(crate) fn new(
        features: &'a Features,
        weights: &Weights,
        layout: &Layout,
        kept: impl Fn(Feature) -> bool,
    ) -> Self {
        let mut by_session = vec![0.0; layout.n_sessions()];
        let mut fused = Self { by_place: vec![0.0; layout.n_turns()], by_atom: Vec::new(), by_cue: Vec::new() };
        let add = |sums: &mut [f32], weight: f32, values: &[f32]| {
            sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += weight * value);
        };
        for feature in Feature::ALL.into_iter().filter(|&feature| kept(feature) && weights.get(feature) != 0.0) {
            let weight = weights.get(feature);
            match &features.columns[feature as usize] {
                None => {}
                Some(Column::Atom(values)) => fused.by_atom.push((weight, values)),
                Some(Column::Turn(values)) => add(&mut fused.by_place, weight, values),
                Some(Column::Session(values)) => add(&mut by_session, weight, values),
                Some(Column::Cue(cues)) => fused.by_cue.push((weight, *cues)),
            }
        }
        for (place, sum) in fused.by_place.iter_mut().enumerate() {
            *sum += by_session[layout.session_of_place(place)];
        }
        fused
    }

    /// The sum at an atom.
    #[inline(always)]
    pub(crate) fn at(&self, site: Site) -> f32 {
        let mut sum = self.by_place[site.place as usize];
        for (weight, values) in &self.by_atom {
            sum += weight * values[site.atom as usize];
        }
        for (weight, cues) in &self.by_cue {
            if site.cues.has(*cues) {
                sum += weight;
            }
        }
        sum
    }
}

/// Scales `values` to 0..1 by the least and the greatest among the `visible`; all 0 when those are equal or there are none.
/// A hidden value may leave 0..1; nobody reads it.
pub(crate) fn min_max(values: &mut [f32], visible: impl Fn(usize) -> bool) {
    let (mut least, mut most) = (f32::INFINITY, f32::NEG_INFINITY);
    for (i, &value) in values.iter().enumerate() {
        if visible(i) {
            least = least.min(value);
            most = most.max(value);
        }
    }
    if most > least {
        let span = most - least;
        values.iter_mut().for_each(|value| *value = (*value - least) / span);
    } else {
        values.fill(0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_values_do_not_set_the_scale() {
        let mut values = [5.0, 1.0, 3.0, -9.0];
        min_max(&mut values, |i| i < 3);
        assert_eq!(values[..3], [1.0, 0.0, 0.5]);
        min_max(&mut values, |i| i == 1);
        assert_eq!(values, [0.0; 4]);
        min_max(&mut values, |_| false);
        assert_eq!(values, [0.0; 4]);
    }
}
