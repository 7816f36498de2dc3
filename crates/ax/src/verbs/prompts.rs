//! `ax prompts`: every prompt of a discussion as it would be sent.

use std::collections::HashMap;

use quorum::{
    Scope, SentMessage, SentRequest,
    text::{count, grouped},
};

use crate::{
    args::Prompts,
    exit::Exit,
    render::{print, print_json},
};

/// `ax prompts`
pub(crate) async fn prompts(scope: &Scope, args: &Prompts) -> anyhow::Result<Exit> {
    let is_vote = scope.quorum().registry().pattern(&args.pattern).is_some_and(|it| it.votes);
    let spec = scope.order(&args.request(is_vote)?).await?;
    let requests = scope.rehearse(&spec).await?;
    if args.json {
        print_json(&requests)?;
    } else {
        print(&text(&spec.pattern, &requests))?;
    }
    Ok(Exit::Done)
}

/// All requests. What a participant was sent before is not shown again.
fn text(pattern: &str, requests: &[SentRequest]) -> String {
    let mut parts = vec![head(pattern, requests)];
    let mut last: HashMap<&str, (usize, &SentRequest)> = HashMap::new();
    for (at, request) in requests.iter().enumerate() {
        let number = at + 1;
        parts.push(heading(number, request));
        let before = last.insert(&request.participant, (number, request));
        parts.extend(body(request, before));
    }
    parts.join("\n\n")
}

fn head(pattern: &str, requests: &[SentRequest]) -> String {
    let tokens: u64 = requests.iter().map(|it| it.tokens).sum();
    let repeated: u64 = requests.iter().map(|it| it.repeated_tokens).sum();
    let share = (100 * repeated).checked_div(tokens).unwrap_or_default();
    format!(
        "{pattern}: {} of about {} tokens; {share} % repeat an earlier one to the same participant",
        count(requests.len() as u64, "request"),
        grouped(tokens)
    )
}

fn heading(number: usize, request: &SentRequest) -> String {
    let form = request.form.as_ref().map(|form| format!(", form {form}")).unwrap_or_default();
    let effort = request.effort.map(|effort| format!(", {effort} effort")).unwrap_or_default();
    format!(
        "=== {number}. {}: {}{form}\n    about {} tokens, temperature {}{effort}, answer up to {} tokens",
        request.participant,
        request.step,
        grouped(request.tokens),
        request.temperature,
        grouped(u64::from(request.max_tokens))
    )
}

/// The system text and messages, as far as they are new.
fn body(request: &SentRequest, before: Option<(usize, &SentRequest)>) -> Vec<String> {
    let mut parts = Vec::new();
    let mut shown = 0;
    match before.filter(|(_, earlier)| earlier.system == request.system) {
        None => parts.push(format!("--- system\n{}", request.system.trim_end())),
        Some((number, earlier)) => {
            let same = request.messages.iter().zip(&earlier.messages).take_while(|(one, other)| one == other);
            shown = same.count();
            let messages =
                if shown == 0 { String::new() } else { format!(", {}", count(shown as u64, "message")) };
            parts.push(format!("--- as in {number}: system{messages}"));
        }
    }
    let written = |it: &SentMessage| format!("--- {}\n{}", it.role, it.text.trim_end());
    parts.extend(request.messages[shown..].iter().map(written));
    parts
}
