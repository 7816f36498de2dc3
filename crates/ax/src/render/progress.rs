//! Progress lines for stderr. They are only appended, never redrawn.

use std::{collections::BTreeMap, fmt::Display};

use quorum::{
    Registry, Signal,
    model::{
        agent::SpeaksThrough,
        command::Command,
        error::ErrorClass,
        event::{Abandoned, Absent, Event, Fact, FailedTurn, Placed, Retried, SubConcluded, TalkEnd, WindUp},
        id::DiscussionId,
        lifecycle::Lifecycle,
        money::Usd,
        reading::{Reading, Source},
        ruling::Ruled,
        state::State,
        transcript::Turn,
    },
    patterns::workflow::plan::{Action, PlanStep},
    text::{count, line, local_time, time},
    workflow::plan_of,
};

use crate::render::wording::{advice, failure, speaks_through};

/// The most characters of a sub-discussion's topic that are shown.
const TOPIC: usize = 80;

/// Words the events of a discussion, and of its sub-discussions, as lines.
#[derive(Debug, Clone)]
pub(crate) struct ProgressLines {
    root: DiscussionId,
    pattern: String,
    registry: Registry,
    /// The steps of a workflow run by the ids of the discussions that they hold.
    steps: BTreeMap<DiscussionId, String>,
    /// The types of the steps, by their ids in the workflow.
    types: BTreeMap<String, String>,
}

impl ProgressLines {
    /// For this discussion, with the vocabulary it uses.
    pub(crate) fn of(state: &State, registry: &Registry) -> ProgressLines {
        let jobs = state.subs.keys().filter_map(|step| Some((step, step.job_name()?)));
        let steps = jobs.map(|(step, name)| (state.id.derived(step.as_str()), name.to_owned()));
        let mut types = BTreeMap::new();
        plan_of(&state.spec).iter().for_each(|plan| put_types(&plan.steps, &mut types));
        let (root, pattern) = (state.id, state.spec.pattern.clone());
        ProgressLines { root, pattern, registry: registry.clone(), steps: steps.collect(), types }
    }

    /// Takes notice of the discussions that steps begin. Comes before the line for the signal.
    pub(crate) fn hear(&mut self, signal: &Signal) {
        let Signal::Fact { discussion, fact } = signal else { return };
        if let (Event::ChildConvened(begun), Some(step)) = (&fact.event, &fact.step) {
            self.steps.insert(discussion.derived(step.as_str()), begun.name.clone());
        }
    }

    /// The vocabulary.
    pub(crate) fn registry(&self) -> &Registry {
        &self.registry
    }

    /// The line for a signal, if it has one.
    pub(crate) fn line(&self, signal: &Signal) -> Option<String> {
        match signal {
            Signal::Fact { discussion, fact } => {
                let line = self.of_fact(*discussion, fact)?;
                let step = || self.steps.get(discussion).cloned().unwrap_or_else(|| short(*discussion));
                let below = || format!("    {}: {}", step(), line.trim_start());
                Some(if *discussion == self.root { line.clone() } else { below() })
            }
            Signal::Piece(_) => None,
            Signal::Trouble(message) => {
                Some(format!("The record can't be written: {message}. Nothing is lost; retrying."))
            }
        }
    }

    fn of_fact(&self, discussion: DiscussionId, fact: &Fact) -> Option<String> {
        match &fact.event {
            Event::TalkEnded(end) => Some(self.talk_ended(discussion, end)),
            Event::ChildConvened(begun) => {
                let id = begun.name.rsplit('/').next().unwrap_or_default();
                let step_type = self.types.get(id).unwrap_or(&begun.pattern);
                Some(format!("  {} begins ({step_type})", begun.name))
            }
            _ => of_fact(discussion, fact),
        }
    }

