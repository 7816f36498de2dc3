//! The prompts for voting, checking, synthesising and moderating.

use std::sync::Arc;

use quorum_core::{
    call::tokens::Family,
    floor::{
        ask::{Ask, CompactAsk, Hears},
        reading::Understood,
    },
    model::{mention::mention, participant::Participant, reading::Reading, spec::Spec},
};
use serde_json::Value;

use super::{
    fill,
    length::{Length, filled_form},
    listed, mentions, minutes, minutes_for_people, plain, quoted,
    seat::{
        SystemText, background, covered_brief, earlier, joined, one_a_line, question, question_again, system,
    },
    talk::{self, FormText},
};
use crate::{
    consensus::{SYNTHESIS_PROMPT, synthesis_tokens},
    readers::synthesis_mark,
    roles,
};

/// The limit of a ballot: 80 words and the rest of the form.
const BALLOT_TOKENS: u32 = 512;

/// The limit of a first answer: 50 words and the rest of the form.
const FIRST_TOKENS: u32 = 200;

/// The length of an option, in tokens, for which these limits have room.
const USUAL_OPTION: u64 = 40;

/// Asks for a first answer, which is given without seeing any other. The same question in every
/// pattern.
pub(crate) fn first_answer(spec: &Spec, who: &Participant) -> Ask {
    draw(spec, who).as_first_answer()
}

/// Asks the same question again, blind.
pub(crate) fn draw(spec: &Spec, who: &Participant) -> Ask {
    let filled = |form: &str| joined(&[&with_options(spec, form, &spec.options)]);
    let form = match (who.is_person(), spec.options.is_empty()) {
        (true, false) => include_str!("ballot_words.md"),
        (false, false) => include_str!("first_form.md"),
        (_, true) => "",
    };
    let form = match form {
        "" => FormText { usual: open_form(spec), compact: one_a_line(&open_form(spec)), lines: None },
        form => FormText {
            usual: filled(form),
            compact: filled(include_str!("compact_ballot.md")),
            lines: Some((filled(include_str!("compact_ballot_lines.md")), BALLOT_LINES)),
        },
    };
    let ask = talk::in_both_sizes(spec, system(spec, who, ""), form);
    ask.hearing(Hears::Nothing).max_tokens(voting_tokens(spec, who, &spec.options, FIRST_TOKENS))
}

/// The limit of a vote on these options. The voter repeats one of them word for word, so a long one
/// needs room beside the `usual` limit.
fn voting_tokens(spec: &Spec, who: &Participant, options: &[String], usual: u32) -> u32 {
    let family = Family::of(who);
    let longest = options.iter().map(|it| family.estimate(it)).max().unwrap_or_default();
    let more = u32::try_from(longest.saturating_sub(USUAL_OPTION)).unwrap_or(u32::MAX);
    usual.saturating_add(more).min(spec.manner.max_tokens)
}

/// The form of a first answer where there are no options.
fn open_form(spec: &Spec) -> String {
    let scale = include_str!("scale_open.md").trim_end();
    filled_form(spec, include_str!("first_open_form.md").trim_end(), &[("scale", scale)])
}

/// Voting: a further ballot, with the voter's own last choice, if one could be read, and the
/// reasons given for each option, in this order. The reasons for an option are one quotation, which
/// doesn't show how many voters gave them.
pub(crate) fn later_ballot(
    spec: &Spec,
    who: &Participant,
    own: Option<&str>,
    reasons: &[(String, Vec<String>)],
) -> Ask {
    let shown = reasons.iter().map(|(option, given)| {
        let given: Vec<&str> = given.iter().flat_map(|it| it.split_whitespace()).collect();
        format!("- {}:\n{}", plain(option), quoted(&given.join(" ")))
    });
    let shown = shown.collect::<Vec<_>>().join("\n");
    let later = match own {
        Some(own) => {
            let own = format!("- {}", plain(own));
            fill(include_str!("later.md"), &[("own", &own), ("reasons", &shown)])
        }
        None if reasons.is_empty() => include_str!("later_unread.md").to_owned(),
        None => {
            let weigh = fill(include_str!("later_weigh.md"), &[("reasons", &shown)]);
            joined(&[include_str!("later_unread.md"), &weigh])
        }
    };
    voting(spec, who, None, &later, &spec.options)
}

/// After the talk: a ballot on the options, out of role. `system` is the text that the voter was
/// asked with during the talk.
pub(crate) fn closing_ballot(spec: &Spec, who: &Participant, system: Option<Arc<str>>) -> Ask {
    voting(spec, who, system, include_str!("after.md"), &spec.options)
}

/// After the talk: a ballot on a proposed answer.
pub(crate) fn ballot_on_proposal(
    spec: &Spec,
    who: &Participant,
    proposal: &str,
    options: &[String],
    system: Option<Arc<str>>,
) -> Ask {
    let sign = fill(include_str!("sign.md"), &[("proposal", &quoted(proposal))]);
    voting(spec, who, system, &sign, options)
}

