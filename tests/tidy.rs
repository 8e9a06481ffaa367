//! The shape of the tree: import directions, forbidden words, file sizes, the top level and the code map.
//! The first half looks at the repository, the second shows that each rule fails where it should.

#[path = "tidy/rules.rs"]
mod rules;
#[path = "tidy/source.rs"]
mod source;

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Text files below `dir` of the repository, as (path below `dir`, text), in order.
fn files(dir: &str) -> Vec<(String, String)> {
    let base = root().join(dir);
    let (mut open, mut out) = (vec![base.clone()], Vec::new());
    while let Some(folder) = open.pop() {
        let entries: Vec<PathBuf> = fs::read_dir(&folder).into_iter().flatten().flatten().map(|e| e.path()).collect();
        for path in entries {
            if path.is_dir() {
                open.push(path);
            } else if let Ok(text) = fs::read_to_string(&path) {
                let below = path.strip_prefix(&base).expect("walked from base");
                out.push((below.to_string_lossy().replace('\\', "/"), text));
            }
        }
    }
    out.sort();
    out
}

fn rust_files() -> Vec<(String, String)> {
    let found: Vec<_> = files("src").into_iter().filter(|(p, _)| p.ends_with(".rs")).collect();
    assert!(found.len() > 10, "src was not read: {} files", found.len());
    found
}

#[track_caller]
fn check(complaints: Vec<String>) {
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}

#[test]
fn imports_go_down_only() {
    check(rust_files().iter().flat_map(|(p, s)| rules::directions(p, s)).collect());
}

#[test]
fn words_stay_where_they_belong() {
    check(rust_files().iter().flat_map(|(p, s)| rules::words(p, s)).collect());
}

#[test]
fn files_can_be_read_in_one_sitting() {
    let all = ["src", "pkg-js/src", "www/src"]
        .into_iter()
        .flat_map(|d| files(d).into_iter().map(move |(p, s)| (format!("{d}/{p}"), s)));
    check(all.flat_map(|(p, s)| [rules::length(&p, &s), rules::notes(&p, &s)].concat()).collect());
}

#[test]
fn the_top_level_is_what_the_readme_says() {
    let names: Vec<String> =
        fs::read_dir(root()).expect("root").flatten().map(|e| e.file_name().to_string_lossy().into_owned()).collect();
    check(rules::top_level(&names));
}

#[test]
fn the_code_map_is_true() {
    let text = fs::read_to_string(root().join("src/ARCHITECTURE.md")).expect("src/ARCHITECTURE.md");
    let mut modules: Vec<String> =
        rust_files().iter().map(|(p, _)| rules::module_of(p).0).filter(|m| m != "lib").collect();
    modules.dedup();
    check(rules::code_map(&text, &modules, |p| root().join("src").join(p).exists() || root().join(p).exists()));
}

// The rules themselves.

#[test]
fn directions_are_seen_in_every_form_of_path() {
    let bad = [
        ("updating/heat.rs", "use crate::index::flat::Flat;"),
        ("updating/heat.rs", "use crate::storage::WriteBatch;"),
        ("updating/mod.rs", "fn f() { crate::op::add::run() }"),
        ("model/page.rs", "use crate::{id::PageId, updating::{heat}};"),
        ("model/page.rs", "use super::super::retrieval::rank;"),
        ("text/mod.rs", "mod tests { use super::super::op::add; }"),
        ("retrieval/rank.rs", "use crate::effect::Effect;"),
        ("index/flat.rs", "use crate::model::DialoguePage;"),
        ("index/flat.rs", "use crate::model::{unit::Atom, segment};"),
        ("index/flat.rs", "use crate::retrieval::rank;"),
        ("op/add.rs", "use crate::memory_os::MemoryOs;"),
        ("id.rs", "use crate::model::Atom;"),
        ("stray.rs", ""),
    ];
    for (path, source) in bad {
        assert_eq!(rules::directions(path, source).len(), 1, "{path}: {source}");
    }
    let good = [
        ("op/add.rs", "use crate::{effect::Effect, storage::WriteBatch, updating::short_term as st};"),
        ("wasm/mod.rs", "use crate::memory_os::MemoryOs; use crate::Error;"),
        ("updating/heat.rs", "use super::mid_term; use crate::model::Segment; use crate::Result;"),
        ("updating/heat.rs", "mod tests { use super::super::storage; }"),
        (
            "updating/heat.rs",
            "// crate::index is not for us\n/* crate::op */ const S: &str = \"crate::op\"; const R: &str = r#\"\"crate::op\"#;",
        ),
        ("index/flat.rs", "use crate::model::TurnUnits; use crate::id::PageId;"),
        ("lib.rs", "pub use crate::wasm::Memory;"),
    ];
    for (path, source) in good {
        assert_eq!(rules::directions(path, source), Vec::<String>::new(), "{path}: {source}");
    }
}

