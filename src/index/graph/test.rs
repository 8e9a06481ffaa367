use super::super::codes::Codes;
use super::super::flat;
use super::super::planner::{Plan, Searcher};
use super::super::synthetic::{self, Shape};
use super::super::{Arena, filter::Filter};
use super::*;
use crate::error::ErrorCode;

const K: usize = 10;

fn graph(codes: &Codes) -> Graph {
    // As it is built: from codes that travelled.
    let codes = rows::decode(&rows::encode(codes)).unwrap();
    Graph::decode(build::build(&codes, build::EF_CONSTRUCTION).unwrap()).unwrap()
}

/// Mean share of the `K` truly nearest rows that a search in the graph finds.
fn recall(arena: &Arena, graph: &Graph, queries: &[Vec<f32>], ef: usize) -> f64 {
    let searcher = Searcher { graph: Some(graph), ..Searcher::new(arena) };
    let of = |query: &Vec<f32>| {
        let truth = flat::top_k(arena, query, K, &Filter::NONE).unwrap();
        let found = searcher.top_k_by(Plan::Graph { ef }, query, K, &Filter::NONE).unwrap();
        assert!(found.iter().all(|n| arena.is_live(n.row as usize)));
        truth.iter().filter(|near| found.contains(near)).count() as f64 / truth.len().max(1) as f64
    };
    queries.iter().map(of).sum::<f64>() / queries.len() as f64
}

#[test]
fn it_finds_what_is_near_also_when_rows_come_and_go() {
    // Few rows, because a build compares pairs of links: without optimisation that takes milliseconds a row.
    for (seed, dims, shape, least) in [(1, 64, Shape::Clustered, 0.97), (2, 32, Shape::Uniform, 0.9)] {
        let which = format!("seed {seed}, {dims} dimensions, {shape:?}");
        let (mut arena, queries) = synthetic::arena(seed, 800, dims, shape);
        let graph = graph(&arena);
        let found = recall(&arena, &graph, &queries, 50);
        assert!(found >= least, "{which}: recall {found}");
        // Rows after the seal are found too.
        for row in synthetic::rows(seed + 100, 200, dims, shape) {
            arena.push(&row).unwrap();
        }
        let found = recall(&arena, &graph, &queries, 50);
        assert!(found >= least, "{which}, rows added: recall {found}");
        (0..arena.len()).filter(|row| row % 10 < 9).for_each(|row| {
            arena.remove(row);
        });
        let found = recall(&arena, &graph, &queries, 50);
        assert!(found >= least, "{which}, 9 of 10 removed: recall {found}");
    }
}

#[test]
fn no_rows_one_row_and_identical_rows() {
    let mut arena = Arena::new(8);
    let none = graph(&arena);
    assert_eq!(none.n_rows(), 0);
    assert_eq!(recall(&arena, &none, &[vec![1.0; 8]], 50), 0.0);
    arena.push(&[1.0; 8]).unwrap();
    assert_eq!(recall(&arena, &graph(&arena), &[vec![1.0; 8]], 50), 1.0);
    (0..300).for_each(|_| assert!(arena.push(&[1.0; 8]).is_ok()));
    let same = graph(&arena);
    let searcher = Searcher { graph: Some(&same), ..Searcher::new(&arena) };
    let found = searcher.top_k_by(Plan::Graph { ef: 50 }, &[1.0; 8], K, &Filter::NONE).unwrap();
    assert_eq!(found.len(), K);
    // All gone.
    (0..arena.len()).for_each(|row| {
        arena.remove(row);
    });
    let searcher = Searcher { graph: Some(&same), ..Searcher::new(&arena) };
    assert_eq!(searcher.top_k_by(Plan::Graph { ef: 50 }, &[1.0; 8], K, &Filter::NONE), Ok(vec![]));
}

#[test]
fn a_filter_holds_along_the_graph_as_well() {
    let (arena, queries) = synthetic::arena(3, 600, 32, Shape::Clustered);
    let graph = graph(&arena);
    let searcher = Searcher { graph: Some(&graph), ..Searcher::new(&arena) };
    let keep = |row: u32| row.is_multiple_of(7);
    for query in &queries {
        let found = searcher.top_k_by(Plan::Graph { ef: 200 }, query, K, &Filter::keeping(&keep)).unwrap();
        assert_eq!(found.len(), K);
        assert!(found.iter().all(|n| keep(n.row)));
    }
}

#[test]
fn damaged_bytes_are_refused() {
    let (arena, _) = synthetic::arena(4, 400, 16, Shape::Clustered);
    let bytes = graph(&arena).bytes().to_vec();
    let code = |bytes: Vec<u8>| Graph::decode(bytes).map(|_| ()).map_err(|e| e.code());
    assert_eq!(code(bytes.clone()), Ok(()));
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1 << (at % 8);
        let is_later = (4..8).contains(&at) && damaged[at] > bytes[at];
        let expected = if is_later { ErrorCode::VersionTooNew } else { ErrorCode::StorageCorrupt };
        assert_eq!(code(damaged), Err(expected), "byte {at}");
        assert_eq!(code(bytes[..at].to_vec()), Err(ErrorCode::StorageCorrupt), "cut at {at}");
    }
    let rows = rows::encode(&arena);
    let code = |bytes: &[u8]| rows::decode(bytes).map(|_| ()).map_err(|e| e.code());
    assert_eq!(code(&rows), Ok(()));
    for at in (0..rows.len()).filter(|at| !(4..8).contains(at)) {
        let mut damaged = rows.clone();
        damaged[at] ^= 1 << (at % 8);
        assert_eq!(code(&damaged), Err(ErrorCode::StorageCorrupt), "byte {at}");
    }
    assert_eq!(code(&rows[..rows.len() - 1]), Err(ErrorCode::StorageCorrupt));
}

#[test]
fn bytes_with_a_true_checksum_that_lead_nowhere_are_refused() {
    let code = |layers| Graph::decode(format::encode(3, 0, layers)).map(|_| ()).map_err(|e| e.code());
    assert_eq!(code(vec![vec![(0, vec![1, 2]), (2, vec![0])], vec![(1, vec![0])]]), Ok(()));
    assert_eq!(code(vec![vec![(0, vec![3])]]), Err(ErrorCode::StorageCorrupt));
    assert_eq!(code(vec![vec![], vec![(5, vec![])]]), Err(ErrorCode::StorageCorrupt));
    let outside = Graph::decode(format::encode(3, 3, vec![])).map(|_| ()).map_err(|e| e.code());
    assert_eq!(outside, Err(ErrorCode::StorageCorrupt));
}
