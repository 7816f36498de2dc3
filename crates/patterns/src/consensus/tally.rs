//! Counts votes by heads and by weight, finds the leading option, and words the result. Pure
//! functions.

use std::collections::BTreeMap;

use quorum_core::model::{
    flips::rounded,
    outcome::{Dissent, ResultKind, Standing},
    spec::Spec,
    state::{RecordedReading, State},
};
use serde_json::{Map, Value, json};

use crate::{
    prompts::{counted, listed},
    readers::{CastBallot, Tally, ballot::BALLOT},
    weighing::{self, Weighing},
};

/// The key of the tally in a decision's findings.
const TALLY: &str = "tally";

/// The tally as findings of a decision.
pub(super) fn findings(tally: &Tally) -> Map<String, Value> {
    [(TALLY.to_owned(), json!(tally))].into_iter().collect()
}

/// The tally of a decision, if votes were counted.
fn tally_of(state: &State) -> Option<Tally> {
    serde_json::from_value(state.decision.as_ref()?.found.get(TALLY)?.clone()).ok()
}

/// Whether votes were counted.
pub(crate) fn has_tally(state: &State) -> bool {
    tally_of(state).is_some()
}

/// The winner of the count.
pub(crate) fn winner(state: &State) -> Option<String> {
    tally_of(state)?.winner
}

/// Whether everyone that voted chose the same.
pub(crate) fn is_unanimous(state: &State) -> bool {
    tally_of(state).is_some_and(|it| it.unanimous)
}

/// The tally under the field names of B04, with every vote (INV-DISC-202).
pub(super) fn voting_results(state: &State) -> Option<Value> {
    let tally = tally_of(state)?;
    let mut results = figures(&tally);
    results.insert("voteRecords".to_owned(), vote_records(&state.spec, &tally));
    Some(Value::Object(results))
}

/// The vote of the first round under the same names, if a further round took place.
pub(crate) fn first_vote(state: &State) -> Option<Value> {
    if state.round <= FIRST {
        return None;
    }
    let mut cast: Vec<CastBallot> = cast_in_talk(state).filter(|it| it.round == FIRST).collect();
    cast.sort_by_key(|it| state.spec.participants.iter().position(|seat| seat.name == it.participant));
    let voters = crate::roles::voters(&state.spec).into_iter().map(|it| it.name);
    let seated = voters.filter(|name| state.seated.iter().flatten().any(|it| it == name)).collect();
    let unread = state.unread.iter().filter(|it| it.kind == BALLOT && it.round == FIRST);
    let unread = unread.map(|it| it.participant.clone()).collect();
    let closed = state.closed_early.iter().filter(|it| it.round == FIRST);
    let dropped: Vec<String> = closed.flat_map(|it| it.dropped.clone()).collect();
    let uncounted = Uncounted::among(seated, &cast, unread, &dropped);
    let tally = count(&state.spec, &state.spec.options, cast, uncounted, Measure::Weight).tally;
    let mut results = figures(&tally);
    results.insert("voteRecords".to_owned(), vote_records(&state.spec, &tally));
    Some(Value::Object(results))
}

/// The first round.
const FIRST: u32 = 1;

/// The winner and the counts of a vote.
fn figures(tally: &Tally) -> Map<String, Value> {
    let mut figures = Map::new();
    figures.insert("winner".to_owned(), json!(tally.winner.as_deref().unwrap_or_default()));
    if !tally.tie.is_empty() {
        figures.insert("tie".to_owned(), json!(tally.tie));
    }
    figures.insert("votes".to_owned(), json!(tally.votes));
    figures.insert("weightedVotes".to_owned(), json!(tally.weighted));
    figures.insert("unanimous".to_owned(), json!(tally.unanimous));
    figures.insert("margin".to_owned(), json!(rounded(tally.margin)));
    figures
}

fn vote_records(spec: &Spec, tally: &Tally) -> Value {
    tally.ballots.iter().map(|it| vote_record(spec, it)).collect()
}

fn vote_record(spec: &Spec, cast: &CastBallot) -> Value {
    let mut record = json!({
        "provider": cast.participant, "round": cast.round, "choice": cast.ballot.choice,
        "confidence": cast.ballot.confidence,
    });
    if let Some(weight) = own_weight(spec, &cast.participant) {
        record["weight"] = json!(weight);
    }
    if !cast.ballot.reasoning.trim().is_empty() {
        record["reasoning"] = json!(cast.ballot.reasoning);
    }
    record
}

