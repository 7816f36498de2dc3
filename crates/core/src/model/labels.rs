//! Labels: what models call each other while they talk, so that no name weighs more than an
//! argument. A label is `@` and two consonants, so it has no rank, is no word, and is not written
//! by accident.

use uuid::Uuid;

use crate::model::{mask::has_word, spec::Spec};

/// The labels that are used first.
const FIRST: [&str; 10] = ["KX", "QV", "ZJ", "JQ", "QK", "XZ", "WQ", "ZK", "QX", "JZ"];

/// Letters that seldom occur next to each other.
const RARE: &str = "JKQVWXZ";

/// Labels for everyone in this panel, each with the name behind it, in seating order. `lot` is a
/// source of random numbers.
pub fn draw(spec: &Spec, mut lot: impl FnMut() -> u64) -> Vec<(String, String)> {
    let seats = &spec.participants;
    let mut pool: Vec<String> =
        all().filter(|it| is_free(spec, it)).take(seats.len().max(FIRST.len())).collect();
    for last in (1..pool.len()).rev() {
        pool.swap(last, (lot() % (last as u64 + 1)) as usize);
    }
    pool.into_iter().zip(seats.iter().map(|it| it.name.clone())).collect()
}

/// Random numbers that follow from a seed and a text.
pub(crate) fn lots_of(seed: u64, what: &str) -> impl FnMut() -> u64 {
    let mut place = 0;
    move || {
        place += 1;
        Uuid::new_v5(&Uuid::from_u64_pair(seed, place), what.as_bytes()).as_u64_pair().0
    }
}

/// Every label, in the order in which they are used: the fixed list, then further pairs, then
/// longer ones.
fn all() -> impl Iterator<Item = String> {
    let pairs = || RARE.chars().flat_map(|one| RARE.chars().map(move |other| (one, other)));
    let further = pairs().filter(|(one, other)| one != other).map(|(one, other)| format!("{one}{other}"));
    let further = further.filter(|it| !FIRST.contains(&it.as_str()));
    let longer = RARE.chars().flat_map(move |third| {
        pairs()
            .filter(move |(one, other)| one != other && *other != third)
            .map(move |(one, other)| format!("{one}{other}{third}"))
    });
    FIRST.into_iter().map(str::to_owned).chain(further).chain(longer)
}

/// Whether the label is neither a seat's name nor a word of what was given with the question.
fn is_free(spec: &Spec, label: &str) -> bool {
    let is_name = spec.participants.iter().any(|it| it.name.eq_ignore_ascii_case(label));
    !is_name && !spec.given().any(|text| has_word(text, label))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{client::ClientOrder, participant::Participant, spec::tests::order};

    fn drawn(spec: &Spec, seed: u64) -> Vec<String> {
        draw(spec, lots_of(seed, "labels")).into_iter().map(|it| it.0).collect()
    }

    #[test]
    fn labels_are_drawn_from_the_list_and_none_twice() {
        let spec = order();
        let draws: Vec<Vec<String>> = (0..100).map(|seed| drawn(&spec, seed)).collect();
        for labels in &draws {
            assert!(labels.iter().all(|it| FIRST.contains(&it.as_str())), "{labels:?}");
            assert!(labels[0] != labels[1] && labels[1] != labels[2] && labels[0] != labels[2], "{labels:?}");
        }
        assert!(
            FIRST.iter().all(|it| draws.iter().any(|labels| labels[0] == *it)),
            "every label may be first"
        );
        let names: Vec<String> = draw(&spec, || 0).into_iter().map(|it| it.1).collect();
        assert_eq!(names, ["ann", "bob", "cyd"]);
    }

    #[test]
    fn a_label_is_no_word_of_the_question_and_no_seats_name() {
        let mut spec = order();
        spec.topic = "kx or q? Is QV-9 better than a zj.".to_owned();
        spec.background = Some("JQ; QK".to_owned());
        spec.options = vec!["XZ".to_owned()];
        spec.participants[0] = Participant::of("wq");
        spec.client =
            Some(ClientOrder { instructions: Some("Never say zk.".to_owned()), ..ClientOrder::default() });
        for seed in 0..50 {
            let labels = drawn(&spec, seed);
            let taken = ["KX", "QV", "ZJ", "JQ", "QK", "XZ", "WQ", "ZK"];
            assert!(!labels.iter().any(|it| taken.contains(&it.as_str())), "{labels:?}");
        }
    }

    #[test]
    fn a_large_panel_gets_further_labels_of_the_same_kind() {
        let names: Vec<Participant> = (0..200).map(|it| Participant::of(&format!("seat-{it}"))).collect();
        let labels = drawn(&Spec { participants: names, ..order() }, 7);
        let different: std::collections::BTreeSet<&String> = labels.iter().collect();
        assert_eq!(different.len(), 200);
        assert!(
            labels.iter().all(|it| (2..=3).contains(&it.len()) && it.chars().all(|it| RARE.contains(it)))
        );
    }
}
