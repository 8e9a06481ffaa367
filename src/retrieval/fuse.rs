//! Scaling the signals of a question to 0..1 and adding them up, each at the scale where it is taken.

use super::weights::{Feature, Weights};
use crate::index::Index;
use crate::index::kernel::column::{add_scaled, min_max};
use crate::index::layout::Layout;
use crate::model::Cues;
use crate::order::Greatest;

/// What a column has one value for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    /// Atom handles.
    Atom,
    /// Places in chronological order.
    Place,
    /// Session numbers.
    Session,
}

/// Values of one feature over the candidates: `(value - least) * factor`.
#[derive(Clone, Debug)]
struct Column {
    by: By,
    values: Vec<f32>,
    least: f32,
    factor: f32,
}

/// A feature as a function of an atom's cues.
type OfCues = fn(Cues) -> f32;

/// Where an atom is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Site {
    pub(crate) atom: u32,
    pub(crate) place: u32,
    pub(crate) session: u32,
}

impl Site {
    /// The site of a live atom.
    pub(crate) fn of(atom: u32, layout: &Layout) -> Self {
        let place = layout.place_of_atom()[atom as usize];
        Self { atom, place, session: layout.session_of()[place as usize] }
    }
}

/// What the caller may see.
#[derive(Debug)]
pub(crate) struct Visible {
    /// By place; `None` when all are.
    places: Option<Vec<bool>>,
    /// By session number: whether any turn of it is visible.
    sessions: Vec<bool>,
    /// Whether every atom handle is one of a visible turn.
    every_atom: bool,
}

impl Visible {
    pub(crate) fn new(index: &Index, visible: impl Fn(u32) -> bool) -> Self {
        let layout = index.layout();
        let mut sessions = vec![false; layout.n_sessions()];
        let mut places = vec![false; layout.n_turns()];
        let (order, session_of) = (layout.order(), layout.session_of());
        let (of_place, of_session) = (places.as_mut_slice(), sessions.as_mut_slice());
        let (mut n_visible, mut place) = (0, 0);
        while place < order.len() {
            if visible(order[place]) {
                n_visible += 1;
                of_place[place] = true;
                of_session[session_of[place] as usize] = true;
            }
            place += 1;
        }
        let all = n_visible == places.len();
        let every_atom = all && index.n_atoms() == layout.place_of_atom().len();
        Self { places: (!all).then_some(places), sessions, every_atom }
    }

    /// Whether the turn at `place` is visible.
    #[inline(always)]
    pub(crate) fn has(&self, place: usize) -> bool {
        match &self.places {
            None => true,
            Some(places) => places.as_slice()[place],
        }
    }

    /// The least and the greatest of the visible values.
    fn range(&self, index: &Index, by: By, values: &[f32]) -> (f32, f32) {
        let (mut least, mut most) = (f32::INFINITY, f32::NEG_INFINITY);
        let mut see = |value: f32| (least, most) = (least.min(value), most.max(value));
        match by {
            By::Atom if self.every_atom => return min_max(values),
            By::Place if self.places.is_none() => return min_max(values),
            By::Atom => {
                let places = (0..index.layout().n_turns()).filter(|&place| self.has(place));
                let atoms = places.flat_map(|place| index.atoms_of(index.layout().order()[place]));
                atoms.for_each(|atom| see(values[atom as usize]));
            }
            By::Place => (0..values.len()).filter(|&place| self.has(place)).for_each(|place| see(values[place])),
            By::Session => {
                (0..values.len()).filter(|&session| self.sessions[session]).for_each(|session| see(values[session]));
            }
        }
        (least, most)
    }
}

/// Every feature of one question, and their weighted sums as they grow. A feature that weighs nothing, does not apply or
/// tells no two candidates apart is left out.
#[derive(Clone, Debug)]
pub(crate) struct Fused {
    weights: Weights,
    columns: [Option<Column>; Feature::ALL.len()],
    /// Features that are read off an atom's cues.
    by_cues: Vec<(Feature, OfCues)>,
    /// Sums of what depends on the question.
    by_session: Vec<f32>,
    by_place: Vec<f32>,
    by_atom: Vec<f32>,
    /// By cues of an atom: sums of what depends on the question.
    asked_by_cues: [f32; Cues::N],
    /// Sums of what the atom is by itself.
    own_by_session: Vec<f32>,
    own_by_atom: Vec<f32>,
    own_by_cues: [f32; Cues::N],
}