/// A seat's weight, if it is not 1, the weight of a plain provider.
fn own_weight(spec: &Spec, name: &str) -> Option<f64> {
    spec.seat(name).map(|it| it.weight).filter(|it| *it != 1.0)
}

/// The ballots of the talk, in the order of the record.
fn cast_in_talk(state: &State) -> impl Iterator<Item = CastBallot> {
    let ballot = |it: &RecordedReading| {
        let ballot = it.reading.read(BALLOT)?;
        Some(CastBallot { participant: it.participant.clone(), round: it.round, source: it.source, ballot })
    };
    state.readings.iter().filter(|it| it.is_of_talk()).filter_map(ballot)
}

/// The tolerance for comparing sums of fractions.
const TOLERANCE: f64 = 1e-9;

/// What decides which option leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Measure {
    /// One vote each.
    Heads,
    /// One vote each; of options with as many votes, the one with more weight leads.
    HeadsThenWeight,
    /// The weight of the votes: confidence times the participant's weight.
    Weight,
    /// The weight that earlier outcomes give the votes.
    Learned,
}

impl Measure {
    /// The measure of votes that are weighed in this way.
    pub(crate) fn of(weighing: Weighing<'_>) -> Self {
        match weighing {
            Weighing::Heads => Measure::Heads,
            Weighing::HeadsThenStated => Measure::HeadsThenWeight,
            Weighing::Stated => Measure::Weight,
            Weighing::Learned(_) => Measure::Learned,
        }
    }

    fn is_by_heads(self) -> bool {
        matches!(self, Measure::Heads | Measure::HeadsThenWeight)
    }

    /// The weight of a vote.
    fn weight(self, spec: &Spec, cast: &CastBallot) -> f64 {
        let weighing = match (self, weighing::known(spec)) {
            (Measure::Learned, Some(known)) => Weighing::Learned(known),
            _ => Weighing::Stated,
        };
        weighing.weight(spec, &cast.participant, cast.ballot.confidence.get())
    }
}

/// A counted vote.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Count {
    pub(crate) tally: Tally,
    /// The leading option's share of all votes, 0 to 1.
    pub(super) share: f64,
    /// The participants of which no vote is counted.
    pub(super) uncounted: Uncounted,
    /// The weight that the unread and the missing votes would have had.
    uncounted_weight: f64,
    /// The weights of the voters that are not plain providers.
    weights: BTreeMap<String, f64>,
    pub(super) measure: Measure,
}

/// The participants that were to vote and of which no vote is counted, in seating order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Uncounted {
    /// Their vote could not be read.
    pub(super) unread: Vec<String>,
    /// They failed, or the talk ended before they could vote.
    pub(super) missing: Vec<String>,
    /// They were no longer waited for, because the other votes were enough.
    pub(super) dropped: Vec<String>,
    /// They were not asked, because the outcome was no longer in doubt.
    pub(super) spared: Vec<String>,
}

impl Uncounted {
    /// Those of `voters` that are not among these ballots.
    pub(super) fn among(
        voters: Vec<String>,
        ballots: &[CastBallot],
        unread: Vec<String>,
        dropped: &[String],
    ) -> Self {
        let has_voted = |name: &String| ballots.iter().any(|it| it.participant == *name);
        let rest = voters.into_iter().filter(|it| !has_voted(it) && !unread.contains(it));
        let (dropped, missing) = rest.partition(|it| dropped.contains(it));
        Uncounted { unread, missing, dropped, spared: Vec::new() }
    }

    /// Those that count among the voters, so that a vote that is lost lowers every option's share.
    fn of_the_base(&self) -> impl Iterator<Item = &String> {
        self.unread.iter().chain(&self.missing)
    }

    /// Moves the missing participants that were never asked to `spared`.
    pub(super) fn sparing(mut self, asked: impl Fn(&str) -> bool) -> Self {
        let (missing, spared) = self.missing.into_iter().partition(|it| asked(it));
        (self.missing, self.spared) = (missing, spared);
        self
    }

    /// All of them, but those that were spared.
    pub(super) fn all(&self) -> Vec<&String> {
        self.of_the_base().chain(&self.dropped).collect()
    }
}

