//! A collector of OpenTelemetry traces: takes OTLP over HTTP on loopback, and keeps what it got.

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU16, Ordering},
    },
    thread,
};

use opentelemetry_proto::tonic::{
    collector::trace::v1::ExportTraceServiceRequest,
    common::v1::{KeyValue, any_value::Value},
    trace::v1::{Span, span::SpanKind, status::StatusCode},
};
use prost::Message;

/// A collector that runs until the process ends.
#[derive(Debug, Clone)]
pub struct Collector {
    address: SocketAddr,
    kept: Arc<Kept>,
}

#[derive(Debug)]
struct Kept {
    status: AtomicU16,
    requests: Mutex<Vec<Exported>>,
}

/// One request: its head, and its body.
#[derive(Debug, Clone)]
pub struct Exported {
    /// The request line and the headers, one line each.
    pub head: String,
    /// The body.
    pub body: Vec<u8>,
}

/// A span as it arrived.
#[derive(Debug, Clone, PartialEq)]
pub struct CollectedSpan {
    /// The trace, in hexadecimal digits.
    pub trace: String,
    /// Its id.
    pub id: String,
    /// The span above it; empty for a root.
    pub parent: String,
    /// Its name.
    pub name: String,
    /// Whether it is a call to another system.
    pub is_client: bool,
    /// When it began and ended, in nanoseconds since 1970.
    pub time: (u64, u64),
    /// Whether it ended with an error.
    pub is_error: bool,
    /// Its attributes, as text.
    pub attributes: BTreeMap<String, String>,
    /// The spans it is linked to, as `TRACE-SPAN`.
    pub links: Vec<String>,
    /// The attributes of the process that sent it.
    pub resource: BTreeMap<String, String>,
}

impl Collector {
    /// Starts a collector on a free port.
    ///
    /// # Panics
    /// If no port is free.
    #[must_use]
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        let kept = Arc::new(Kept { status: AtomicU16::new(200), requests: Mutex::default() });
        let shared = kept.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = shared.clone();
                thread::spawn(move || serve(&stream, &shared));
            }
        });
        Collector { address, kept }
    }

    /// Its address for `OTEL_EXPORTER_OTLP_ENDPOINT`.
    #[must_use]
    pub fn base(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Its address for traces.
    #[must_use]
    pub fn traces(&self) -> String {
        format!("{}/v1/traces", self.base())
    }

    /// Answers every request with this status from now on.
    pub fn answer(&self, status: u16) {
        self.kept.status.store(status, Ordering::SeqCst);
    }

    /// The requests so far.
    #[must_use]
    pub fn requests(&self) -> Vec<Exported> {
        self.kept.requests().clone()
    }

    /// The spans so far, in the order in which they arrived.
    ///
    /// # Panics
    /// If a request is none of the protocol.
    #[must_use]
    pub fn spans(&self) -> Vec<CollectedSpan> {
        self.requests().iter().flat_map(|it| decoded(&it.body)).collect()
    }

    /// The spans of a trace as an indented list: each with these attributes, below the span it
    /// belongs to, in the order of their beginnings.
    #[must_use]
    pub fn tree(&self, attributes: &[&str]) -> String {
        let mut spans = self.spans();
        spans.sort_by_key(|it| (it.time, it.name.clone(), it.attributes.get("quorum.step").cloned()));
        let is_known = |id: &str| spans.iter().any(|it| it.id == id);
        let roots = spans.iter().filter(|it| !is_known(&it.parent));
        let mut lines = Vec::new();
        roots.for_each(|root| branch(&mut lines, (root, 0), &spans, attributes));
        lines.join("\n")
    }
}

fn branch(
    lines: &mut Vec<String>,
    (span, depth): (&CollectedSpan, usize),
    all: &[CollectedSpan],
    shown: &[&str],
) {
    let value = |name: &&str| Some(format!("{}={}", name.rsplit('.').next()?, span.attributes.get(*name)?));
    let values: Vec<String> = shown.iter().filter_map(value).collect();
    // A parent that never arrived is a mistake worth seeing.
    let lost = if depth == 0 && !span.parent.is_empty() { "(lost) " } else { "" };
    let error = if span.is_error { " ERROR" } else { "" };
    let line = format!("{:indent$}{lost}{} {}", "", span.name, values.join(" "), indent = 2 * depth);
    lines.push(format!("{}{error}", line.trim_end()));
    for below in all.iter().filter(|it| it.parent == span.id) {
        branch(lines, (below, depth + 1), all, shown);
    }
}

impl Kept {
    fn requests(&self) -> MutexGuard<'_, Vec<Exported>> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Answers the requests of a connection until the client closes it.
fn serve(stream: &TcpStream, kept: &Kept) -> Option<()> {
    let mut reader = BufReader::new(stream);
    loop {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if reader.read_line(&mut head).ok()? == 0 {
                return None;
            }
        }
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok())?
        });
        let mut body = vec![0; length.unwrap_or_default()];
        reader.read_exact(&mut body).ok()?;
        let status = kept.status.load(Ordering::SeqCst);
        // One that is refused has not arrived; what it contains is repeated in the answer.
        let echo = if status == 200 { String::new() } else { head.clone() };
        if status == 200 {
            kept.requests().push(Exported { head, body });
        }
        let answer = format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\n\r\n{echo}", echo.len());
        (&mut &*stream).write_all(answer.as_bytes()).ok()?;
    }
}

fn decoded(body: &[u8]) -> Vec<CollectedSpan> {
    let request = ExportTraceServiceRequest::decode(body).expect("an export request");
    let of_process = |it: opentelemetry_proto::tonic::trace::v1::ResourceSpans| {
        let resource = texts(it.resource.unwrap_or_default().attributes);
        let spans = it.scope_spans.into_iter().flat_map(|it| it.spans);
        spans.map(move |span| collected(span, &resource)).collect::<Vec<_>>()
    };
    request.resource_spans.into_iter().flat_map(of_process).collect()
}

fn collected(span: Span, resource: &BTreeMap<String, String>) -> CollectedSpan {
    let linked = |it: &opentelemetry_proto::tonic::trace::v1::span::Link| {
        format!("{}-{}", hex(&it.trace_id), hex(&it.span_id))
    };
    CollectedSpan {
        trace: hex(&span.trace_id),
        id: hex(&span.span_id),
        parent: hex(&span.parent_span_id),
        is_client: span.kind() == SpanKind::Client,
        time: (span.start_time_unix_nano, span.end_time_unix_nano),
        is_error: span.status.is_some_and(|it| it.code() == StatusCode::Error),
        links: span.links.iter().map(linked).collect(),
        attributes: texts(span.attributes),
        name: span.name,
        resource: resource.clone(),
    }
}

fn texts(attributes: Vec<KeyValue>) -> BTreeMap<String, String> {
    let text = |it: KeyValue| (it.key, it.value.and_then(|it| it.value).map(shown).unwrap_or_default());
    attributes.into_iter().map(text).collect()
}

fn shown(value: Value) -> String {
    match value {
        Value::StringValue(text) => text,
        Value::BoolValue(it) => it.to_string(),
        Value::IntValue(it) => it.to_string(),
        Value::DoubleValue(it) => it.to_string(),
        Value::ArrayValue(all) => {
            all.values.into_iter().filter_map(|it| it.value).map(shown).collect::<Vec<_>>().join(",")
        }
        other => format!("{other:?}"),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|it| format!("{it:02x}")).collect()
}
