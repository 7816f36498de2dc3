//! Whole screens as text: a scripted discussion, a manual clock, several widths.

mod hostile;
mod past_card;
mod running_cost;

use std::sync::Arc;

use quorum::{
    Piece, Signal, Snapshot, built_in,
    model::{event::Fact, id::DiscussionId, state::State},
};
use serde_json::{Value, json};

use super::{
    screen::{Footer, Keys, Screen},
    scrollback::Scrollback,
};
use crate::{
    render::{
        card::{self, AlreadyShown, Naming},
        line::{Colour, Line},
    },
    terminal::Size,
};

const ID: &str = "01890000-0000-7000-8000-000000000001";

/// A scripted discussion.
struct Play {
    screen: Screen,
    /// The lines that went above the screen.
    above: Vec<Line>,
    scrollback: Scrollback,
    seq: u64,
    now: u64,
}

fn id() -> DiscussionId {
    serde_json::from_value(json!(ID)).unwrap()
}

fn seat(name: &str, role: &str) -> Value {
    let person = if role == "user" { json!({}) } else { Value::Null };
    json!({ "name": name, "provider": name, "role": role, "weight": 1.0, "person": person })
}

fn fact(seq: u64, now: u64, event: &Value) -> Fact {
    let mut fact = json!({ "seq": seq, "at": 1_767_225_600_000_000_u64, "active_ms": now });
    fact.as_object_mut().unwrap().extend(event.as_object().unwrap().clone());
    serde_json::from_value(fact).unwrap()
}

impl Play {
    fn of(pattern: &str, seats: &[(&str, &str)]) -> Play {
        let participants: Vec<Value> = seats.iter().map(|(name, role)| seat(name, role)).collect();
        let spec = json!({
            "topic": "Should we move billing to event sourcing?", "pattern": pattern, "rounds": 3, "participants": participants,
            "consensus": { "method": "synthesis", "include_dissent": true },
            "settings": { "threshold": 0.8 }, "window": { "strategy": "slide", "overflow": "truncate" },
            "manner": { "temperature": 0.7, "max_tokens": 2048 },
            "timing": { "step_ms": 60_000, "total_ms": 300_000, "reserve_ms": 10_000 },
            "tolerance": { "go_on": true, "min_providers": 2 }, "limits": { "usd": 250_000_000 },
        });
        let opened = fact(1, 0, &json!({ "type": "opened", "spec": spec, "flow": 2 }));
        let state = State::opened(id(), &opened).unwrap();
        let state = Snapshot::new(Box::new(state), built_in());
        let screen = Screen::of(&state, (Footer::Hint, Keys::Discussion), 0);
        let mut play = Play { screen, above: Vec::new(), scrollback: Scrollback::default(), seq: 1, now: 0 };
        for (from, to) in [("configuring", "validating"), ("validating", "ready"), ("ready", "initializing")]
        {
            play.happens(&json!({ "type": "lifecycle_changed", "from": from, "to": to }));
        }
        let seated: Vec<&str> = seats.iter().map(|it| it.0).collect();
        play.happens(&json!({ "type": "panel_seated", "seated": seated }));
        play.happens(&json!({ "type": "lifecycle_changed", "from": "initializing", "to": "running" }));
        play
    }

    fn at(&mut self, now: u64) -> &mut Play {
        self.now = now;
        self
    }

    fn hears(&mut self, signal: &Signal) -> &mut Play {
        self.screen.handle_signal(signal, self.now);
        self.scrollback.handle_signal(&self.screen.state, &self.screen.progress, signal, 70);
        self.above.extend(self.scrollback.take_lines());
        self
    }

    fn happens(&mut self, event: &Value) -> &mut Play {
        self.seq += 1;
        let fact = Arc::new(fact(self.seq, self.now, event));
        self.hears(&Signal::Fact { discussion: id(), fact })
    }

    fn round(&mut self, round: u32, phase: &str) -> &mut Play {
        self.happens(&json!({ "type": "round_opened", "round": round }));
        self.happens(&json!({ "type": "phase_entered", "phase": phase, "round": round }))
    }

