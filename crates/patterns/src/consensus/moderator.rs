//! Moderator: one named participant decides alone (INV-DISC-003); no one replaces it.

use quorum_core::{
    floor::{Floor, halt::Halt},
    model::{
        error::{Code, Refusal},
        outcome::Decision,
        spec::Spec,
    },
    registry::Consensus,
};

use super::{
    FORMS, OPTIONS, RESULTS, SYNTHESIZER,
    answer_value::{self, formatted},
    counts_no_votes,
    draft::{decided, fallback, write},
    longest, poll,
};
use crate::{
    first::{self, baseline},
    prompts::deciding::Writing,
    provenance, ranking, roles,
};

pub(crate) const METHOD: Consensus = Consensus {
    name: "moderator",
    summary: "A named moderator decides",
    options: OPTIONS,
    forms: FORMS,
    results: RESULTS,
    check,
    remarks: counts_no_votes,
    calls: |spec| 1 + answer_value::calls(spec) + baseline::calls(spec),
    longest,
    writes_answer: true,
    trace: provenance::trace,
    finish: |floor, decision| Box::pin(formatted(floor, decision)),
    opens: first::are_asked,
    open: |floor| Box::pin(first::ask(floor)),
    compare: |floor| Box::pin(baseline::draw(floor)),
    decide: |floor| Box::pin(decide(floor)),
    ..Consensus::PLAIN
};

fn check(spec: &Spec) -> Vec<Refusal> {
    let message = match spec.option(&SYNTHESIZER) {
        None => "the moderator method needs a synthesizer: name the participant who decides".to_owned(),
        Some(name) if ranking::named(&spec.participants, &name).is_none() => {
            format!("the moderator `{name}` is not a participant; name one that is")
        }
        Some(_) => return Vec::new(),
    };
    vec![Refusal::new("synthesizer", Code::InvalidRequest, message)]
}

async fn decide(floor: &mut Floor) -> Result<Decision, Halt> {
    let spec = floor.spec();
    let name = spec.option(&SYNTHESIZER).unwrap_or_default();
    let written = match roles::named_writer(&spec.participants, &name) {
        Some(moderator) => write(floor, moderator, Writing::Moderator).await?,
        None => None,
    };
    let unwritten = || {
        let message =
            format!("the moderator {name} could not decide; the last recorded answer is used instead");
        fallback(floor, &message)
    };
    let decision = written.map_or_else(unwritten, decided);
    Ok(Decision { found: poll::tally_of_talk(floor), ..decision })
}

#[cfg(test)]
mod tests {
    use quorum_core::model::settings::Settings;
    use quorum_testkit::spec::{deciding_by, spec};

    use super::*;

    #[track_caller]
    fn refuses(synthesizer: Option<&str>, expected: &[&str]) {
        let mut spec = deciding_by(spec("synthesis"), "moderator");
        spec.settings = Settings::default();
        synthesizer.into_iter().for_each(|name| spec.settings.set(SYNTHESIZER.name(), name));
        let refusals: Vec<String> = check(&spec).iter().map(ToString::to_string).collect();
        assert_eq!(refusals, expected);
    }

    #[test]
    fn inv_disc_003_a_moderator_is_named_and_seated() {
        refuses(Some("ann"), &[]);
        refuses(
            None,
            &["synthesizer: the moderator method needs a synthesizer: name the participant who decides"],
        );
        refuses(Some("eve"), &["synthesizer: the moderator `eve` is not a participant; name one that is"]);
    }
}
