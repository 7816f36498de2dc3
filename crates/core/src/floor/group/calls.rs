//! The calls, waits and sub-discussions that a group or a schedule has under way, and their results
//! that arrived early.

use std::{any::Any, collections::VecDeque, panic::AssertUnwindSafe};

use futures::{FutureExt, StreamExt, future::BoxFuture, stream::FuturesUnordered};

use crate::record::Paid;

/// News for the seat or job with this number.
pub(crate) type Arrival<T> = (usize, Result<T, Fault>);

/// A panic of this program, caught in a call. Other calls may have answered meanwhile, so it is
/// resumed only once their answers are recorded.
pub(crate) type Fault = Box<dyn Any + Send>;

pub(crate) struct Calls<T> {
    under_way: FuturesUnordered<BoxFuture<'static, Arrival<T>>>,
    /// What arrived while facts were being recorded.
    early: VecDeque<Arrival<T>>,
}

impl<T> Default for Calls<T> {
    fn default() -> Self {
        Calls { under_way: FuturesUnordered::new(), early: VecDeque::new() }
    }
}

impl<T: Send + 'static> Calls<T> {
    /// Starts a call for this seat. A panic in it must not cost the answers of others.
    pub(crate) fn push(&mut self, index: usize, call: impl Future<Output = T> + Send + 'static) {
        let caught = AssertUnwindSafe(call).catch_unwind();
        self.under_way.push(caught.map(move |ended| (index, ended)).boxed());
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