    fn asks(&mut self, step: &str, attempt: u32) -> &mut Play {
        let name = step.split('/').nth(2).unwrap();
        let reserved = json!({ "calls": 1, "tokens": 500, "usd": 10_000_000 });
        self.happens(&json!({
            "type": "call_placed", "step": step, "attempt": attempt, "participant": name, "provider": name, "reserved": reserved, "nonce": "0", "price": { "input": 0, "output": 0 },
        }))
    }

    fn fails(&mut self, step: &str, attempt: u32, wait: u64) -> &mut Play {
        let name = step.split('/').nth(2).unwrap();
        self.happens(&json!({
            "type": "call_failed", "step": step, "attempt": attempt, "participant": name, "class": "rate_limit", "message": "busy", "retry_in_ms": wait,
        }))
    }

    fn streams(&mut self, step: &str, attempt: u32, text: &str) -> &mut Play {
        let participant = step.split('/').nth(2).unwrap().to_owned();
        let (discussion, step, text) = (id(), step.into(), text.to_owned());
        self.hears(&Signal::Piece(Arc::new(Piece {
            discussion,
            step,
            attempt,
            participant,
            round: 1,
            offset: 0,
            hidden: 40 * usize::from(text.is_empty()),
            text,
        })))
    }

    fn says(&mut self, step: &str, text: &str) -> &mut Play {
        self.writes(step, text, None)
    }

    /// Replies with a form.
    fn fills(&mut self, step: &str, form: &str, text: &str) -> &mut Play {
        self.writes(step, text, Some(form))
    }

    fn writes(&mut self, step: &str, text: &str, form: Option<&str>) -> &mut Play {
        let parts: Vec<&str> = step.split('/').collect();
        let bill = json!({ "usage": { "prompt": 1_000, "completion": 200 }, "cost": 13_000_000 });
        let turn = json!({
            "step": step, "participant": parts[2], "round": parts[0].parse::<u32>().unwrap(), "phase": parts[1], "form": form, "text": text,
            "started_at": 1_767_225_600_000_000_u64, "duration_ms": 12_300, "finish": "stop", "bill": bill,
        });
        self.happens(&json!({ "type": "turn_completed", "step": step, "turn": turn }))
    }

    fn reads(&mut self, step: &str, round: u32, reading: &Value) -> &mut Play {
        let name = step.split('/').nth(2).unwrap();
        let step = format!("{step}/read");
        self.happens(&json!({
            "type": "reply_read", "step": step, "participant": name, "round": round, "source": "stated", "reading": reading,
        }))
    }

    fn drops(&mut self, step: &str, message: &str) -> &mut Play {
        let parts: Vec<&str> = step.split('/').collect();
        self.happens(&json!({
            "type": "turn_failed", "step": step, "participant": parts[2], "round": 1, "phase": parts[1], "class": "network",
            "message": message, "attempts": 4, "duration_ms": 9_000,
        }))
    }

    fn screen(&self, columns: usize, rows: usize) -> String {
        text(&self.screen.lines(Size { columns, rows }, self.now))
    }

    /// Checks the lines that went above the screen.
    #[track_caller]
    fn told(&self, expected: &str) {
        assert_eq!(text(&self.above).trim_end(), expected.trim());
    }

    #[track_caller]
    fn shows(&self, columns: usize, rows: usize, expected: &str) {
        let lines = self.screen.lines(Size { columns, rows }, self.now);
        assert_eq!(text(&lines), expected.trim_matches('\n'));
        assert!(lines.len() < rows && lines.iter().all(|line| line.width() <= columns), "{lines:#?}");
    }
}

fn text(lines: &[Line]) -> String {
    let lines = lines.iter().map(|line| line.rendered(Colour::Off).trim_end().to_owned());
    lines.collect::<Vec<_>>().join("\n")
}

/// A ballot as it is recorded.
fn vote(choice: &str, reason: &str) -> Value {
    json!({
        "kind": "ballot", "value": { "choice": choice, "confidence": 0.8, "reasoning": reason },
        "told": format!("voted for {choice} (confidence 0.80)"), "reason_at": "/reasoning",
        "stance": { "position": choice, "confidence": 0.8, "chooses": true },
    })
}

