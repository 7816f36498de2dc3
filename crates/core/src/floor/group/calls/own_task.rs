//! A future that runs in a task of its own, and is dropped at once with its handle.

use std::{
    panic::resume_unwind,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, ready},
};

use futures::future::{BoxFuture, poll_fn};
use tokio::task::JoinHandle;

/// The handle of a task; as a future, the output of the task.
///
/// Aborting a task drops its future only when the runtime polls the task next. A call has a
/// connection and a place in its provider's lane, which others may wait for, so the handle drops it
/// itself.
pub(super) struct OwnTask<T> {
    work: Arc<Work<T>>,
    task: JoinHandle<Option<T>>,
}

/// The future of a task, until it has ended. Locked while it is polled, never while it waits.
struct Work<T>(Mutex<Option<BoxFuture<'static, T>>>);

impl<T> Work<T> {
    fn lock(&self) -> MutexGuard<'_, Option<BoxFuture<'static, T>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Polls the future; its output is `None` once it was dropped.
    fn poll(&self, context: &mut Context<'_>) -> Poll<Option<T>> {
        let mut work = self.lock();
        let Some(future) = work.as_mut() else { return Poll::Ready(None) };
        let output = ready!(future.as_mut().poll(context));
        *work = None;
        Poll::Ready(Some(output))
    }
}

impl<T: Send + 'static> OwnTask<T> {
    pub(super) fn spawn(future: BoxFuture<'static, T>) -> Self {
        let work = Arc::new(Work(Mutex::new(Some(future))));
        let polled = work.clone();
        let task = tokio::spawn(poll_fn(move |context| polled.poll(context)));
        OwnTask { work, task }
    }
}

impl<T> Future for OwnTask<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        match ready!(Pin::new(&mut self.task).poll(context)) {
            Ok(Some(output)) => Poll::Ready(output),
            // This panic came from dropping the future after its end: while it runs, it catches its
            // own panics.
            Err(error) if error.is_panic() => resume_unwind(error.into_panic()),
            // The future was dropped before its end. Only this handle does that, or the runtime
            // when it shuts down, and then nothing is polled any more.
            Ok(None) | Err(_) => Poll::Pending,
        }
    }
}

impl<T> Drop for OwnTask<T> {
    fn drop(&mut self) {
        self.task.abort();
        let work = self.work.lock().take();
        drop(work);
    }
}
