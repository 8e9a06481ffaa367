//! The rules of the house, each a function from text to complaints, so that the rules themselves can be tested.

use crate::source::{code_of, root_paths, tokens};

/// Layers from the ground up; a module may name its own layer's modules only where `SIDEWAYS` says so.
/// `effect` stands between the tiers and the workflows: it is made of their data, and only what is above names it.
const LAYERS: [&[&str]; 7] = [
    &["config", "time", "id", "error", "order", "map"],
    &["model", "text"],
    &["updating", "retrieval", "generation", "index", "storage"],
    &["effect"],
    &["op"],
    &["memory_os"],
    &["wasm"],
];

/// Names between modules of one layer that are meant: (who, whom). Never `updating` to `index` or `storage`, and
/// nothing from `index`: it takes ids and vectors and knows no tier.
const SIDEWAYS: [(&str, &str); 7] = [
    ("time", "error"),
    ("id", "error"),
    ("config", "error"),
    ("config", "time"),
    ("text", "model"),           // cuts a turn into the units that `model` describes
    ("retrieval", "index"),      // fuses the scores that the indexes give
    ("generation", "retrieval"), // packs what retrieval ranked
];

/// Words by which a tier would be known; `index` may use none of them.
const TIER_WORDS: [&str; 8] = ["page", "segment", "persona", "fact", "cube", "DialoguePage", "Segment", "MemCube"];

fn layer(module: &str) -> Option<usize> {
    LAYERS.iter().position(|l| l.contains(&module))
}

fn may_name(from: &str, to: &str) -> bool {
    match (layer(from), layer(to)) {
        _ if from == to => true,
        // An item that lib.rs re-exports (`crate::Error`), or lib.rs itself.
        (_, None) | (None, _) => true,
        (Some(a), Some(b)) => a > b || SIDEWAYS.contains(&(from, to)),
    }
}

/// Top-level module and module depth of a file, given its path below `src`.
pub(crate) fn module_of(path: &str) -> (String, usize) {
    let parts: Vec<&str> = path.trim_end_matches(".rs").split('/').filter(|p| *p != "mod" && *p != "lib").collect();
    (parts.first().copied().unwrap_or("lib").to_string(), parts.len())
}

/// Imports against the direction, in the file at `path` below `src`.
pub(crate) fn directions(path: &str, source: &str) -> Vec<String> {
    let (module, depth) = module_of(path);
    if layer(&module).is_none() {
        return if module == "lib" { vec![] } else { vec![format!("src/{path}: module `{module}` has no layer")] };
    }
    let code = code_of(source);
    let mut found: Vec<String> = root_paths(&code, depth)
        .iter()
        .filter(|(_, p)| p.first().is_some_and(|to| !may_name(&module, to)))
        .map(|(line, p)| format!("src/{path}:{line}: `{module}` may not name `{}`", p.join("::")))
        .collect();
    if module == "index" {
        found.extend(
            root_paths(&code, depth)
                .iter()
                .filter(|(_, p)| p[0] == "model" && p[1..].iter().any(|w| TIER_WORDS.contains(&w.as_str())))
                .map(|(line, p)| format!("src/{path}:{line}: `index` knows no tier, but names `{}`", p.join("::"))),
        );
    }
    found
}

/// Words that may be used in one place only, and what must not be used at all.
pub(crate) fn words(path: &str, source: &str) -> Vec<String> {
    let t = tokens(&code_of(source));
    let mut found = Vec::new();
    for (i, (line, word)) in t.iter().enumerate() {
        let next = t.get(i + 1).map_or("", |(_, x)| x.as_str());
        let complaint = match word.as_str() {
            "web_sys" | "js_sys" | "wasm_bindgen" | "wasm_bindgen_futures" | "gloo" if !path.starts_with("wasm/") => {
                "JavaScript is named under src/wasm only"
            }
            "unsafe" if !path.starts_with("index/kernel/simd128") => "unsafe is for index/kernel/simd128 only",
            "todo" | "unimplemented" if next == "!" => "nothing is left undone",
            _ => continue,
        };
        found.push(format!("src/{path}:{line}: `{word}`: {complaint}"));
    }
    found
}

/// Notes to come back later, in a file of any language.
pub(crate) fn notes(path: &str, text: &str) -> Vec<String> {
    let note = ["FIX", "ME"].concat();
    let at = |(n, line): (usize, &str)| line.contains(&note).then(|| format!("{path}:{}: {note}", n + 1));
    text.lines().enumerate().filter_map(at).collect()
}

pub(crate) fn length(path: &str, text: &str) -> Vec<String> {
    const MOST: usize = 700;
    let n = text.lines().count();
    if n > MOST { vec![format!("{path}: {n} lines, most is {MOST}")] } else { vec![] }
}

/// What is visible at the top, and nothing else. `target` is cargo's own and is not checked in.
pub(crate) fn top_level(names: &[String]) -> Vec<String> {
    const ALL: [&str; 8] = ["Cargo.lock", "Cargo.toml", "LICENSE", "README.md", "pkg-js", "src", "tests", "www"];
    let seen: Vec<&str> = names.iter().map(String::as_str).filter(|n| !n.starts_with('.') && *n != "target").collect();
    let extra = seen.iter().filter(|n| !ALL.contains(n)).map(|n| format!("{n}: does not belong at the top level"));
    let missing = ALL.iter().filter(|n| !seen.contains(n)).map(|n| format!("{n}: missing at the top level"));
    extra.chain(missing).collect()
}

/// The section "Code map" of ARCHITECTURE.md against the tree: every file or folder it names exists, and every module of
/// the crate is named. `exists` is asked about a path below `src`, or from the top for the other folders.
pub(crate) fn code_map(architecture: &str, modules: &[String], exists: impl Fn(&str) -> bool) -> Vec<String> {
    let mut inside = false;
    let mut named: Vec<String> = Vec::new();
    for line in architecture.lines() {
        if line.starts_with('#') {
            inside = line.to_lowercase().contains("code map");
        } else if inside {
            let is_name = |c: char| c.is_alphanumeric() || "_-./".contains(c);
            named.extend(line.split(|c| !is_name(c)).filter(|w| !w.is_empty()).map(String::from));
        }
    }
    if named.is_empty() {
        return vec!["ARCHITECTURE.md: no section \"Code map\"".into()];
    }
    let path = |w: &str| w.trim_start_matches("src/").trim_end_matches('/').to_string();
    let gone = named
        .iter()
        .filter(|w| (w.ends_with(".rs") || w.ends_with('/')) && !path(w).is_empty() && **w != "src/")
        .filter(|w| !exists(&path(w)))
        .map(|w| format!("ARCHITECTURE.md: the code map names `{w}`, which is not there"));
    let unnamed = modules
        .iter()
        .filter(|m| !named.iter().any(|w| path(w).trim_end_matches(".rs").split('/').next() == Some(m)))
        .map(|m| format!("ARCHITECTURE.md: the code map does not name `{m}`"));
    gone.chain(unnamed).collect()
}
