//! The prompts for debaters, for judges of debates, and for casting.

use std::sync::Arc;

use quorum_core::{
    floor::ask::Ask,
    model::{mask::Mask, mention::mention, participant::Participant, spec::Spec},
    registry::Detection,
    vocabulary::{option::Named, view::Cell},
};

use super::{
    counted, fill,
    length::{Length, filled_form},
    listed, mentioned, mentions, quoted,
    seat::{
        SystemText, background, compact_question, covered_brief, earlier, joined, question, system_with_part,
    },
    talk::{self, FormText, in_both_sizes},
};
use crate::{
    debate::{
        Assessment, DebateSpec, Diversity, Format, Part,
        formats::{self, Stage},
        rubric::Rubric,
    },
    roles::{self, JUDGE, MODERATOR, OPPONENT, PROPONENT},
};

/// The minimum token limit for a form, however short the speeches are.
const FORM_TOKENS: u32 = 2_048;

/// The longest hints of a judge that are shown, in bytes.
const LONGEST_HINTS: usize = 1_500;

/// A speech: an opening, a rebuttal, a closing or simply the next turn, whichever this round is for
/// (D04); with the temperature for speeches (D11). `hints` are the judge's recommendations after
/// the round before.
pub(crate) fn speech(spec: &Spec, parts: &[Part], who: &Participant, round: u32, hints: &str) -> Ask {
    let part = part(spec, parts, who);
    let system = system_with_part(spec, who, &manner(spec, who), &part);
    let (task, length) = task(spec, who, round);
    let task = format!("{} {task}", numbered(spec, round));
    let prompt = joined(&[&hinted(spec, hints), &task]);
    talk::speech(spec, who, system, &prompt, length).temperature(temperature(spec))
}

/// The temperature of a speech (D11).
pub(crate) fn temperature(spec: &Spec) -> f64 {
    spec.manner.temperature.clamp(0.7, 0.9)
}

/// The judge's recommendations as a hint. They are no longer than a speech may be, because a plan
/// counts them as one.
fn hinted(spec: &Spec, hints: &str) -> String {
    let most = LONGEST_HINTS.min(3 * spec.manner.max_tokens as usize);
    let end = hints.char_indices().map(|(at, it)| at + it.len_utf8()).take_while(|end| *end <= most).last();
    match hints[..end.unwrap_or(0)].trim() {
        "" => String::new(),
        hints => fill(include_str!("hints.md"), &[("hints", &quoted(hints))]),
    }
}

/// The manner of a debate, for a debater, for its chair, or for one that weighs both sides.
fn manner(spec: &Spec, who: &Participant) -> String {
    let rounds = counted(formats::limit(spec) as usize, "round");
    let is_debater = roles::is_debater(who);
    let conceding =
        if is_debater { include_str!("conceding.md") } else { include_str!("conceding_debaters.md") };
    let rules = fill(rules(spec).trim_end(), &[("rounds", &rounds), ("conceding", conceding.trim_end())]);
    // Those who may concede are not told to defend their position whatever is granted.
    let granting = match formats::may_concede(spec) {
        true => String::new(),
        false => format!(" {}", include_str!("granting.md").trim_end()),
    };
    let template = match &who.role {
        role if *role == MODERATOR => include_str!("manner_chair.md"),
        _ if is_debater => include_str!("manner_debate.md"),
        _ => include_str!("manner_neutral.md"),
    };
    fill(template, &[("rules", &rules), ("granting", &granting)])
}

fn rules(spec: &Spec) -> &'static str {
    match DebateSpec::of(spec).format {
        Format::StructuredRounds => match formats::limit(spec) {
            1 => include_str!("rules_structured_one.md"),
            2 => include_str!("rules_structured_two.md"),
            _ => include_str!("rules_structured_rounds.md"),
        },
        Format::FreeForm => include_str!("rules_free_form.md"),
        Format::RoundLimited => include_str!("rules_round_limited.md"),
        Format::ConvergenceSeeking => include_str!("rules_convergence_seeking.md"),
    }
}

