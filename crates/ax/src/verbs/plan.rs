//! `ax discuss --dry-run` and `ax fork --dry-run`: the plan of a discussion, on standard output.

use quorum::{
    CapFit, Figures, Plan, PlannedAgent, PlannedPhase, PlannedSeat,
    model::outcome::AbilitiesReport,
    text::{count, grouped, line, reason, time},
};

use crate::{
    args::{Output, Shape},
    exit::Exit,
    render::{note, print, print_json, print_json_line, role_name, usage::columns},
    verbs::doctor::cap,
};

/// The most characters of the topic that are shown.
const TOPIC: usize = 80;

/// How much of the cost is shown as text. JSON has all of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Forecast {
    /// What it typically costs.
    Typical,
    /// Also the most it can cost.
    WorstCase,
}

impl Forecast {
    pub(crate) fn worst_if(asked: bool) -> Forecast {
        if asked { Forecast::WorstCase } else { Forecast::Typical }
    }
}

/// Shows the plan of a request or a fork.
pub(crate) fn show(plan: &Plan, output: Output, forecast: Forecast) -> anyhow::Result<Exit> {
    match output.shape() {
        Shape::Json => print_json(plan)?,
        Shape::Jsonl => print_json_line(plan)?,
        Shape::Text | Shape::Md => print(&text(plan, forecast))?,
    }
    note("No model was asked, and nothing was recorded.");
    Ok(Exit::Done)
}

fn text(plan: &Plan, forecast: Forecast) -> String {
    let who: Vec<String> = plan.participants.iter().map(seat).collect();
    let simulated = if plan.simulated { ", simulated" } else { "" };
    let head = format!("{}, decided by {}{simulated}: {}", plan.pattern, plan.consensus, who.join(", "));
    let mut parts = vec![line(&plan.topic, TOPIC), head];
    parts.extend(agents(plan));
    parts.extend(course(plan));
    parts.push(figures(plan, forecast));
    parts.push(remarks(plan, forecast).join("\n"));
    parts.join("\n\n")
}

fn seat(seat: &PlannedSeat) -> String {
    match seat.role.as_str() {
        "speaker" => seat.participant.clone(),
        role => format!("{} ({})", seat.participant, role_name(role)),
    }
}

/// The provider that each agent would speak through, with its weight and abilities.
fn agents(plan: &Plan) -> Option<String> {
    let agents =
        plan.participants.iter().filter_map(|it| Some((it.participant.as_str(), it.agent.as_ref()?)));
    let lines: Vec<String> = agents.map(|(name, agent)| agent_line(name, agent)).collect();
    (!lines.is_empty()).then(|| format!("Agents\n{}", lines.join("\n")))
}

fn agent_line(name: &str, agent: &PlannedAgent) -> String {
    let why = agent.reason.as_ref().map(|it| format!(" ({})", reason(it))).unwrap_or_default();
    let through = agent.speaks_through.as_ref().map(|it| format!("through {it}{why}"));
    let through = through.unwrap_or_else(|| "none of its providers is available".to_owned());
    let AbilitiesReport { shown, missing, left_out, .. } = &agent.abilities;
    let shown: Vec<&str> = shown.iter().map(|it| it.id.as_str()).collect();
    let shown = (!shown.is_empty()).then(|| format!("; abilities: {}", shown.join(", ")));
    let missing = (!missing.is_empty()).then(|| format!("; not found: {}", missing.join(", ")));
    let left_out = left_out.iter().map(|it| format!("; left out: {}, because {}", it.id, it.why));
    let notes: String = shown.into_iter().chain(missing).chain(left_out).collect();
    format!("  {name:<20} {through}, weight {}{notes}", agent.weight)
}

/// The rounds in order, with consecutive equal ones merged.
fn course(plan: &Plan) -> Vec<String> {
    let mut rounds: Vec<(u32, u32, String)> = Vec::new();
    let mut parts = Vec::new();
    for of_round in plan.course.chunk_by(|one, other| one.round == other.round) {
        let label = |it: &PlannedPhase| match it.round {
            Some(_) => it.phase.replace('-', " "),
            None => plan.consensus.clone(),
        };
        let lines: Vec<String> = of_round.iter().map(|it| asked(&label(it), it)).collect();
        let lines = lines.join("\n");
        match (of_round[0].round, rounds.last_mut()) {
            (None, _) => parts.push(format!("Deciding\n{lines}")),
            (Some(round), Some((_, last, same))) if *same == lines => *last = round,
            (Some(round), _) => rounds.push((round, round, lines)),
        }
    }
    let heading = |(first, last, lines): (u32, u32, String)| match (first, last) {
        (0, _) => format!("Before the first round\n{lines}"),
        (first, last) if first == last => format!("Round {first}\n{lines}"),
        (first, last) => format!("Rounds {first} to {last}\n{lines}"),
    };
    rounds.into_iter().map(heading).chain(parts).collect()
}

