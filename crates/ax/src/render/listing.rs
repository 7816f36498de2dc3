//! Lists past discussions, one per line: in full for programs, and fitted to the terminal for
//! people.

use quorum::{
    listing::{Entry, Tone},
    text::{line, local_of_iso},
};

use crate::render::line::{BAD, DIM, GOOD, Line, PLAIN, WORRY, width};

/// The most characters of a topic that a list shows when the width is unknown.
const TOPIC: usize = 70;
/// Ids begin with their creation time in milliseconds, which is usually enough to identify one.
pub(crate) const SHORT_ID: usize = 13;
const WHEN: usize = 16;
const PATTERN: usize = 11;
const STATE: usize = 12;
/// The most characters of a state: `waiting for NAME`.
const WIDEST_STATE: usize = 24;
/// The shortest useful topic; other columns are dropped to make room for it.
const SHORTEST_TOPIC: usize = 20;

/// A row for programs.
pub(crate) fn row(entry: &Entry) -> String {
    let (state, _) = entry.state();
    let (when, topic, mark) = (when(entry), line(name(entry), TOPIC), mark(entry));
    format!("{}  {when}  {:<11}  {state:<12}  {mark}{topic}", entry.discussion_id, entry.pattern)
}

/// A table for people.
pub(crate) fn table(entries: &[Entry], columns: usize) -> Vec<Line> {
    let widest = entries.iter().map(|it| width(&state(it).0)).max().unwrap_or_default();
    let parts = |cells: [Line; 5]| in_columns(cells, columns, widest.clamp(STATE, WIDEST_STATE));
    let head = ["id", "started", "pattern", "state", "topic"].map(|it| Line::of(it, DIM));
    let rows = entries.iter().map(|entry| {
        let (state, style) = state(entry);
        let id = Line::of(&id(entry, entries), PLAIN);
        let rest = [when(entry), entry.pattern.clone()].map(|it| Line::of(&it, DIM));
        let [when, pattern] = rest;
        let topic = Line::of(mark(entry), WORRY).and(name(entry), PLAIN);
        parts([id, when, pattern, Line::of(&state, style), topic])
    });
    [parts(head)].into_iter().chain(rows).collect()
}

/// All columns, or those that leave room for the topic.
fn in_columns([id, when, pattern, state, topic]: [Line; 5], columns: usize, widest: usize) -> Line {
    let long = |widest| {
        let [id, when, pattern, state] = [&id, &when, &pattern, &state].map(Line::clone);
        vec![(id, SHORT_ID), (when, WHEN), (pattern, PATTERN), (state, widest)]
    };
    let ways =
        [long(widest), long(STATE), vec![(id.clone(), SHORT_ID), (state, STATE)], vec![(id, SHORT_ID)]];
    let takes = |way: &[(Line, usize)]| way.iter().map(|(_, width)| width + 2).sum::<usize>();
    let [.., barest] = &ways;
    let way = ways.iter().find(|way| takes(way) + SHORTEST_TOPIC <= columns).unwrap_or(barest);
    let cells = way.iter().fold(Line::default(), |all, (cell, width)| {
        all.then(cell.clone().cut(*width).padded(*width)).and("  ", PLAIN)
    });
    cells.then(topic).cut(columns)
}

/// The shortest prefix of an id that tells it apart from the others.
fn id(entry: &Entry, among: &[Entry]) -> String {
    let id = |it: &Entry| it.discussion_id.to_string();
    let short = id(entry).chars().take(SHORT_ID).collect::<String>();
    let alike = among.iter().filter(|it| id(it).starts_with(&short)).count();
    if alike == 1 { short } else { id(entry) }
}

/// The name that a person gave it, or its topic.
fn name(entry: &Entry) -> &str {
    entry.title.as_deref().unwrap_or(&entry.topic)
}

/// The mark before the topic, which is shown even on a narrow terminal.
fn mark(entry: &Entry) -> &'static str {
    if entry.simulated { "[simulated] " } else { "" }
}

fn when(entry: &Entry) -> String {
    local_of_iso(&entry.started_at)
}

/// The state, in a word or two.
fn state(entry: &Entry) -> (String, anstyle::Style) {
    let (words, tone) = entry.state();
    let style = match tone {
        Tone::Good => GOOD,
        Tone::Neutral => PLAIN,
        Tone::Attention => WORRY,
        Tone::Bad => BAD,
    };
    (words, style)
}

#[cfg(test)]
mod tests {
    use quorum::{
        model::{
            digest::{AwaitedTurn, Digest},
            id::DiscussionId,
            lifecycle::Lifecycle,
            outcome::{ResultKind, Standing, StandingReport},
            time::Timestamp,
        },
        seams::{RunStatus, Summary},
    };

    use super::*;

    fn entry(kind: ResultKind, degraded: bool) -> Entry {
        let result = Some(StandingReport { standing: Standing::plain(kind), degraded, simulated: false });
        Entry::from(Summary {
            id: DiscussionId::fresh(),
            topic: "Tabs or spaces?".to_owned(),
            title: None,
            pattern: "synthesis".to_owned(),
            status: Lifecycle::Completed,
            opened_at: Timestamp(0),
            ended_at: Some(Timestamp(1)),
            success: Some(true),
            synthesis: None,
            simulated: false,
            session: None,
            run: RunStatus::Over,
            digest: Some(Digest { result, ..Digest::opened() }),
        })
    }

    #[test]
    fn a_degraded_discussion_is_listed_as_degraded() {
        let check = |kind, degraded, expected: (&str, anstyle::Style)| {
            let entry = entry(kind, degraded);
            assert_eq!(state(&entry), (expected.0.to_owned(), expected.1));
            assert!(row(&entry).contains(&format!("  {:<12}  Tabs", expected.0)), "{}", row(&entry));
        };
        check(ResultKind::Answered, false, ("completed", GOOD));
        check(ResultKind::Adopted, false, ("completed", GOOD));
        check(ResultKind::Answered, true, ("degraded", WORRY));
        check(ResultKind::Tie, true, ("tie", WORRY));
        check(ResultKind::NotAdopted, false, ("not adopted", WORRY));
        check(ResultKind::NoConsensus, false, ("no consensus", WORRY));
    }

    #[test]
    fn a_discussion_that_waits_for_a_person_is_listed_as_waiting() {
        let check = |run: RunStatus, names: &[&str], expected: &str| {
            let status = if expected == "queued" { Lifecycle::Ready } else { Lifecycle::Running };
            let turn = |name: &&str| AwaitedTurn {
                participant: (*name).to_owned(),
                round: 1,
                phase: "speaking".to_owned(),
            };
            let digest = Digest { awaiting: names.iter().map(turn).collect(), ..Digest::opened() };
            let entry = Entry {
                status,
                success: None,
                run: run.name(),
                digest: Some(digest),
                outcome: None,
                ..entry(ResultKind::Answered, false)
            };
            assert_eq!(state(&entry).0, expected);
            assert!(row(&entry).contains(&format!("  {expected} ")), "{}", row(&entry));
            let table = table(&[entry], 100)[1].rendered(crate::render::line::Colour::Off);
            assert!(table.contains(&format!("  {expected} ")), "{table}");
        };
        check(RunStatus::Waiting, &["me"], "waiting for me");
        check(RunStatus::Waiting, &["ann", "bob"], "waiting for ann and bob");
        check(RunStatus::Queued, &[], "queued");
        check(RunStatus::Queued, &[], "interrupted");
        check(RunStatus::Stuck, &[], "stuck");
        check(RunStatus::Running, &[], "running");
    }
}