fn voting(spec: &Spec, who: &Participant, own: Option<Arc<str>>, before: &str, options: &[String]) -> Ask {
    let form = if who.is_person() { include_str!("ballot_words.md") } else { include_str!("ballot_form.md") };
    let short = one_a_line(before);
    let compact = |form: &str| joined(&[&short, &with_options(spec, form, options)]);
    let form = FormText {
        usual: joined(&[before, &with_options(spec, form, options)]),
        compact: compact(include_str!("compact_ballot.md")),
        lines: Some((compact(include_str!("compact_ballot_lines.md")), BALLOT_LINES)),
    };
    let system = own.map_or_else(|| system(spec, who, ""), SystemText::known);
    talk::in_both_sizes(spec, system, form).max_tokens(voting_tokens(spec, who, options, BALLOT_TOKENS))
}

/// The reminder for a ballot that was asked for as lines.
pub(super) const BALLOT_LINES: &str = "Send it again: your reason in one sentence, then the lines `Choice: …`, with an option \
                                       exactly as written, and `Confidence: …`, in this order.";

/// A form with these options, and with the scale of a confidence in a choice among them.
fn with_options(spec: &Spec, form: &str, options: &[String]) -> String {
    let listed: Vec<String> = options.iter().map(|it| format!("- {}", plain(it))).collect();
    let guess = format!("{:.2}", 1.0 / options.len().max(1) as f64);
    let guess = guess.trim_end_matches('0').trim_end_matches('.');
    let scale = fill(include_str!("scale.md").trim_end(), &[("guess", guess)]);
    filled_form(spec, form, &[("options", &*listed.join("\n")), ("scale", &scale), ("guess", guess)])
}

/// Dialogue: whether the two agree on an answer (A10), with the system text of the turns.
pub(crate) fn consensus_check(spec: &Spec, who: &Participant, partner: &Participant) -> Ask {
    let form =
        if who.is_person() { include_str!("consensus_words.md") } else { include_str!("consensus_form.md") };
    let filled = |form: &str| filled_form(spec, form, &[]);
    // The form has markers and no schema, so it is the same for every small model.
    let compact = filled(include_str!("compact_consensus.md"));
    let form = FormText { usual: filled(form), compact, lines: None };
    let partners = talk::partners(spec, who, partner);
    talk::in_both_sizes(spec, partners, form).temperature(0.3).max_tokens(1024)
}

/// The role in which a participant writes the synthesis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Writing {
    /// Combines what was said.
    Synthesizer,
    /// Decides alone.
    Moderator,
}

/// Asks for the synthesis, with all turns in alphabetical order (INV-DISC-012) and the structured
/// replies on record.
pub(crate) fn synthesis(
    spec: &Spec,
    who: &Participant,
    writing: Writing,
    readings: &[Understood<Reading>],
) -> Ask {
    let own = spec.option(&SYNTHESIS_PROMPT).map(|it| plain(&it));
    let minutes = if who.is_person() { minutes_for_people(readings) } else { minutes(readings) };
    let minutes = match minutes {
        none if none.is_empty() => none,
        minutes => fill(include_str!("minutes_on_record.md"), &[("minutes", &minutes)]),
    };
    let is_custom = own.is_some();
    let is_value = spec.answer_schema().is_some() && !who.is_person();
    let task = own.unwrap_or_else(|| writing_task(writing, is_value).to_owned());
    let sources = if is_custom || who.is_person() { String::new() } else { sources(spec) };
    let form = match spec.answer_schema() {
        _ if who.is_person() => include_str!("synthesis_words.md").to_owned(),
        Some(schema) => answer_form(spec, who, schema),
        None => synthesis_form(spec, who, is_custom),
    };
    // The sources of a sentence have no place in a JSON value.
    let sources = if spec.answer_schema().is_some() { String::new() } else { sources };
    let weights = weights(spec);
    let prompt = joined(&["The talk is over.", &minutes, &weights, &task, &sources, &form]);
    let system: Arc<str> = writer(spec, who).into();
    let minutes = joined(&[&minutes, &weights]);
    let ask = Ask::new(system.clone(), prompt);
    let ask = match spec.answer_schema() {
        Some(_) => ask,
        None => ask.for_small_models(CompactAsk {
            system,
            prompt: compact_synthesis(spec, &minutes, &task, is_custom).into(),
            max_tokens: None,
            lines: None,
        }),
    };
    let ask = ask
        .repeating(question_again(spec))
        .hearing(Hears::ForSynthesis)
        .max_tokens(synthesis_tokens(spec))
        .about_every_turn();
    ask.temperature(writing_temperature(spec))
}