#[test]
fn groups_of_paths_are_spread_out() {
    let code = source::code_of("use crate::{a, b::{c as d, e::*}};\nuse super::super::f::g;");
    let paths: Vec<_> =
        source::root_paths(&code, 2).iter().map(|(line, p)| format!("{line} {}", p.join("::"))).collect();
    assert_eq!(paths, ["1 a", "1 b::c", "1 b::e", "2 f::g"]);
}

#[test]
fn forbidden_words_are_seen_in_code_only() {
    let left = |name: &str| format!("fn f() {{ {name}!() }}");
    assert_eq!(rules::words("op/add.rs", &left("todo")).len(), 1);
    assert_eq!(rules::words("op/add.rs", &left("unimplemented")).len(), 1);
    assert_eq!(rules::words("op/add.rs", "use js_sys::Promise;").len(), 1);
    assert_eq!(rules::words("index/kernel/scalar.rs", "unsafe { x() }").len(), 1);
    assert_eq!(rules::words("index/kernel/simd128.rs", "// SAFETY: ...\nunsafe { x() }").len(), 0);
    assert_eq!(rules::words("wasm/mod.rs", "use js_sys::Promise; use web_sys::IdbFactory;").len(), 0);
    assert_eq!(
        rules::words("lib.rs", "#![deny(unsafe_code)] // no unsafe\nconst A: char = '\"'; fn f<'a>(todo: &'a str) {}")
            .len(),
        0
    );
    assert_eq!(rules::notes("a.ts", &["// FIX", "ME: later"].concat()).len(), 1);
}

#[test]
fn sizes_and_names_are_seen() {
    assert_eq!(rules::length("a.rs", &"x\n".repeat(700)).len(), 0);
    assert_eq!(rules::length("a.rs", &"x\n".repeat(701)).len(), 1);
    let names = |list: &str| list.split(' ').map(String::from).collect::<Vec<_>>();
    let all = "Cargo.lock Cargo.toml LICENSE README.md pkg-js src tests www";
    assert_eq!(rules::top_level(&names(&format!("{all} .git target"))).len(), 0);
    assert_eq!(rules::top_level(&names(&format!("{all} notes.md"))).len(), 1);
    assert_eq!(rules::top_level(&names(all.trim_end_matches(" www"))).len(), 1);
}

#[test]
fn a_code_map_that_lies_is_seen() {
    let map =
        "# A\n`gone.rs` is not in the map\n## Code map\n- `op/`: verbs\n- `storage/codec.rs`\n## Next\n`nowhere/`";
    let modules = ["op".to_string(), "storage".to_string()];
    assert_eq!(rules::code_map(map, &modules, |_| true), Vec::<String>::new());
    assert_eq!(rules::code_map(map, &modules, |p| p != "storage/codec.rs").len(), 1);
    assert_eq!(rules::code_map(map, &[modules.to_vec(), vec!["text".into()]].concat(), |_| true).len(), 1);
    assert_eq!(rules::code_map("# A\nno map", &modules, |_| true).len(), 1);
}
