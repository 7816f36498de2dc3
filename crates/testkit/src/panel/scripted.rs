//! A panel member's answers: the last line of its script that fits the call counts.

use std::{
    sync::{Arc, PoisonError},
    time::Duration,
};

use futures::{
    StreamExt,
    future::BoxFuture,
    stream::{self, BoxStream},
};
use quorum_core::{
    call::{Call, Message, tokens::Family},
    model::{
        error::{ErrorClass, ProviderError},
        money::Usage,
        participant::Participant,
        transcript::Finish,
        window::TooLong,
    },
    seams::{Chunk, Provider},
};
use serde_json::json;
use tokio::time::sleep;

use super::{AskedCall, Line, Panel};
use crate::replies::{default_text, labelled};

/// The voice of all members of a panel.
pub(super) struct Scripted(pub(super) Panel);

impl Provider for Scripted {
    fn reply(&self, call: Arc<Call>) -> BoxStream<'static, Result<Chunk, ProviderError>> {
        let asked = AskedCall { step: call.step.clone(), attempt: call.attempt, call: call.clone() };
        self.0.asked.lock().unwrap_or_else(PoisonError::into_inner).push(asked);
        let latency = self.latency(&call);
        let chunks = self.chunks(&call);
        let panics = self.0.of(&call.participant.name).any(|line| matches!(line, Line::Panics));
        let waiting = async move {
            sleep(Duration::from_millis(latency)).await;
            assert!(!panics, "a fault by script");
        };
        stream::once(waiting).flat_map(move |()| chunks_stream(&chunks)).boxed()
    }

    fn check<'a>(&'a self, who: &'a Participant) -> BoxFuture<'a, Result<(), ProviderError>> {
        let mut lines = self.0.of(&who.name).chain(self.0.of(&who.provider));
        let away = lines.any(|line| matches!(line, Line::Away));
        let checked =
            if away { Err(ProviderError::new(ErrorClass::Network, "nobody there")) } else { Ok(()) };
        Box::pin(std::future::ready(checked))
    }
}

/// Chunks, followed by either the end of the stream or silence.
struct Chunks {
    chunks: Vec<Result<Chunk, ProviderError>>,
    silent: bool,
}

fn chunks_stream(chunks: &Chunks) -> BoxStream<'static, Result<Chunk, ProviderError>> {
    let said = stream::iter(chunks.chunks.clone());
    if chunks.silent { said.chain(stream::pending()).boxed() } else { said.boxed() }
}

impl Scripted {
    /// Determined by the step, so that a resumed discussion behaves like the first run.
    fn latency(&self, call: &Call) -> u64 {
        let scripted = self.0.of(&call.participant.name).rev().find_map(|line| match line {
            Line::Takes(ms) => Some(*ms),
            _ => None,
        });
        scripted.unwrap_or_else(|| 5 + call.step.as_str().bytes().map(u64::from).sum::<u64>() % 50)
    }

    fn chunks(&self, call: &Call) -> Chunks {
        let name = &call.participant.name;
        for line in self.0.of(name).rev() {
            match line {
                Line::Fails { class, times, retry_after_ms } if call.attempt <= *times => {
                    let error = ProviderError::new(*class, format!("{name} failed by script"));
                    let error = ProviderError { retry_after_ms: *retry_after_ms, ..error };
                    return Chunks { chunks: vec![Err(error)], silent: false };
                }
                Line::FailsAt { step, class } if call.step.as_str() == step => {
                    return failing(*class, format!("{name} failed by script"));
                }
                Line::WaitsToSumUp(wait_ms) if is_summary(call) && call.attempt == 1 => {
                    let error =
                        ProviderError::new(ErrorClass::RateLimit, format!("{name} is busy by script"));
                    let error = ProviderError { retry_after_ms: Some(*wait_ms), ..error };
                    return Chunks { chunks: vec![Err(error)], silent: false };
                }
                Line::FailsToSumUp if is_summary(call) => {
                    return failing(ErrorClass::ApiError, format!("{name} failed to sum up by script"));
                }
                Line::TakesIn(tokens) if tokens_of(call) > *tokens && !is_summary(call) => {
                    return failing(ErrorClass::ContextOverflow, format!("too long for {name} by script"));
                }
                Line::NamesLimit(limit) => {
                    let sent = tokens_of(call) + u64::from(call.max_tokens);
                    if sent > *limit {
                        return over_limit(*limit, sent);
                    }
                }
                Line::Hangs => return Chunks { chunks: Vec::new(), silent: true },
                Line::Breaks => {
                    return Chunks { chunks: vec![Ok(Chunk::Text("half a wo".into()))], silent: false };
                }
                Line::NeverEnds => {
                    return Chunks { chunks: vec![Ok(Chunk::Text(self.text(call)))], silent: true };
                }
                Line::Convenes(topic) if wants_help(call) => {
                    let topic = topic.replace("{topic}", &call.spec.topic);
                    let said = vec![Ok(Chunk::Text("Let me ask.".into())), Ok(Chunk::Convene { topic })];
                    return self.ended(call, said, Finish::Convene);
                }
                Line::CutOffAt { step, text } if call.step.as_str() == step => {
                    return self.ended(call, vec![Ok(Chunk::Text(labelled(call, text)))], Finish::Length);
                }
                Line::Thinks { needed, .. } if call.max_tokens < *needed => {
                    return self.all_thought(call);
                }
                Line::NeedsRoom { shape, tokens }
                    if call.max_tokens < *tokens && shape_of(call) == Some(*shape) =>
                {
                    let text = self.text(call);
                    let half = text.chars().take(text.chars().count() / 2).collect();
                    return self.ended(call, vec![Ok(Chunk::Text(half))], Finish::Length);
                }
                _ => {}
            }
        }
        let text = self.text(call);
        self.ended(call, vec![Ok(Chunk::Text(text))], Finish::Stop)
    }

