//! A turn's units: everything about a text that is computed once, when it is stored.

use crate::model::{Atom, TurnUnits};
use crate::order::sort;

use super::{StaticTable, atom_text, atoms, cues, estimate_tokens};

/// Cuts `text` into atoms with their cues, costs and table rows.
///
/// `label` is the speaker's name as a prompt prints it before `:`; an empty one costs nothing. Without a table costs are
/// estimates and no atom has rows. Bytes beyond `u32::MAX` are not addressed.
pub fn units(text: &str, label: &str, table: Option<&StaticTable>) -> TurnUnits {
    let count = |text: &str| table.map_or_else(|| estimate_tokens(text), |table| table.count(text));
    let atoms = atoms(text)
        .into_iter()
        .filter_map(|range| {
            let body = atom_text(text, &range);
            let (mut rows, cost_tokens) = match table {
                Some(table) => table.rows_and_count(&body),
                None => (Vec::new(), estimate_tokens(&body)),
            };
            sort(&mut rows);
            rows.dedup();
            Some(Atom {
                start: u32::try_from(range.start).ok()?,
                end: u32::try_from(range.end).ok()?,
                cues: cues(&body),
                cost_tokens,
                rows,
            })
        })
        .collect();
    let label_tokens = if label.is_empty() { 0 } else { count(&format!("{label}:")) };
    TurnUnits { atoms, label_tokens }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
pub(super) mod tests {
    use super::*;

    /// The shipped table.
    pub(in super::super) fn shipped() -> StaticTable {
        let file = include_bytes!("../../pkg-js/table/table-128-int4.safetensors");
        StaticTable::from_bytes(file).unwrap()
    }

    /// The recipe's golden conversation: label and text of each turn.
    const GOLDEN: [(&str, &str); 6] = [
        ("Anna", "Hi Ben! I adopted a puppy from the shelter yesterday. Her name is Luna."),
        ("Ben", "That's wonderful! Do you walk her a lot? I moved to Lisbon last month."),
        ("Anna", "We hiked near Sintra. Luna loved the river and slept all day after that."),
        ("Ben", "I started a pottery class in June; my first bowl was a café-blue disaster."),
        ("Anna", "我上周去了图书馆，借了一本科幻小说。书名叫《三体》，非常好看！"),
        ("Ben", "听起来很有意思。我更喜欢看电影和喝茶。"),
    ];

    #[cfg_attr(target_arch = "wasm32", wasm_bindgen_test::wasm_bindgen_test)]
    #[cfg_attr(not(target_arch = "wasm32"), test)]
    fn the_golden_conversation_gives_the_golden_units() {
        let table = shipped();
        let (mut texts, mut costs, mut labels) = (Vec::new(), Vec::new(), Vec::new());
        for (label, text) in GOLDEN {
            let units = units(text, label, Some(&table));
            labels.push(units.label_tokens);
            for atom in units.atoms {
                texts.push(atom_text(text, &(atom.start as usize..atom.end as usize)));
                costs.push(atom.cost_tokens);
            }
        }
        assert_eq!(
            texts,
            [
                "Hi Ben! I adopted a puppy from the shelter yesterday.",
                "Her name is Luna.",
                "That's wonderful! Do you walk her a lot?",
                "I moved to Lisbon last month.",
                "We hiked near Sintra.",
                "Luna loved the river and slept all day after that.",
                "I started a pottery class in June; my first bowl was a café-blue disaster.",
                "我上周去了图书馆，借了一本科幻小说。",
                "书名叫《三体》，非常好看！",
                "听起来很有意思。",
                "我更喜欢看电影和喝茶。",
            ]
        );
        assert_eq!(costs, [12, 5, 12, 7, 7, 11, 18, 18, 13, 8, 11]);
        assert_eq!(labels, [2; 6]);
    }

    #[cfg_attr(target_arch = "wasm32", wasm_bindgen_test::wasm_bindgen_test)]
    #[cfg_attr(not(target_arch = "wasm32"), test)]
    fn the_golden_text_gives_the_golden_rows_and_vector() {
        let table = shipped();
        let text = "Café 图书馆 puppies!";
        assert_eq!(table.rows(text), [5846, 24919, 11222, 0, 28172, 35377, 34370, 28075, 29177]);
        let vector = table.unit_vector(text);
        for (ours, golden) in vector.iter().zip([0.123, -0.071, 0.129, 0.196, -0.107, -0.034]) {
            assert!((ours - golden).abs() < 0.0006, "{vector:?}");
        }
    }

    #[test]
    fn units_without_a_table_are_estimated_and_without_a_label_free() {
        let units = units("We hiked near Sintra. 我更喜欢喝茶。", "", None);
        assert_eq!(units.label_tokens, 0);
        assert_eq!(units.atoms.iter().map(|a| (a.cost_tokens, a.rows.len())).collect::<Vec<_>>(), [(5, 0), (7, 0)]);
        assert_eq!(super::units(" \n ", "Anna", None), TurnUnits { atoms: vec![], label_tokens: 2 });
    }
}
