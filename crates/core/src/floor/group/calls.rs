//! The calls, waits and sub-discussions that a group or a schedule has under way, and their results
//! that arrived early.

mod own_task;

use std::{any::Any, collections::VecDeque, panic::AssertUnwindSafe};

use futures::{FutureExt, StreamExt, future::BoxFuture, stream::FuturesUnordered};
use tokio::task::yield_now;

use crate::record::Paid;
use own_task::OwnTask;

/// News for the seat or job with this number.
pub(crate) type Arrival<T> = (usize, Result<T, Fault>);

/// A panic of this program, caught in a call. Other calls may have answered meanwhile, so it is
/// resumed only once their answers are recorded.
pub(crate) type Fault = Box<dyn Any + Send>;

pub(crate) struct Calls<T> {
    under_way: FuturesUnordered<BoxFuture<'static, Arrival<T>>>,
    /// The results that arrived while facts were being recorded.
    early: VecDeque<Arrival<T>>,
}

impl<T> Default for Calls<T> {
    fn default() -> Self {
        Calls { under_way: FuturesUnordered::new(), early: VecDeque::new() }
    }
}

impl<T: Send + 'static> Calls<T> {
    /// Starts a wait or a sub-discussion for this seat. A panic in it must not cost the answers of
    /// others.
    pub(crate) fn push(&mut self, index: usize, wait: impl Future<Output = T> + Send + 'static) {
        let caught = AssertUnwindSafe(wait).catch_unwind();
        self.under_way.push(caught.map(move |ended| (index, ended)).boxed());
    }

    /// Starts a call in a task of its own, so that the pieces of its answer wake nothing else: only
    /// its end is news. A call that ends at once needs no task.
    pub(crate) fn spawn(&mut self, index: usize, call: impl Future<Output = T> + Send + 'static) {
        let mut call = AssertUnwindSafe(call).catch_unwind().boxed();
        match (&mut call).now_or_never() {
            Some(ended) => self.early.push_back((index, ended)),
            None => self.under_way.push(OwnTask::spawn(call).map(move |ended| (index, ended)).boxed()),
        }
    }

    /// Lets the tasks of calls that were woken together end together, so that their answers are
    /// recorded in one write.
    pub(crate) async fn settle(&mut self) {
        if !self.under_way.is_empty() {
            yield_now().await;
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.under_way.is_empty() && self.early.is_empty()
    }

    /// Whether something has arrived. Polls once, without waiting.
    pub(crate) fn has_arrived(&mut self) -> bool {
        let arrived = self.under_way.next().now_or_never().flatten();
        self.early.extend(arrived);
        !self.early.is_empty()
    }

    /// Takes the next arrival, early ones first, without waiting.
    pub(crate) fn arrived(&mut self) -> Option<Arrival<T>> {
        self.early.pop_front().or_else(|| self.under_way.next().now_or_never().flatten())
    }

    /// Waits for the next arrival. Everything paid for is already written; `None` if nothing is
    /// under way.
    pub(crate) async fn next(&mut self, _: &Paid<'_>) -> Option<Arrival<T>> {
        match self.early.pop_front() {
            Some(arrival) => Some(arrival),
            None => self.under_way.next().await,
        }
    }

    /// Drives everything under way while facts are being recorded.
    pub(crate) async fn go_on_during<R>(&mut self, recording: impl Future<Output = R>) -> R {
        tokio::pin!(recording);
        loop {
            tokio::select! {
                biased;
                recorded = &mut recording => return recorded,
                Some(arrival) = self.under_way.next() => self.early.push_back(arrival),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        pin::pin,
        sync::{
            Arc,
            atomic::{AtomicUsize, Ordering},
        },
        time::Duration,
    };

    use futures::future::{pending, poll_fn};
    use tokio::time::sleep;

    use super::*;

    /// Waits for an arrival in a task, and counts how often the task is woken for it.
    async fn times_woken(mut calls: Calls<()>) -> usize {
        let waiting = async move {
            let (mut next, mut polls) = (pin!(calls.under_way.next()), 0);
            let arrived = poll_fn(|context| {
                polls += 1;
                next.as_mut().poll(context)
            });
            assert!(matches!(arrived.await, Some((0, Ok(())))));
            polls
        };
        tokio::spawn(waiting).await.unwrap()
    }

    async fn in_a_hundred_pieces() {
        for _ in 0..100 {
            sleep(Duration::from_millis(20)).await;
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_pieces_of_an_answer_wake_its_own_task_and_its_end_wakes_the_group() {
        let (mut in_task, mut in_group) = (Calls::default(), Calls::default());
        in_task.spawn(0, in_a_hundred_pieces());
        // Once for its end; `FuturesUnordered` wakes its task once more.
        assert!(times_woken(in_task).await <= 3);
        in_group.push(0, in_a_hundred_pieces());
        assert!(100 < times_woken(in_group).await);
    }

    /// Decrements the count when it is dropped.
    struct Held(Arc<AtomicUsize>);

    impl Drop for Held {
        fn drop(&mut self) {
            self.0.fetch_sub(1, Ordering::Relaxed);
        }
    }

    #[tokio::test]
    async fn a_call_is_gone_as_soon_as_it_is_dropped() {
        let held = Arc::new(AtomicUsize::new(2));
        let mut calls = Calls::default();
        for index in 0..2 {
            let connection = Held(held.clone());
            calls.spawn(index, async move {
                pending::<()>().await;
                drop(connection);
            });
        }
        // Whether or not their tasks have begun, both are gone as soon as they are dropped.
        yield_now().await;
        drop(calls);
        assert_eq!(held.load(Ordering::Relaxed), 0);
    }

    #[tokio::test]
    async fn a_panic_in_a_task_arrives_as_a_fault() {
        let mut calls: Calls<()> = Calls::default();
        calls.spawn(0, async {
            yield_now().await;
            panic!("on purpose");
        });
        let (_, ended) = calls.under_way.next().await.unwrap();
        assert_eq!(ended.unwrap_err().downcast_ref::<&str>(), Some(&"on purpose"));
    }

    #[tokio::test]
    async fn a_call_that_ends_at_once_has_arrived_when_it_was_started() {
        let mut calls = Calls::default();
        calls.spawn(7, async { "at once" });
        let arrived = calls.arrived().map(|(index, news)| (index, news.ok()));
        assert_eq!(arrived, Some((7, Some("at once"))));
    }

    #[tokio::test(start_paused = true)]
    async fn calls_that_end_together_have_arrived_together_after_settling() {
        let mut calls = Calls::default();
        for index in 0..3 {
            calls.spawn(index, sleep(Duration::from_millis(50)));
        }
        let (first, _) = calls.under_way.next().await.unwrap();
        calls.settle().await;
        let others: Vec<usize> = std::iter::from_fn(|| calls.arrived()).map(|(index, _)| index).collect();
        assert_eq!((first, others), (0, vec![1, 2]));
        assert_eq!(calls.settle().now_or_never(), Some(()), "nothing is under way");
    }
}