/// What a writer is asked for, in prose or as a value of a client's schema.
fn writing_task(writing: Writing, is_value: bool) -> &'static str {
    match (writing, is_value) {
        (Writing::Synthesizer, false) => include_str!("synthesis.md"),
        (Writing::Synthesizer, true) => include_str!("answer_task.md"),
        (Writing::Moderator, false) => include_str!("decide.md"),
        (Writing::Moderator, true) => include_str!("answer_task_moderator.md"),
    }
}

/// The temperature of the writer: that of the participants, within bounds. A temperature that a
/// client asks for applies to the participants only.
fn writing_temperature(spec: &Spec) -> f64 {
    match spec.client {
        Some(_) => WRITING_TEMPERATURE,
        None => spec.manner.temperature.clamp(0.3, WRITING_TEMPERATURE),
    }
}

/// The highest temperature of the writer.
const WRITING_TEMPERATURE: f64 = 0.7;

/// Asks for the answer of a discussion as a JSON value, if it was given in another form.
pub(crate) fn answer_value(spec: &Spec, who: &Participant, answer: &str, schema: &Value) -> Ask {
    let (answer, schema) = (quoted(answer), plain(&schema.to_string()));
    let values = [("answer", &*answer), ("schema", &schema)];
    let prompt = filled_form(spec, include_str!("answer_value.md").trim_end(), &values);
    Ask::new(writer(spec, who), prompt)
        .hearing(Hears::Nothing)
        .temperature(WRITING_TEMPERATURE)
        .max_tokens(synthesis_tokens(spec))
        .purpose("value")
}

fn answer_form(spec: &Spec, who: &Participant, schema: &Value) -> String {
    let (mark, schema) = (synthesis_mark::mark(spec, &who.name), plain(&schema.to_string()));
    filled_form(spec, include_str!("answer_form.md").trim_end(), &[("schema", &*schema), ("mark", &mark)])
}

/// The task of a small model that writes: half as long, without sources and without structure.
fn compact_synthesis(spec: &Spec, minutes: &str, task: &str, is_custom: bool) -> String {
    let task = if is_custom { task.to_owned() } else { one_a_line(task) };
    let length = length(spec, is_custom).halved().told(&spec.topic);
    joined(&["The talk is over.", minutes, &task, &length])
}

/// Lists the participants whose weight is not 1; empty if there are none.
fn weights(spec: &Spec) -> String {
    let weighted: Vec<String> = spec
        .speakers()
        .iter()
        .filter(|it| it.weight != 1.0)
        .map(|it| format!("{} counts {} times", mention(&it.name), it.weight))
        .collect();
    match weighted.is_empty() {
        true => String::new(),
        false => fill(include_str!("weights.md"), &[("weights", &listed(&weighted))]),
    }
}

/// The system text of the writer. It treats the writer as neutral, whatever it said before.
fn writer(spec: &Spec, who: &Participant) -> String {
    let debate = roles::are_positions_assigned(spec);
    let notes = [
        (!who.aside).then_some(include_str!("writer_spoke.md")),
        debate.then_some(include_str!("writer_debate.md")),
    ];
    let notes: String = notes.into_iter().flatten().map(|it| format!(" {}", it.trim_end())).collect();
    let values = [("names", &*mentions(&spec.speakers())), ("notes", &notes)];
    // A debater that writes is not bound to its role, so it gets no brief.
    let brief = if roles::is_debater(who) { String::new() } else { covered_brief(spec, who) };
    let task = fill(include_str!("writer.md"), &values);
    joined(&[&task, &question(spec), &background(spec), &earlier(spec), &brief])
}

/// Asks for the sources of each sentence, with two of the participants as examples.
fn sources(spec: &Spec) -> String {
    let speakers = spec.speakers();
    let [one, .., other] = &speakers[..] else { return String::new() };
    let values = [("one", &*mention(&one.name)), ("other", &mention(&other.name))];
    fill(include_str!("sources.md"), &values)
}

fn synthesis_form(spec: &Spec, who: &Participant, is_custom: bool) -> String {
    let length = length(spec, is_custom).told(&spec.topic);
    let mark = synthesis_mark::mark(spec, &who.name);
    filled_form(spec, include_str!("synthesis_form.md"), &[("length", &*length), ("mark", &mark)])
}

/// The length of a synthesis, which fits its token limit with the structure after it. A custom task
/// may ask for less.
fn length(spec: &Spec, is_custom: bool) -> Length {
    let tokens = u64::from(synthesis_tokens(spec));
    let words = |of_usual: u64| ((tokens * of_usual / 3_072).div_ceil(10) * 10) as u32;
    let (least, most) = (words(250), words(450));
    if is_custom { Length::at_most(most) } else { Length::of(least, most) }
}

#[cfg(test)]
#[path = "deciding_tests.rs"]
mod tests;
