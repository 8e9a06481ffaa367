//! MemoryOS module 4: from what was recalled to what the model reads.

pub mod pack;
