//! Runs a task against the outside world.

use core::cell::RefCell;
use core::future::poll_fn;
use core::task::{Context, Poll, Waker};
use std::collections::VecDeque;
use std::rc::Rc;

use wasm_bindgen_futures::spawn_local;

use super::outside::Outside;
use crate::effect::{Effect, EffectId, Reply, Step, Task};
use crate::error::{Error, Result};

#[derive(Default)]
struct Mailbox {
    replies: VecDeque<(EffectId, Reply)>,
    waker: Option<Waker>,
}

/// A task without the type of its result, so that what drives it is compiled once.
trait Running {
    fn resume(&mut self, id: EffectId, reply: Reply);

    /// What it asks for; `None` once it has ended.
    fn step(&mut self, cx: &mut Context<'_>) -> Option<Vec<(EffectId, Effect)>>;
}

struct Run<T> {
    task: Task<T>,
    done: Option<T>,
}

impl<T> Running for Run<T> {
    fn resume(&mut self, id: EffectId, reply: Reply) {
        // A reply to an effect that was withdrawn meanwhile is of no use to anybody.
        let _ = self.task.resume(id, reply);
    }

    fn step(&mut self, cx: &mut Context<'_>) -> Option<Vec<(EffectId, Effect)>> {
        match self.task.poll_step(cx) {
            Step::NeedIo(effects) => Some(effects),
            Step::Done(value) => {
                self.done = Some(value);
                None
            }
        }
    }
}

/// Drives a task to its end. Effects that it asks for together run together.
pub(super) async fn run<T>(task: Task<Result<T>>, outside: &Rc<Outside>) -> Result<T> {
    let mut run = Run { task, done: None };
    let mailbox = Rc::new(RefCell::new(Mailbox::default()));
    poll_fn(|cx| drive(&mut run, &mailbox, outside, cx)).await;
    run.done.unwrap_or_else(|| Err(Error::internal("a task ended without a result")))
}

fn drive(
    task: &mut dyn Running,
    mailbox: &Rc<RefCell<Mailbox>>,
    outside: &Rc<Outside>,
    cx: &mut Context<'_>,
) -> Poll<()> {
    mailbox.borrow_mut().waker = Some(cx.waker().clone());
    loop {
        let replies = core::mem::take(&mut mailbox.borrow_mut().replies);
        for (id, reply) in replies {
            task.resume(id, reply);
        }
        let Some(effects) = task.step(cx) else { return Poll::Ready(()) };
        if effects.is_empty() && mailbox.borrow().replies.is_empty() {
            return Poll::Pending;
        }
        for (id, effect) in effects {
            let (mailbox, outside) = (mailbox.clone(), outside.clone());
            spawn_local(async move {
                let reply = outside.perform(effect).await;
                let waker = {
                    let mut mailbox = mailbox.borrow_mut();
                    mailbox.replies.push_back((id, reply));
                    mailbox.waker.take()
                };
                if let Some(waker) = waker {
                    waker.wake();
                }
            });
        }
    }
}
