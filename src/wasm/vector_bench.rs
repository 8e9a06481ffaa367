//! The search over vectors by itself, as the benchmark calls it. With the feature `vector-bench` it takes the place of the
//! whole module `wasm`, so that the file holds nothing else.

use wasm_bindgen::prelude::*;

use crate::error::Error;
use crate::index::bits::Bits;
use crate::index::filter::Filter;
use crate::index::graph::{Graph, build, rows};
use crate::index::planner::{Plan, Searcher, candidates};
use crate::index::{Arena, Codes, Neighbour};

/// Rows, and what was built over them.
#[wasm_bindgen]
pub struct VectorBench {
    rows: Rows,
    bits: Option<Bits>,
    graph: Option<Graph>,
}

enum Rows {
    /// With f32 to rescore by.
    Exact(Arena),
    /// Codes alone.
    Coded(Codes),
}

impl VectorBench {
    fn searcher(&self) -> Searcher<'_> {
        let (bits, graph) = (self.bits.as_ref(), self.graph.as_ref());
        match &self.rows {
            Rows::Exact(arena) => Searcher { bits, graph, ..Searcher::new(arena) },
            Rows::Coded(codes) => Searcher { codes, exact: None, bits, graph },
        }
    }

    fn found(&self, plan: Plan, query: &[f32], k: usize) -> Result<Vec<u32>, JsError> {
        let found = self.searcher().top_k_by(plan, query, k, &Filter::NONE);
        found.map(numbers).map_err(js_error)
    }
}

#[wasm_bindgen]
impl VectorBench {
    /// For `n_rows` rows of `dims` numbers, kept exact as well or as codes alone.
    #[wasm_bindgen(constructor)]
    pub fn new(dims: usize, n_rows: usize, exact: bool) -> Self {
        let rows = if exact {
            Rows::Exact(Arena::new(dims))
        } else {
            let mut codes = Codes::new(dims);
            codes.reserve(n_rows);
            Rows::Coded(codes)
        };
        Self { rows, bits: None, graph: None }
    }

    /// Appends rows that lie one after another.
    pub fn push(&mut self, rows: &[f32]) -> Result<(), JsError> {
        let dims = self.searcher().codes.dims();
        rows.chunks(dims.max(1)).try_for_each(|row| {
            let pushed = match &mut self.rows {
                Rows::Exact(arena) => arena.push(row),
                Rows::Coded(codes) => codes.push(row),
            };
            pushed.map(drop).map_err(js_error)
        })
    }

    /// Takes the signs of all rows.
    #[wasm_bindgen(js_name = buildBits)]
    pub fn build_bits(&mut self) {
        self.bits = Some(Bits::of(self.searcher().codes));
    }

    /// Builds a graph over all rows, in this thread, and gives the number of its bytes.
    #[wasm_bindgen(js_name = buildGraph)]
    pub fn build_graph(&mut self) -> Result<usize, JsError> {
        let carried = rows::decode(&rows::encode(self.searcher().codes)).map_err(js_error)?;
        let bytes = build::build(&carried, build::EF_CONSTRUCTION).map_err(js_error)?;
        let n_bytes = bytes.len();
        self.graph = Some(Graph::decode(bytes).map_err(js_error)?);
        Ok(n_bytes)
    }

    /// How a query is answered: `scan`, `bits N`, N rows being looked at by code, or `graph EF`.
    pub fn plan(&self) -> String {
        match self.searcher().plan(&Filter::NONE) {
            Plan::Scan => "scan".into(),
            Plan::Bits { candidates } => format!("bits {candidates}"),
            Plan::Graph { ef } => format!("graph {ef}"),
        }
    }

    /// Rows nearest to `query`, best first, as planned.
    pub fn search(&self, query: &[f32], k: usize) -> Result<Vec<u32>, JsError> {
        let found = self.searcher().top_k(query, k, &Filter::NONE);
        found.map(numbers).map_err(js_error)
    }

    /// The same by a scan.
    pub fn scan(&self, query: &[f32], k: usize) -> Result<Vec<u32>, JsError> {
        self.found(Plan::Scan, query, k)
    }

    /// The same by bits and so many rows by code; 0 for as many as are planned.
    #[wasm_bindgen(js_name = byBits)]
    pub fn by_bits(&self, query: &[f32], k: usize, n: usize) -> Result<Vec<u32>, JsError> {
        let codes = self.searcher().codes;
        let candidates = if n == 0 { candidates(codes.n_live(), codes.dims()) } else { n };
        self.found(Plan::Bits { candidates }, query, k)
    }

    /// The same along the graph, holding `ef` rows.
    #[wasm_bindgen(js_name = byGraph)]
    pub fn by_graph(&self, query: &[f32], k: usize, ef: usize) -> Result<Vec<u32>, JsError> {
        self.found(Plan::Graph { ef }, query, k)
    }

    /// Reads all code bytes and adds them up, in one stream or in four: the streaming floor.
    pub fn floor(&self, four_streams: bool) -> i32 {
        self.searcher().codes.sum_bytes(four_streams)
    }
}

fn numbers(found: Vec<Neighbour>) -> Vec<u32> {
    found.into_iter().map(|neighbour| neighbour.row).collect()
}

fn js_error(error: Error) -> JsError {
    JsError::new(&error.to_string())
}
