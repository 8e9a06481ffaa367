//! The packer: which of the scored parts go into a prompt of so many tokens.
//!
//! Greedy by `score - P ln(tokens)`. The speaker's label is paid once a turn, a heading once a session, and a further part
//! of a turn that is in already is worth `REP` less (eval/RETRIEVAL.md, part B, section 2; recipe.py, `pack`).

use crate::order::{keep_least, sort, sort_by};

/// Exponent of the length: how much a part's cost tells against its score; 0 and up. Source: eval/RETRIEVAL.md (without
/// it -.0030, tuned on LoCoMo dev).
pub const P: f64 = 0.9;
/// What a further part of a turn already packed is worth less, in score; 0 and up. Source: eval/RETRIEVAL.md (0 finds fewer
/// turns, 1 more turns but fewer of the right sentences).
pub const REP: f64 = 0.5;
/// The same where the question asks for several things ([`crate::text::asks_for_several`]). Source: tests/eval/train.py,
/// cross-validated +.005 +.004 +.002 +.002 evidence@256/512/1024/2048, strict@512 as before.
pub const REP_LIST: f64 = 1.0;
/// Candidates that are considered, best first. Source: eval/RETRIEVAL.md.
pub const POOL: usize = 220;
/// Tokens left below which packing stops: hardly a sentence is shorter. Source: recipe.py.
pub const LEAST_TOKENS: u32 = 8;

/// Something that may be packed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// What it is part of (a turn); parts of one group follow one another in the list of candidates.
    pub group: u32,
    /// The session of its group.
    pub session: u32,
    /// How well it answers; only differences mean something.
    pub score: f32,
    /// Tokens of its text.
    pub cost_tokens: u32,
    /// Tokens of its group's label, paid with the first part of the group.
    pub label_tokens: u32,
}

/// What was packed, and what was not.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Packed {
    /// Groups with their packed parts, as positions in the list of candidates, both in the order of that list.
    pub groups: Vec<PackedGroup>,
    /// Tokens of all packed parts with their labels and headings.
    pub used_tokens: u32,
    /// The rest of the pool, most valuable first.
    pub left_out: Vec<LeftOut>,
}

/// A turn of which something was packed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackedGroup {
    /// The group.
    pub group: u32,
    /// Its session.
    pub session: u32,
    /// Its packed parts: positions in the list of candidates, ascending.
    pub parts: Vec<usize>,
}

/// A candidate of the pool that is not in the prompt.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LeftOut {
    /// Its position in the list of candidates.
    pub candidate: usize,
    /// `score - P ln(tokens)`, less `REP` when its group is in.
    pub value: f64,
    /// Whether its turn came and it did not fit; else the budget was spent before.
    pub too_long: bool,
}

/// Packs `candidates`, which are in chronological order, into `budget_tokens`. `heading_tokens(session)` is the cost of what
/// is printed above the first part of a session; `rep` is what a further part of a turn is worth less.
pub fn pack(candidates: &[Candidate], budget_tokens: u32, rep: f64, heading_tokens: &dyn Fn(u32) -> u32) -> Packed {
    let mut pool: Vec<(usize, f64)> = candidates.iter().map(value).enumerate().collect();
    let better = |a: &(usize, f64), b: &(usize, f64)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
    keep_least(&mut pool, POOL, better);
    sort_by(&mut pool, better);

    let mut packed = Packed::default();
    let (mut chosen, mut too_long) = (Vec::new(), vec![false; pool.len()]);
    let (mut groups, mut sessions): (Vec<u32>, Vec<u32>) = (Vec::new(), Vec::new());
    let mut waiting: Vec<usize> = (0..pool.len()).collect();
    // The first of equals is taken, which is the one that stood higher in the pool.
    while let Some(next) = waiting.iter().copied().reduce(|best, k| if pool[k].1 > pool[best].1 { k } else { best }) {
        waiting.retain(|&k| k != next);
        let candidate = &candidates[pool[next].0];
        let has_group = groups.contains(&candidate.group);
        let has_session = sessions.contains(&candidate.session);
        let mut cost = candidate.cost_tokens;
        if !has_group {
            cost = cost.saturating_add(candidate.label_tokens);
        }
        if !has_session {
            cost = cost.saturating_add(heading_tokens(candidate.session));
        }
        if cost > budget_tokens - packed.used_tokens {
            too_long[next] = true;
            if budget_tokens - packed.used_tokens < LEAST_TOKENS {
                break;
            }
            continue;
        }
        packed.used_tokens += cost;
        chosen.push(pool[next].0);
        if !has_session {
            sessions.push(candidate.session);
        }
        if !has_group {
            groups.push(candidate.group);
            for &k in &waiting {
                if candidates[pool[k].0].group == candidate.group {
                    pool[k].1 -= rep;
                }
            }
        }
    }

    sort(&mut chosen);
    packed.left_out = pool
        .iter()
        .zip(too_long)
        .filter(|((candidate, _), _)| chosen.binary_search(candidate).is_err())
        .map(|(&(candidate, value), too_long)| LeftOut { candidate, value, too_long })
        .collect();
    sort_by(&mut packed.left_out, |a, b| b.value.total_cmp(&a.value));
    for at in chosen {
        let Candidate { group, session, .. } = candidates[at];
        match packed.groups.last_mut() {
            Some(last) if last.group == group => last.parts.push(at),
            _ => packed.groups.push(PackedGroup { group, session, parts: vec![at] }),
        }
    }
    packed
}

