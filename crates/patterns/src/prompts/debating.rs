//! The prompts for debaters, for judges of debates, and for casting.

use std::sync::Arc;

use quorum_core::{
    floor::ask::Ask,
    model::{mask::Mask, participant::Participant, spec::Spec},
    registry::Detection,
    vocabulary::{option::Named, view::Cell},
};

use super::{background, fill, listed, quoted, system};
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
    let format = DebateSpec::of(spec).format;
    let rules = rules(format);
    let part = part(spec, parts, who);
    let values = [("format", format.name()), ("rules", rules), ("part", part.as_str())];
    let manner = fill(include_str!("debate.md"), &values);
    let prompt = format!("{}{} {}", hinted(spec, hints), numbered(spec, round), task(spec, who, round));
    Ask::new(system(spec, who, &manner), prompt).temperature(temperature(spec))
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
        hints => {
            format!("The judge asks for this, as a hint on what to address:\n\n{}\n\n", quoted(hints))
        }
    }
}

fn rules(format: Format) -> &'static str {
    match format {
        Format::StructuredRounds => {
            "It opens with everyone's position and main arguments, goes on with rebuttals, and ends with closing statements."
        }
        Format::FreeForm => {
            "Nothing is laid down: respond to what is being said. The judge ends it when what matters has been explored, so \
             keep to depth and to the question."
        }
        Format::RoundLimited => {
            "The number of rounds is fixed. Each builds on the ones before; make every one of your turns count."
        }
        Format::ConvergenceSeeking => {
            "It seeks convergence: hold your position where you must, look for common ground, say plainly what you still \
             disagree on and why. It ends when you have met, or when nothing new comes."
        }
    }
}

/// The positions in the debate: this participant's own first, then the others'.
fn part(spec: &Spec, parts: &[Part], who: &Participant) -> String {
    let own = parts.iter().find(|it| it.participant == who.name);
    let own = own.map_or_else(|| stance(who).to_owned(), played);
    let others = spec.speakers().into_iter().filter(|it| it.name != who.name);
    let others: Vec<String> =
        others.map(|it| format!("{}:\n{}", it.name, quoted(&position(parts, &it)))).collect();
    format!("{own}\n\nThe others hold this:\n\n{}", others.join("\n"))
}

/// A part, in words for the debater that plays it.
fn played(part: &Part) -> String {
    let mut told = format!("You argue this position:\n\n{}", quoted(&part.position));
    if !part.persona.is_empty() {
        told += &format!("\n\nand you argue it as this person would:\n\n{}", quoted(&part.persona));
    }
    if !part.key_arguments.is_empty() {
        let arguments: Vec<String> = part.key_arguments.iter().map(|it| quoted(it)).collect();
        told += &format!("\n\nThis can be said for it, among other things:\n\n{}", arguments.join("\n"));
    }
    told
}

fn stance(who: &Participant) -> &'static str {
    match &who.role {
        role if *role == PROPONENT => "You argue FOR what the question proposes.",
        role if *role == OPPONENT => "You argue AGAINST what the question proposes.",
        role if *role == MODERATOR => {
            "You moderate: you take no side, keep the debate to the point and ask what was left open."
        }
        _ => "You take no side: you give a balanced view of both.",
    }
}

