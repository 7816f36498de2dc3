//! The mark between the text of a synthesis and its structure. It depends on the topic and the
//! writer, so that nothing said before can contain it by chance; if somebody writes it on purpose,
//! it is shown to the writer without its brackets, like all marks.

use quorum_core::model::spec::Spec;

const BEGINS: &str = "[STRUCTURE_";

/// The mark for this writer.
pub(crate) fn mark(spec: &Spec, writer: &str) -> String {
    // FNV-1a.
    let bytes = spec.topic.bytes().chain([0]).chain(writer.bytes());
    let mut hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let letters = (0..6).map(|_| {
        let letter = char::from(b'A' + (hash % 26) as u8);
        hash /= 26;
        letter
    });
    format!("{BEGINS}{}]", letters.collect::<String>())
}

/// The mark that a prompt asks for.
pub(crate) fn mark_in(prompt: &str) -> Option<&str> {
    let mark = &prompt[prompt.rfind(BEGINS)?..];
    mark.find(']').map(|end| &mark[..=end])
}

#[cfg(test)]
mod tests {
    use quorum_testkit::spec::spec;

    use super::*;

    #[test]
    fn every_writer_and_topic_has_a_mark_of_its_own() {
        let (one, mut other) = (spec("synthesis"), spec("synthesis"));
        other.topic = "vim or emacs?".to_owned();
        let marks = [mark(&one, "ann"), mark(&one, "bob"), mark(&other, "ann")];
        assert_eq!(marks[0], mark(&one, "ann"));
        assert!(marks[0] != marks[1] && marks[0] != marks[2], "{marks:?}");
        let prompt = format!("Then a line with `{}` alone.", marks[0]);
        assert_eq!((mark_in(&prompt), mark_in("[STRUCTURE")), (Some(marks[0].as_str()), None));
    }
}
