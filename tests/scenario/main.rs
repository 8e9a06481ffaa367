//! Whole scenarios through the public API, one outside world each.

mod cases;
mod cost;
mod forgetting;
mod generation;
mod history;
mod keeping;
mod long_term;
mod model;
mod outage;
mod policies;
mod retrieval;
mod scheduler;
mod steps;
mod storage;
mod tiers;
mod two_stage;
mod world;