/// Six voices, each in a different state.
fn six() -> Play {
    let seats = [
        ("claude", "proponent"),
        ("gemini", "opponent"),
        ("qwen", "judge"),
        ("glm", "neutral"),
        ("grok", "neutral"),
        ("me", "user"),
    ];
    let mut play = Play::of("debate", &seats);
    play.round(1, "awaiting-responses").asks("1/awaiting-responses/claude", 1);
    play.at(12_300).says("1/awaiting-responses/claude", "A ledger table answers that.");
    play.round(2, "awaiting-responses").at(20_000);
    for name in ["claude", "gemini", "qwen", "glm", "grok"] {
        play.asks(&format!("2/awaiting-responses/{name}"), 1);
    }
    play.at(22_000).streams(
        "2/awaiting-responses/claude",
        1,
        &"A ledger table answers only if nobody updates it. ".repeat(8),
    );
    play.at(30_000).says("2/awaiting-responses/gemini", "Nobody has priced the replay tooling.");
    play.fails("2/awaiting-responses/glm", 1, 500).at(31_000).asks("2/awaiting-responses/glm", 2);
    play.at(31_500).fails("2/awaiting-responses/glm", 2, 4_000);
    play.drops("2/awaiting-responses/grok", "the connection broke off");
    let prompt = "It is your turn.";
    play.happens(&json!({
        "type": "person_awaited", "step": "2/awaiting-responses/me/awaited", "participant": "me", "answers": "2/awaiting-responses/me", "round": 2,
        "phase": "awaiting-responses", "prompt": prompt,
    }));
    play.at(32_000);
    play
}

#[test]
fn six_voices_on_160_columns() {
    six().shows(
        160,
        30,
        "
────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
 Should we move billing to event sourcing?                                                 debate · round 2/3 · awaiting responses · 0:32/5:00 · $0.026/$0.250
 ● claude proponent  10 tok/s    300 tok $0.013  …dates it. A ledger table answers only if nobody updates it. A ledger table answers only if nobody updates it.▌
 ✔ gemini opponent               200 tok $0.013  done in 12.3 s
 ◐ qwen   judge     thinking 12 s                first token pending
 ✖ glm    neutral   rate limit, retry 2/5 in 4 s
 ✖ grok   neutral   the connection broke off
 ▸ me     person    it is this person's turn
 ? keys",
    );
}

#[test]
fn six_voices_on_100_columns() {
    six().shows(
        100,
        30,
        "
────────────────────────────────────────────────────────────────────────────────────────────────────
 Should we move billing to event sourcing?          debate · round 2/3 · 0:32/5:00 · $0.026/$0.250
 ● claude proponent  10 tok/s    300 tok $0.013  …A ledger table answers only if nobody updates it.▌
 ✔ gemini opponent               200 tok $0.013  done in 12.3 s
 ◐ qwen   judge     thinking 12 s                first token pending
 ✖ glm    neutral   rate limit, retry 2/5 in 4 s
 ✖ grok   neutral   the connection broke off
 ▸ me     person    it is this person's turn
 ? keys",
    );
}

#[test]
fn six_voices_on_60_columns() {
    six().shows(
        60,
        30,
        "
────────────────────────────────────────────────────────────
 Should we move billing to event sourcing?
 debate · round 2/3 · 0:32/5:00 · $0.026/$0.250
 ● claude proponent   300 tok …s only if nobody updates it.▌
 ✔ gemini opponent    200 tok done in 12.3 s
 ◐ qwen   judge     thinking 12 s  first token pending
 ✖ glm    neutral   rate limit, retry 2/5 in 4 s
 ✖ grok   neutral   the connection broke off
 ▸ me     person    it is this person's turn
 ? keys",
    );
}

#[test]
fn frames_fit_every_terminal_size() {
    let mut play = six();
    for footer in [Footer::Hint, Footer::Help, Footer::Notice("Pausing".to_owned()), Footer::Absent] {
        for focus in [None, Some(0), Some(8)] {
            (play.screen.footer, play.screen.focus) = (footer.clone(), focus);
            for (columns, rows) in (0..70).flat_map(|columns| [0, 1, 5, 40].map(|rows| (columns, rows))) {
                let lines = play.screen.lines(Size { columns, rows }, play.now);
                assert!(lines.len() < rows.max(2), "{columns}x{rows}: {lines:#?}");
                assert!(lines.iter().all(|line| line.width() <= columns), "{columns}x{rows}: {lines:#?}");
            }
        }
    }
}

