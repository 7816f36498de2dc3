//! The cost of an answer while it streams, and the model that is asked.

use serde_json::{Value, json};

use super::Play;

/// Places a call at this price, to this model.
fn asked(play: &mut Play, name: &str, price: &Value, model: Option<&str>) {
    let reserved = json!({ "calls": 1, "tokens": 500, "usd": 10_000_000 });
    play.happens(&json!({
        "type": "call_placed", "step": format!("1/awaiting-responses/{name}"), "attempt": 1, "participant": name,
        "provider": name, "reserved": reserved, "nonce": "0", "price": price, "counted": 1_000, "model": model,
    }));
}

#[test]
fn the_cost_of_an_answer_is_shown_while_it_is_written() {
    let seats = [("claude", "proponent"), ("glm", "opponent"), ("qwen", "judge")];
    let mut play = Play::of("debate", &seats);
    play.round(1, "awaiting-responses");
    let price = json!({ "input": 3_000_000_000_u64, "output": 15_000_000_000_u64 });
    asked(&mut play, "claude", &price, None);
    asked(&mut play, "glm", &Value::Null, None);
    asked(&mut play, "qwen", &price, Some("qwen-large-1"));
    play.at(2_000).streams("1/awaiting-responses/claude", 1, &"A ledger answers that. ".repeat(40));
    play.streams("1/awaiting-responses/glm", 1, &"A ledger answers that. ".repeat(40)).at(4_000);
    play.shows(
        110,
        30,
        "
──────────────────────────────────────────────────────────────────────────────────────────────────────────────
 Should we move billing to event sourcing?        debate · round 1/3 · 0:04/5:00 · ≈$0.006/$0.250 + unpriced
 ● claude proponent 115 tok/s    230 tok ≈$0.006 …answers that. A ledger answers that. A ledger answers that.▌
 ● glm    opponent  115 tok/s    230 tok no price…answers that. A ledger answers that. A ledger answers that.▌
 ◐ qwen   judge     thinking 4 s                 qwen-large-1: first token pending
 ? keys",
    );
}