    /// Why it ended, in the words of its pattern. A sub-discussion may have another pattern.
    fn talk_ended(&self, discussion: DiscussionId, end: &TalkEnd) -> String {
        let own = self.registry.pattern(&self.pattern).filter(|_| discussion == self.root);
        let declared = own.and_then(|it| it.ending(&end.why));
        let others = || self.registry.patterns().iter().find_map(|it| it.ending(&end.why));
        let why =
            declared.or_else(others).map_or_else(|| end.why.replace('-', " "), |it| lowered(it.summary));
        let detail = end.detail.as_ref().map(|it| format!(" ({})", it.replace('-', " "))).unwrap_or_default();
        format!("The talk ends after round {}: {why}{detail}.", end.round)
    }
}

/// The types of these steps, and of those inside them.
fn put_types(steps: &[PlanStep], types: &mut BTreeMap<String, String>) {
    for step in steps {
        types.insert(step.id.clone(), step.step_type.clone());
        match &step.action {
            Action::Parallel { steps, .. } | Action::Loop { steps, .. } => put_types(steps, types),
            Action::Conditional { then, otherwise, .. } => {
                [then, otherwise].into_iter().for_each(|it| put_types(it, types));
            }
            Action::Prompt(_) | Action::Discuss(_) | Action::Tool(_) => {}
        }
    }
}

/// A sentence in lower case, to follow a colon.
fn lowered(sentence: &str) -> String {
    let mut letters = sentence.chars();
    let first = letters.next().into_iter().flat_map(char::to_lowercase);
    first.chain(letters).collect()
}

/// A prefix of an id that tells sub-discussions apart.
fn short(id: DiscussionId) -> String {
    let id = id.to_string();
    id[id.len() - 4..].to_owned()
}

fn of_fact(discussion: DiscussionId, fact: &Fact) -> Option<String> {
    match &fact.event {
        Event::PanelSeated { absent, agents, .. } => seated(absent, agents),
        Event::PhaseEntered { phase, round } => Some(format!("Round {round}, {}", phase.replace('-', " "))),
        Event::CallPlaced(placed) => Some(asked(placed)),
        Event::CallFailed { participant, class, message, retry_in_ms, .. } => {
            retry_in_ms.map(|wait| stumbled(participant, *class, message, wait))
        }
        Event::CallAbandoned { participant, why, .. } => Some(left(participant, *why)),
        Event::TurnCompleted { turn } => Some(answered(turn)),
        Event::TurnFailed(failed) => Some(dropped_out(failed)),
        Event::SubRequested { turn, topic } => {
            let step = fact.step.as_ref().unwrap_or(&turn.step);
            let child = short(discussion.derived(step.as_str()));
            Some(format!("  {} convenes a sub-discussion, {child}: {}", turn.participant, line(topic, TOPIC)))
        }
        Event::WindowTight(tight) => Some(match tight.percent {
            ..=100 => format!("  the talk takes {} % of {}'s window", tight.percent, tight.participant),
            _ => format!("  the talk no longer fits {}'s window and is shortened for it", tight.participant),
        }),
        Event::Summarised(summary) if summary.covers == 1 => {
            Some("  the first turn is summarized".to_owned())
        }
        Event::Summarised(summary) => Some(format!("  the first {} turns are summarized", summary.covers)),
        // The step's own note says how a job ended.
        Event::SubConcluded(_) if fact.step.as_ref().is_some_and(|it| it.job_name().is_some()) => None,
        Event::SubConcluded(end) => Some(came_back(end)),
        Event::ToolPlaced(placed) => Some(format!("  {} uses {}", placed.name, placed.tool)),
        Event::ToolUsed(used) => {
            let retry = used.retry_in_ms.zip(used.error.as_ref());
            retry.map(|(ms, error)| format!("  {} failed and is tried again in {ms} ms: {error}", used.name))
        }
        Event::ReplyRead { participant, source, reading, .. } => reading_line(participant, *source, reading),
        Event::ReplyUnread(unread) => {
            Some(format!("  {}'s {} could not be read: {}", unread.participant, unread.kind, unread.wrong))
        }
        Event::Noted(noted) => noted.told.as_ref().map(|it| format!("  {it}")),
        Event::Compared(comparison) => comparison.problem.as_ref().map(|it| {
            format!("  the comparison by {} failed, so words are compared instead: {it}", comparison.model)
        }),
        Event::RulingAwaited(awaited) => {
            let reason = line(&awaited.reason, TOPIC);
            Some(format!("  waiting for a decision about {}: {reason}", awaited.about))
        }
        Event::Ruled(ruled) => Some(decided(ruled)),
        Event::CommandTaken { command: Command::Say(_) | Command::Rule(_), .. } => None,
        Event::CommandTaken { command: Command::Note(note), .. } => Some(format!("  note: {}", note.text)),
        Event::CommandTaken { command, .. } => Some(steered(command)),
        Event::WoundUp { reason } => Some(wound_up(reason)),
        Event::LifecycleChanged { to: Lifecycle::Completing, .. } => Some("Deciding".to_owned()),
        Event::Retried(retried) => Some(retrying(retried)),
        Event::Opened { .. }
        | Event::LifecycleChanged { .. }
        | Event::ChildConvened(_)
        | Event::RoundOpened { .. }
        | Event::RoundClosed { .. }
        | Event::GroupClosed { .. }
        | Event::TalkEnded(_)
        | Event::OrderDrawn { .. }
        | Event::PersonAwaited(_)
        | Event::Decided { .. }
        | Event::Concluded(_)
        | Event::Failed { .. }
        | Event::Unknown => None,
    }
}

