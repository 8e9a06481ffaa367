//! Long-term memory from end to end: pages sink, facts are learnt, contradicted, undone, deleted.

use crate::steps::{all_facts, eager, facts, open, tell, with};
use crate::world::{NOON_MS, World};

#[test]
fn case_28_love_and_hate_leave_one_open_and_one_closed_and_undo_brings_it_back() {
    let mut world = World::default();
    let memory = open(&mut world, with(eager()));
    tell(&mut world, &memory, &["I love jazz.", "My home city is Porto.", "I hate jazz.", "We talk of other things."]);
    let open = facts(&memory);
    let values: Vec<_> = open.iter().map(|fact| (fact.attribute.as_str(), fact.value.as_str())).collect();
    assert_eq!(values, [("home city", "Porto"), ("preference: jazz", "hates")]);
    let closed: Vec<_> = all_facts(&memory).into_iter().filter(|fact| fact.valid_to.is_some()).collect();
    assert_eq!((closed[0].value.as_str(), closed[0].reason.as_deref()), ("loves", Some("later")));
    assert_eq!(closed[0].superseded_by.as_deref(), Some(open[1].id.as_str()));
    let change = memory.history(&open[1].id, 0, 10).remove(0);
    assert!(change.undoable && change.steps.len() == 2, "{change:?}");
    world.run(memory.undo(change.id.parse().expect("an id"), NOON_MS)).done().expect("undone");
    let again = facts(&memory);
    let loved = again.iter().find(|fact| fact.attribute == "preference: jazz").expect("it is back");
    assert_eq!((loved.value.as_str(), loved.evidence[0].quote.as_str()), ("loves", "I love jazz."));
}
