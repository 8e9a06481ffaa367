//! The memory operating system as its callers see it: every call is a [`Task`] to be driven by whoever holds it.

use std::rc::Rc;

use crate::effect::{Io, Task};
use crate::error::Result;
use crate::id::{ChangeId, FactId, JobId, PageId, Side};
use crate::op::{
    self, Act, Added, Analysed, Candidate, ChangeView, Engine, Event, FactView, FactsWanted, Forgotten, Imported,
    JobView, LedgerView, Manner, Merged, OpenOptions, PageView, ProfileView, Recall, RespondInput, Responded,
    RetrieveInput, Retriever, Settings, Stats, TiersView, TraitView, Worked,
};
use crate::text::StaticTable;
use crate::updating::short_term::NewPage;

/// One open memory. Clones share it; calls may overlap freely, and writers take turns.
#[derive(Clone)]
pub struct MemoryOs {
    engine: Rc<Engine>,
}

impl MemoryOs {
    /// Opens the memory of a scope, or begins one.
    pub fn open(options: OpenOptions) -> Task<Result<Self>> {
        Task::new(|io| async move { op::open(io, options).await.map(|engine| Self { engine }) })
    }

    /// Stores turns in one transaction; done once they are durable.
    pub fn add(&self, turns: Vec<NewPage>, now_ms: i64) -> Task<Result<Vec<Added>>> {
        self.task(move |engine, io| async move { op::add(&engine, &io, turns, now_ms).await })
    }

    /// Finds what answers a question, and packs it.
    pub fn retrieve(&self, input: RetrieveInput, now_ms: i64) -> Task<Result<Recall>> {
        self.task(move |engine, io| async move { op::retrieve(&engine, &io, &input, now_ms).await })
    }

    /// Registers a way of ranking, which [`RetrieveInput::retriever`] then may name.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for the name of a strategy, and for none.
    pub fn register(&self, retriever: Rc<dyn Retriever>) -> Result<()> {
        self.engine.register(retriever)
    }

    /// Registers a way of ranking that the host answers for.
    ///
    /// # Errors
    /// As [`MemoryOs::register`].
    pub fn register_outside(&self, name: String) -> Result<()> {
        self.engine.register_outside(name)
    }

    /// What a search may find, in the order of arrival; of the search only the filter and `as_of_ms` matter.
    ///
    /// # Errors
    /// `CLOSED`.
    pub fn candidates(&self, input: &RetrieveInput) -> Result<Vec<Candidate>> {
        self.engine.candidates(input)
    }

    /// Answers, and remembers the exchange.
    pub fn respond(&self, input: RespondInput, now_ms: i64) -> Task<Result<Responded>> {
        self.task(move |engine, io| async move { op::respond(&engine, &io, input, now_ms).await })
    }

    /// Stores the answer of a page that has none; `id` is its own or the one that its caller gave it.
    pub fn complete(&self, id: String, answer: String) -> Task<Result<()>> {
        self.task(move |engine, io| async move { op::complete(&engine, &io, &id, answer).await })
    }

    /// The prompt that an answer would be asked with. Nothing is stored.
    pub fn merge(&self, query: String, manner: Manner, now_ms: i64) -> Task<Result<Merged>> {
        self.task(move |engine, io| async move { op::merge(&engine, &io, &query, &manner, now_ms).await })
    }

    /// Deletes pages with what was derived from them, and facts.
    pub fn forget(&self, pages: Vec<PageId>, facts: Vec<FactId>, now_ms: i64) -> Task<Result<Forgotten>> {
        self.task(move |engine, io| async move { op::forget(&engine, &io, &pages, &facts, now_ms).await })
    }

    /// Enters, corrects, closes or pins a fact; the result is the fact that holds now.
    pub fn act(&self, act: Act, now_ms: i64) -> Task<Result<FactView>> {
        self.task(move |engine, io| async move { op::act(&engine, &io, act, now_ms).await })
    }

    /// Takes a change of long-term memory back; the result is the change that does.
    pub fn undo(&self, change: ChangeId, now_ms: i64) -> Task<Result<ChangeId>> {
        self.task(move |engine, io| async move { op::undo(&engine, &io, change, now_ms).await })
    }

    /// Writes a profile by hand.
    pub fn set_profile(&self, of: Side, text: String, now_ms: i64) -> Task<Result<()>> {
        self.task(move |engine, io| async move { op::set_profile(&engine, &io, of, &text, now_ms).await })
    }

