//! Short-term memory: a queue of dialogue pages (MemoryOS, 3.2.1).

use crate::config::Config;
use crate::error::{Error, Result};
use crate::id::{IdSource, JobId, PageId, SessionId, Side};
use crate::map::HashMap;
use crate::model::{Change, Cube, Job, JobKind, Metadata, Page, Place, Record, Session};
use crate::time::Timestamp;

/// A turn as it comes from the caller.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NewPage {
    /// The caller's own id; the same one is stored once.
    pub client_id: Option<String>,
    /// What the user said; may be empty if the other side is not.
    pub user_input: String,
    /// What the agent answered; may be empty.
    pub agent_response: String,
    /// The user's name, or empty.
    pub user_name: String,
    /// The agent's name, or empty.
    pub agent_name: String,
    /// When it was said; `None` if unknown.
    pub time: Option<Timestamp>,
    /// The caller's name of the session; `None` leaves it to gaps in time.
    pub session: Option<String>,
    /// The caller's keys.
    pub metadata: Metadata,
}

/// What became of a turn.
#[derive(Clone, Debug, PartialEq)]
pub enum Admitted {
    /// A new page.
    Stored(Page),
    /// The client id is known already.
    Duplicate(PageId),
}

/// Admits turns one after another, each seeing the ones before it although none is committed yet.
pub struct Admission<'a> {
    cube: &'a Cube,
    config: &'a Config,
    ids: &'a mut IdSource,
    now_ms: i64,
    position: u64,
    last: Option<(SessionId, Timestamp)>,
    client_ids: HashMap<String, PageId>,
    labels: HashMap<String, SessionId>,
    delta: Vec<Change>,
}

impl<'a> Admission<'a> {
    /// Begins with the present state.
    pub fn new(cube: &'a Cube, config: &'a Config, ids: &'a mut IdSource, now_ms: i64) -> Self {
        let last = cube.pages().next_back().map(|page| (page.session, page.time_or_recorded()));
        Self {
            cube,
            config,
            ids,
            now_ms,
            position: cube.next_position(),
            last,
            client_ids: HashMap::new(),
            labels: HashMap::new(),
            delta: Vec::new(),
        }
    }

    /// Admits one turn.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` if both sides are blank.
    pub fn admit(&mut self, new: NewPage) -> Result<Admitted> {
        if new.user_input.trim().is_empty() && new.agent_response.trim().is_empty() {
            return Err(Error::invalid("both sides of the turn are empty: there is nothing to remember"));
        }
        if let Some(client_id) = &new.client_id {
            let known = self.client_ids.get(client_id).copied().or_else(|| self.cube.page_of_client_id(client_id));
            if let Some(page) = known {
                return Ok(Admitted::Duplicate(page));
            }
        }
        let said = new.time.unwrap_or(Timestamp::utc(self.now_ms));
        let session = self.session(new.session, said);
        let page = Page {
            id: PageId::from_raw(self.ids.next_raw()),
            client_id: new.client_id,
            user_input: new.user_input,
            agent_response: new.agent_response,
            user_name: new.user_name,
            agent_name: new.agent_name,
            time: new.time,
            recorded_at_ms: self.now_ms,
            session,
            metadata: new.metadata,
            position: self.position,
        };
        self.position += 1;
        self.last = Some((session, said));
        if let Some(client_id) = &page.client_id {
            self.client_ids.insert(client_id.clone(), page.id);
        }
        self.delta.push(Change::Put(Record::Page(page.clone())));
        let place = Place::short_term(page.id);
        self.delta.push(Change::Put(Record::Place(place)));
        Ok(Admitted::Stored(page))
    }

    fn session(&mut self, label: Option<String>, said: Timestamp) -> SessionId {
        if let Some(label) = label {
            let known = self.labels.get(&label).copied().or_else(|| self.cube.session_of_label(&label));
            return known.unwrap_or_else(|| {
                let id = self.open_session(Some(label.clone()));
                self.labels.insert(label, id);
                id
            });
        }
        let gap_hours = f64::from(self.config.session_gap_minutes) / 60.0;
        match self.last {
            Some((session, before))
                if said.hours_since(before) <= gap_hours
                    && before.hours_since(said) <= gap_hours
                    && !self.is_labelled(session) =>
            {
                session
            }
            _ => self.open_session(None),
        }
    }

    fn is_labelled(&self, session: SessionId) -> bool {
        self.labels.values().any(|&labelled| labelled == session)
            || self.cube.session(session).is_some_and(|session| session.label.is_some())
    }

    fn open_session(&mut self, label: Option<String>) -> SessionId {
        let id = SessionId::from_raw(self.ids.next_raw());
        self.delta.push(Change::Put(Record::Session(Session { id, label })));
        id
    }

    /// Ends the admission: the delta that stores everything, with the jobs that it makes necessary.
    pub fn finish(mut self) -> Vec<Change> {
        let added = self.delta.iter().filter_map(|change| match change {
            Change::Put(Record::Page(page)) => Some(page.id),
            _ => None,
        });
        let short_term: Vec<_> = self.cube.short_term().chain(added).collect();
        let keep = self.config.short_term_capacity + self.config.consolidation_batch - 1;
        let jobs = consolidation_jobs(self.cube, &short_term, keep, self.config, self.ids);
        self.delta.extend(jobs);
        self.delta
    }
}

