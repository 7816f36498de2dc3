//! The content of an answer, independent of a vendor's format.

use super::{
    forms, instance,
    request::Asked,
    script::{Script, hash_of},
};

/// The usage of an answer. `cached` is part of `prompt`, and `reasoning` of `completion`, however a
/// vendor counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Used {
    /// Input tokens.
    pub prompt: u64,
    /// Output tokens.
    pub completion: u64,
    /// Input tokens read from the cache.
    pub cached: u64,
    /// Input tokens written to the cache, where a vendor counts them.
    pub written: u64,
    /// Output tokens spent on thinking.
    pub reasoning: u64,
}

/// Why an answer ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// It is complete.
    Stop,
    /// It reached a stop sequence.
    StopSequence,
    /// It reached the maximum length.
    Length,
    /// The vendor refused it.
    Refused,
    /// It calls a tool.
    Tool,
}

/// An answer before it is encoded in a vendor's format.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Said {
    /// A number that is part of every id in it.
    pub(super) id: String,
    pub(super) model: String,
    pub(super) thoughts: String,
    /// The text, piece by piece.
    pub(super) pieces: Vec<String>,
    pub(super) tool: Option<Tool>,
    pub(super) ending: Ending,
    /// The stop sequence that ended it.
    pub(super) stopped_at: Option<String>,
    pub(super) used: Used,
}

/// A tool call.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tool {
    pub(super) name: String,
    /// The arguments as JSON.
    pub(super) arguments: String,
}

/// The default length of a piece in characters.
const DEFAULT_PIECE: usize = 24;

impl Said {
    /// The whole text.
    pub(super) fn text(&self) -> String {
        self.pieces.concat()
    }
}

/// The script's answer to the nth request.
pub(super) fn said(script: &Script, asked: &Asked, number: u64) -> Said {
    let model = &asked.model;
    let mut said = Said {
        id: format!("{number:012}"),
        model: model.clone(),
        thoughts: script.thoughts(model).unwrap_or_default().to_owned(),
        pieces: Vec::new(),
        tool: None,
        ending: Ending::Stop,
        stopped_at: None,
        used: Used::default(),
    };
    let topic = script.topic(model).filter(|_| asked.offers_discuss && !was_told(asked));
    let text = match topic {
        Some(topic) => {
            let arguments = serde_json::json!({ "topic": topic }).to_string();
            said.tool = Some(Tool { name: "discuss".to_owned(), arguments });
            "Let me ask.".to_owned()
        }
        None => text(script, asked),
    };
    let text = cut(&mut said, asked, text);
    match &asked.tool {
        Some(name) if said.tool.is_none() => said.tool = Some(Tool { name: name.clone(), arguments: text }),
        _ => said.pieces = pieces(&text, script.pace(model).map(|pace| pace.chunks)),
    }
    if said.tool.is_some() {
        said.ending = Ending::Tool;
    }
    said.ending = script.ending(model).unwrap_or(said.ending);
    if let Some(most) =
        asked.max_tokens.filter(|most| script.long_thoughts(model).is_some_and(|it| *most <= it))
    {
        said.thoughts = "hm, ".repeat(usize::try_from(most).unwrap_or_default());
        said.pieces = Vec::new();
        (said.tool, said.ending) = (None, Ending::Length);
    }
    said.used = script.used(model).unwrap_or_else(|| default_usage(asked, &said));
    said
}

/// Whether the request contains the result of a sub-discussion.
fn was_told(asked: &Asked) -> bool {
    asked.messages.iter().any(|(_, text)| text.contains("<found-"))
}

fn text(script: &Script, asked: &Asked) -> String {
    let form = asked.schema.clone().or_else(|| forms::schema(asked.last()));
    let markers = forms::markers(asked);
    if let Some(scripted) = script.text(asked, form.is_some() || markers.is_some()) {
        return scripted;
    }
    match form {
        Some(schema) => instance::of(&schema, &asked.model).to_string(),
        None => markers.or_else(|| synthesis(asked)).unwrap_or_else(|| paragraph(asked)),
    }
}

/// A paragraph, followed by the structure that is asked for after a mark.
fn synthesis(asked: &Asked) -> Option<String> {
    let (mark, structure) = forms::structure(asked.last())?;
    let structure = instance::of(&structure, &asked.model);
    Some(format!("{}\n\n{mark}\n{structure}", paragraph(asked)))
}

/// A text for any topic, slightly different for every model and request.
fn paragraph(asked: &Asked) -> String {
    const VIEWS: [&str; 4] = [
        "What decides it is the cost of being wrong: the cautious way can be undone, the bold one can't.",
        "Those who will live with it should choose, and what they say they need is the simpler of the two.",
        "The figures we have point one way, but they were gathered under conditions that no longer hold.",
        "Both would work; the difference is what happens in the rare case, and that case has happened before.",
    ];
    let model = &asked.model;
    let chosen = hash_of(model).wrapping_add(asked.messages.len() as u64) % VIEWS.len() as u64;
    format!("This is {model}. {} I would start small, and look again after a month.", VIEWS[chosen as usize])
}

/// The text up to a stop sequence or the maximum length.
fn cut(said: &mut Said, asked: &Asked, mut text: String) -> String {
    let stops = asked.stop.iter().filter_map(|stop| Some((text.find(stop.as_str())?, stop)));
    if let Some((at, stop)) = stops.min_by_key(|it| it.0) {
        text.truncate(at);
        said.ending = Ending::StopSequence;
        said.stopped_at = Some(stop.clone());
    }
    let most = asked.max_tokens.and_then(|most| usize::try_from(most.saturating_mul(4)).ok());
    if let Some((at, _)) = most.and_then(|most| text.char_indices().nth(most)) {
        text.truncate(at);
        said.ending = Ending::Length;
    }
    text
}

/// Cuts a text into this many pieces at character boundaries; fewer if it has fewer characters.
pub(super) fn pieces(text: &str, count: Option<usize>) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    let length = match count {
        Some(count) => characters.len().div_ceil(count.max(1)),
        None => DEFAULT_PIECE,
    };
    characters.chunks(length.max(1)).map(|piece| piece.iter().collect()).collect()
}

fn default_usage(asked: &Asked, said: &Said) -> Used {
    let count = |characters: usize| characters.div_ceil(4) as u64;
    let of_tool = said.tool.as_ref().map_or(0, |tool| tool.arguments.len());
    let reasoning = count(said.thoughts.len());
    let completion = count(said.text().len() + of_tool) + reasoning;
    Used { prompt: count(asked.length()), completion, reasoning, ..Used::default() }
}