impl Fused {
    pub(crate) fn new(index: &Index, weights: Weights) -> Self {
        let layout = index.layout();
        let by_session = vec![0.0; layout.n_sessions()];
        Self {
            weights,
            columns: [const { None }; Feature::ALL.len()],
            by_cues: Vec::new(),
            own_by_atom: vec![0.0; layout.place_of_atom().len()],
            own_by_session: by_session.clone(),
            by_session,
            by_place: vec![0.0; layout.n_turns()],
            by_atom: vec![0.0; layout.place_of_atom().len()],
            asked_by_cues: [0.0; Cues::N],
            own_by_cues: [0.0; Cues::N],
        }
    }

    /// Whether a feature weighs anything.
    pub(crate) fn wants(&self, feature: Feature) -> bool {
        self.weights.get(feature) != 0.0
    }

    /// Adds a feature scaled to 0..1 over what is visible.
    pub(crate) fn add(&mut self, index: &Index, visible: &Visible, feature: Feature, by: By, values: Vec<f32>) {
        if !self.wants(feature) {
            return;
        }
        let (least, most) = visible.range(index, by, &values);
        if most > least {
            self.add_column(feature, Column { by, values, least, factor: 1.0 / (most - least) });
        }
    }

    /// Adds a feature that is 0..1 already.
    pub(crate) fn add_as_is(&mut self, feature: Feature, by: By, values: Vec<f32>) {
        self.add_column(feature, Column { by, values, least: 0.0, factor: 1.0 });
    }

    /// Adds a feature that is read off an atom's cues.
    pub(crate) fn add_cue(&mut self, feature: Feature, value: OfCues) {
        let sums = if feature.depends_on_question() { &mut self.asked_by_cues } else { &mut self.own_by_cues };
        for of in Cues::every() {
            sums[of.number()] += self.weights.get(feature) * value(of);
        }
        self.by_cues.push((feature, value));
    }

    fn add_column(&mut self, feature: Feature, column: Column) {
        if !self.wants(feature) {
            return;
        }
        let sums = match column.by {
            By::Atom if feature.depends_on_question() => &mut self.by_atom,
            By::Atom => &mut self.own_by_atom,
            By::Place => &mut self.by_place,
            By::Session if feature.depends_on_question() => &mut self.by_session,
            By::Session => &mut self.own_by_session,
        };
        add_scaled(sums, &column.values, column.least, column.factor * self.weights.get(feature));
        self.columns[feature as usize] = Some(column);
    }

    /// Adds the sums of the sessions to those of their turns. No session's feature may be added after that.
    pub(crate) fn settle_sessions(&mut self, index: &Index) {
        let (by_place, by_session) = (self.by_place.as_mut_slice(), self.by_session.as_slice());
        let session_of = index.layout().session_of();
        let mut place = 0;
        while place < by_place.len() {
            by_place[place] += by_session[session_of[place] as usize];
            place += 1;
        }
    }

    /// Adds the sums of the turns and of the cues to those of the atoms, and gives the greatest of what is visible. No feature
    /// may be added after that.
    pub(crate) fn settle(&mut self, index: &Index, visible: &Visible) -> f32 {
        let mut most = f32::NEG_INFINITY;
        let (by_place, by_atom) = (self.by_place.as_slice(), self.by_atom.as_mut_slice());
        let (order, cues) = (index.layout().order(), index.atoms.cues.as_slice());
        let mut place = 0;
        while place < order.len() {
            if visible.has(place) {
                let atoms = index.atoms_of(order[place]);
                let mut atom = atoms.start as usize;
                while atom < atoms.end as usize {
                    let sum = by_atom[atom] + by_place[place] + self.asked_by_cues[cues[atom].number()];
                    by_atom[atom] = sum;
                    most = if sum > most { sum } else { most };
                    atom += 1;
                }
            }
            place += 1;
        }
        most
    }

    /// The sum of what depends on the question at an atom, once all is settled.
    pub(crate) fn answers(&self, atom: u32) -> f32 {
        self.by_atom[atom as usize]
    }

    /// The sum of what the atom is by itself.
    pub(crate) fn own(&self, site: Site, cues: Cues) -> f32 {
        let own = self.own_by_session[site.session as usize] + self.own_by_atom[site.atom as usize];
        own + self.own_by_cues[cues.number()]
    }

