//! memstrata: a memory operating system for AI agents that runs wholly on the client.
#![doc = include_str!("ARCHITECTURE.md")]

pub mod config;
pub mod effect;
pub mod error;
pub mod generation;
pub mod id;
pub mod index;
mod map;
pub mod memory_os;
pub mod model;
pub mod op;
mod order;
pub mod retrieval;
pub mod storage;
pub mod text;
pub mod time;
pub mod updating;
#[cfg(all(target_arch = "wasm32", not(feature = "graph")))]
pub mod wasm;
#[cfg(all(target_arch = "wasm32", feature = "graph", not(feature = "vector-bench")))]
#[path = "wasm/graph.rs"]
pub mod wasm;
#[cfg(all(target_arch = "wasm32", feature = "vector-bench"))]
#[path = "wasm/vector_bench.rs"]
pub mod wasm;

pub use error::{Error, ErrorCode, Result};
