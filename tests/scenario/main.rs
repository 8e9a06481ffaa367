//! Whole scenarios through the public API, one outside world each.

mod cases;
mod keeping;
mod long_term;
mod model;
mod storage;
mod tiers;
mod world;
