//! The admission of cases: on a machine that is short of cores or memory a case waits before it
//! begins, so that a loaded machine slows a run instead of failing it.

use std::time::Duration;

use tokio::sync::{Mutex, watch};

use crate::os::machine::{Look, Strain};

/// How often the machine is looked at while a case waits.
const INTERVAL: Duration = Duration::from_millis(500);

/// Lets cases through, one after the other, as the machine has room for them.
pub struct Admission {
    under_way: watch::Sender<u32>,
    /// The last look at the machine; whoever has it is the one who waits.
    last: Mutex<Look>,
    measure: Box<dyn Fn(&Look) -> Strain + Send + Sync>,
}

/// What a case holds while it is under way.
pub struct Pass<'a>(&'a Admission);

impl Admission {
    /// An admission that measures the machine by `measure`: its strain since a look.
    pub fn new(measure: impl Fn(&Look) -> Strain + Send + Sync + 'static) -> Admission {
        let last = Mutex::new(Look::now());
        Admission { under_way: watch::Sender::default(), last, measure: Box::new(measure) }
    }

    /// Waits until there is room, which there is when no case is under way.
    pub async fn enter(&self) -> Pass<'_> {
        let mut last = self.last.lock().await;
        let mut under_way = self.under_way.subscribe();
        loop {
            let strain = (self.measure)(&last);
            if strain.admits(*under_way.borrow_and_update()) {
                self.under_way.send_modify(|count| *count += 1);
                return Pass(self);
            }
            *last = Look::now();
            tokio::select! {
                _ = under_way.changed() => {}
                () = tokio::time::sleep(INTERVAL) => {}
            }
        }
    }
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        self.0.under_way.send_modify(|count| *count -= 1);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use futures_util::FutureExt;

    use super::*;
    use crate::wait;

    fn strain(is_starved: bool) -> Strain {
        let free = if is_starved { 0 } else { u64::MAX };
        Strain { pressure: None, load: 0.0, cores: 1, free: Some(free) }
    }

    #[tokio::test(start_paused = true)]
    async fn on_a_starved_machine_one_case_after_the_other_passes() {
        let admission = Admission::new(|_| strain(true));
        let first = admission.enter().await;
        let mut second = Box::pin(admission.enter());
        assert!((&mut second).now_or_never().is_none(), "it waits");
        drop(first);
        let second = wait::within("the second", second, String::new).await.unwrap();
        assert!(admission.enter().now_or_never().is_none(), "the third waits");
        drop(second);
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_waits_passes_as_soon_as_the_machine_has_room() {
        let starved = Arc::new(AtomicBool::new(true));
        let is_starved = starved.clone();
        let admission = Admission::new(move |_| strain(is_starved.load(Ordering::Relaxed)));
        let _first = admission.enter().await;
        let mut second = Box::pin(admission.enter());
        assert!((&mut second).now_or_never().is_none());
        starved.store(false, Ordering::Relaxed);
        let _second = wait::within("the second", second, String::new).await.unwrap();
    }
}
