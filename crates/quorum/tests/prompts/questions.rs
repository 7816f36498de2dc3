//! Twenty questions of every kind, previewed as debates: who sits where, who argues for
//! what, under which labels, and in which language.

use std::{collections::BTreeSet, fs, path::Path};

use quorum::{Request, SentRequest, request::flags::list};

use crate::{QUESTIONS, labels, scope, task, whole};

/// A debater as its own requests show it.
#[derive(Debug, PartialEq)]
struct Debater {
    name: String,
    label: String,
    position: String,
    /// The label and position of everyone else.
    others: String,
}

impl Debater {
    fn of(request: &SentRequest) -> Self {
        let between = |start: &str, end: &str| {
            let after = request.system.split_once(start).unwrap().1;
            after.split(end).next().unwrap().trim_end().to_owned()
        };
        Debater {
            name: request.participant.clone(),
            label: between("You are @", " in a discussion with "),
            position: between("# Your position\n\n> ", "\n"),
            others: between("The others argue:\n\n", "\n\n"),
        }
    }
}

/// The languages in which answers are asked for.
fn languages(requests: &[SentRequest]) -> BTreeSet<&str> {
    let named = |it: &SentRequest| Some(task(it).lines().last()?.rsplit_once(" in ")?.1.len());
    let language = |it| {
        let last = task(it).lines().last().unwrap_or_default();
        last[last.len() - named(it).unwrap_or_default()..].trim_end_matches('.')
    };
    requests.iter().map(language).collect()
}

fn order(question: &str) -> Request {
    Request {
        pattern: Some("debate".to_owned()),
        providers: Some(list("claude,gemini,qwen,glm")),
        offline: Some(true),
        ..Request::on(question)
    }
}

/// The seats, and the positions, labels and languages in the previewed prompts.
async fn debated(question: &str) -> String {
    let scope = scope();
    let spec = scope.check(&order(question)).unwrap();
    let requests = scope.rehearse(&spec).await.unwrap();
    let seats: Vec<String> = spec.participants.iter().map(|it| format!("{} {}", it.name, it.role)).collect();
    let caster: Vec<&str> = requests
        .iter()
        .filter(|it| it.form.as_deref() == Some("casting"))
        .map(|it| it.participant.as_str())
        .collect();
    let speeches: Vec<&SentRequest> = requests.iter().filter(|it| it.form.is_none()).collect();
    let mut debaters: Vec<Debater> = Vec::new();
    for debater in speeches.iter().map(|it| Debater::of(it)) {
        match debaters.iter().find(|it| it.name == debater.name) {
            Some(known) => assert_eq!(*known, debater, "{question}: one part all along"),
            None => debaters.push(debater),
        }
    }
    let [one, other] = &debaters[..] else { panic!("{question}: {debaters:?}") };
    for (one, other) in [(one, other), (other, one)] {
        assert_eq!(one.others, format!("@{}:\n> {}", other.label, other.position), "{question}");
    }
    let both = [one, other].map(|it| it.label.clone()).into();
    for request in &speeches {
        assert_eq!(labels(&whole(request)), both, "{question}, {}", request.step);
    }
    let languages: Vec<&str> = languages(&requests).into_iter().collect();
    let part = |it: &Debater| format!("  {} @{}: {}", it.name, it.label, it.position);
    format!(
        "{question}\n  {}; cast by {}; in {}\n{}\n{}\n",
        seats.join(", "),
        caster.join(", "),
        languages.join(", "),
        part(one),
        part(other)
    )
}

#[tokio::test]
async fn d05_twenty_questions_have_the_seats_positions_labels_and_language_they_should() {
    let mut debates = String::new();
    for (question, _) in QUESTIONS {
        debates += &debated(question).await;
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/prompts/questions.txt");
    if std::env::var_os("QUORUM_BLESS").is_some() {
        fs::write(&file, &debates).unwrap();
    }
    assert_eq!(fs::read_to_string(file).unwrap_or_default(), debates, "QUORUM_BLESS=1 writes the file anew");
    for (question, language) in QUESTIONS {
        assert!(debates.contains(&format!("{question}\n  ")), "{question}");
        let told = debates.split(&format!("{question}\n")).nth(1).unwrap().lines().next().unwrap();
        assert!(told.ends_with(&format!("; in {language}")), "{question}: {told}");
    }
}

/// A dry run takes a while, so it is tried for a choice alone.
#[tokio::test]
async fn a_dry_run_has_the_same_seats_and_a_casting() {
    let scope = scope();
    let spec = scope.check(&order("Tabs or spaces?")).unwrap();
    let plan = scope.plan(&spec).await.unwrap();
    let planned: Vec<(&str, &str)> =
        plan.participants.iter().map(|it| (it.participant.as_str(), it.role.as_str())).collect();
    let seated: Vec<(&str, &str)> =
        spec.participants.iter().map(|it| (it.name.as_str(), it.role.name())).collect();
    assert_eq!(planned, seated);
    let first = &plan.course[0];
    assert_eq!((first.phase.as_str(), &first.asked[..]), ("casting", &[vec!["gemini".to_owned()]][..]));
}
