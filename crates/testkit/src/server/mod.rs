//! Local servers that speak the vendors' formats byte for byte, and go wrong by script or by chance.
//!
//! ```
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! use quorum_testkit::server::{Fault, server};
//! let server = server().says("alpha-1", "Tabs.").fault_once("beta-1", Fault::Status(503)).start();
//! let base_url = server.url(); // http://127.0.0.1:…
//! # });
//! ```
//!
//! The path of a request tells which vendor is meant: a vendor is one file in `speak` and one line in its list. Requests are
//! checked as strictly as the vendor does. The server shares no code with the client, so that a misreading on one side is not
//! repeated on the other.
//!
//! It lives in real time: under a paused clock a client's deadlines pass while it waits for the socket.

mod answer;
mod fault;
mod forms;
mod gzip;
mod http;
mod instance;
mod play;
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

/// So many may wait to be let in: a thousand discussions begin at the same moment.
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
    /// Starts on the runtime this is called on.
    pub(crate) fn start(script: Script) -> Self {
        let shared = Shared::new(script);
        let (listener, address) = listen();
        let running = Running::Task(tokio::spawn(serve::accept(listener, shared.clone())));
        Server { address, shared, running }
    }

    /// Starts on a thread and a runtime of its own.
    pub(crate) fn on_thread(script: Script) -> Self {
        let shared = Shared::new(script);
        let (tell, told) = mpsc::channel();
        let (stop, stopped) = oneshot::channel::<()>();
        let serving = shared.clone();
        // It has a name, so that whoever measures can tell its work from a client's.
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

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Every request it got, in the order in which they came.
    #[must_use]
    pub fn requests(&self) -> Vec<Arc<Request>> {
        self.shared.requests()
    }

    /// How many of everything there are now.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.shared.counts()
    }

    /// Goes on by another script: requests that come from now on are answered by it. Their numbers go on.
    pub fn follow(&self, script: Script) {
        self.shared.follow(script);
    }

    /// Stops, and returns when nothing of it is left.
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