    /// The `n` visible atoms that are best by what has been added so far, the sessions settled, in no order.
    pub(crate) fn best_so_far(&self, index: &Index, visible: &Visible, n: usize) -> Vec<u32> {
        let mut best = Greatest::new(n);
        let (by_place, by_atom) = (self.by_place.as_slice(), self.by_atom.as_slice());
        let (order, session_of) = (index.layout().order(), index.layout().session_of());
        let (cues, own_by_session) = (index.atoms.cues.as_slice(), self.own_by_session.as_slice());
        // What an atom can add to its turn at most: most turns are too bad for their atoms to be looked at.
        let of_cues = |of: usize| self.asked_by_cues[of] + self.own_by_cues[of];
        let most = (0..Cues::N).map(of_cues).fold(0.0, f32::max) + min_max(by_atom).1.max(0.0);
        let mut place = 0;
        while place < order.len() {
            let base = by_place[place] + own_by_session[session_of[place] as usize];
            if base + most > best.floor() && visible.has(place) {
                let atoms = index.atoms_of(order[place]);
                let mut atom = atoms.start as usize;
                while atom < atoms.end as usize {
                    let of = cues[atom].number();
                    best.push(base + by_atom[atom] + self.asked_by_cues[of] + self.own_by_cues[of], atom as u32);
                    atom += 1;
                }
            }
            place += 1;
        }
        best.into_numbers()
    }

    /// The hits that are worth the most: the best atoms of the `n_turns` turns with the greatest score, and the `n_atoms` atoms
    /// with the greatest `score - length * ln(tokens)`.
    pub(crate) fn best(
        &self,
        index: &Index,
        visible: &Visible,
        (n_turns, n_atoms): (usize, usize),
        length: f32,
        is_hit: &dyn Fn(Site) -> bool,
    ) -> (Vec<u32>, Vec<u32>) {
        let (mut turns, mut atoms) = (Greatest::new(n_turns), Greatest::new(n_atoms));
        let by_atom = self.by_atom.as_slice();
        let (order, session_of) = (index.layout().order(), index.layout().session_of());
        let (cues, log_cost) = (index.atoms.cues.as_slice(), index.atoms.log_cost.as_slice());
        let (own_by_session, own_by_atom) = (self.own_by_session.as_slice(), self.own_by_atom.as_slice());
        let mut place = 0;
        while place < order.len() {
            if visible.has(place) {
                let session = session_of[place];
                let own = own_by_session[session as usize];
                let (mut most, mut best) = (turns.floor(), None);
                let of_turn = index.atoms_of(order[place]);
                let mut atom = of_turn.start;
                while atom < of_turn.end {
                    let at = atom as usize;
                    let score = by_atom[at] + own + own_by_atom[at] + self.own_by_cues[cues[at].number()];
                    let value = score - length * log_cost[at];
                    // Most atoms are worth too little, whether they are hits or not.
                    if (score > most || value > atoms.floor()) && is_hit(Site { atom, place: place as u32, session }) {
                        if score > most {
                            (most, best) = (score, Some(atom));
                        }
                        atoms.push(value, atom);
                    }
                    atom += 1;
                }
                if let Some(best) = best {
                    turns.push(most, best);
                }
            }
            place += 1;
        }
        (turns.into_numbers(), atoms.into_numbers())
    }

    /// The value of a feature at an atom.
    pub(crate) fn value(&self, feature: Feature, site: Site, cues: Cues) -> f32 {
        if let Some((_, value)) = self.by_cues.iter().find(|(known, _)| *known == feature) {
            return value(cues);
        }
        self.columns[feature as usize].as_ref().map_or(0.0, |column| {
            let at = match column.by {
                By::Atom => site.atom,
                By::Place => site.place,
                By::Session => site.session,
            };
            (column.values[at as usize] - column.least) * column.factor
        })
    }

    /// Weight times value of each feature that is not 0.
    pub(crate) fn parts(&self, site: Site, cues: Cues) -> Vec<(Feature, f32)> {
        let part = |feature: Feature| (feature, self.weights.get(feature) * self.value(feature, site, cues));
        Feature::ALL.into_iter().map(part).filter(|&(_, part)| part != 0.0).collect()
    }
}