/// A speaker's part: a debater's own position first, then the others'. One that takes no side is
/// only told the others'.
fn part(spec: &Spec, parts: &[Part], who: &Participant) -> String {
    let others = others(spec, parts, who);
    if !roles::is_debater(who) {
        return positions(&others);
    }
    let own = parts.iter().find(|it| it.participant == who.name);
    let below = |heading: &str, text: &str| {
        if text.is_empty() { String::new() } else { format!("\n{heading}\n\n{text}\n") }
    };
    let quoted_if_any = |text: &str| if text.is_empty() { String::new() } else { quoted(text) };
    let outlook = own.map_or_else(String::new, |it| quoted_if_any(&it.persona));
    let arguments: Vec<String> = own.iter().flat_map(|it| &it.key_arguments).map(|it| quoted(it)).collect();
    fill(
        include_str!("part.md"),
        &[
            ("position", &quoted(&position(parts, who))),
            ("outlook", &below("Your outlook:", &outlook)),
            ("arguments", &below("This can be said for it, among other things:", &arguments.join("\n"))),
            ("others", &others),
        ],
    )
}

/// The other speakers: the debaters with their positions, then those that take no side.
fn others(spec: &Spec, parts: &[Part], who: &Participant) -> String {
    let others = spec.speakers().into_iter().filter(|it| it.name != who.name);
    let (debaters, without): (Vec<Participant>, Vec<Participant>) = others.partition(roles::is_debater);
    let held: Vec<(String, String)> =
        debaters.iter().map(|it| (mentioned(it), quoted(&position(parts, it)))).collect();
    let without = match &without[..] {
        [] => String::new(),
        without => fill(include_str!("without_side.md"), &[("names", &mentions(without))]),
    };
    joined(&[&positioned(&held), &without])
}

/// Participants and their positions, one below the other.
fn positioned(all: &[(String, String)]) -> String {
    all.iter().map(|(who, held)| format!("{who}:\n{held}")).collect::<Vec<_>>().join("\n")
}

/// The section with everyone's position, for those that take no side.
fn positions(all: &str) -> String {
    fill(include_str!("positions.md"), &[("positions", all)])
}

/// A participant's position, given or by its role.
fn position(parts: &[Part], who: &Participant) -> String {
    let given = parts.iter().find(|it| it.participant == who.name).map(|it| it.position.clone());
    given.unwrap_or_else(|| {
        let held = match &who.role {
            role if *role == PROPONENT => "For what the question proposes, or the first choice it suggests.",
            role if *role == OPPONENT => {
                "Against what the question proposes, or for another choice than the first."
            }
            role if *role == MODERATOR => "No side; moderates.",
            _ => "No side; a balanced view.",
        };
        held.to_owned()
    })
}

/// The round's number, and the total if it is known.
fn numbered(spec: &Spec, round: u32) -> String {
    match DebateSpec::of(spec).format {
        Format::StructuredRounds | Format::RoundLimited => {
            format!("Round {round} of {}.", formats::limit(spec))
        }
        Format::FreeForm | Format::ConvergenceSeeking => format!("Round {round}."),
    }
}

fn task(spec: &Spec, who: &Participant, round: u32) -> (String, Length) {
    if who.role == MODERATOR {
        let task = if round == 1 { include_str!("chair_opening.md") } else { include_str!("chair.md") };
        return (task.to_owned(), Length::at_most(120));
    }
    let is_debater = roles::is_debater(who);
    let task = match formats::stage(spec, round) {
        Stage::Opening if !is_debater => include_str!("neutral_opening.md"),
        Stage::Rebuttal | Stage::Closing | Stage::Next if !is_debater => include_str!("neutral.md"),
        Stage::Opening => include_str!("opening.md"),
        Stage::Rebuttal => include_str!("rebuttal.md"),
        Stage::Closing => include_str!("closing.md"),
        Stage::Next => include_str!("next.md"),
    };
    let is_only_speech = round == 1 && formats::limit(spec) == 1;
    let last = if is_only_speech { include_str!("last_word.md") } else { "" };
    (format!("{} {last}", task.trim_end()).trim_end().to_owned(), Length::of(200, 350))
}

/// What a judge's prompts are made from: the panel, behind a mask.
pub(crate) struct JudgeView<'a> {
    pub(crate) spec: &'a Spec,
    pub(crate) parts: &'a [Part],
    pub(crate) judge: &'a Participant,
    pub(crate) mask: &'a Arc<Mask>,
    pub(crate) rubric: &'a Rubric,
    /// Who could answer whom, in sentences with mentions; may be empty.
    pub(crate) heard: &'a str,
}