/// Counts these ballots on these options.
pub(crate) fn count(
    spec: &Spec,
    options: &[String],
    ballots: Vec<CastBallot>,
    uncounted: Uncounted,
    measure: Measure,
) -> Count {
    let mut votes: BTreeMap<String, u32> = options.iter().map(|it| (it.clone(), 0)).collect();
    let mut weighted: BTreeMap<String, f64> = options.iter().map(|it| (it.clone(), 0.0)).collect();
    for cast in &ballots {
        *votes.entry(cast.ballot.choice.clone()).or_default() += 1;
        *weighted.entry(cast.ballot.choice.clone()).or_default() += measure.weight(spec, cast);
    }
    let tally = Tally { votes, weighted, ballots, ..Tally::default() };
    let uncounted_weight = uncounted_weight(spec, &tally, &uncounted, measure);
    let of_voter = |it: &CastBallot| Some((it.participant.clone(), own_weight(spec, &it.participant)?));
    let weights = tally.ballots.iter().filter_map(of_voter).collect();
    Count { tally, share: 0.0, uncounted, uncounted_weight, weights, measure }.with_leaders()
}

/// The weight of the votes that are lost: each as confident as the others on average.
fn uncounted_weight(spec: &Spec, tally: &Tally, uncounted: &Uncounted, measure: Measure) -> f64 {
    let ballots = &tally.ballots;
    if measure == Measure::Learned && !ballots.is_empty() {
        let all: f64 = tally.weighted.values().sum();
        return all / ballots.len() as f64 * uncounted.of_the_base().count() as f64;
    }
    let confidence: f64 = ballots.iter().map(|it| it.ballot.confidence.get()).sum();
    let average = if ballots.is_empty() { 0.0 } else { confidence / ballots.len() as f64 };
    uncounted.of_the_base().map(|name| average * spec.seat(name).map_or(1.0, |it| it.weight)).sum()
}

impl Count {
    /// Finds the leading option among those with votes; a tie is listed alphabetically.
    fn with_leaders(mut self) -> Self {
        let voted: Vec<&String> = self.tally.votes.keys().filter(|it| 0 < self.heads(it)).collect();
        let share = voted.iter().map(|it| self.share_of(it)).fold(0.0, f64::max);
        let leads = |option: &&&String| share - self.share_of(option) < TOLERANCE;
        let leaders: Vec<String> = voted.iter().filter(leads).map(|it| (*it).clone()).collect();
        let leaders = self.heavier(leaders);
        let next = voted.iter().filter(|it| !leads(it)).map(|it| self.share_of(it)).fold(0.0, f64::max);
        self.tally.margin = if leaders.len() == 1 { share - next } else { 0.0 };
        self.tally.unanimous = voted.len() == 1 && self.uncounted.of_the_base().next().is_none();
        self.share = share;
        match &leaders[..] {
            [winner] => self.tally.winner = Some(winner.clone()),
            _ => self.tally.tie = leaders,
        }
        self
    }

    /// Those of these options with the most weight, where weight breaks a tie of heads.
    fn heavier(&self, leaders: Vec<String>) -> Vec<String> {
        if self.measure != Measure::HeadsThenWeight {
            return leaders;
        }
        let weight = |option: &String| self.tally.weighted.get(option).copied().unwrap_or_default();
        let most = leaders.iter().map(weight).fold(0.0, f64::max);
        leaders.into_iter().filter(|it| most - weight(it) < TOLERANCE).collect()
    }

    /// Whether the leading share is at least this.
    pub(super) fn reaches(&self, share: f64) -> bool {
        share - TOLERANCE <= self.share
    }

    pub(super) fn cast(&self) -> usize {
        self.tally.ballots.len()
    }

    /// How many were to vote, without those that were no longer waited for.
    pub(super) fn voters(&self) -> u32 {
        (self.cast() + self.uncounted.of_the_base().count()) as u32
    }

    /// Whether any vote has weight. Without one, nobody is sure of anything.
    pub(super) fn has_weight(&self) -> bool {
        self.tally.weighted.values().any(|weight| TOLERANCE < *weight)
    }

    /// The standing of a decision on which this option's votes decided.
    pub(super) fn standing(&self, kind: ResultKind, option: Option<&str>) -> Standing {
        match option {
            Some(option) => Standing::voted(kind, self.heads(option), self.voters()),
            None => Standing::plain(kind),
        }
    }

