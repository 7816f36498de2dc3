//! Local servers that use the vendors' formats byte for byte, and fail by script or at random.
//!
//! ```
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! use quorum_testkit::server::{Fault, server};
//! let server = server().says("alpha-1", "Tabs.").fault_once("beta-1", Fault::Status(503)).start();
//! assert!(server.url().starts_with("http://127.0.0.1:"));
//! # });
//! ```
//!
//! The path of a request identifies the vendor: a vendor is one file in `speak` and one line in its
//! list. Requests are checked as strictly as the vendor does. The server shares no code with the
//! client, so that a misreading on one side is not repeated on the other.
//!
//! It runs in real time: under a paused clock, a client's timeouts expire while it waits for the
//! socket.

mod answer;
mod fault;
mod forms;
mod gzip;
mod http;
mod instance;
mod play;
mod prompt_cache;
mod request;
mod script;
mod serve;
mod speak;
mod stage;

use std::{
    net::SocketAddr,
    sync::{Arc, mpsc},
    thread,
};

use tokio::{
    net::{TcpListener, TcpSocket},
    sync::oneshot,
    task::JoinHandle,
};

pub use answer::{Ending, Used};
pub use fault::{At, Break, Fault, Noise, Place, RetryAfter};
pub use request::{Asked, End, Request};
pub use script::{Script, server};
pub use serve::Counts;

use serve::Shared;

/// The length of the accept queue: a thousand discussions begin at the same moment.
const BACKLOG: u32 = 4_096;

/// A server that runs until it is dropped.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
    running: Running,
}

#[derive(Debug)]
enum Running {
    Task(JoinHandle<()>),
    Thread(Option<(oneshot::Sender<()>, thread::JoinHandle<()>)>),
}

impl Server {
    /// Starts on the current runtime.
    pub(crate) fn start(script: Script) -> Self {
        let shared = Shared::new(script);
        let (listener, address) = listen();
        let running = Running::Task(tokio::spawn(serve::accept(listener, shared.clone())));
        Server { address, shared, running }
    }

    /// Starts on its own thread and runtime.
    pub(crate) fn on_thread(script: Script) -> Self {
        let shared = Shared::new(script);
        let (tell, told) = mpsc::channel();
        let (stop, stopped) = oneshot::channel::<()>();
        let serving = shared.clone();
        // The name distinguishes the server's work from a client's in measurements.
        let thread = thread::Builder::new().name("vendors".to_owned()).spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.expect("a runtime can be had").block_on(async {
                let (listener, address) = listen();
                tell.send(address).expect("whoever starts a server waits for its address");
                tokio::select! {
                    () = serve::accept(listener, serving) => {}
                    _ = stopped => {}
                }
            });
        });
        let thread = thread.expect("a thread can be had");
        let address = told.recv().expect("a server can listen on this machine");
        Server { address, shared, running: Running::Thread(Some((stop, thread))) }
    }

    /// Where it is: `http://127.0.0.1:49152`, without a slash at the end.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Its address.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// All requests it received, in order.
    #[must_use]
    pub fn requests(&self) -> Vec<Arc<Request>> {
        self.shared.requests()
    }

    /// Its current counters.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.shared.counts()
    }

    /// Switches to another script for new requests. The requests' numbers continue.
    pub fn follow(&self, script: Script) {
        self.shared.follow(script);
    }

    /// Stops the server and waits for its end.
    pub async fn stop(mut self) {
        match &mut self.running {
            Running::Task(task) => {
                task.abort();
                let _cancelled = task.await;
                while self.counts().open > 0 {
                    tokio::task::yield_now().await;
                }
            }
            Running::Thread(thread) => end(thread.take()),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        match &mut self.running {
            Running::Task(task) => task.abort(),
            Running::Thread(thread) => end(thread.take()),
        }
    }
}

fn end(thread: Option<(oneshot::Sender<()>, thread::JoinHandle<()>)>) {
    if let Some((stop, thread)) = thread {
        let _already_stopped = stop.send(());
        let _panicked = thread.join();
    }
}

fn listen() -> (TcpListener, SocketAddr) {
    let socket = TcpSocket::new_v4().expect("a socket can be had");
    socket.bind(([127, 0, 0, 1], 0).into()).expect("a port is free");
    let listener = socket.listen(BACKLOG).expect("the port can be listened on");
    let address = listener.local_addr().expect("a listener has an address");
    (listener, address)
}