#[test]
fn agreement_and_its_history_are_shown_if_positions_are_taken() {
    let mut play = Play::of("voting", &[("ann", "speaker"), ("bob", "speaker"), ("cyd", "speaker")]);
    for (round, choices) in [(1, ["a", "b", "c"]), (2, ["a", "a", "b"])] {
        play.round(round, "voting").at(u64::from(round) * 9_000);
        for (name, choice) in ["ann", "bob", "cyd"].into_iter().zip(choices) {
            let step = format!("{round}/voting/{name}");
            play.fills(&step, "ballot", "{\"choice\": \"a\"}").reads(
                &step,
                round,
                &vote(choice, "it is plain"),
            );
        }
    }
    play.shows(
        80,
        20,
        "
────────────────────────────────────────────────────────────────────────────────
 Should we move billing to event sourcing?
 voting · round 2/3 · voting · 0:18/5:00 · $0.078/$0.250
 ✔ ann              400 tok $0.026  done in 12.3 s
 ✔ bob              400 tok $0.026  done in 12.3 s
 ✔ cyd              400 tok $0.026  done in 12.3 s
 agreement ▕████████████████   ┊    ▏ 0.67 (need 0.80)  R1 0.33 → R2 0.67
 ? keys",
    );
}

#[test]
fn the_judge_is_shown_round_by_round() {
    let mut play = Play::of("debate", &[("ann", "proponent"), ("bob", "opponent"), ("cyd", "judge")]);
    let rated = |name: &str, score: f64| {
        let criteria = json!({ "logic": 8.0, "evidence": 6.0, "engagement": 7.0, "novelty": 4.0, "clarity": 9.0, "relevance": 10.0 });
        json!({ "participant": name, "strengths": [], "weaknesses": [], "score": score, "criteria": criteria })
    };
    for round in 1..=3 {
        play.round(round, "judging");
        let flags = json!({ "repetitive": false, "drifting": false, "diminishingReturns": false, "convergenceReached": false });
        let step = format!("{round}/judging/cyd");
        let marks = json!({
            "shouldContinue": true, "qualityScore": 7.5, "flags": flags, "reasoning": "", "recommendations": "",
            "assessments": [rated("ann", 7.0 + f64::from(round)), rated("bob", 8.5)],
        });
        let told = format!("judged: ann {:.1} · bob 8.5 · as a whole 7.5", 7.0 + f64::from(round));
        let reading = json!({ "kind": "assessment", "value": marks, "told": told });
        play.fills(&step, "assessment", "```json\n{}\n```").reads(&step, round, &reading);
    }
    play.shows(
        80,
        20,
        "
────────────────────────────────────────────────────────────────────────────────
 Should we move billing to event sourcing?
 debate · round 3/3 · judging · 0:00/5:00 · $0.039/$0.250
 ○ ann proponent
 ○ bob opponent
 ✔ cyd judge                  600 tok $0.039  done in 12.3 s
 judging R2  ann 9.0 · bob 8.5 · as a whole 7.5
 judging R3  ann 10.0 · bob 8.5 · as a whole 7.5
 ? keys",
    );
    play.told(
        "
── round 1 ───────────────────────────────────────────────────────────

● cyd judged: ann 8.0 · bob 8.5 · as a whole 7.5

── round 2 ───────────────────────────────────────────────────────────

● cyd judged: ann 9.0 · bob 8.5 · as a whole 7.5

── round 3 ───────────────────────────────────────────────────────────

● cyd judged: ann 10.0 · bob 8.5 · as a whole 7.5
",
    );
}