/// Jobs that take the oldest of `short_term` into mid-term memory, until at most `keep` pages are left without one.
pub fn consolidation_jobs(
    cube: &Cube,
    short_term: &[PageId],
    keep: usize,
    config: &Config,
    ids: &mut IdSource,
) -> Vec<Change> {
    let spoken_for = cube.queued(|kind| matches!(kind, JobKind::Consolidate { .. }));
    let waiting: Vec<_> = short_term.iter().copied().filter(|id| !spoken_for.contains(id)).collect();
    let mut jobs = Vec::new();
    let mut rest = waiting.as_slice();
    while rest.len() > keep {
        let (batch, after) =
            rest.split_at(config.consolidation_batch.min(rest.len() - keep.min(config.short_term_capacity)));
        let id = JobId::from_raw(ids.next_raw());
        jobs.push(Change::Put(Record::Job(Job::new(id, JobKind::Consolidate { pages: batch.to_vec() }))));
        rest = after;
    }
    jobs
}

/// Text of a page for keywords and summaries: its sides that say something.
pub fn page_texts(page: &Page) -> impl Iterator<Item = &str> {
    [Side::User, Side::Agent].into_iter().map(|side| page.text(side)).filter(|text| !text.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::HOUR_MS;

    fn turn(text: &str, hours: i64) -> NewPage {
        NewPage { user_input: text.into(), time: Some(Timestamp::utc(hours * HOUR_MS)), ..NewPage::default() }
    }

    fn admit(cube: &mut Cube, config: &Config, ids: &mut IdSource, turns: Vec<NewPage>) -> Vec<Admitted> {
        let mut admission = Admission::new(cube, config, ids, 0);
        let admitted = turns.into_iter().map(|turn| admission.admit(turn).expect("valid")).collect();
        for change in admission.finish() {
            cube.apply(change);
        }
        admitted
    }

    fn job_sizes(cube: &Cube) -> Vec<usize> {
        cube.jobs().map(|job| job.pages().len()).collect()
    }

    #[test]
    fn o01_pages_queue_in_order_and_overflow_becomes_jobs_of_a_batch() {
        let (mut cube, mut ids, config) = (Cube::default(), IdSource::new(1), Config::default());
        admit(&mut cube, &config, &mut ids, (0..14).map(|i| turn(&format!("turn {i}"), i)).collect());
        assert!(job_sizes(&cube).is_empty());
        admit(&mut cube, &config, &mut ids, vec![turn("turn 14", 14)]);
        assert_eq!(job_sizes(&cube), [5]);
        let first_job = cube.jobs().next().expect("queued").pages().to_vec();
        assert_eq!(first_job, cube.short_term().take(5).collect::<Vec<_>>());
        admit(&mut cube, &config, &mut ids, (15..31).map(|i| turn(&format!("turn {i}"), i)).collect());
        assert_eq!(job_sizes(&cube), [5, 5, 5, 5]);
        assert_eq!(cube.n_short_term(), 31);
    }

    #[test]
    fn o01_a_smaller_capacity_queues_more_and_drops_nothing() {
        let (mut cube, mut ids) = (Cube::default(), IdSource::new(1));
        admit(&mut cube, &Config::default(), &mut ids, (0..14).map(|i| turn("x", i)).collect());
        let small = Config { short_term_capacity: 2, ..Config::default() };
        admit(&mut cube, &small, &mut ids, vec![turn("y", 15)]);
        assert_eq!(job_sizes(&cube), [5, 5]);
        assert_eq!(cube.n_pages(), 15);
    }

    #[test]
    fn case_15_a_client_id_is_stored_once_also_within_a_batch() {
        let (mut cube, mut ids, config) = (Cube::default(), IdSource::new(1), Config::default());
        let same = NewPage { client_id: Some("m1".into()), ..turn("hello", 0) };
        let admitted = admit(&mut cube, &config, &mut ids, vec![same.clone(); 12]);
        assert_eq!(admitted.iter().filter(|a| matches!(a, Admitted::Stored(_))).count(), 1);
        assert!(matches!(admit(&mut cube, &config, &mut ids, vec![same])[..], [Admitted::Duplicate(_)]));
        assert_eq!(cube.n_pages(), 1);
    }

    #[test]
    fn case_16_one_empty_side_is_kept_and_two_are_refused() {
        let (mut cube, mut ids, config) = (Cube::default(), IdSource::new(1), Config::default());
        let answer_only = NewPage { agent_response: "an answer".into(), ..NewPage::default() };
        admit(&mut cube, &config, &mut ids, vec![answer_only]);
        assert_eq!(cube.pages().next().map(|page| page.turns().count()), Some(1));
        let mut admission = Admission::new(&cube, &config, &mut ids, 0);
        assert!(admission.admit(turn(" \n", 0)).is_err());
    }

    #[test]
    fn sessions_end_by_label_or_by_silence() {
        let (mut cube, mut ids, config) = (Cube::default(), IdSource::new(1), Config::default());
        let labelled = |label: &str| NewPage { session: Some(label.into()), ..turn("x", 0) };
        admit(
            &mut cube,
            &config,
            &mut ids,
            vec![turn("a", 0), turn("b", 1), turn("c", 9), labelled("s"), labelled("s"), turn("d", 9)],
        );
        let sessions: Vec<_> = cube.pages().map(|page| page.session).collect();
        assert_eq!(sessions[0], sessions[1]);
        assert_ne!(sessions[1], sessions[2]);
        assert_eq!(sessions[3], sessions[4]);
        assert_ne!(sessions[4], sessions[5]);
        assert_eq!(cube.sessions().count(), 4);
    }
}