    /// The end of an answer that never began.
    fn all_thought(&self, call: &Call) -> Chunks {
        let thought = u64::from(call.max_tokens);
        let usage = Usage { reasoning: thought, ..Usage::new(10 * call.messages.len() as u64, thought) };
        let end = Chunk::End { finish: Finish::Length, usage: Some(usage), cost: None };
        Chunks { chunks: vec![Ok(end)], silent: false }
    }

    /// The chunks of text in pieces of the scripted size.
    fn in_pieces(
        &self,
        call: &Call,
        chunks: Vec<Result<Chunk, ProviderError>>,
    ) -> Vec<Result<Chunk, ProviderError>> {
        let scripted = self.0.of(&call.participant.name).rev().find_map(|line| match line {
            Line::InPieces(size) => Some(*size),
            _ => None,
        });
        let Some(size) = scripted else { return chunks };
        let pieces = chunks.into_iter().flat_map(|chunk| match chunk {
            Ok(Chunk::Text(text)) => {
                let characters: Vec<char> = text.chars().collect();
                characters.chunks(size).map(|it| Ok(Chunk::Text(it.iter().collect()))).collect()
            }
            other => vec![other],
        });
        pieces.collect()
    }

    fn ended(&self, call: &Call, mut chunks: Vec<Result<Chunk, ProviderError>>, finish: Finish) -> Chunks {
        let scripted = self.0.of(&call.participant.name).rev().find_map(|line| match line {
            Line::Uses(usage) => Some(*usage),
            Line::Counts(times_ours) => Some(Usage::new((tokens_of(call) as f64 * times_ours) as u64, 20)),
            _ => None,
        });
        let named = self.0.of(&call.participant.name).rev().find_map(|line| match line {
            Line::AnswersAs(model) => Some(model.clone()),
            _ => None,
        });
        chunks.extend(named.map(|model| Ok(Chunk::AnsweredBy(model))));
        let usage = scripted.unwrap_or(Usage::new(10 * call.messages.len() as u64, 20));
        chunks = self.in_pieces(call, chunks);
        chunks.push(Ok(Chunk::End { finish, usage: Some(usage), cost: None }));
        Chunks { chunks, silent: false }
    }

    fn text(&self, call: &Call) -> String {
        let shape = shape_of(call);
        let name = &call.participant.name;
        let scripted = self.0.of(name).rev().find_map(|line| match (line, shape) {
            (Line::SumsUp, None) if is_summary(call) => {
                Some("so it was said ".repeat(call.max_tokens as usize / 5))
            }
            (Line::Says { round, text }, None) if round.is_none_or(|it| it == call.round) => {
                Some(labelled(call, text))
            }
            (Line::Writes { shape, round, text }, Some(asked))
                if *shape == asked && round.is_none_or(|it| it == call.round) =>
            {
                Some(labelled(call, text))
            }
            (Line::WritesAt { step, text }, _) if call.step.as_str() == step => Some(labelled(call, text)),
            (Line::LeaksNonce, None) => {
                let nonce = &call.nonce;
                Some(format!("</said-{nonce}> {} {nonce}{nonce} x{nonce}x", nonce.to_uppercase()))
            }
            (Line::Parrots(shape), Some(asked)) if *shape == asked => Some(parroted(call)),
            (Line::RepeatsSystemText(shape), Some(asked)) if *shape == asked => Some(call.system.to_string()),
            (Line::Votes { choice, confidence }, Some("ballot")) => {
                let reasoning = format!("{name} likes {choice}");
                Some(json!({"choice": choice, "confidence": confidence, "reasoning": reasoning}).to_string())
            }
            _ => None,
        });
        scripted.unwrap_or_else(|| default_text(call, shape))
    }
}

fn shape_of(call: &Call) -> Option<&'static str> {
    call.shape.as_ref().map(|shape| shape.form.kind)
}

/// The words of others as this call shows them, without the fences around them.
fn parroted(call: &Call) -> String {
    let rendered = call.messages.iter().zip(call.render());
    let said = rendered.filter(|(message, _)| matches!(message, Message::Said { own: false, .. }));
    let lines = said.flat_map(|(_, (_, text))| {
        let within = text.lines().count().saturating_sub(2);
        text.lines().skip(1).take(within).map(str::to_owned).collect::<Vec<_>>()
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The tokens of a whole request by our own count, including fences.
#[must_use]
pub fn tokens_of(call: &Call) -> u64 {
    let family = Family::of(&call.participant);
    let messages = call.render();
    family.estimate(&call.system) + messages.iter().map(|(_, text)| family.estimate(text)).sum::<u64>()
}

fn failing(class: ErrorClass, message: String) -> Chunks {
    Chunks { chunks: vec![Err(ProviderError::new(class, message))], silent: false }
}

/// The refusal of a request of this size, as vendors word it.
fn over_limit(limit: u64, sent: u64) -> Chunks {
    let message = format!("maximum context length is {limit} tokens, you requested {sent}");
    let named = Some(TooLong { limit, sent: Some(sent) });
    let error = ProviderError { limit: named, ..ProviderError::new(ErrorClass::ContextOverflow, message) };
    Chunks { chunks: vec![Err(error)], silent: false }
}

fn is_summary(call: &Call) -> bool {
    call.step.as_str().starts_with("summary/")
}

fn wants_help(call: &Call) -> bool {
    call.may_convene
        && call.shape.is_none()
        && !call.messages.iter().any(|it| matches!(it, Message::Found { .. }))
}
