//! The writer queue: writers take turns in the order in which they asked.

use core::cell::RefCell;
use core::future::poll_fn;
use core::task::{Poll, Waker};
use std::collections::VecDeque;

#[derive(Default)]
struct Queue {
    next_ticket: u64,
    /// Tickets in line; the first one writes.
    line: VecDeque<(u64, Option<Waker>)>,
}

/// Who may write now.
#[derive(Default)]
pub(super) struct Writer(RefCell<Queue>);

impl Writer {
    /// Waits for the turn to write. Dropping the future leaves the line.
    pub(super) async fn turn(&self) -> Turn<'_> {
        let ticket = {
            let mut queue = self.0.borrow_mut();
            let ticket = queue.next_ticket;
            queue.next_ticket += 1;
            queue.line.push_back((ticket, None));
            ticket
        };
        let turn = Turn { writer: self, ticket };
        poll_fn(|cx| {
            let mut queue = self.0.borrow_mut();
            if queue.line.front().is_some_and(|&(first, _)| first == ticket) {
                return Poll::Ready(());
            }
            if let Some(place) = queue.line.iter_mut().find(|(waiting, _)| *waiting == ticket) {
                place.1 = Some(cx.waker().clone());
            }
            Poll::Pending
        })
        .await;
        turn
    }
}

/// The right to write, or a place in the line for it; given back when dropped.
pub(super) struct Turn<'a> {
    writer: &'a Writer,
    ticket: u64,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let waker = {
            let mut queue = self.writer.0.borrow_mut();
            queue.line.retain(|&(ticket, _)| ticket != self.ticket);
            queue.line.front_mut().and_then(|(_, waker)| waker.take())
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::future::Future;
    use core::pin::pin;
    use core::task::Context;

    #[test]
    fn writers_take_turns_and_one_that_gives_up_blocks_nobody() {
        let writer = Writer::default();
        let cx = &mut Context::from_waker(Waker::noop());
        let mut first = pin!(writer.turn());
        let mut third = pin!(writer.turn());
        let Poll::Ready(turn) = first.as_mut().poll(cx) else { panic!("the line was empty") };
        {
            let mut second = pin!(writer.turn());
            assert!(second.as_mut().poll(cx).is_pending());
            assert!(third.as_mut().poll(cx).is_pending());
        }
        assert!(third.as_mut().poll(cx).is_pending());
        drop(turn);
        assert!(third.as_mut().poll(cx).is_ready());
    }
}