fn value(candidate: &Candidate) -> f64 {
    let tokens = candidate.cost_tokens.saturating_add(candidate.label_tokens);
    // One that costs nothing counts as one token, so that its value is finite.
    f64::from(candidate.score) - P * f64::from(tokens.max(1)).ln()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn candidate(group: u32, session: u32, score: f32, cost_tokens: u32) -> Candidate {
        Candidate { group, session, score, cost_tokens, label_tokens: 2 }
    }

    fn parts(packed: &Packed) -> Vec<Vec<usize>> {
        packed.groups.iter().map(|group| group.parts.clone()).collect()
    }

    #[test]
    fn labels_once_a_turn_and_headings_once_a_session() {
        let candidates =
            [candidate(7, 0, 5.0, 10), candidate(7, 0, 4.9, 10), candidate(8, 0, 4.0, 10), candidate(9, 1, 9.0, 10)];
        let packed = pack(&candidates, 100, REP, &|session| 3 + session);
        assert_eq!(parts(&packed), [vec![0, 1], vec![2], vec![3]]);
        assert_eq!(packed.used_tokens, 4 * 10 + 3 * 2 + 3 + 4);
        assert_eq!(packed.left_out, []);
    }

    #[test]
    fn what_does_not_fit_is_skipped_and_named() {
        let candidates = [candidate(1, 0, 9.0, 50), candidate(2, 0, 5.0, 12), candidate(3, 0, 1.0, 12)];
        let packed = pack(&candidates, 20, REP, &|_| 0);
        assert_eq!(parts(&packed), [vec![1]]);
        let left: Vec<_> = packed.left_out.iter().map(|left| (left.candidate, left.too_long)).collect();
        assert_eq!(left, [(0, true), (2, true)]);
    }

    #[test]
    fn another_part_of_a_packed_turn_waits_behind_an_equal_of_another() {
        let candidates = [candidate(1, 0, 5.0, 10), candidate(1, 0, 4.0, 10), candidate(2, 0, 3.8, 10)];
        assert_eq!(parts(&pack(&candidates, 25, REP, &|_| 0)), [vec![0], vec![2]]);
    }

    #[test]
    fn empty_lists_and_budgets() {
        assert_eq!(pack(&[], 100, REP, &|_| 0), Packed::default());
        let packed = pack(&[candidate(1, 0, 1.0, 1)], 0, REP, &|_| 0);
        assert_eq!((packed.groups.len(), packed.used_tokens, packed.left_out.len()), (0, 0, 1));
    }

    proptest! {
        #[test]
        fn the_budget_holds_and_nothing_is_packed_twice(
            raw in prop::collection::vec((0u32..4, -9f32..9.0, 0u32..40), 0..300),
            budget in 0u32..400,
        ) {
            let mut group = 0;
            let candidates: Vec<_> = raw
                .into_iter()
                .map(|(step, score, cost)| {
                    group += u32::from(step == 0);
                    candidate(group, group / 5, score, cost)
                })
                .collect();
            let packed = pack(&candidates, budget, REP, &|_| 3);
            let all: Vec<usize> = parts(&packed).concat();
            prop_assert!(all.windows(2).all(|pair| pair[0] < pair[1]));
            prop_assert!(packed.used_tokens <= budget);
            let n_sessions = packed.groups.chunk_by(|a, b| a.session == b.session).count() as u32;
            let cost: u32 = all.iter().map(|&at| candidates[at].cost_tokens).sum();
            prop_assert_eq!(packed.used_tokens, cost + 2 * packed.groups.len() as u32 + 3 * n_sessions);
            prop_assert_eq!(all.len() + packed.left_out.len(), candidates.len().min(POOL));
        }
    }
}
