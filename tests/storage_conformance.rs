//! The reference engine against the list that IndexedDB and every host's engine are held against in a browser.

mod conformance;

use core::cell::RefCell;
use core::pin::pin;
use core::task::{Context, Poll, Waker};
use std::collections::BTreeMap;

use conformance::{Engine, every_check};
use memstrata::error::Result;
use memstrata::storage::{Entry, KeyRange, MemoryStore, WriteBatch};

/// Stores in memory by their names.
#[derive(Default)]
struct Named {
    databases: RefCell<BTreeMap<String, MemoryStore>>,
    open: String,
}

impl Engine for Named {
    async fn open(&mut self, database: &str) {
        self.open = database.to_owned();
    }

    async fn close(&mut self) {}

    async fn read(&self, range: &KeyRange) -> Result<Vec<Entry>> {
        Ok(self.databases.borrow_mut().entry(self.open.clone()).or_default().read(range))
    }

    async fn commit(&self, batch: WriteBatch) -> Result<()> {
        self.databases.borrow_mut().entry(self.open.clone()).or_default().commit(batch);
        Ok(())
    }
}

/// Nothing here waits for anything.
fn at_once<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("a store in memory waits for something"),
    }
}

macro_rules! tests {
    ($($check:ident)*) => {$(
        #[test]
        fn $check() {
            at_once(async {
                let mut engine = Named::default();
                engine.open("a").await;
                conformance::$check(&mut engine, "a").await;
                engine.close().await;
            });
        }
    )*};
}
every_check!(tests);
