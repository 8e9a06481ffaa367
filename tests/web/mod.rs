//! What runs in a page and in a dedicated worker alike.

#[path = "../conformance/mod.rs"]
mod conformance;
#[path = "../golden/mod.rs"]
mod golden;

mod embedder;
mod engines;
mod idb;
mod memory;
mod world;