    /// Keeps a page out of every recall, or lets it in again.
    pub fn never_recall_page(&self, page: PageId, never: bool) -> Task<Result<()>> {
        self.task(move |engine, io| async move { op::never_recall_page(&engine, &io, page, never).await })
    }

    /// Analyses all of mid-term memory that no analysis has seen.
    pub fn analyse(&self, now_ms: i64) -> Task<Result<Analysed>> {
        self.task(move |engine, io| async move { op::analyse(&engine, &io, now_ms).await })
    }

    /// Stops background work, or lets it go on.
    pub fn set_paused(&self, paused: bool) {
        self.engine.set_paused(paused);
    }

    /// Changes the update policy and the limits of a day.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for an unknown policy.
    pub fn configure(&self, settings: &Settings) -> Result<()> {
        self.engine.configure(settings)
    }

    /// Facts of long-term memory.
    pub fn facts(&self, wanted: &FactsWanted) -> Vec<FactView> {
        self.engine.facts(wanted)
    }

    /// The profiles.
    pub fn profile(&self) -> ProfileView {
        self.engine.profile()
    }

    /// The traits that are known.
    pub fn traits(&self) -> Vec<TraitView> {
        self.engine.traits()
    }

    /// Changes of long-term memory, newest first; see [`Engine::history`].
    pub fn history(&self, id: &str, offset: usize, limit: usize) -> Vec<ChangeView> {
        self.engine.history(id, offset, limit)
    }

    /// What the models took.
    pub fn ledger(&self, now_ms: i64) -> LedgerView {
        self.engine.ledger(now_ms)
    }

    /// A page by its id, or by the one that its caller gave it.
    pub fn page(&self, id: &str) -> Option<PageView> {
        self.engine.page(id)
    }

    /// Does the next thing that is due in the background.
    pub fn work(&self, now_ms: i64) -> Task<Result<Worked>> {
        self.task(move |engine, io| async move { op::work(&engine, &io, now_ms).await })
    }

    /// Does everything that waits.
    pub fn flush(&self, now_ms: i64) -> Task<Result<()>> {
        self.task(move |engine, io| async move { op::flush(&engine, &io, now_ms).await })
    }

    /// Puts a failed job back into the queue.
    pub fn retry(&self, job: JobId) -> Task<Result<()>> {
        self.task(move |engine, io| async move { op::retry(&engine, &io, job).await })
    }

    /// Writes everything into one file.
    pub fn export(&self) -> Task<Result<Vec<u8>>> {
        self.task(move |engine, io| async move { op::export(&engine, &io).await })
    }

    /// Merges an exported file into this memory.
    pub fn import(&self, file: Vec<u8>) -> Task<Result<Imported>> {
        self.task(move |engine, io| async move { op::import(&engine, &io, &file).await })
    }

    /// Deletes everything of this scope.
    pub fn clear(&self) -> Task<Result<()>> {
        self.task(move |engine, io| async move { op::clear(&engine, &io).await })
    }

    /// Hands over the built-in embedding table.
    ///
    /// # Errors
    /// `STORAGE_CORRUPT` if the bytes are not a table.
    pub fn install_table(&self, bytes: &[u8]) -> Result<()> {
        self.engine.install_table(bytes)
    }

    /// Uses a table that is loaded already.
    pub fn use_table(&self, table: Rc<StaticTable>) {
        self.engine.use_table(table);
    }

    /// The tiers, heat as of `now_ms`.
    pub fn tiers(&self, now_ms: i64) -> TiersView {
        self.engine.tiers(now_ms)
    }

    /// Pages, the newest first.
    pub fn pages(&self, offset: usize, limit: usize) -> Vec<PageView> {
        self.engine.pages(offset, limit)
    }

    /// Jobs, the oldest first.
    pub fn jobs(&self, now_ms: i64) -> Vec<JobView> {
        self.engine.jobs(now_ms)
    }

    /// Counts of everything.
    pub fn stats(&self) -> Stats {
        self.engine.stats()
    }

    /// Events since the last call.
    pub fn take_events(&self) -> Vec<Event> {
        self.engine.take_events()
    }

    /// Ends it: every later call is refused.
    pub fn close(&self) {
        self.engine.close();
    }

    fn task<T, F>(&self, workflow: impl FnOnce(Rc<Engine>, Io) -> F + 'static) -> Task<T>
    where
        F: Future<Output = T> + 'static,
    {
        let engine = self.engine.clone();
        Task::new(move |io| workflow(engine, io))
    }
}
