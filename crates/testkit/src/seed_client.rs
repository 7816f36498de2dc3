//! Requirement A's own web client, as far as it reads events: it folds a dialogue's stream into its
//! state. Written from the description of that client, without any of our types. Panics if a field
//! that the client reads is missing or null.

use serde_json::{Map, Value, json};

/// The state of the client after these events, each with its name and payload.
#[must_use]
pub fn fold<'e>(events: impl IntoIterator<Item = (&'e str, &'e Value)>) -> Value {
    let mut client = Client::default();
    for (name, payload) in events {
        assert!(!client.is_over, "{name} comes after the end");
        no_nulls(name, payload);
        client.take(name, payload);
    }
    assert!(client.is_over && client.open.is_none(), "the stream ended in the middle");
    Value::Object(client.state)
}

const OPTIONS: &str = "maxIterations temperature maxTokensPerTurn turnTimeoutMs totalTimeoutMs requireBothConsensus \
                       minRoundsBeforeConsensus";
const TURN: &str = "id role roundNumber content timestamp durationMs tokenUsage finishReason";
const VOTE: &str = "role hasConsensus confidence reasoning proposedSolution? timestamp";

#[derive(Default)]
struct Client {
    state: Map<String, Value>,
    /// The role and the text so far of the turn under way.
    open: Option<(Value, String)>,
    rounds: Vec<Value>,
    checks: Vec<Value>,
    is_over: bool,
}

impl Client {
    fn take(&mut self, name: &str, payload: &Value) {
        // Events of other kinds are ignored, with everything in them.
        match name {
            "discussion-started" => self.start(payload),
            "round-started" => self.set("currentRound", read(payload, "roundNumber").clone()),
            "turn-started" => self.start_turn(payload),
            "turn-chunk" => self.grow(payload),
            "turn-completed" => self.complete_turn(read(payload, "turn")),
            "consensus-check-started" => {
                assert_eq!(read(payload, "roundNumber"), &self.state["currentRound"]);
                assert_ne!(self.state["phase"], "consensus-check-a", "it starts once a round");
                self.set("phase", json!("consensus-check-a"));
            }
            "consensus-vote" => self.vote(payload),
            "consensus-result" => self.checks.push(check(read(payload, "result"))),
            "round-completed" => self.complete_round(payload),
            "discussion-completed" => self.complete(payload),
            "discussion-error" => {
                let error = picked(read(payload, "error"), "code message role? roundNumber? recoverable");
                self.end("error", payload.get("stoppingReason").cloned());
                self.set("error", error);
            }
            "discussion-aborted" => self.end("aborted", Some(read(payload, "reason").clone())),
            _ => return,
        }
        for field in ["discussionId", "timestamp"] {
            assert!(read(payload, field).is_string() || read(payload, field).is_i64(), "{name}: {field}");
        }
    }

    fn start(&mut self, payload: &Value) {
        let config = read(payload, "config");
        assert_eq!(read(payload, "prompt"), read(config, "prompt"));
        let seat = |name: &str, role: &str| {
            let mut seat = picked(read(config, name), "modelId providerId displayName");
            seat["role"] = json!(role);
            seat
        };
        let participants =
            json!({ "modelA": seat("modelA", "model-a"), "modelB": seat("modelB", "model-b") });
        let options = picked(read(config, "options"), OPTIONS);
        self.set("id", read(payload, "discussionId").clone());
        self.set("phase", json!("initializing"));
        self.set("currentRound", json!(0));
        let config =
            json!({ "prompt": read(config, "prompt"), "participants": participants, "options": options });
        self.set("config", config);
    }

    fn start_turn(&mut self, payload: &Value) {
        let started = picked(payload, "role modelId providerId roundNumber");
        let role = role(&started["role"]);
        let seat = if role == "model-a" { "modelA" } else { "modelB" };
        assert_eq!(started["modelId"], self.state["config"]["participants"][seat]["modelId"]);
        // A further attempt of the same turn starts over; the other participant's turn must be
        // over.
        assert!(self.open.as_ref().is_none_or(|(open, _)| *open == started["role"]), "turns overlap");
        self.set("phase", json!(format!("{role}-turn")));
        self.open = Some((started["role"].clone(), String::new()));
    }

