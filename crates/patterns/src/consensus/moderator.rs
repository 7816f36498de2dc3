//! Moderator: one named participant decides alone (INV-DISC-003); nobody takes its place.

use quorum_core::{
    craft::Consensus,
    floor::{Floor, halt::Halt},
    model::{
        error::{Code, Refusal},
        outcome::Decision,
        spec::Spec,
    },
};

use super::{
    draft::{stand_in, write},
    poll,
};
use crate::{prompts::deciding::Writing, strength};

pub(crate) const METHOD: Consensus = Consensus {
    name: "moderator",
    summary: "A named moderator decides",
    check,
    calls: |_| 1,
    decide: |floor| Box::pin(decide(floor)),
};

fn check(spec: &Spec) -> Vec<Refusal> {
    let message = match spec.consensus.synthesizer.as_deref() {
        None => "the moderator method needs a synthesizer: name the participant who decides".to_owned(),
        Some(name) if strength::named(&spec.participants, name).is_none() => {
            format!("the moderator `{name}` does not sit at the table; name one who does")
        }
        Some(_) => return Vec::new(),
    };
    vec![Refusal::new("synthesizer", Code::InvalidRequest, message)]
}

async fn decide(floor: &mut Floor) -> Result<Decision, Halt> {
    let spec = floor.spec();
    let name = spec.consensus.synthesizer.as_deref().unwrap_or_default();
    let written = match strength::named(&spec.participants, name) {
        Some(moderator) => write(floor, moderator, Writing::Moderator).await?,
        None => None,
    };
    let unwritten = || {
        let message = format!("the moderator {name} could not decide; the last recorded answer stands in");
        stand_in(floor, &message)
    };
    let decision = written.map_or_else(unwritten, |it| Decision::from_synthesis(it.value, &it.participant));
    Ok(Decision { tally: poll::tally(floor), ..decision })
}

#[cfg(test)]
mod tests {
    use quorum_testkit::spec::{deciding_by, spec};

    use super::*;

    #[track_caller]
    fn refuses(synthesizer: Option<&str>, expected: &[&str]) {
        let mut spec = deciding_by(spec("synthesis"), "moderator");
        spec.consensus.synthesizer = synthesizer.map(str::to_owned);
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
        refuses(
            Some("eve"),
            &["synthesizer: the moderator `eve` does not sit at the table; name one who does"],
        );
    }
}