impl JudgeView<'_> {
    /// The system text. It mentions the debaters, which the judge is shown by their labels.
    fn system(&self) -> SystemText {
        let usual = fill(include_str!("judge.md"), &[("rubric", &self.rubric.told())]);
        let usual = joined(&[&usual, include_str!("fences_judge.md"), &question(self.spec)]);
        let compact = fill(include_str!("compact_judge.md"), &[("rubric", &self.rubric.told_in_short())]);
        let compact = joined(&[&compact, &compact_question(self.spec)]);
        let rest = self.given();
        SystemText { usual: joined(&[&usual, &rest]).into(), compact: joined(&[&compact, &rest]).into() }
    }

    /// What the judge is given after the question. What is drawn anew comes last, so that the rest
    /// can be cached by the provider.
    fn given(&self) -> String {
        let brief = match self.judge.role == JUDGE {
            true => covered_brief(self.spec, self.judge),
            false => String::new(),
        };
        let positions = positions(&positioned(&self.table()));
        joined(&[&background(self.spec), &earlier(self.spec), &brief, &positions, self.heard])
    }

    /// Everyone's position, in the order that was drawn.
    fn table(&self) -> Vec<(String, String)> {
        let mut speakers = self.spec.speakers();
        speakers.retain(|who| self.mask.label(&who.name).is_some());
        speakers.sort_by_key(|who| self.mask.place(&who.name));
        let shown = speakers.iter().map(|who| {
            let guest = if roles::is_judged(who) { "" } else { " (not to be judged)" };
            (format!("{}{guest}", mentioned(who)), quoted(&position(self.parts, who)))
        });
        shown.collect()
    }

    /// These debaters as a list, in the order that was drawn.
    fn shown(&self, names: &[String]) -> String {
        listed(&self.in_order(names, |name| Some(mention(name))))
    }

    /// What is said of each of these debaters, in the order that was drawn.
    fn in_order(&self, names: &[String], said: impl Fn(&str) -> Option<String>) -> Vec<String> {
        let mut known: Vec<&String> = names.iter().filter(|it| self.is_shown(it)).collect();
        if !self.judge.is_person() {
            known.sort_by_key(|it| self.mask.place(it));
        }
        known.into_iter().filter_map(|it| said(it)).collect()
    }

    /// Whether the judge is shown this participant. A person that judges sees everyone.
    fn is_shown(&self, name: &str) -> bool {
        self.judge.is_person() || self.mask.label(name).is_some()
    }

    fn ask(&self, form: FormText) -> Ask {
        // Judges have a low temperature (D11).
        let room = self.spec.manner.max_tokens.max(FORM_TOKENS);
        let ask = in_both_sizes(self.spec, self.system(), form);
        ask.masked(self.mask).about_every_turn().temperature(0.2).max_tokens(room)
    }
}

/// Asks for the assessment of a round (D06), with the detectors' findings.
pub(crate) fn assessment(view: &JudgeView<'_>, judged: &[String], noticed: &[Detection], round: u32) -> Ask {
    let values = [
        ("round", round.to_string()),
        ("format", DebateSpec::of(view.spec).format.name().to_owned()),
        ("debaters", view.shown(judged)),
        ("marks", marks(judged)),
        ("noticed", remarks(view, noticed)),
        ("criteria", view.rubric.as_lines()),
    ];
    let values = values.each_ref().map(|(name, value)| (*name, value.as_str()));
    let form = if view.judge.is_person() {
        include_str!("assessment_words.md")
    } else {
        include_str!("assessment_form.md")
    };
    let filled = |form: &str| filled_form(view.spec, form, &values);
    view.ask(FormText {
        usual: filled(form),
        compact: filled(include_str!("compact_assessment.md")),
        lines: Some((filled(include_str!("compact_assessment_lines.md")), ASSESSMENT_LINES)),
    })
}

/// The reminder for an assessment that was asked for as lines.
pub(super) const ASSESSMENT_LINES: &str = "Send it again as lines: for each debater Debater, Strength, Weakness and every mark; \
                                           then Reason, Repeats, Met, Quality, Next and Continue, in this order.";

/// The reminder for a verdict that was asked for as lines.
pub(super) const VERDICT_LINES: &str = "Send it again as lines, each with its word and a colon, in this order: Summary, Agreed, \
                                        Disputed, Quality, Reason, Winner.";

/// An example of scores for these debaters.
fn marks(judged: &[String]) -> String {
    let marks = judged.iter().zip([7, 5, 8, 6].into_iter().cycle());
    marks.map(|(name, mark)| format!("{} {mark}", mention(name))).collect::<Vec<_>>().join(", ")
}

