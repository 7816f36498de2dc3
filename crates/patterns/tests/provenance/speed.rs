//! The work is linear in the length of the talk (P4).

use std::time::Duration;

use quorum_patterns::provenance::{Answer, Talk, sources};
use quorum_testkit::stopwatch::Stopwatch;

use super::said;

/// Sentences of made-up words, some rare and some common, like those of a language.
fn prose(sentences: usize, seed: usize) -> String {
    let word = |sentence: usize, place: usize| {
        let drawn = (sentence * 7_919 + place * 104_729 + seed * 1_299_709) % 10_007;
        // Few words are common, most are rare.
        let rank = drawn * drawn / 20_000;
        format!("word{rank}")
    };
    let sentence = |number: usize| {
        let words: Vec<String> = (0..14).map(|place| word(number, place)).collect();
        format!("The {}.", words.join(" "))
    };
    (0..sentences).map(sentence).collect::<Vec<_>>().join(" ")
}

/// How long it takes to find the sources of 200 sentences in a talk of this many bytes.
fn time_for(bytes: usize) -> Duration {
    let turns: Vec<String> = (0..8).map(|seed| prose(bytes / 8 / 120, seed)).collect();

    let talk = Talk {
        turns: turns.iter().enumerate().map(|(at, text)| said("ann", at as u32 + 1, text)).collect(),
        given: vec![],
    };
    let answer = prose(200, 3);
    let watch = Stopwatch::start();
    let found = sources(Answer { text: &answer, markers: &[] }, &talk);
    let took = watch.took().own;
    assert_eq!(found.len(), 200);
    println!("{bytes} bytes: {took:?}");
    took
}

#[test]
fn p4_four_times_the_talk_takes_about_four_times_as_long() {
    let (short, long) = (time_for(1 << 17), time_for(1 << 19));
    // Quadratic work would take 16 times as long.
    assert!(long < short * 9, "{short:?} and {long:?}");
}

/// A debug build says nothing about the time.
#[cfg(not(debug_assertions))]
#[test]
fn p4_a_megabyte_and_200_sentences_take_200_ms() {
    let took = time_for(1 << 20);
    assert!(took < Duration::from_millis(200), "{took:?}");
}
