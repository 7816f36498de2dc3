//! The part of HTTP/1.1 that a scripted server needs: lenient reading of requests, and responses
//! that can be paced, cut and corrupted.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// A raw request.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Incoming {
    pub(super) method: String,
    pub(super) path: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
    pub(super) keeps_alive: bool,
}

impl Incoming {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(it, _)| it == name).map(|(_, value)| value.as_str())
    }
}

/// Reads the next request; `None` if the client has disconnected or the request is malformed.
/// Further bytes stay in the buffer.
pub(super) async fn read(
    reader: &mut (impl AsyncRead + Unpin),
    writer: &mut (impl AsyncWrite + Unpin),
    buffer: &mut Vec<u8>,
) -> Option<Incoming> {
    let end = until(reader, buffer, |bytes| find(bytes, b"\r\n\r\n").map(|at| at + 4)).await?;
    let mut incoming = head(std::str::from_utf8(&buffer[..end]).ok()?)?;
    buffer.drain(..end);
    if incoming.header("expect").is_some_and(|it| it.eq_ignore_ascii_case("100-continue")) {
        writer.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").await.ok()?;
    }
    incoming.body = match incoming.header("content-length") {
        Some(length) => {
            let length = length.parse().ok()?;
            until(reader, buffer, |bytes| (bytes.len() >= length).then_some(length)).await?;
            buffer.drain(..length).collect()
        }
        None if incoming.header("transfer-encoding").is_some() => chunked(reader, buffer).await?,
        None => Vec::new(),
    };
    Some(incoming)
}

/// Reads until `found` succeeds.
async fn until(
    reader: &mut (impl AsyncRead + Unpin),
    buffer: &mut Vec<u8>,
    found: impl Fn(&[u8]) -> Option<usize>,
) -> Option<usize> {
    loop {
        if let Some(end) = found(buffer) {
            return Some(end);
        }
        if more(reader, buffer).await.ok()? == 0 {
            return None;
        }
    }
}

/// Reads available bytes into the buffer; returns 0 at the end.
pub(super) async fn more(reader: &mut (impl AsyncRead + Unpin), buffer: &mut Vec<u8>) -> io::Result<usize> {
    buffer.reserve(8_192);
    reader.read_buf(buffer).await
}

fn head(text: &str) -> Option<Incoming> {
    let mut lines = text.split("\r\n");
    let mut first = lines.next()?.split(' ');
    let (method, path, version) = (first.next()?.to_owned(), first.next()?.to_owned(), first.next()?);
    let headers = lines.filter_map(|line| line.split_once(':'));
    let headers = headers.map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned())).collect();
    let mut incoming = Incoming { method, path, headers, body: Vec::new(), keeps_alive: true };
    let connection = incoming.header("connection").unwrap_or_default().to_ascii_lowercase();
    incoming.keeps_alive = connection != "close" && (version == "HTTP/1.1" || connection == "keep-alive");
    Some(incoming)
}

async fn chunked(reader: &mut (impl AsyncRead + Unpin), buffer: &mut Vec<u8>) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let end = until(reader, buffer, |bytes| find(bytes, b"\r\n").map(|at| at + 2)).await?;
        let size = std::str::from_utf8(&buffer[..end]).ok()?.trim();
        let size = usize::from_str_radix(size.split(';').next()?, 16).ok()?;
        let whole = end + size + 2;
        until(reader, buffer, |bytes| (bytes.len() >= whole).then_some(whole)).await?;
        body.extend_from_slice(&buffer[end..end + size]);
        buffer.drain(..whole);
        if size == 0 {
            return Some(body);
        }
    }
}

pub(super) fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|it| it == wanted)
}

/// Writes the head of a response.
pub(super) fn write_head(out: &mut Vec<u8>, status: u16, headers: &[(&str, String)]) {
    out.extend_from_slice(format!("HTTP/1.1 {status} {}\r\n", reason(status)).as_bytes());
    for (name, value) in headers {
        for part in [name, ": ", value, "\r\n"] {
            out.extend_from_slice(part.as_bytes());
        }
    }
    out.extend_from_slice(b"\r\n");
}

/// Writes one chunk of a chunked body. An empty one would be the end, so it is left out.
pub(super) fn write_chunk(out: &mut Vec<u8>, bytes: &[u8]) {
    if bytes.is_empty() {
        return;
    }
    out.extend_from_slice(format!("{:x}\r\n", bytes.len()).as_bytes());
    out.extend_from_slice(bytes);
    out.extend_from_slice(b"\r\n");
}

/// The end of a chunked body.
pub(super) const LAST_CHUNK: &[u8] = b"0\r\n\r\n";

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        301 => "Moved Permanently",
        302 => "Found",
        307 => "Temporary Redirect",
        308 => "Permanent Redirect",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        413 => "Content Too Large",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn reading(bytes: &str) -> Option<Incoming> {
        let mut buffer = Vec::new();
        read(&mut bytes.as_bytes(), &mut Vec::new(), &mut buffer).await
    }

    #[tokio::test]
    async fn requests_are_read_with_a_length_in_chunks_or_without_a_body() {
        let headers = |more: &[(&str, &str)]| {
            let own = |it: &(&str, &str)| (it.0.to_owned(), it.1.to_owned());
            more.iter().map(own).collect::<Vec<_>>()
        };
        let of = |method: &str, headers, body: &str, keeps_alive| {
            Some(Incoming {
                method: method.to_owned(),
                path: "/a?b=c".to_owned(),
                headers,
                body: body.into(),
                keeps_alive,
            })
        };
        let read = reading("POST /a?b=c HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}").await;
        assert_eq!(read, of("POST", headers(&[("content-length", "2")]), "{}", true));
        let read = reading(
            "POST /a?b=c HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n1;x\r\n}\r\n0\r\n\r\n",
        )
        .await;
        assert_eq!(read, of("POST", headers(&[("transfer-encoding", "chunked")]), "{}", true));
        let read = reading("GET /a?b=c HTTP/1.1\r\nConnection: close\r\n\r\n").await;
        assert_eq!(read, of("GET", headers(&[("connection", "close")]), "", false));
        assert_eq!(reading("GET /a?b=c HTTP/1.0\r\n\r\n").await, of("GET", vec![], "", false));
        assert_eq!(reading("POST /a HTTP/1.1\r\nContent-Length: 3\r\n\r\n{}").await, None);
        assert_eq!(reading("nonsense\r\n\r\n").await, None);
    }
}
