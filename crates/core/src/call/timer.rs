//! Deadlines that are checked with every piece of an answer.

use std::{
    pin::{Pin, pin},
    task::{Context, Poll, Waker, ready},
};

use futures::future::poll_fn;
use tokio::{
    task::unconstrained,
    time::{Instant, Sleep, sleep_until},
};

/// A deadline that may be moved. It is made for a task that polls it with every piece of an answer:
/// a poll reads the clock only after the timer has fired, and the task is registered once.
#[derive(Debug)]
pub struct Timer {
    deadline: Instant,
    sleep: Pin<Box<Sleep>>,
    /// The task that the timer wakes.
    registered: Option<Waker>,
}

impl Timer {
    /// A timer with this deadline.
    #[must_use]
    pub fn until(deadline: Instant) -> Self {
        Timer { deadline, sleep: Box::pin(sleep_until(deadline)), registered: None }
    }

    /// Moves the deadline. If it is later, the timer is reset only when it fires, not for every
    /// piece.
    pub fn move_to(&mut self, deadline: Instant) {
        self.deadline = deadline;
        if deadline < self.sleep.deadline() {
            self.set();
        }
    }

    fn set(&mut self) {
        self.sleep.as_mut().reset(self.deadline);
        self.registered = None;
    }

    /// Ready once the deadline has passed.
    pub fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        loop {
            ready!(self.poll_sleep(context));
            if self.deadline <= Instant::now() {
                return Poll::Ready(());
            }
            self.set();
        }
    }

    fn poll_sleep(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if self.registered.as_ref().is_some_and(|it| it.will_wake(context.waker())) {
            return if self.sleep.is_elapsed() { Poll::Ready(()) } else { Poll::Pending };
        }
        // Otherwise a task whose cooperative budget is used up would not be registered.
        let polled = pin!(unconstrained(self.sleep.as_mut())).poll(context);
        self.registered = Some(context.waker().clone());
        polled
    }
}

/// The output of the future, or `None` if the deadline comes first.
pub(crate) async fn before<T>(deadline: Instant, future: impl Future<Output = T>) -> Option<T> {
    let (mut future, mut timer) = (pin!(future), Timer::until(deadline));
    poll_fn(|context| match future.as_mut().poll(context) {
        Poll::Ready(output) => Poll::Ready(Some(output)),
        Poll::Pending => timer.poll(context).map(|()| None),
    })
    .await
}

#[cfg(test)]
mod tests {
    use std::{future::pending, time::Duration};

    use futures::FutureExt;
    use tokio::{
        task::coop::{consume_budget, has_budget_remaining},
        time::{sleep, timeout},
    };

    use super::*;

    fn in_seconds(seconds: u64) -> Instant {
        Instant::now() + Duration::from_secs(seconds)
    }

    #[tokio::test(start_paused = true)]
    async fn a_timer_goes_off_at_the_deadline_it_was_moved_to_last() {
        for (moved_to, seconds) in [(vec![], 10), (vec![30], 30), (vec![3], 3), (vec![40, 20], 20)] {
            let (began, mut timer) = (Instant::now(), Timer::until(in_seconds(10)));
            assert_eq!(poll_fn(|context| timer.poll(context)).now_or_never(), None);
            moved_to.iter().for_each(|it| timer.move_to(began + Duration::from_secs(*it)));
            let gone_off = timeout(Duration::from_secs(60), poll_fn(|context| timer.poll(context))).await;
            assert!(gone_off.is_ok(), "{moved_to:?}: it never goes off");
            assert_eq!(began.elapsed().as_secs(), seconds, "{moved_to:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_timer_wakes_the_task_that_polled_it_last() {
        let mut timer = Timer::until(in_seconds(5));
        let first = tokio::spawn(async move {
            assert_eq!(poll_fn(|context| timer.poll(context)).now_or_never(), None);
            timer
        });
        let mut timer = first.await.unwrap();
        let second = tokio::spawn(async move { poll_fn(|context| timer.poll(context)).await });
        timeout(Duration::from_secs(6), second).await.unwrap().unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn a_task_that_uses_up_its_share_of_time_is_ended_at_its_deadline() {
        let busy = async {
            for _ in 0..2_000 {
                // Everything is ready until the share is used up, at the first poll too.
                while has_budget_remaining() {
                    consume_budget().await;
                }
                sleep(Duration::from_millis(1)).await;
            }
        };
        assert_eq!(before(in_seconds(1), busy).await, None);
    }

    #[tokio::test(start_paused = true)]
    async fn a_future_that_is_woken_often_is_ended_at_its_deadline() {
        let often = async {
            for _ in 0..1_000 {
                sleep(Duration::from_millis(20)).await;
            }
        };
        let began = Instant::now();
        assert_eq!(before(in_seconds(7), often).await, None);
        assert_eq!(began.elapsed().as_secs(), 7);
        assert_eq!(before(in_seconds(1), async { "in time" }).await, Some("in time"));
        assert_eq!(before(in_seconds(1), pending::<()>()).await, None);
    }
}
