//! The dissenting views and disputed arguments that an answer leaves out.

use quorum_core::model::{
    flips,
    outcome::{Claim, Decision, Dissent, DroppedView},
    state::State,
};

use super::{
    PARTLY, Talk, View, Views,
    index::Index,
    scan::{Term, Vocabulary},
    units::units,
};

/// The views of a discussion that its answer must not leave out: dissent, minority votes, and
/// arguments that were attacked or never answered.
pub(super) fn views(state: &State, decision: &Decision) -> Views {
    let is_reported = state.spec.consensus.include_dissent;
    let of = |it: &Dissent| View { holder: Some(it.participant.clone()), text: it.position.clone() };
    let dissent: Vec<View> = decision.dissent.iter().map(of).collect();
    let voted = flips::last_agreement(state).map(|it| flips::dissent(state, &it)).unwrap_or_default();
    let is_new = |it: &&Dissent| !decision.dissent.iter().any(|known| known.participant == it.participant);
    let minority = voted.iter().filter(is_new).map(of);
    let is_disputed = |it: &&Claim| !it.attacked_by.is_empty() || it.unanswered;
    let claims = decision.claims.iter().filter(is_disputed);
    let claims = claims.map(|it| View { holder: it.supported_by.first().cloned(), text: it.text.clone() });
    let (reported, unreported) = if is_reported { (dissent, Vec::new()) } else { (Vec::new(), dissent) };
    let reported = reported.into_iter().map(|it| it.text).collect();
    Views { held: unreported.into_iter().chain(minority).chain(claims).collect(), reported }
}

pub(super) fn dropped(answer: &str, views: &Views, talk: &Talk<'_>) -> Vec<DroppedView> {
    if views.held.is_empty() {
        return Vec::new();
    }
    let units = units(answer);
    let sentences = units.iter().map(|it| &answer[it.bytes.clone()]);
    let mentions: Vec<&str> = sentences.chain(views.reported.iter().map(String::as_str)).collect();
    let mut vocabulary = Vocabulary::of(views.held.iter().map(|it| it.text.as_str()), talk.names());
    let index = Index::of(&talk.turns, &mut vocabulary);
    let mentions: Vec<Vec<Term>> = mentions.into_iter().map(|it| vocabulary.terms(it)).collect();
    let mut dropped: Vec<DroppedView> = Vec::new();
    for view in &views.held {
        let terms = vocabulary.terms(&view.text);
        let all = index.mass(&terms);
        let share = |mention: &Vec<Term>| {
            let common = terms.iter().filter(|it| mention.binary_search(it).is_ok());
            common.map(|it| index.weight(*it)).sum::<f64>() / all
        };
        let is_mentioned = all == 0.0 || mentions.iter().any(|it| PARTLY <= share(it));
        let found = if is_mentioned { None } else { left_out(view, &terms, &index, talk) };
        dropped.extend(found.filter(|it| !dropped.contains(it)));
    }
    dropped
}

/// A view that is not mentioned, with the participant that holds it and the round in which it was
/// last said. One that nobody holds is no participant's dissent.
fn left_out(view: &View, terms: &[Term], index: &Index, talk: &Talk<'_>) -> Option<DroppedView> {
    let is_by_holder = |turn: usize| {
        let holder = view.holder.as_deref();
        holder.is_none_or(|name| talk.turns[turn].participant == name)
    };
    let picks = index.picks(terms, is_by_holder);
    let said = picks.first().map(|it| &talk.turns[index.entries[it.entry].turn]);
    let said = said.or_else(|| {
        let holder = view.holder.as_deref()?;
        talk.turns.iter().rfind(|it| it.participant == holder)
    });
    let participant = view.holder.clone().or_else(|| Some(said?.participant.clone().into_owned()))?;
    Some(DroppedView { participant, round: said.map_or(0, |it| it.round), text: view.text.clone() })
}
