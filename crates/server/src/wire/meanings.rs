//! What the fields of every order mean, for the OpenAPI document and its page. Options that a
//! pattern or a method declares bring their own.

use serde_json::{Map, Value};

/// The meaning of each field, with what holds if it is left out.
const MEANINGS: [(&str, &str); 39] = [
    ("topic", "The question"),
    ("pattern", "How the discussion is held. Default: `synthesis`"),
    ("providers", "The participants, as `claude` or `claude/MODEL`. Default: the default panel"),
    (
        "participants",
        "The whole panel in seating order, with agents (`reviewer:agent`) and people (`me:person`); instead of `providers`",
    ),
    ("task", "The kind of task, which selects the provider and the abilities of agents"),
    ("agentWeight", "The weight of every agent's vote. Default: that of its profile"),
    ("rounds", "How many rounds. Default: that of the pattern"),
    ("consensus", "How the answer is decided: a method, or an object with `method` and its options"),
    ("includeDissent", "Whether the result has minority views. Default: true"),
    ("votingOptions", "What can be voted for"),
    ("context", "Background that every participant is shown"),
    ("providerPrompts", "Further instructions for single participants, by name"),
    ("roles", "Who has which role, by name"),
    ("providerTimeout", "How long one answer may take, retries included, in ms"),
    ("continueOnProviderFailure", "Whether to go on when a participant fails. Default: true"),
    ("minProviders", "How many must take part for a success. Default: 2"),
    ("temperature", "The sampling temperature. Default: 0.7"),
    ("maxTokensPerTurn", "The token limit of an answer. Default: 2048"),
    ("sessionId", "The session that the discussion belongs to"),
    ("budgetMs", "The total time in ms. Default: 30 minutes, or 3 if it is `recursive`"),
    ("minSynthesisMs", "The part of the total time kept for the synthesis, in ms. Default: 10000"),
    ("maxCalls", "The most calls. Default: no limit, or 20 if it is `recursive`"),
    ("maxTokens", "The most tokens, input and output together"),
    ("maxCost", "The most it may cost, in USD"),
    ("allowUnpriced", "Whether models without a known price may take part under `maxCost`"),
    ("recursive", "Whether participants may convene sub-discussions"),
    ("maxDepth", "The deepest level of sub-discussions. Default: 2"),
    ("timeoutStrategy", "How the time is divided between the levels. Default: `cascade`"),
    ("earlyExit", "Whether to stop waiting for the others once one answer is confident enough"),
    ("confidenceThreshold", "How confident an answer must be for `earlyExit`. Default: 0.9"),
    ("windowStrategy", "How to shorten a talk that is longer than a model's window"),
    ("windowOverflow", "What to do if a request is still too long for a model"),
    ("showNames", "Whether participants see each other's names instead of labels"),
    (
        "recall",
        "How many earlier discussions on the subject everyone is shown; or an object that names them, or their session",
    ),
    ("follows", "The discussion whose panel is asked this next question: its id, or `last`"),
    ("offline", "Whether to use simulated voices even if models are available"),
    ("seed", "The random seed; simulated voices say the same with the same one. Default: 1"),
    ("simulate", "How simulated voices behave"),
    ("preset", "The preset of the server's configuration that fills in what is left out"),
];

/// Adds its meaning to every field that has none.
pub(crate) fn add(properties: &mut Map<String, Value>) {
    for (name, meaning) in MEANINGS {
        if let Some(Value::Object(schema)) = properties.get_mut(name) {
            schema.entry("description").or_insert_with(|| meaning.into());
        }
    }
}

#[cfg(test)]
mod tests {
    use quorum::request::fields;

    use super::*;

    #[test]
    fn every_field_of_an_order_has_a_meaning_in_the_description() {
        let mut properties = fields::schemas(&quorum::built_in());
        add(&mut properties);
        let bare = properties.iter().filter(|(_, it)| it["description"].as_str().is_none_or(str::is_empty));
        assert_eq!(bare.map(|it| it.0.as_str()).collect::<Vec<_>>(), [""; 0]);
        let known: Vec<&str> = fields::names().collect();
        assert_eq!(MEANINGS.map(|it| it.0).to_vec(), known, "every field once, in their order");
    }
}
