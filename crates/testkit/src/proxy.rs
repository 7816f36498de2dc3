//! A TCP proxy that passes, delays, swallows or cuts connections, for tests with a real database.

use std::{
    io,
    net::TcpListener as StdListener,
    sync::{
        Arc,
        atomic::{AtomicU16, Ordering},
    },
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::watch,
    task::JoinHandle,
    time::sleep,
};

/// What happens to the bytes of all connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// They are passed on.
    Pass,
    /// They are passed on after this time, in each direction.
    Delay(Duration),
    /// They are kept back, as by a network that lost its way, until the mode changes.
    Swallow,
    /// New connections are refused.
    Refuse,
}

#[derive(Debug, Clone, Copy)]
struct State {
    mode: Mode,
    /// Raised when all connections are cut.
    cut: u64,
}

/// A proxy for one port, until it is dropped.
#[derive(Debug)]
pub struct Proxy {
    port: u16,
    target: Arc<AtomicU16>,
    state: watch::Sender<State>,
    accepting: JoinHandle<()>,
}

impl Proxy {
    /// Starts a proxy for this port, on the current runtime.
    ///
    /// # Panics
    /// If no port is free.
    #[must_use]
    pub fn to(target: u16) -> Self {
        let listener = low_listener();
        let port = listener.local_addr().expect("a listener has an address").port();
        let listener = TcpListener::from_std(listener).expect("a listener can be used by the runtime");
        let (target, state) =
            (Arc::new(AtomicU16::new(target)), watch::Sender::new(State { mode: Mode::Pass, cut: 0 }));
        let accepting = tokio::spawn(accept(listener, target.clone(), state.clone()));
        Proxy { port, target, state, accepting }
    }

    /// The port to connect to.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Changes what happens to all connections.
    pub fn set(&self, mode: Mode) {
        self.state.send_modify(|it| it.mode = mode);
    }

    /// Cuts all connections that are open.
    pub fn cut(&self) {
        self.state.send_modify(|it| it.cut += 1);
    }

    /// Cuts all connections, and leads new ones to another port.
    pub fn turn(&self, target: u16) {
        self.target.store(target, Ordering::SeqCst);
        self.cut();
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.accepting.abort();
        self.cut();
    }
}

/// A listener on a port below those that the system gives to clients, which a server that is
/// started again may find taken.
///
/// # Panics
/// If no port is free.
#[must_use]
pub fn low_listener() -> StdListener {
    let first = 12_000 + (std::process::id() % 8_000) as u16;
    let found = (first..32_000).find_map(|port| StdListener::bind(("127.0.0.1", port)).ok());
    let listener = found.expect("a port is free");
    listener.set_nonblocking(true).expect("a listener can be made non-blocking");
    listener
}

async fn accept(listener: TcpListener, target: Arc<AtomicU16>, state: watch::Sender<State>) {
    loop {
        let Ok((client, _)) = listener.accept().await else { continue };
        let (state, target) = (state.subscribe(), target.load(Ordering::SeqCst));
        if state.borrow().mode == Mode::Refuse {
            continue;
        }
        tokio::spawn(async move {
            let Ok(server) = TcpStream::connect(("127.0.0.1", target)).await else { return };
            let _ = client.set_nodelay(true);
            let _ = server.set_nodelay(true);
            let ((from_client, to_client), (from_server, to_server)) =
                (client.into_split(), server.into_split());
            // Either direction ends both.
            tokio::select! {
                _ = pump(from_client, to_server, state.clone()) => {}
                _ = pump(from_server, to_client, state.clone()) => {}
                () = until_cut(state.clone()) => {}
            }
        });
    }
}

async fn until_cut(mut state: watch::Receiver<State>) {
    let cut = state.borrow().cut;
    let _ = state.wait_for(|it| it.cut != cut).await;
}

async fn pump(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    mut state: watch::Receiver<State>,
) -> io::Result<()> {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let length = from.read(&mut buffer).await?;
        if length == 0 {
            return to.shutdown().await;
        }
        let mode = state.wait_for(|it| it.mode != Mode::Swallow).await.map_or(Mode::Pass, |it| it.mode);
        if let Mode::Delay(time) = mode {
            sleep(time).await;
        }
        to.write_all(&buffer[..length]).await?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A server that sends every byte back, plus the given number.
    async fn echo(plus: u8) -> u16 {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
        let port = listener.local_addr().expect("an address").port();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                tokio::spawn(async move {
                    while let Ok(byte) = stream.read_u8().await {
                        let _ = stream.write_u8(byte + plus).await;
                    }
                });
            }
        });
        port
    }

    async fn said(stream: &mut TcpStream, byte: u8) -> Option<u8> {
        stream.write_u8(byte).await.ok()?;
        stream.read_u8().await.ok()
    }

    #[tokio::test]
    async fn a_proxy_passes_delays_swallows_cuts_refuses_and_turns() {
        let (one, two) = (echo(1).await, echo(2).await);
        let proxy = Proxy::to(one);
        let connect = || TcpStream::connect(("127.0.0.1", proxy.port()));
        let mut stream = connect().await.expect("a connection");
        assert_eq!(said(&mut stream, 10).await, Some(11));
        let began = tokio::time::Instant::now();
        proxy.set(Mode::Delay(Duration::from_millis(30)));
        assert_eq!(said(&mut stream, 20).await, Some(21));
        assert!(Duration::from_millis(60) <= began.elapsed());
        proxy.set(Mode::Swallow);
        let mut swallowed = Box::pin(said(&mut stream, 30));
        assert!(tokio::time::timeout(Duration::from_millis(50), &mut swallowed).await.is_err());
        proxy.set(Mode::Pass);
        assert_eq!(swallowed.await, Some(31));
        proxy.turn(two);
        assert_eq!(said(&mut stream, 40).await, None);
        let mut stream = connect().await.expect("a connection");
        assert_eq!(said(&mut stream, 40).await, Some(42));
        proxy.set(Mode::Refuse);
        proxy.cut();
        assert_eq!(said(&mut stream, 50).await, None);
        let refused = connect().await;
        let mut stream = refused.expect("the system accepts it");
        assert_eq!(said(&mut stream, 50).await, None);
    }
}