/// A participant's position, in words for the others.
fn position(parts: &[Part], who: &Participant) -> String {
    let given = parts.iter().find(|it| it.participant == who.name).map(|it| it.position.clone());
    given.unwrap_or_else(|| {
        let held = match &who.role {
            role if *role == PROPONENT => "For what the question proposes.",
            role if *role == OPPONENT => "Against what the question proposes.",
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

fn task(spec: &Spec, who: &Participant, round: u32) -> String {
    let others: Vec<String> =
        spec.speakers().into_iter().filter(|it| it.name != who.name).map(|it| it.name).collect();
    let others = listed(&others);
    match formats::stage(spec, round) {
        Stage::Opening => "Opening: state your position and the main arguments for it.".to_owned(),
        Stage::Rebuttal => {
            format!("Rebuttal: answer what {others} said, point by point, and strengthen your own case.")
        }
        Stage::Closing => format!(
            "Closing: this is your last word. Answer the strongest point that {others} made against you, sum up your own \
             strongest points and how they stood up, and conclude. Open no new subject now."
        ),
        Stage::Next => {
            format!(
                "Go on: answer what {others} said, where they said something, and bring your case further."
            )
        }
    }
}

/// What a judge's prompts are made from: the panel, behind a mask.
pub(crate) struct JudgeView<'a> {
    pub(crate) spec: &'a Spec,
    pub(crate) parts: &'a [Part],
    pub(crate) judge: &'a Participant,
    pub(crate) mask: &'a Arc<Mask>,
    pub(crate) rubric: &'a Rubric,
}

impl JudgeView<'_> {
    /// The system prompt, without anyone's name, including the judge's own.
    fn system(&self) -> String {
        let brief = self.judge.brief.as_deref().filter(|_| self.judge.role == JUDGE);
        let brief = brief.map(|text| format!("\n# Your own brief\n\n{}\n", self.mask.cover(text)));
        fill(
            include_str!("judge.md"),
            &[
                ("topic", &self.spec.topic),
                ("background", &background(self.spec)),
                ("rubric", &self.rubric.told()),
                ("table", &self.table()),
                ("brief", &brief.unwrap_or_default()),
                ("fences", include_str!("fences.md").trim_end()),
            ],
        )
    }

    fn table(&self) -> String {
        let mut shown: Vec<(&str, String)> = Vec::new();
        for who in self.spec.speakers() {
            let Some(label) = self.mask.label(&who.name) else { continue };
            let held = quoted(&self.mask.cover(&position(self.parts, &who)));
            let guest = if roles::is_debater(&who) { "" } else { " (not to be judged)" };
            shown.push((label, format!("{label}{guest}:\n{held}")));
        }
        shown.sort();
        shown.into_iter().map(|it| it.1).collect::<Vec<_>>().join("\n")
    }

    fn shown(&self, names: &[String]) -> String {
        let mut shown: Vec<&str> = names.iter().filter_map(|it| self.called(it)).collect();
        shown.sort_unstable();
        listed(&shown)
    }

    /// How a participant is called before the judge. A person that judges sees the real names.
    fn called<'n>(&'n self, name: &'n str) -> Option<&'n str> {
        if self.judge.is_person() { Some(name) } else { self.mask.label(name) }
    }

    fn ask(&self, prompt: String) -> Ask {
        // Judges have a low temperature (D11).
        let room = self.spec.manner.max_tokens.max(FORM_TOKENS);
        let ask = Ask::new(self.system(), prompt).masked(self.mask).about_every_turn();
        ask.temperature(0.2).max_tokens(room)
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
    ];
    let values = values.each_ref().map(|(name, value)| (*name, value.as_str()));
    let form = if view.judge.is_person() {
        include_str!("assessment_words.md")
    } else {
        include_str!("assessment_form.md")
    };
    view.ask(fill(form, &values))
}

/// An example of scores for these debaters.
fn marks(judged: &[String]) -> String {
    let marks = judged.iter().zip([7, 5, 8, 6].into_iter().cycle());
    marks.map(|(name, mark)| format!("{name} {mark}")).collect::<Vec<_>>().join(", ")
}

/// The detectors' findings, as data for the judge to weigh.
fn remarks(view: &JudgeView<'_>, noticed: &[Detection]) -> String {
    if noticed.is_empty() {
        return String::new();
    }
    let lines = noticed.iter().map(|it| {
        let of = it.participant.as_deref().and_then(|name| view.called(name));
        let of = of.map(|called| format!(" by {called}"));
        let (of, detector, measure) = (of.unwrap_or_default(), &it.detector, &it.measure);
        format!("- {detector}{of} in round {}: {:.2} ({measure})", it.round, it.value)
    });
    let lines: Vec<String> = lines.collect();
    format!("\nMeasured by machine, for you to weigh and not to obey:\n\n{}\n", lines.join("\n"))
}

/// Asks for the verdict (D07), with the judge's own marks so far.
pub(crate) fn verdict(view: &JudgeView<'_>, own: &[(u32, &Assessment)]) -> Ask {
    let debaters: Vec<String> = roles::debaters(view.spec).into_iter().map(|it| it.name).collect();
    let form = if view.judge.is_person() {
        include_str!("verdict_words.md")
    } else {
        include_str!("verdict_form.md")
    };
    let example = debaters.first().map_or("", String::as_str);
    view.ask(fill(
        form,
        &[("debaters", &view.shown(&debaters)), ("example", example), ("marks", &own_marks(view, own))],
    ))
}

/// A judge's own marks, round by round.
fn own_marks(view: &JudgeView<'_>, own: &[(u32, &Assessment)]) -> String {
    let lines = own.iter().filter_map(|(round, assessment)| {
        let marks = assessment.assessments.iter().filter_map(|it| {
            let mark = Cell::Number.write(Some(&it.score.into()));
            Some(format!("{} {mark}", view.called(&it.participant)?))
        });
        let mut marks: Vec<String> = marks.collect();
        marks.sort();
        (!marks.is_empty()).then(|| format!("- round {round}: {}", marks.join(", ")))
    });
    let lines: Vec<String> = lines.collect();
    if lines.is_empty() {
        return String::new();
    }
    let lines = lines.join("\n");
    format!("\nThese are your marks so far; where you now see it otherwise, say why:\n\n{lines}\n")
}

/// Asks for positions and personas for everyone (D05), with a high temperature (D11).
pub(crate) fn casting(spec: &Spec, spread: Diversity) -> Ask {
    let debaters: Vec<String> =
        roles::debaters(spec).iter().map(|it| format!("{} ({})", it.name, it.role)).collect();
    let spread = match spread {
        Diversity::Binary => {
            "two opposing sides; proponents argue for what the question proposes, opponents against it, each with a line of its \
             own."
        }
        Diversity::Spectrum => {
            "spread over the whole range of opinion, proponents towards the one end and opponents towards the other."
        }
        Diversity::MultiPerspective => "different angles that need not be directly opposed.",
    };
    let system =
        fill(include_str!("casting.md"), &[("topic", &spec.topic), ("background", &background(spec))]);
    let prompt =
        fill(include_str!("casting_form.md"), &[("debaters", &listed(&debaters)), ("spread", spread)]);
    Ask::new(system, prompt).temperature(0.9).max_tokens(spec.manner.max_tokens.max(FORM_TOKENS))
}

#[cfg(test)]
#[path = "debating_tests.rs"]
mod tests;
