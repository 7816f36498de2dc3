//! Streams that are cut, split or corrupted.

use super::{
    Subject,
    fixture::{MODEL, ReceivedReply, SPEECH, call, failing, receive, speaking, voice},
};
use crate::server::{At, Break, Fault, Noise};

/// The distance in bytes between the cuts; 1 with `QUORUM_LONG`.
const EVERY: usize = 29;

/// The bytes at the end of the last line that may be missing.
const LAST_LINE_END: usize = 4;

/// Cut by a reset, by a closed connection, and by a body that ends early without an error.
pub async fn f3_a_stream_cut_anywhere_is_never_complete(subject: Subject) {
    let server = speaking().start();
    let voice = voice(subject, &server);
    assert!(receive(&voice, call()).await.end.is_some());
    let whole = server.requests()[0].answer_length();
    let every = if std::env::var_os("QUORUM_LONG").is_some() { 1 } else { EVERY };
    for at in (0..whole - LAST_LINE_END).step_by(every) {
        for how in [Break::Reset, Break::Fin, Break::Clean] {
            server.follow(failing(Fault::Cut(At::Byte(at), how)).forgetful());
            let received = receive(&voice, call()).await;
            assert_eq!(received.end, None, "cut at {at} of {whole} by {how:?}");
            assert!(SPEECH.starts_with(&received.text), "{:?}", received.text);
        }
    }
}

/// Split characters arrive intact.
pub async fn f3_a_byte_at_a_time_is_the_same_answer(subject: Subject) {
    let text = "Grüße: \u{1f600} \u{4e00}\u{4e8c} – „so“.";
    let server = speaking().says(MODEL, text).fault(MODEL, Fault::Bytewise).start();
    let received = receive(&voice(subject, &server), call()).await;
    assert_eq!((received.text.as_str(), received.end.is_some()), (text, true), "{:?}", received.error);
}

/// Noise changes nothing, or the answer fails.
pub async fn f4_noise_is_ignored_or_reported_as_an_error(subject: Subject) {
    use Noise::{BrokenFrame, ByteOrderMark, Comments, Cr, CrLf, KeepAlives, NoSpace, Nul, UnknownEvents};
    for noise in [CrLf, Cr, ByteOrderMark, Comments, KeepAlives, NoSpace, UnknownEvents, Nul, BrokenFrame] {
        let server = failing(Fault::Noise(noise)).start();
        let received = receive(&voice(subject, &server), call()).await;
        let is_whole = received.end.is_some() && received.text == SPEECH;
        let may_be_reported = matches!(noise, BrokenFrame | Nul) && is_reported(&received);
        assert!(is_whole || may_be_reported, "{noise:?}: {received:?}");
    }
}

fn is_reported(received: &ReceivedReply) -> bool {
    received.end.is_none() && received.error.is_some() && SPEECH.starts_with(&received.text)
}

/// Invalid bytes are replaced; everything else arrives unchanged.
pub async fn f8_hostile_text_arrives(subject: Subject) {
    let server = failing(Fault::Hostile).start();
    let received = receive(&voice(subject, &server), call()).await;
    assert_eq!((received.error, received.end.is_some()), (None, true));
    assert_eq!(received.text, format!("{SPEECH}{}", Fault::HOSTILE));
}