    /// This option's share of all votes, including those that are lost.
    pub(super) fn share_of(&self, option: &str) -> f64 {
        let (part, all) = match self.measure {
            Measure::Heads | Measure::HeadsThenWeight => {
                (f64::from(self.heads(option)), f64::from(self.voters()))
            }
            Measure::Weight | Measure::Learned => {
                let weight = self.tally.weighted.get(option).copied().unwrap_or_default();
                (weight, self.tally.weighted.values().sum::<f64>() + self.uncounted_weight)
            }
        };
        if all < TOLERANCE { 0.0 } else { part / all }
    }

    /// Everyone that voted for another option, with their reasons. If no option won, all positions:
    /// first those that are tied, option by option.
    pub(super) fn dissent_from(&self, prevailed: Option<&str>) -> Vec<Dissent> {
        let others = self.tally.ballots.iter().filter(|it| Some(it.ballot.choice.as_str()) != prevailed);
        let mut others: Vec<&CastBallot> = others.collect();
        if prevailed.is_none() {
            let place =
                |it: &CastBallot| self.tally.tie.iter().position(|option| *option == it.ballot.choice);
            others.sort_by_key(|it| (place(it).unwrap_or(usize::MAX), it.ballot.choice.clone()));
        }
        // A voice that was drawn twice dissents once.
        let mut seen: Vec<(&str, &str)> = Vec::new();
        others.retain(|it| {
            let held = (it.participant.as_str(), it.ballot.choice.as_str());
            let is_new = !seen.contains(&held);
            seen.push(held);
            is_new
        });
        let view =
            |it: &CastBallot| Dissent::of_position(&it.participant, &it.ballot.choice, &it.ballot.reasoning);
        others.into_iter().map(view).collect()
    }

    /// The votes in one line: `tabs 2, spaces 1`.
    pub(super) fn line(&self, options: &[String]) -> String {
        let part = |option: &String| match self.measure.is_by_heads() {
            true => format!("{option} {}", self.heads(option)),
            false => {
                let heads = counted(self.heads(option) as usize, "vote");
                format!("{option} {} ({heads})", self.of_the_weight(option))
            }
        };
        options.iter().map(part).collect::<Vec<_>>().join(", ")
    }

    /// The result as text for people: how the vote went, then each option with its voters and best
    /// reason, strongest first.
    pub(super) fn account(&self, options: &[String], missed: Option<&str>) -> String {
        let mut lines = vec![self.headline(options, missed)];
        let mut sides: Vec<&String> = options.iter().filter(|it| 0 < self.heads(it)).collect();
        sides.sort_by(|one, other| self.share_of(other).total_cmp(&self.share_of(one)));
        lines.extend(sides.into_iter().map(|option| self.side(option)));
        let Uncounted { unread, missing, dropped, spared } = &self.uncounted;
        let absent: Vec<&String> = missing.iter().chain(dropped).collect();
        if !unread.is_empty() {
            lines.push(format!("The vote of {} could not be read.", listed(unread)));
        }
        if !absent.is_empty() {
            lines.push(format!("No vote was counted from {}.", listed(&absent)));
        }
        if !spared.is_empty() {
            let were = if spared.len() == 1 { "was" } else { "were" };
            let names = listed(spared);
            lines.push(format!("{names} {were} not asked: the outcome was no longer in doubt."));
        }
        lines.join("\n")
    }

    fn headline(&self, options: &[String], missed: Option<&str>) -> String {
        let all = counted(self.voters() as usize, "vote");
        match &self.tally.winner {
            Some(winner) => {
                let weight = match self.measure.is_by_heads() {
                    true => String::new(),
                    false => format!("{}, ", self.of_the_weight(winner)),
                };
                let support = format!("{weight}{} of {all}", self.heads(winner));
                match missed {
                    None => format!("{winner} won the vote: {support}."),
                    Some(aim) => format!("{winner} leads with {support}, but did not reach {aim}."),
                }
            }
            None if self.tally.tie.is_empty() => "No vote was cast that could be counted.".to_owned(),
            None => format!("A tie between {}: {}.", listed(&self.tally.tie), self.line(options)),
        }
    }

    fn of_the_weight(&self, option: &str) -> String {
        format!("{:.0} % of the weight", 100.0 * self.share_of(option))
    }

    fn heads(&self, option: &str) -> u32 {
        self.tally.votes.get(option).copied().unwrap_or_default()
    }

    /// The participant's weight as text, such as ` × 1.5`; empty if it doesn't multiply the vote.
    fn times(&self, cast: &CastBallot) -> String {
        let weight = self.weights.get(&cast.participant).filter(|_| self.measure == Measure::Weight);
        weight.map(|it| format!(" × {it}")).unwrap_or_default()
    }