#[test]
fn a_followed_participant_is_shown_in_full() {
    let mut play = Play::of("round-robin", &[("ann", "speaker"), ("bob", "speaker")]);
    play.round(1, "speaking").asks("1/speaking/ann", 1).at(2_000);
    play.streams("1/speaking/ann", 1, "# Ledger\n\n- **one**\n- two `three`\n\nAnd so");
    play.at(3_000).streams("1/speaking/ann", 1, " it goes.");
    (play.screen.focus, play.screen.footer) = (Some(0), Footer::Help);
    play.shows(
        100,
        20,
        "
────────────────────────────────────────────────────────────────────────────────────────────────────
 Should we move billing to event sourcing?     round-robin · round 1/3 · 0:03/5:00 · $0.000/$0.250
1● ann  13 tok/s     13 tok         # Ledger - **one** - two `three` And so it goes.▌
2○ bob
 ann ──────────────────────────────────────────────────────────────────────────────────────────────
  Ledger

  • one
  • two three

  And so it goes.
 p pause · s stop and conclude · 1-2 follow one · Tab all · q leave · Ctrl-C stop, abort · ? hide",
    );
    play.shows(
        60,
        9,
        "
────────────────────────────────────────────────────────────
 Should we move billing to event sourcing?
 round-robin · round 1/3 · 0:03/5:00 · $0.000/$0.250
1● ann  13 tok/s     13 tok         …three` And so it goes.▌
2○ bob
 ann ──────────────────────────────────────────────────────
 p pause · s stop and conclude · 1-2 follow one · Tab all
 q leave · Ctrl-C stop, abort · ? hide",
    );
}

#[test]
fn finished_turns_scroll_away_as_markdown() {
    let mut play = Play::of("round-robin", &[("ann", "speaker"), ("bob", "speaker")]);
    play.round(1, "speaking").says(
        "1/speaking/ann",
        "## Yes\n\n1. It is *cheap*.\n2. It is `known` to work, and people who have lived with it say so.",
    );
    play.drops("1/speaking/bob", "the connection broke off");
    play.told(
        "
── round 1 ───────────────────────────────────────────────────────────

● ann  12.3 s · 200 tokens · $0.013
  Yes

  1. It is cheap.
  2. It is known to work, and people who have lived with it say so.

✖ bob failed for good after 4 attempts: the connection broke off
  (check the connection)
",
    );
}

#[test]
fn structured_replies_are_shown_once_they_are_read() {
    let mut play = Play::of("dialogue", &[("ann", "speaker"), ("bob", "speaker")]);
    let vote = |agrees: bool, told: &str| {
        json!({
            "kind": "consensus_vote", "told": told, "reason_at": "/reasoning",
            "value": { "agrees": agrees, "confidence": 80, "reasoning": "we agree", "solution": "tabs" },
            "stance": { "position": told, "confidence": 0.8, "joins": agrees },
        })
    };
    play.round(1, "consensus-check-a").asks("1/consensus-check-a/ann", 1);
    play.streams("1/consensus-check-a/ann", 1, "");
    assert!(play.screen(80, 20).contains("● ann"), "{}", play.screen(80, 20));
    assert!(play.screen(80, 20).contains("fills in a form▌"), "{}", play.screen(80, 20));
    play.fills("1/consensus-check-a/ann", "consensus_vote", "[CONSENSUS_CHECK]\nHAS_CONSENSUS: YES").reads(
        "1/consensus-check-a/ann",
        1,
        &vote(true, "finds consensus"),
    );
    play.fills("1/consensus-check-b/bob", "consensus_vote", "I would say no").reads(
        "1/consensus-check-b/bob",
        1,
        &vote(false, "finds no consensus yet"),
    );
    let told = "there is no consensus yet";
    play.happens(
        &json!({ "type": "noted", "kind": "consensus-check", "round": 1, "value": {}, "told": told }),
    );
    play.screen.focus = Some(0);
    assert!(play.screen(80, 20).contains("\n  finds consensus\n"), "{}", play.screen(80, 20));
    play.round(2, "model-a-turn");
    play.told(
        "
── round 1 ───────────────────────────────────────────────────────────

● ann finds consensus: we agree

● bob finds no consensus yet: we agree

  there is no consensus yet

── round 2 ───────────────────────────────────────────────────────────",
    );
}

/// A vote in two rounds that is over.
fn voted() -> Snapshot {
    let mut play = Play::of("voting", &[("ann", "speaker"), ("bob", "speaker")]);
    for (round, choices) in [(1, ["tabs", "spaces"]), (2, ["tabs", "tabs"])] {
        play.round(round, "voting");
        for (name, choice) in ["ann", "bob"].into_iter().zip(choices) {
            let step = format!("{round}/voting/{name}");
            let vote = vote(choice, "they adapt to whoever reads them, and that is what counts");
            play.asks(&step, 1).fills(&step, "ballot", "{}").reads(&step, round, &vote);
        }
    }
    play.at(65_000).happens(&json!({ "type": "decided", "decision": {
        "synthesis": "Tabs.", "agreement": 1.0, "dissent": [{ "participant": "bob", "position": "spaces look alike everywhere" }],
        "found": { "tally": { "winner": "tabs", "votes": { "tabs": 2, "spaces": 0 }, "weighted": { "tabs": 1.6, "spaces": 0.0 }, "ballots": [] } },
    } }));
    play.happens(
        &json!({ "type": "concluded", "success": true, "stopping": "completed", "degraded": false }),
    );
    play.happens(&json!({ "type": "lifecycle_changed", "from": "completing", "to": "completed" }));
    Snapshot::new(Box::new(play.screen.state.clone()), built_in())
}

#[test]
fn the_card_has_the_decision_and_the_cost() {
    let state = voted();
    #[track_caller]
    fn check(state: &Snapshot, told: AlreadyShown, columns: usize, expected: &str) {
        let card = card::lines(state, told, Naming::Last, columns);
        assert_eq!(text(&card).trim(), expected.trim());
    }
    check(
        &state,
        AlreadyShown::Nothing,
        80,
        "
────────────────────────────────────────────────────────────────────────────────
 Done in 1 min 5 s: ann, bob; 4 calls, 4,800 tokens, $0.0520.
 first vote spaces 1 (0.80)
            tabs 1 (0.80)
            a tie between spaces and tabs
 votes      tabs 2 (1.60) leads
            spaces 0 (0.00)
 dissent    bob: spaces look alike everywhere
 agreement  R1 0.50 → R2 1.00 (need 0.80)
 flips      R2 bob spaces → tabs: they adapt to whoever reads them, and that is
            what counts

             calls tokens read   written       cost
 ann             2       2,000       400    $0.0260
 bob             2       2,000       400    $0.0260

 next       ax follow \"And what then?\" asks the same panel
 again      ax replay last · ax show last -v · ax export last -o discussion.html
 id         01890000-0000-7000-8000-000000000001",
    );
    check(
        &state,
        AlreadyShown::Answer,
        40,
        "
────────────────────────────────────────
 Done in 1 min 5 s: ann, bob; 4 calls,
 4,800 tokens, $0.0520.
 agreement  R1 0.50 → R2 1.00 (need
            0.80)
 flips      R2 bob spaces → tabs: they
            adapt to whoever reads them,
            and that is what counts

             calls tokens read   writte…
 ann             2       2,000       40…
 bob             2       2,000       40…

 next       ax follow \"And what then?\"
            asks the same panel
 again      ax replay last · ax show
            last -v · ax export last -o
            discussion.html
 id         01890000-0000-7000-8000-0000
            00000001",
    );
    check(
        &state,
        AlreadyShown::Everything,
        80,
        "
────────────────────────────────────────────────────────────────────────────────
 Done in 1 min 5 s: ann, bob; 4 calls, 4,800 tokens, $0.0520.

             calls tokens read   written       cost
 ann             2       2,000       400    $0.0260
 bob             2       2,000       400    $0.0260

 next       ax follow \"And what then?\" asks the same panel
 again      ax replay last · ax show last -v · ax export last -o discussion.html
 id         01890000-0000-7000-8000-000000000001",
    );
}

#[test]
fn a_retry_starts_over_and_late_pieces_are_not_shown() {
    let mut play = Play::of("round-robin", &[("ann", "speaker"), ("bob", "speaker")]);
    play.round(1, "speaking").asks("1/speaking/ann", 1).streams("1/speaking/ann", 1, "first try");
    assert!(play.screen(80, 20).contains("first try"));
    play.fails("1/speaking/ann", 1, 0).asks("1/speaking/ann", 2).streams("1/speaking/ann", 1, "too late");
    assert!(!play.screen(80, 20).contains("first try") && !play.screen(80, 20).contains("too late"));
    play.streams("1/speaking/ann", 2, "second try");
    assert!(play.screen(80, 20).contains("second try"));
}
