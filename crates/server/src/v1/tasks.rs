//! Small tasks that chat clients send to the same model beside the conversation: a title, tags,
//! follow-up questions, search queries. One cheap call answers them.

use quorum::{ProviderEntry, config::server::Tasks};

use crate::{app::App, v1::wanted::Wanted};

/// The line with which these prompts begin.
const HEADING: &str = "### Task:";

/// How such a task begins, in lower case, as recorded from chat clients.
const FORMS: &[&str] = &[
    "generate a concise, 3-5 word title",
    "create a concise, 3-5 word title",
    "generate a title",
    "generate 1-3 broad tags",
    "generate tags",
    "suggest 3-5 relevant follow-up questions",
    "generate follow-up questions",
    "analyze the chat history to determine the necessity of generating search queries",
    "generate search queries",
    "generate a search query",
    "generate a detailed prompt for",
    "you are an autocompletion system",
];

/// The voice that answers this alone, if it is such a task.
pub(super) fn voice(app: &App, wanted: &Wanted) -> Option<String> {
    let is_task = wanted.task.is_some() || is_task(&wanted.asked.question);
    match app.tasks() {
        Tasks::Panel => None,
        _ if !is_task => None,
        Tasks::Voice(name) => Some(name.clone()),
        Tasks::Cheapest => cheapest(&app.usable_providers()),
    }
}

fn is_task(question: &str) -> bool {
    let Some(task) = question.trim_start().strip_prefix(HEADING) else { return false };
    let task = task.trim_start().to_lowercase();
    FORMS.iter().any(|form| task.starts_with(form))
}

/// The provider whose usual model costs least; one without a known price only if none has one.
fn cheapest(providers: &[ProviderEntry]) -> Option<String> {
    let price = |it: &&ProviderEntry| {
        let usual = it.models.iter().find(|model| Some(&model.name) == it.model.as_ref());
        usual.or(it.models.first()).and_then(|it| it.price).map_or(f64::INFINITY, |it| it.input + it.output)
    };
    providers.iter().min_by(|one, other| price(one).total_cmp(&price(other))).map(|it| it.name.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_is_known_by_its_beginning_alone() {
        let check = |question: &str, expected: bool| assert_eq!(is_task(question), expected, "{question}");
        check(
            "### Task:\nGenerate a concise, 3-5 word title with an emoji summarizing the chat history.",
            true,
        );
        check("### Task:\nGenerate 1-3 broad tags categorizing the main themes", true);
        check("\n### Task:\nSuggest 3-5 relevant follow-up questions or prompts", true);
        check("What does \"### Task:\nGenerate a concise, 3-5 word title\" mean?", false);
        check("### Task:\nMove billing to event sourcing?", false);
        check("Generate a title", false);
    }
}