    /// One option with its voters and the reason of the most confident one.
    fn side(&self, option: &str) -> String {
        let voters: Vec<&CastBallot> =
            self.tally.ballots.iter().filter(|it| it.ballot.choice == option).collect();
        let names: Vec<String> = voters
            .iter()
            .map(|it| format!("{} ({:.2}{})", it.participant, it.ballot.confidence.get(), self.times(it)))
            .collect();
        let surest = voters
            .iter()
            .filter(|it| !it.ballot.reasoning.trim().is_empty())
            .rev()
            .max_by(|one, other| one.ballot.confidence.get().total_cmp(&other.ballot.confidence.get()));
        let reason = surest.map(|it| format!(" {}: \"{}\"", it.participant, it.ballot.reasoning.trim()));
        let support = counted(voters.len(), "vote");
        format!("- {option}: {support}, from {}.{}", listed(&names), reason.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use quorum_core::model::{participant::Participant, reading::Source};

    use crate::readers::{Ballot, Confidence};

    use super::*;

    fn owned(options: &[&str]) -> Vec<String> {
        options.iter().map(|it| (*it).to_owned()).collect()
    }

    fn cast(participant: &str, choice: &str, confidence: f64) -> CastBallot {
        let reasoning = format!("{participant} likes {choice}");
        let ballot = Ballot { choice: choice.into(), confidence: Confidence::clamped(confidence), reasoning };
        CastBallot { participant: participant.into(), round: 1, source: Source::Stated, ballot }
    }

    fn counting(votes: &[(&str, &str, f64)], measure: Measure) -> Count {
        let mut spec = quorum_testkit::spec::spec("voting");
        spec.participants = ["ann", "bob", "cyd", "dan"].map(Participant::of).to_vec();
        spec.participants[3].weight = 3.0;
        let ballots = votes.iter().map(|(who, choice, sure)| cast(who, choice, *sure)).collect();
        count(&spec, &owned(&["tabs", "spaces", "both"]), ballots, Uncounted::default(), measure)
    }

    /// Checks the leader and its share: `tabs 0.67`, or `tie spaces,tabs 0.50`.
    #[track_caller]
    fn check(votes: &[(&str, &str, f64)], measure: Measure, expected: &str) {
        let count = counting(votes, measure);
        let tie = || format!("tie {}", count.tally.tie.join(","));
        let leads = count.tally.winner.clone().unwrap_or_else(tie);
        assert_eq!(format!("{leads} {:.2}", count.share), expected);
    }

    #[test]
    fn b02_heads_count_one_each() {
        let two_to_one = [("ann", "tabs", 0.1), ("bob", "tabs", 0.1), ("cyd", "spaces", 1.0)];
        check(&two_to_one, Measure::Heads, "tabs 0.67");
        check(&two_to_one[1..], Measure::Heads, "tie spaces,tabs 0.50");
        check(&[], Measure::Heads, "tie  0.00");
    }

    #[test]
    fn inv_disc_642_weight_is_confidence_times_the_participants_weight() {
        let surer = [("ann", "tabs", 0.4), ("bob", "tabs", 0.4), ("cyd", "spaces", 1.0)];
        check(&surer, Measure::Weight, "spaces 0.56");
        check(&[("ann", "tabs", 1.0), ("dan", "spaces", 0.5)], Measure::Weight, "spaces 0.60");
        check(&[("ann", "tabs", 0.9), ("dan", "spaces", 0.3)], Measure::Weight, "tie spaces,tabs 0.50");
        check(&[("ann", "tabs", 0.0)], Measure::Weight, "tabs 0.00");
        check(
            &[("ann", "tabs", 0.1), ("bob", "tabs", 0.2), ("cyd", "spaces", 0.3)],
            Measure::Weight,
            "tie spaces,tabs 0.50",
        );
    }

    #[test]
    fn inv_disc_642_two_plain_votes_and_one_of_an_agent_weigh_2_and_1_5_of_3_5() {
        let mut spec = quorum_testkit::spec::spec("voting");
        spec.participants = ["ann", "bob", "reviewer"].map(Participant::of).to_vec();
        spec.participants[2].weight = 1.5;
        let votes = [("ann", "tabs", 1.0), ("bob", "tabs", 1.0), ("reviewer", "spaces", 1.0)];
        let ballots: Vec<CastBallot> =
            votes.iter().map(|(who, choice, sure)| cast(who, choice, *sure)).collect();
        let options = owned(&["tabs", "spaces"]);
        let count = |measure| count(&spec, &options, ballots.clone(), Uncounted::default(), measure);
        let weighted = count(Measure::Weight);
        assert_eq!(weighted.tally.weighted, [("tabs".to_owned(), 2.0), ("spaces".to_owned(), 1.5)].into());
        assert_eq!(rounded(weighted.share_of("spaces")), rounded(1.5 / 3.5));
        assert!(weighted.account(&options, None).contains("from reviewer (1.00 × 1.5)."));
        // A majority counts heads.
        let heads = count(Measure::Heads);
        assert_eq!(rounded(heads.share_of("spaces")), 0.333);
        assert!(heads.account(&options, None).contains("from reviewer (1.00)."));
        let records = vote_records(&spec, &weighted.tally);
        assert_eq!((&records[0]["weight"], &records[2]["weight"]), (&Value::Null, &json!(1.5)));
    }

    #[test]
    fn inv_disc_202_every_vote_and_every_option_is_kept() {
        let count = counting(&[("ann", "tabs", 0.9), ("bob", "spaces", 0.5)], Measure::Heads);
        assert_eq!(count.tally.ballots.len(), 2);
        assert_eq!(count.tally.votes.get("both"), Some(&0));
        assert_eq!(count.tally.weighted.get("tabs"), Some(&0.9));
    }

    #[test]
    fn inv_disc_201_other_votes_are_dissent() {
        let count = counting(&[("ann", "tabs", 0.9), ("bob", "spaces", 0.5)], Measure::Heads);
        let position = "spaces: bob likes spaces".to_owned();
        assert_eq!(count.dissent_from(Some("tabs")), [Dissent { participant: "bob".into(), position }]);
    }

    #[test]
    fn a_tie_lists_its_positions_option_by_option() {
        let votes = [
            ("ann", "tabs", 0.5),
            ("bob", "both", 0.5),
            ("cyd", "spaces", 0.5),
            ("dan", "tabs", 0.5),
            ("eve", "spaces", 0.5),
        ];
        let tied = counting(&votes, Measure::Heads).dissent_from(None);
        let told: Vec<String> = tied.iter().map(|it| format!("{} {}", it.participant, it.position)).collect();
        let expected = ["cyd spaces", "eve spaces", "ann tabs", "dan tabs", "bob both"];
        let expected: Vec<String> = expected
            .into_iter()
            .filter_map(|it| it.split_once(' '))
            .map(|(who, choice)| format!("{who} {choice}: {who} likes {choice}"))
            .collect();
        assert_eq!(told, expected);
    }

    #[test]
    fn the_account_names_sides_and_their_best_reasons() {
        let votes = [("ann", "spaces", 0.9), ("bob", "tabs", 0.5), ("cyd", "tabs", 0.8)];
        let mut count = counting(&votes, Measure::Heads);
        count.uncounted.dropped = owned(&["dan"]);
        let expected = "tabs won the vote: 2 of 3 votes.\n\
                        - tabs: 2 votes, from bob (0.50) and cyd (0.80). cyd: \"cyd likes tabs\"\n\
                        - spaces: 1 vote, from ann (0.90). ann: \"ann likes spaces\"\n\
                        No vote was counted from dan.";
        assert_eq!(count.account(&owned(&["tabs", "spaces", "both"]), None), expected);
    }

    #[test]
    fn the_account_of_weighted_votes_states_their_weight() {
        let count = counting(&[("ann", "tabs", 0.9), ("dan", "spaces", 0.9)], Measure::Weight);
        let account = count.account(&owned(&["tabs", "spaces", "both"]), None);
        assert!(account.starts_with("spaces won the vote: 75 % of the weight, 1 of 2 votes.\n"), "{account}");
    }

    #[test]
    fn a_tie_is_reported_as_a_tie() {
        let count = counting(&[("ann", "spaces", 0.9), ("bob", "tabs", 0.5)], Measure::Heads);
        let account = count.account(&owned(&["tabs", "spaces", "both"]), None);
        assert!(
            account.starts_with("A tie between spaces and tabs: tabs 1, spaces 1, both 0.\n"),
            "{account}"
        );
        let nobody = counting(&[], Measure::Weight).account(&owned(&["tabs", "spaces"]), Some("a majority"));
        assert_eq!(nobody, "No vote was cast that could be counted.");
    }
}