fn asked(label: &str, phase: &PlannedPhase) -> String {
    let group = |names: &Vec<String>| match names.as_slice() {
        [one] => one.clone(),
        several => format!("{} at once", several.join(", ")),
    };
    let mut groups: Vec<String> = Vec::new();
    for (at, names) in phase.asked.iter().enumerate() {
        let again = 0 < at && phase.asked[at - 1] == *names;
        let purpose = phase.purposes.get(at).filter(|_| again).and_then(|it| task(it));
        groups.push(purpose.map_or_else(|| group(names), str::to_owned));
    }
    format!("  {label:<20} {}", groups.join(", then "))
}

/// What a participant is asked for that was asked just before, by the purpose of the step.
fn task(purpose: &str) -> Option<&'static str> {
    match purpose {
        "verdict" => Some("the verdict"),
        "swapped" => Some("again in the other order"),
        "verdict/swapped" => Some("the verdict in the other order"),
        _ => None,
    }
}

fn figures(plan: &Plan, forecast: Forecast) -> String {
    let row = |name: &str, it: &Figures| {
        [name.to_owned(), grouped(u64::from(it.calls)), grouped(it.tokens), cost(plan, it)]
    };
    let head = ["", "calls", "tokens", "cost"].map(str::to_owned);
    let mut rows = vec![head, row("typically", &plan.typical)];
    if forecast == Forecast::WorstCase {
        rows.extend([row("longest answers", &plan.usual), row("at most", &plan.most)]);
    }
    columns(&rows)
}

/// Where the typical figures are from.
fn basis(plan: &Plan) -> String {
    match plan.typical_from {
        0 => "No discussion of these models is recorded yet, so usual lengths of answers are assumed."
            .to_owned(),
        past => format!("Typical answers are as long as in {}.", count(past.into(), "past discussion")),
    }
}

fn cost(plan: &Plan, figures: &Figures) -> String {
    let models = plan.participants.iter().filter(|it| !it.person).count();
    if plan.simulated {
        "nothing".to_owned()
    } else if plan.unpriced.len() == models {
        "unpriced".to_owned()
    } else {
        format!("${:.4}", figures.cost_usd)
    }
}

fn remarks(plan: &Plan, forecast: Forecast) -> Vec<String> {
    let mut remarks = vec![basis(plan)];
    if let Some(kept) = plan.kept {
        let (kept, again) =
            (count(u64::from(kept), "answer"), count(u64::from(plan.usual.calls), "question"));
        remarks.push(format!(
            "{kept} of the original kept, {again} asked again at most; an answer to the same question is reused."
        ));
    }
    if !plan.unpriced.is_empty() {
        remarks.push(format!("The price of {} is unknown; it is not in the sums.", plan.unpriced.join(", ")));
    }
    if !plan.unavailable.is_empty() {
        remarks.push(format!("No provider is available for {}.", plan.unavailable.join(", ")));
    }
    let recalled = plan.recalled.iter().flatten();
    let tokens: u64 = recalled.clone().map(|it| it.tokens).sum();
    let numbers: Vec<&str> = recalled.map(|it| it.number.as_str()).collect();
    if !numbers.is_empty() {
        remarks.push(format!(
            "Everyone is shown earlier discussions ({}): {} of each system text, which are in the figures.",
            numbers.join(", "),
            count(tokens, "token")
        ));
    }
    if plan.sub_discussions && forecast == Forecast::WorstCase {
        remarks.push("Sub-discussions are included in the maximum only.".to_owned());
    }
    let people = plan.participants.iter().filter(|it| it.person).count() as u64;
    if people > 0 {
        remarks
            .push(format!("It waits for {} to speak.", count(people, "person").replace("persons", "people")));
    }
    remarks.extend(caps(plan));
    remarks.push(format!("It ends after {} at the latest.", time(plan.budget_ms)));
    remarks.push(match forecast {
        Forecast::Typical => "--worst-case shows the most it can cost; --max-cost limits it.".to_owned(),
        Forecast::WorstCase => WORST_CASE.to_owned(),
    });
    remarks
}

/// What the maximum assumes.
const WORST_CASE: &str = "\
    The maximum assumes that every reply is misread and every call is retried as often as allowed; \
    --max-calls, --max-tokens and --max-cost lower it.";

/// What is left of the spending caps, and whether that is enough.
fn caps(plan: &Plan) -> Option<String> {
    let fit = match plan.cap_fit? {
        CapFit::Fits => "The maximum fits the spending cap",
        CapFit::MayNotFit => "The spending cap may be reached, and end it early",
        CapFit::DoesNotFit => "It does not fit the spending cap, which will end it early or refuse it",
    };
    let caps: Vec<String> = plan.caps.iter().map(cap).collect();
    Some(format!("{fit}: {}.", caps.join("; ")))
}
