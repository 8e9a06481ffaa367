//! General categories of characters (Unicode 16), as far as this crate tells them apart.
//!
//! `category.bin` has them in 3 KB, so that the wasm file does without the tables of a general library; it is unpacked at the
//! first question. The file is a list of runs from U+0 to U+10FFFF, each one number: its length times the number of
//! categories, plus the category.

use std::sync::LazyLock;

/// What a character is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Category {
    /// L: a letter of any script.
    Letter,
    /// Mn: a mark that takes no room of its own.
    NonspacingMark,
    /// Mc, Me: any other mark.
    OtherMark,
    /// Nd: a decimal digit.
    Digit,
    /// Nl: a number that is written like a letter.
    LetterNumber,
    /// No: any other number.
    OtherNumber,
    /// P.
    Punctuation,
    /// Cc, Cf, Cs, Co, Cn: controls, formats, surrogates, private use, not assigned.
    Control,
    /// S, Z: symbols and separators.
    Other,
}

/// In the order in which `category.bin` numbers them.
const CATEGORIES: [Category; 9] = [
    Category::Letter,
    Category::NonspacingMark,
    Category::OtherMark,
    Category::Digit,
    Category::LetterNumber,
    Category::OtherNumber,
    Category::Punctuation,
    Category::Control,
    Category::Other,
];

/// Characters a block of [`Table`].
const BLOCK: usize = 256;

static TABLE: LazyLock<Table> = LazyLock::new(|| Table::unpack(include_bytes!("category.bin")));

/// The category of `c`.
pub(super) fn category(c: char) -> Category {
    let table = &*TABLE;
    let at = c as usize;
    table.blocks[usize::from(table.block_of[at / BLOCK])][at % BLOCK]
}

/// Categories in blocks; neighbouring blocks that are equal are kept once.
struct Table {
    block_of: Vec<u16>,
    blocks: Vec<[Category; BLOCK]>,
}

impl Table {
    fn unpack(packed: &[u8]) -> Table {
        let mut table = Table { block_of: Vec::new(), blocks: Vec::new() };
        let (mut block, mut filled) = ([Category::Other; BLOCK], 0);
        for run in numbers(packed) {
            let category = CATEGORIES[run as usize % CATEGORIES.len()];
            let mut left = run as usize / CATEGORIES.len();
            while left > 0 {
                let end = BLOCK.min(filled + left);
                block[filled..end].fill(category);
                left -= end - filled;
                filled = end % BLOCK;
                if filled == 0 {
                    if table.blocks.last() != Some(&block) {
                        table.blocks.push(block);
                    }
                    table.block_of.push(table.blocks.len() as u16 - 1);
                }
            }
        }
        table
    }
}

/// The numbers of a packed table, each in as few bytes as it needs: seven bits a byte, low ones first, the eighth set while
/// more follow.
pub(super) fn numbers(packed: &[u8]) -> impl Iterator<Item = u32> {
    packed.split_inclusive(|byte| byte & 0x80 == 0).map(|bytes| {
        let mut number = 0;
        for &byte in bytes.iter().rev() {
            number = number << 7 | u32::from(byte & 0x7f);
        }
        number
    })
}

/// The inverse of [`numbers`]; compares it with the file `name` of this folder, or writes that if `MEMSTRATA_PIN` is set.
#[cfg(test)]
pub(super) fn check_packed(name: &str, numbers: &[u32]) {
    let mut packed = Vec::new();
    for &number in numbers {
        let mut left = number;
        while left >= 0x80 {
            packed.push(left as u8 | 0x80);
            left >>= 7;
        }
        packed.push(left as u8);
    }
    let path = [env!("CARGO_MANIFEST_DIR"), "/src/text/", name].concat();
    if std::env::var_os("MEMSTRATA_PIN").is_some() {
        std::fs::write(&path, &packed).expect("writable");
    }
    let pinned = std::fs::read(&path).unwrap_or_default();
    assert!(pinned == packed, "{name} is out of date; run this test again with MEMSTRATA_PIN=1");
}

#[cfg(test)]
mod tests {
    use super::*;
    use unicode_general_category::{GeneralCategory, get_general_category};

    fn expected(c: char) -> Category {
        match get_general_category(c) {
            GeneralCategory::UppercaseLetter
            | GeneralCategory::LowercaseLetter
            | GeneralCategory::TitlecaseLetter
            | GeneralCategory::ModifierLetter
            | GeneralCategory::OtherLetter => Category::Letter,
            GeneralCategory::NonspacingMark => Category::NonspacingMark,
            GeneralCategory::SpacingMark | GeneralCategory::EnclosingMark => Category::OtherMark,
            GeneralCategory::DecimalNumber => Category::Digit,
            GeneralCategory::LetterNumber => Category::LetterNumber,
            GeneralCategory::OtherNumber => Category::OtherNumber,
            GeneralCategory::ConnectorPunctuation
            | GeneralCategory::DashPunctuation
            | GeneralCategory::OpenPunctuation
            | GeneralCategory::ClosePunctuation
            | GeneralCategory::InitialPunctuation
            | GeneralCategory::FinalPunctuation
            | GeneralCategory::OtherPunctuation => Category::Punctuation,
            GeneralCategory::Control
            | GeneralCategory::Format
            | GeneralCategory::Surrogate
            | GeneralCategory::PrivateUse
            | GeneralCategory::Unassigned => Category::Control,
            _ => Category::Other,
        }
    }

    #[test]
    fn the_packed_table_is_unicodes() {
        let mut runs: Vec<(Category, u32)> = Vec::new();
        for c in 0..=u32::from(char::MAX) {
            let category = char::from_u32(c).map_or(Category::Control, expected);
            match runs.last_mut() {
                Some((last, length)) if *last == category => *length += 1,
                _ => runs.push((category, 1)),
            }
        }
        let number = |category| CATEGORIES.iter().position(|&c| c == category).expect("listed") as u32;
        let runs: Vec<u32> = runs.into_iter().map(|(c, length)| length * CATEGORIES.len() as u32 + number(c)).collect();
        check_packed("category.bin", &runs);
    }

    #[test]
    fn every_character_has_its_category() {
        for c in '\0'..=char::MAX {
            assert_eq!(category(c), expected(c), "{c:?}");
        }
    }
}