    fn grow(&mut self, payload: &Value) {
        let (role, text) = self.open.as_mut().expect("a chunk belongs to a turn under way");
        assert_eq!(read(payload, "role"), role);
        text.push_str(read(payload, "chunk").as_str().expect("a chunk is a text"));
    }

    fn complete_turn(&mut self, given: &Value) {
        let (role, text) = self.open.take().expect("only a turn that began can end");
        let turn = turn(given);
        assert_eq!(turn["role"], role);
        assert!(text.is_empty() || turn["content"] == json!(text), "the chunks are the turn");
    }

    fn vote(&mut self, payload: &Value) {
        let vote = picked(read(payload, "vote"), VOTE);
        let phase = if role(&vote["role"]) == "model-a" { "consensus-check-a" } else { "consensus-check-b" };
        self.set("phase", json!(phase));
    }

    fn complete_round(&mut self, payload: &Value) {
        let given = read(payload, "round");
        assert_eq!(read(payload, "roundNumber"), read(given, "number"));
        let mut round = json!({
            "number": read(given, "number"), "modelATurn": turn(read(given, "modelATurn")),
            "modelBTurn": turn(read(given, "modelBTurn")),
        });
        if let Some(given) = given.get("consensusCheck") {
            round["consensusCheck"] = check(given);
        }
        self.rounds.push(round);
    }

    fn complete(&mut self, payload: &Value) {
        self.end("completed", Some(read(payload, "stoppingReason").clone()));
        if let Some(found) = payload.get("finalConsensus") {
            let found = picked(found, "solution achievedAtRound modelAContribution modelBContribution");
            self.set("finalConsensus", found);
        }
        let tokens = read(payload, "totalTokensUsed");
        let of = |model: &str| picked(read(tokens, model), "prompt completion");
        self.set("totalTokensUsed", json!({ "modelA": of("modelA"), "modelB": of("modelB") }));
        assert!(read(payload, "durationMs").is_u64());
    }

    fn end(&mut self, phase: &str, reason: Option<Value>) {
        self.is_over = true;
        self.open = None;
        self.set("phase", json!(phase));
        if let Some(reason) = reason {
            self.set("stoppingReason", reason);
        }
        let (rounds, checks) = (std::mem::take(&mut self.rounds), std::mem::take(&mut self.checks));
        self.set("rounds", rounds.into());
        self.set("consensusHistory", checks.into());
    }

    fn set(&mut self, name: &str, value: Value) {
        self.state.insert(name.to_owned(), value);
    }
}

fn turn(given: &Value) -> Value {
    let mut turn = picked(given, TURN);
    turn["tokenUsage"] = picked(&turn["tokenUsage"], "promptTokens completionTokens");
    turn
}

fn check(given: &Value) -> Value {
    let mut check = picked(given, "isUnanimous modelAVote modelBVote finalSolution? roundNumber");
    for (vote, expected) in [("modelAVote", "model-a"), ("modelBVote", "model-b")] {
        check[vote] = picked(&check[vote], VOTE);
        assert_eq!(check[vote]["role"], expected);
    }
    check
}

fn role(role: &Value) -> &str {
    let role = role.as_str().expect("a role is a text");
    assert!(matches!(role, "model-a" | "model-b"), "{role}");
    role
}

#[track_caller]
fn read<'v>(value: &'v Value, name: &str) -> &'v Value {
    value.get(name).unwrap_or_else(|| panic!("{name} is missing in {value}"))
}

/// These fields of a value; those with a question mark may be absent.
#[track_caller]
fn picked(value: &Value, names: &str) -> Value {
    let mut picked = Map::new();
    for name in names.split_whitespace() {
        match name.strip_suffix('?') {
            Some(name) => picked.extend(value.get(name).map(|it| (name.to_owned(), it.clone()))),
            None => drop(picked.insert(name.to_owned(), read(value, name).clone())),
        }
    }
    Value::Object(picked)
}

fn no_nulls(name: &str, value: &Value) {
    match value {
        Value::Null => panic!("{name} has a null"),
        Value::Array(items) => items.iter().for_each(|it| no_nulls(name, it)),
        Value::Object(fields) => fields.values().for_each(|it| no_nulls(name, it)),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
