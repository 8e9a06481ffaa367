//! Last words. A panic traps the instance, and whoever waits for one of its promises would wait for ever: so the hosts are
//! told first.

use core::cell::RefCell;
use std::panic::{set_hook, take_hook};
use std::rc::{Rc, Weak};
use std::sync::Once;

use super::host::Host;

thread_local! {
    /// Hosts of the memories of this instance. A panic ends them all.
    static HOSTS: RefCell<Vec<Weak<Host>>> = const { RefCell::new(Vec::new()) };
}

/// A host that is told of panics for as long as this lives.
pub(super) struct Watched(#[allow(dead_code)] Rc<Host>);

/// Tells `host` of panics, through `panicked(message)`.
pub(super) fn watch(host: Host) -> Watched {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        // An instance that goes on after a panic, as tests do, may not change its hook, and would panic again.
        if std::thread::panicking() {
            return;
        }
        let before = take_hook();
        set_hook(Box::new(move |info| {
            before(info);
            tell(&info.to_string());
        }));
    });
    let host = Rc::new(host);
    HOSTS.with_borrow_mut(|hosts| {
        hosts.retain(|host| host.strong_count() > 0);
        hosts.push(Rc::downgrade(&host));
    });
    Watched(host)
}

/// To the hosts, or to the console if none of them listens. Must not panic itself, so it takes nothing for granted.
fn tell(message: &str) {
    let hosts = HOSTS.try_with(|hosts| hosts.try_borrow().map(|hosts| hosts.clone()).unwrap_or_default());
    let message = message.into();
    let mut heard = false;
    for host in hosts.unwrap_or_default().iter().filter_map(Weak::upgrade) {
        heard |= host.tell("panicked", &message);
    }
    if !heard {
        web_sys::console::error_1(&message);
    }
}
