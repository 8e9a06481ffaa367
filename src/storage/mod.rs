//! Storage (module 1 of MemoryOS): where records lie, and how they look as bytes. Knows no browser and awaits nothing.

mod batch;
mod catalog;
mod codec;
mod keyspace;
mod manifest;
mod memory;
mod migrate;
mod snapshot;

pub use batch::{Durability, Entry, KeyRange, Store, WriteBatch};
pub use catalog::{Catalog, Location};
pub use codec::{Frame, FrameHead, FrameKind, RawRecord, encode_record, frame_bytes};
pub use keyspace::Keyspace;
pub use manifest::{FORMAT_VERSION, Manifest};
pub use memory::MemoryStore;
pub use migrate::decode_record;
pub use snapshot::{Snapshot, read_snapshot, write_snapshot};