/// The detectors' findings, as data for the judge to weigh.
fn remarks(view: &JudgeView<'_>, noticed: &[Detection]) -> String {
    let lines = noticed.iter().map(|it| {
        let of = it.participant.as_deref().filter(|name| view.is_shown(name));
        let of = of.map(|name| format!(" by {}", mention(name)));
        let (of, detector, measure) = (of.unwrap_or_default(), &it.detector, &it.measure);
        format!("- {detector}{of} in round {}: {:.2} ({measure})", it.round, it.value)
    });
    set_off(include_str!("noticed.md"), "findings", &lines.collect::<Vec<_>>())
}

/// A paragraph with these lines, set off from what is around it; nothing without lines.
fn set_off(template: &str, name: &str, lines: &[String]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    format!("\n{}", fill(template, &[(name, &lines.join("\n"))]))
}

/// Asks for the verdict (D07), with the judge's own marks so far.
pub(crate) fn verdict(view: &JudgeView<'_>, own: &[(u32, &Assessment)]) -> Ask {
    let debaters: Vec<String> = roles::judged(view.spec).into_iter().map(|it| it.name).collect();
    let form = if view.judge.is_person() {
        include_str!("verdict_words.md")
    } else {
        include_str!("verdict_form.md")
    };
    let example = debaters.first().map(|it| mention(it)).unwrap_or_default();
    let values =
        [("debaters", &*view.shown(&debaters)), ("example", &example), ("marks", &own_marks(view, own))];
    let filled = |form: &str| filled_form(view.spec, form, &values);
    view.ask(FormText {
        usual: filled(form),
        compact: filled(include_str!("compact_verdict.md")),
        lines: Some((filled(include_str!("compact_verdict_lines.md")), VERDICT_LINES)),
    })
}

/// A judge's own marks, round by round.
fn own_marks(view: &JudgeView<'_>, own: &[(u32, &Assessment)]) -> String {
    let lines = own.iter().filter_map(|(round, assessment)| {
        let names: Vec<String> = assessment.assessments.iter().map(|it| it.participant.clone()).collect();
        let marks = view.in_order(&names, |name| {
            let rated = assessment.assessments.iter().find(|it| it.participant == name)?;
            let mark = Cell::Number.write(Some(&rated.score.into()));
            Some(format!("{} {mark}", mention(name)))
        });
        (!marks.is_empty()).then(|| format!("- round {round}: {}", marks.join(", ")))
    });
    set_off(include_str!("own_marks.md"), "marks", &lines.collect::<Vec<_>>())
}

/// Asks for positions and outlooks for everyone (D05), with a high temperature (D11).
pub(crate) fn casting(spec: &Spec, spread: Diversity) -> Ask {
    let debaters: Vec<String> =
        roles::debaters(spec).iter().map(|it| format!("{} ({})", mentioned(it), it.role)).collect();
    let spread = match spread {
        Diversity::Binary => include_str!("spread_binary.md"),
        Diversity::Spectrum => include_str!("spread_spectrum.md"),
        Diversity::MultiPerspective => include_str!("spread_multi_perspective.md"),
    };
    let given = joined(&[&background(spec), &earlier(spec)]);
    let system = SystemText {
        usual: joined(&[include_str!("casting.md"), &question(spec), &given]).into(),
        compact: joined(&[include_str!("compact_casting.md"), &compact_question(spec), &given]).into(),
    };
    let values = [("debaters", &*listed(&debaters)), ("spread", spread.trim_end())];
    let filled = |form: &str| filled_form(spec, form, &values);
    let form = FormText {
        usual: filled(include_str!("casting_form.md")),
        compact: filled(include_str!("compact_casting_form.md")),
        lines: Some((filled(include_str!("compact_casting_lines.md")), CASTING_LINES)),
    };
    let room = spec.manner.max_tokens.max(FORM_TOKENS);
    in_both_sizes(spec, system, form).temperature(0.9).max_tokens(room)
}

/// The reminder for positions that were asked for as lines.
pub(super) const CASTING_LINES: &str = "Send it again as lines: for each debater `Debater: …`, `Position: …`, `Outlook: …` and \
                                        `Argument: …`, in this order; no two positions the same.";

#[cfg(test)]
#[path = "debating_tests.rs"]
mod tests;
