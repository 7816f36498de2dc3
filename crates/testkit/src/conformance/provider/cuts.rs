//! Streams that are cut, split or spoilt.

use super::{
    Subject,
    fixture::{Heard, MODEL, SPEECH, call, failing, hear, speaking, voice},
};
use crate::server::{At, Break, Fault, Noise};

/// Every so many bytes an answer is cut; with `QUORUM_LONG` at every byte.
const EVERY: usize = 29;

/// What ends the last line may be missing.
const LAST_LINE_END: usize = 4;

/// By a reset, by a closed connection, and by a body that ends as if that were all.
pub async fn f3_a_stream_cut_anywhere_never_ends(subject: Subject) {
    let server = speaking().start();
    let voice = voice(subject, &server);
    assert!(hear(&voice, call()).await.end.is_some());
    let whole = server.requests()[0].answer_length();
    let every = if std::env::var_os("QUORUM_LONG").is_some() { 1 } else { EVERY };
    for at in (0..whole - LAST_LINE_END).step_by(every) {
        for how in [Break::Reset, Break::Fin, Break::Clean] {
            server.follow(failing(Fault::Cut(At::Byte(at), how)).forgetful());
            let heard = hear(&voice, call()).await;
            assert_eq!(heard.end, None, "cut at {at} of {whole} by {how:?}");
            assert!(SPEECH.starts_with(&heard.text), "{:?}", heard.text);
        }
    }
}

/// Characters are split, and nobody notices.
pub async fn f3_a_byte_at_a_time_is_the_same_answer(subject: Subject) {
    let text = "Grüße: \u{1f600} \u{4e00}\u{4e8c} – „so“.";
    let server = speaking().says(MODEL, text).fault(MODEL, Fault::Bytewise).start();
    let heard = hear(&voice(subject, &server), call()).await;
    assert_eq!((heard.text.as_str(), heard.end.is_some()), (text, true), "{:?}", heard.error);
}

/// What doesn't belong there changes nothing, or the answer has no end.
pub async fn f4_noise_is_passed_over_or_told(subject: Subject) {
    use Noise::{BrokenFrame, ByteOrderMark, Comments, Cr, CrLf, KeepAlives, NoSpace, Nul, UnknownEvents};
    for noise in [CrLf, Cr, ByteOrderMark, Comments, KeepAlives, NoSpace, UnknownEvents, Nul, BrokenFrame] {
        let server = failing(Fault::Noise(noise)).start();
        let heard = hear(&voice(subject, &server), call()).await;
        let is_whole = heard.end.is_some() && heard.text == SPEECH;
        let may_be_told = matches!(noise, BrokenFrame | Nul) && is_told(&heard);
        assert!(is_whole || may_be_told, "{noise:?}: {heard:?}");
    }
}

fn is_told(heard: &Heard) -> bool {
    heard.end.is_none() && heard.error.is_some() && SPEECH.starts_with(&heard.text)
}

/// Bytes that are no text are replaced; everything else comes as it is.
pub async fn f8_hostile_text_arrives(subject: Subject) {
    let server = failing(Fault::Hostile).start();
    let heard = hear(&voice(subject, &server), call()).await;
    assert_eq!((heard.error, heard.end.is_some()), (None, true));
    assert_eq!(heard.text, format!("{SPEECH}{}", Fault::HOSTILE));
}