/// What a person did with the discussion.
fn steered(command: &Command) -> String {
    let what = match command {
        Command::Pause => "paused",
        Command::Resume => "resumed",
        Command::Stop => "stopped",
        Command::Abort => "aborted",
        Command::Say(_) | Command::Rule(_) | Command::Note(_) => "continued",
    };
    format!("A person {what} it.")
}

/// Through whom each agent speaks, and who is not there.
fn seated(absent: &[Absent], agents: &BTreeMap<String, SpeaksThrough>) -> Option<String> {
    let through = agents.iter().map(|(name, it)| speaks_through(name, it));
    let lines: Vec<String> = through.chain(away(absent)).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

fn away(absent: &[Absent]) -> Option<String> {
    let lines: Vec<String> = absent
        .iter()
        .map(|it| format!("{} is not available: {} ({})", it.participant, it.message, advice(it.class)))
        .collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

fn asked(placed: &Placed) -> String {
    match placed {
        Placed { participant, repeats: true, .. } => {
            format!("  {participant} is asked again; the earlier call was cut off")
        }
        Placed { participant, attempt: 1, model: Some(model), .. } => {
            format!("  {participant} is asked (model {model})")
        }
        Placed { participant, attempt: 1, .. } => format!("  {participant} is asked"),
        Placed { participant, attempt, .. } => format!("  {participant} is asked again (attempt {attempt})"),
    }
}

fn answered(turn: &Turn) -> String {
    if turn.reused {
        return format!("  {} answered this before; the answer is reused", turn.participant);
    }
    // A person's turn has no token count.
    if turn.bill.usage.completion == 0 {
        return format!("  {} spoke", turn.participant);
    }
    let tokens = count(turn.bill.usage.completion, "token");
    let answered_by = turn.answered_by.as_ref().filter(|it| turn.model.as_ref() != Some(it));
    let by = answered_by.map(|it| format!(" (model {it})")).unwrap_or_default();
    let about = if turn.bill.estimated { "≈ " } else { "" };
    let cost = match turn.bill.cost {
        Some(Usd::ZERO) => String::new(),
        Some(cost) => format!(", {about}{cost}"),
        None => ", unpriced".to_owned(),
    };
    let cut = turn.finish.cut_reason().map(|reason| format!("; cut off: {reason}")).unwrap_or_default();
    let took = time(turn.duration_ms);
    format!("  {} answered in {took}{by}, {about}{tokens}{cost}{cut}", turn.participant)
}

fn stumbled(participant: &str, class: ErrorClass, message: &str, wait: u64) -> String {
    format!("  {participant} failed ({}): {message}; retrying in {}", failure(class), time(wait))
}

pub(crate) fn dropped_out(failed: &FailedTurn) -> String {
    let FailedTurn { participant, message, class, attempts, .. } = failed;
    let attempts = count(u64::from(*attempts), "attempt");
    format!("  {participant} failed for good after {attempts}: {message} ({})", advice(*class))
}

fn left(participant: &str, why: Abandoned) -> String {
    let why = match why {
        Abandoned::Enough => "the other answers were enough",
        Abandoned::Deadline => "the time limit was reached",
        Abandoned::Aborted => "the discussion was aborted",
        Abandoned::Crashed => "the process had ended",
    };
    format!("  no longer waiting for {participant}: {why}")
}

fn came_back(end: &SubConcluded) -> String {
    let how = end.problem.as_ref().map_or("has its answer".to_owned(), |it| format!("ended: {}", it.message));
    let which = end.child.map(|id| format!(" {}", short(id))).unwrap_or_default();
    format!("  the sub-discussion{which} for {} {how}", end.participant)
}

/// What a structured reply says.
fn reading_line(participant: &str, source: Source, reading: &Reading) -> Option<String> {
    match (source, &reading.told) {
        (Source::Assumed, _) => Some(format!("  {participant} {UNREAD}")),
        (Source::Stated | Source::Inferred | Source::Begun, told) => {
            told.as_ref().map(|it| format!("  {participant} {it}"))
        }
    }
}

/// Shown for a structured reply that could not be read.
pub(crate) const UNREAD: &str = "filled in a form that could not be read";

fn decided(ruled: &Ruled) -> String {
    let choice = ruled.ruling.choice.replace('-', " ");
    let candidate = ruled.ruling.candidate.as_ref().map(|it| format!(" {it}")).unwrap_or_default();
    format!("  decided about {}: {choice}{candidate}", ruled.about)
}

/// Who is asked again after an error, and how many answers are kept.
fn retrying(Retried { reseated, kept, .. }: &Retried) -> String {
    let kept = count(u64::from(*kept), "answer");
    match reseated.as_slice() {
        [] => "Retrying after an error.".to_owned(),
        [one] => format!("Retrying: {one} takes part again; {kept} kept."),
        several => format!("Retrying: {} take part again; {kept} kept.", several.join(", ")),
    }
}

fn short_of(budget: &str, needed: &dyn Display, left: &dyn Display) -> String {
    format!(
        "the {budget} budget is used up; the next step would have needed up to {needed}, and {left} was left for it"
    )
}

fn wound_up(reason: &WindUp) -> String {
    let why = match reason {
        WindUp::Stopped => "it was stopped by a person".to_owned(),
        WindUp::CallBudget { needed, left } => short_of("call", needed, left),
        WindUp::TokenBudget { needed, left } => short_of("token", needed, left),
        WindUp::CostBudget { needed, left } => short_of("cost", needed, left),
        WindUp::SpendingCap { needed, left, cap, period, renews_at } => format!(
            "the spending cap of {cap} a {} is reached; the next step would have needed up to {needed}, and {left} was \
             left for it; it renews at {}",
            period.name(),
            local_time(*renews_at)
        ),
        WindUp::Deadline => "the time is used up".to_owned(),
        WindUp::TooFew { left, needed } => {
            let are = |number: u32| if number == 1 { "is" } else { "are" };
            let left = format!("only {} {} left", count(u64::from(*left), "provider"), are(*left));
            format!("{left}, and {needed} {} needed", are(*needed))
        }
        WindUp::ProviderFailed { participant, .. } => {
            format!("{participant} failed, and it was set to stop on a failure")
        }
        WindUp::WindowFull { participant } => format!("it no longer fits {participant}'s window"),
    };
    format!("The talk ends here: {why}.")
}
