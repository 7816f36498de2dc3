//! Tests of taking markers out of a text.

use super::*;

fn speakers() -> Vec<String> {
    ["ann", "bob", "claude/opus", "llama3:8b"].map(str::to_owned).to_vec()
}

/// Takes the markers out of the text at once and in pieces of several sizes, which must all agree.
#[track_caller]
fn check(text: &str, expected: &str, markers: &[(usize, &[&str])]) {
    let whole = Unmarked::of(text, &speakers());
    let found: Vec<(usize, Vec<&str>)> =
        whole.markers.iter().map(|it| (it.at, it.cites.iter().map(String::as_str).collect())).collect();
    let markers: Vec<(usize, Vec<&str>)> = markers.iter().map(|(at, cites)| (*at, cites.to_vec())).collect();
    assert_eq!((whole.text.as_str(), found), (expected, markers), "{text}");
    for size in [1, 2, 3, 7, 50] {
        let (shown, unmarked) = in_pieces(text, size);
        assert_eq!((&shown, &unmarked), (&whole.text, &whole), "in pieces of {size}: {text}");
    }
}

/// Everything that was shown, piece by piece, and what it is in the end.
fn in_pieces(text: &str, size: usize) -> (String, Unmarked) {
    let (mut stream, mut so_far, mut shown) = (MarkerStream::new(&speakers()), String::new(), String::new());
    for piece in text.chars().collect::<Vec<_>>().chunks(size) {
        so_far.extend(piece);
        shown.push_str(stream.push(&so_far, false));
    }
    shown.push_str(stream.push(&so_far, true));
    (shown, stream.unmarked)
}

#[test]
fn markers_are_taken_out_with_the_blanks_before_them() {
    check(
        "Tabs adapt. [ann:1] Spaces stay. [bob:2]",
        "Tabs adapt. Spaces stay.",
        &[(11, &["ann:1"]), (24, &["bob:2"])],
    );
    check("Tabs adapt [ann:1].", "Tabs adapt.", &[(10, &["ann:1"])]);
    check("Tabs [ann:1], spaces [bob:2].", "Tabs, spaces.", &[(4, &["ann:1"]), (12, &["bob:2"])]);
    check("Ja – ä.[ann:1][bob:1]\n\nNein.", "Ja – ä.\n\nNein.", &[(7, &["ann:1"]), (7, &["bob:1"])]);
}

#[test]
fn every_spelling_of_a_marker_is_read() {
    for (marker, cites) in [
        ("[ann:2]", &["ann:2"][..]),
        ("[@ann:2]", &["ann:2"]),
        ("[Ann 2]", &["ann:2"]),
        ("[ann: round 2]", &["ann:2"]),
        ("[ann R2]", &["ann:2"]),
        ("[ann:1-2]", &["ann:1-2"]),
        ("[ann:2, bob:1]", &["ann:2", "bob:1"]),
        ("[ann:2; @bob:1]", &["ann:2", "bob:1"]),
        ("［ann：2、bob：1］", &["ann:2", "bob:1"]),
        ("【ann:2】", &["ann:2"]),
        ("[claude/opus:2/llama3:8b:1]", &["claude/opus:2", "llama3:8b:1"]),
        ("[all]", &["all"]),
        ("[All, ann:1]", &["all", "ann:1"]),
        ("`[ann:2]`", &["ann:2"]),
        ("\\[ann:2\\]", &["ann:2"]),
        ("[QV:9]", &["QV:9"]),
        ("[ann:2, eve:3]", &["ann:2", "eve:3"]),
    ] {
        check(&format!("Tabs. {marker} Yes."), "Tabs. Yes.", &[(5, cites)]);
    }
}

#[test]
fn other_brackets_stay() {
    for text in [
        "See [1], [RFC 2119], [ann], [KX], [eve:3], [John 3:16] and [VW 2].",
        "A link [ann:1](https://example.com) and pip install tool[all].",
        "Code `list[ann:1]` and\n```\n[ann:1]\n```\nis not touched.",
        "An open [ann:1 that never closes",
        "[ann:1\n]",
        "Both [ann:1, as said before] stay.",
        "[ann:1234]",
        "[",
        "\\",
        "`",
        "[R1] says so.",
        "[F1] says so.",
        "[F, ann:1], [Fig, ann:1] and [G1, ann:1].",
    ] {
        check(text, text, &[]);
    }
}

#[test]
fn a_marker_at_the_beginning_of_a_line_leaves_no_blank() {
    check("[ann:1] Tabs.\n  [bob:1]  Spaces.", "Tabs.\n  Spaces.", &[(0, &["ann:1"]), (8, &["bob:1"])]);
    check("- [ann:1] Tabs.", "- Tabs.", &[(1, &["ann:1"])]);
    check("Tabs.\n[ann:1]\n\nSpaces.", "Tabs.\n\n\nSpaces.", &[(6, &["ann:1"])]);
    check("[ann:1]", "", &[(0, &["ann:1"])]);
    check("Tabs.\n\n[ann:1]", "Tabs.", &[(7, &["ann:1"])]);
}

#[test]
fn the_number_of_a_recalled_discussion_stays() {
    check("Tabs. [ann:1, R2]", "Tabs. [R2]", &[(5, &["ann:1"])]);
    check("Tabs. [R1, R2, bob:2] Yes.", "Tabs. [R1, R2] Yes.", &[(5, &["bob:2"])]);
}

#[test]
fn a_marker_may_have_the_number_of_a_followed_discussion() {
    check("Tabs. [ann:1, F2]", "Tabs. [F2]", &[(5, &["ann:1"])]);
    check("Tabs. [F1, F2, bob:2] Yes.", "Tabs. [F1, F2] Yes.", &[(5, &["bob:2"])]);
    check(
        "Tabs [F1, @ann:1]. [F1; R1, ann:1, bob:2]",
        "Tabs [F1]. [F1, R1]",
        &[(4, &["ann:1"]), (10, &["ann:1", "bob:2"])],
    );
}

#[test]
fn without_speakers_nothing_is_taken_out() {
    let text = " Tabs. [all]\n";
    assert_eq!(Unmarked::of(text, &[]), Unmarked { text: text.to_owned(), markers: Vec::new() });
}

#[test]
fn a_hostile_text_takes_no_longer_than_its_length() {
    for unit in ["[ann:1", "[", "`[", "[KX:", "\\[", "`", " ", "\n", "[a", "［", "[all, "] {
        let text = unit.repeat(200_000 / unit.len());
        let mut stream = MarkerStream::new(&speakers());
        // Quadratic work would take minutes.
        let ends = (0..text.len()).filter(|end| text.is_char_boundary(*end)).step_by(4);
        ends.for_each(|end| {
            stream.push(&text[..end], false);
        });
        stream.push(&text, true);
        assert_eq!(stream.unmarked.text, text.trim(), "{unit:?}");
    }
}
