//! Runs a task against the outside world.

use core::cell::RefCell;
use core::future::poll_fn;
use core::task::{Poll, Waker};
use std::collections::VecDeque;
use std::rc::Rc;

use wasm_bindgen_futures::spawn_local;

use super::outside::Outside;
use crate::effect::{EffectId, Reply, Step, Task};

#[derive(Default)]
struct Mailbox {
    replies: VecDeque<(EffectId, Reply)>,
    waker: Option<Waker>,
}

/// Drives a task to its end. Effects that it asks for together run together.
pub(super) async fn run<T>(mut task: Task<T>, outside: &Rc<Outside>) -> T {
    let mailbox = Rc::new(RefCell::new(Mailbox::default()));
    poll_fn(|cx| {
        mailbox.borrow_mut().waker = Some(cx.waker().clone());
        loop {
            let replies = core::mem::take(&mut mailbox.borrow_mut().replies);
            for (id, reply) in replies {
                // A reply to an effect that was withdrawn meanwhile is of no use to anybody.
                let _ = task.resume(id, reply);
            }
            match task.poll_step(cx) {
                Step::Done(value) => return Poll::Ready(value),
                Step::NeedIo(effects) => {
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
        }
    })
    .await
}
