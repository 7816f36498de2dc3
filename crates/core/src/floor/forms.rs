//! Asking for structured replies: votes, checks, verdicts, syntheses. Replies are read and
//! recorded; a participant whose reply can't be read is reminded of the form.

use std::sync::Arc;

use crate::{
    call::{Message, Shape},
    floor::{
        Floor,
        ask::{Ask, IfEmpty},
        continuation::joined,
        group::{Asked, ask_group},
        halt::{Halt, Why},
        reading::{Misread, Reader, Reminder, Understood, recorded, reminding, shape},
    },
    model::{
        event::{Event, UnreadReply},
        id::Step,
        language::Language,
        participant::Participant,
        reading::Source,
        transcript::Turn,
    },
};

impl Floor {
    /// Asks one participant for a structured reply. `None` if it failed, or if its reply could not
    /// be read even after all reminders.
    pub async fn ask_for<R: Reader>(
        &mut self,
        who: &Participant,
        ask: Ask,
        reader: &R,
    ) -> Result<Option<Understood<R::Value>>, Halt> {
        let heard = self.ask_all_for(std::slice::from_ref(who), |_| ask.clone(), reader).await?;
        Ok(heard.into_iter().next())
    }

    /// Asks all participants at once for structured replies, and reminds those whose reply can't be
    /// read.
    pub async fn ask_all_for<R: Reader>(
        &mut self,
        who: &[Participant],
        ask: impl Fn(&Participant) -> Ask,
        reader: &R,
    ) -> Result<Vec<Understood<R::Value>>, Halt> {
        self.ask_until_for(who, ask, reader, |_| false).await
    }

    /// Does the same as [`Floor::ask_all_for`], but once the readings so far are `enough`, drops
    /// the remaining calls and sends no reminders.
    pub async fn ask_until_for<R: Reader>(
        &mut self,
        who: &[Participant],
        ask: impl Fn(&Participant) -> Ask,
        reader: &R,
        enough: impl Fn(&[R::Value]) -> bool + Send + Sync,
    ) -> Result<Vec<Understood<R::Value>>, Halt> {
        let asked: Vec<(Participant, Ask)> = who.iter().map(|who| (who.clone(), ask(who))).collect();
        self.ask_and_read(&asked, &|_| reader, &enough).await
    }

    /// Asks several participants at once for structured replies, each with a question and a reader
    /// of its own.
    pub async fn ask_each_for<R: Reader>(
        &mut self,
        asked: &[(Participant, Ask, R)],
    ) -> Result<Vec<Understood<R::Value>>, Halt> {
        let questions: Vec<(Participant, Ask)> =
            asked.iter().map(|(who, ask, _)| (who.clone(), ask.clone())).collect();
        let Some((.., first)) = asked.first() else { return Ok(Vec::new()) };
        let reader_of = |name: &str| asked.iter().find(|it| it.0.name == name).map_or(first, |it| &it.2);
        self.ask_and_read(&questions, &reader_of, &|_| false).await
    }

    async fn ask_and_read<'r, R: Reader + 'r>(
        &mut self,
        questions: &[(Participant, Ask)],
        reader_of: ReaderOf<'_, 'r, R>,
        enough: &(dyn Fn(&[R::Value]) -> bool + Send + Sync),
    ) -> Result<Vec<Understood<R::Value>>, Halt> {
        let shaped = |who: &Participant, ask: &Ask| {
            let reader = reader_of(&who.name);
            let is_assumed = reader.give_up().is_some();
            let if_empty = if is_assumed { IfEmpty::Unreadable } else { IfEmpty::Fail };
            let ask = self.fitted(who, ask.clone());
            let (shape, mark, cited) = (shape(reader), reader.mark(), reader.cited());
            // A form in lines has no schema.
            let shape = if ask.lines_reminder.is_some() { Shape { schema: None, ..shape } } else { shape };
            let step = self.step_of(who, &ask);
            Asked::new(who, step, Ask { shape: Some(shape), mark, cited, if_empty, ..ask })
        };
        let present = questions.iter().filter(|(who, _)| self.is_present(&who.name));
        let mut asked: Vec<Asked> = present.map(|(who, ask)| shaped(who, ask)).collect();
        let order: Vec<String> = asked.iter().map(|it| it.who.name.clone()).collect();
        let reminders = asked.first().map_or(&[][..], |it| reader_of(&it.who.name).reminders());
        let mut understood: Vec<Understood<R::Value>> = Vec::new();
        let mut kept: Vec<Understood<R::Value>> = Vec::new();
        for reminder in 0..=reminders.len() {
            let before: Vec<R::Value> = understood.iter().map(|it| it.value.clone()).collect();
            let is_enough = |turns: &[Arc<Turn>]| enough(&with_read(reader_of, &before, turns));
            let (read, unread) = self.ask_once(reader_of, asked, &is_enough).await?;
            understood.extend(read);
            kept.extend(self.keep_beginnings(reader_of, &unread));
            let values: Vec<R::Value> = understood.iter().map(|it| it.value.clone()).collect();
            let next = reminders.get(reminder).filter(|_| !unread.is_empty() && !enough(&values));
            let Some(next) = next else {
                understood.extend(self.give_up(reader_of, &unread).await?);
                break;
            };
            let spec = &self.record.state.spec;
            let (usual, language) = (spec.manner.max_tokens, Language::of(&spec.topic));
            let reminded = |it: Unreadable| {
                let finishing = reader_of(&it.asked.who.name).finishing();
                it.reminded(next, finishing, usual, language)
            };
            asked = unread.into_iter().map(reminded).collect();
        }
        // The longest beginning of a reply that was never finished.
        for beginning in kept.into_iter().rev() {
            if !understood.iter().any(|it| it.participant == beginning.participant) {
                understood.push(beginning);
            }
        }
        understood.sort_by_key(|it| order.iter().position(|name| *name == it.participant));
        Ok(understood)
    }

    /// Asks, reads the replies and records the readings. Replies that arrived before a wind-up are
    /// read too, because they are paid for.
    async fn ask_once<'r, R: Reader + 'r>(
        &mut self,
        reader_of: ReaderOf<'_, 'r, R>,
        asked: Vec<Asked>,
        enough: &(dyn Fn(&[Arc<Turn>]) -> bool + Send + Sync),
    ) -> Result<(Vec<Understood<R::Value>>, Unread), Halt> {
        let answered = ask_group(self, asked.clone(), enough).await;
        let turns = match &answered {
            Ok(turns) => turns.clone(),
            Err(Halt(Why::WindUp)) => asked.iter().map(|it| self.record.turn(&it.step)).collect(),
            Err(Halt(
                Why::Suspended
                | Why::Awaiting
                | Why::PauseCancelled
                | Why::Left
                | Why::Aborted
                | Why::Failed(_),
            )) => Vec::new(),
        };
        let (read, unread) = sort_out(reader_of, asked, turns);
        self.note_readings(reader_of, &read);
        answered.map(|_| (read.into_iter().map(|it| it.1).collect(), unread))
    }

    fn note_readings<'r, R: Reader + 'r>(&mut self, reader_of: ReaderOf<'_, 'r, R>, read: &Read<R::Value>) {
        let round = self.now.round;
        let mut facts = Vec::new();
        for (step, understood) in read {
            let reading = recorded(reader_of(&understood.participant), &understood.value);
            let (participant, source) = (understood.participant.clone(), understood.source);
            let mark = step.purpose("read");
            if !self.record.has_mark(&mark) {
                let (participant, reading) = (participant.clone(), reading.clone());
                facts.push((Some(mark), Event::ReplyRead { participant, round, source, reading }));
            }
            self.now.readings.push(Understood { participant, source, value: (round, reading) });
        }
        self.record.note(facts);
    }

    /// Records the beginnings of replies that were cut off, so that they are known whatever becomes
    /// of the rest.
    fn keep_beginnings<'r, R: Reader + 'r>(
        &mut self,
        reader_of: ReaderOf<'_, 'r, R>,
        unread: &Unread,
    ) -> Vec<Understood<R::Value>> {
        let beginnings = unread.iter().filter(|it| it.is_kept).filter_map(|it| {
            let participant = it.asked.who.name.clone();
            let value = reader_of(&participant).keep(&it.text)?;
            Some((it.asked.step.clone(), Understood { participant, source: Source::Begun, value }))
        });
        let beginnings: Read<R::Value> = beginnings.collect();
        self.note_readings(reader_of, &beginnings);
        beginnings.into_iter().map(|it| it.1).collect()
    }

    fn note_unread<'r, R: Reader + 'r>(&mut self, reader_of: ReaderOf<'_, 'r, R>, unread: &Unread) {
        for Unreadable { asked, wrong, .. } in unread.iter().filter(|it| !it.is_kept) {
            let reader = reader_of(&asked.who.name);
            if reader.give_up().is_some() {
                continue;
            }
            let reply = UnreadReply {
                participant: asked.who.name.clone(),
                round: self.now.round,
                kind: reader.form().kind.to_owned(),
                wrong: wrong.shortened(),
            };
            self.record.once(asked.step.purpose("read"), Event::ReplyUnread(reply.clone()));
            self.now.unread.push(reply);
        }
    }

    async fn give_up<'r, R: Reader + 'r>(
        &mut self,
        reader_of: ReaderOf<'_, 'r, R>,
        unread: &Unread,
    ) -> Result<Vec<Understood<R::Value>>, Halt> {
        self.note_unread(reader_of, unread);
        let assumed = unread.iter().filter(|it| !it.is_kept).filter_map(|Unreadable { asked, .. }| {
            let (participant, source) = (asked.who.name.clone(), Source::Assumed);
            let value = reader_of(&participant).give_up()?;
            Some((asked.step.clone(), Understood { participant, source, value }))
        });
        let assumed: Read<R::Value> = assumed.collect();
        self.note_readings(reader_of, &assumed);
        Ok(assumed.into_iter().map(|it| it.1).collect())
    }
}

/// The reader of a participant's reply, by the participant's name.
type ReaderOf<'f, 'r, R> = &'f (dyn Fn(&str) -> &'r R + Send + Sync);

type Read<V> = Vec<(Step, Understood<V>)>;
type Unread = Vec<Unreadable>;

/// A reply that could not be read.
struct Unreadable {
    asked: Asked,
    turn: Arc<Turn>,
    /// The whole reply, with the beginning that an earlier turn has.
    text: String,
    wrong: Misread,
    /// Whether it was cut off and its beginning is kept.
    is_kept: bool,
}

fn read<R: Reader>(reader: &R, text: &str) -> Result<(Source, R::Value), Misread> {
    let stated = reader.read(text).map(|value| (Source::Stated, value));
    stated.or_else(|wrong| reader.infer(text).map(|value| (Source::Inferred, value)).ok_or(wrong))
}

fn with_read<'r, R: Reader + 'r>(
    reader_of: ReaderOf<'_, 'r, R>,
    before: &[R::Value],
    turns: &[Arc<Turn>],
) -> Vec<R::Value> {
    let now = turns.iter().filter_map(|turn| read(reader_of(&turn.participant), &turn.text).ok());
    let now = now.map(|it| it.1);
    before.iter().cloned().chain(now).collect()
}

/// Separates the replies that could be read from those that could not.
fn sort_out<'r, R: Reader + 'r>(
    reader_of: ReaderOf<'_, 'r, R>,
    asked: Vec<Asked>,
    turns: Vec<Option<Arc<Turn>>>,
) -> (Read<R::Value>, Unread) {
    let (mut understood, mut unread) = (Vec::new(), Vec::new());
    for (asked, turn) in asked.into_iter().zip(turns) {
        let Some(turn) = turn else { continue };
        let reader = reader_of(&asked.who.name);
        let text = whole_reply(reader, &asked, &turn);
        let is_kept = turn.finish.is_cut_off() && reader.keep(&text).is_some();
        let read = if is_kept { Err(Misread::new(CUT)) } else { read_from(reader, &asked, &text) };
        match read {
            Ok((source, value)) => {
                let participant = turn.participant.clone();
                understood.push((asked.step, Understood { participant, source, value }));
            }
            Err(wrong) => {
                let wrong = if asked.ask.lines_reminder.is_some() && !is_kept {
                    reader.wrong_in_lines(&text, wrong)
                } else {
                    wrong
                };
                unread.push(Unreadable { asked, turn, text, wrong, is_kept });
            }
        }
    }
    (understood, unread)
}

/// The complaint about a reply that was cut off.
const CUT: &str = "it was cut off";

/// The reply of this turn, with the beginning that it finishes.
fn whole_reply<R: Reader>(reader: &R, asked: &Asked, turn: &Turn) -> String {
    let beginning = asked.ask.exchange.iter().rev().find_map(|it| match it {
        Message::Said { turn, own: true } => Some(turn),
        Message::Said { .. } | Message::Found { .. } | Message::Ask(_) => None,
    });
    let beginning = beginning.filter(|it| it.finish.is_cut_off() && reader.keep(&it.text).is_some());
    beginning.map_or_else(|| turn.text.to_string(), |beginning| joined(&beginning.text, &turn.text))
}

/// Reads this participant's reply; a person's reply need not have the form.
fn read_from<R: Reader>(reader: &R, asked: &Asked, text: &str) -> Result<(Source, R::Value), Misread> {
    let by_person = asked.who.is_person().then(|| reader.read_from_person(text).ok()).flatten();
    by_person.map_or_else(|| read(reader, text), |value| Ok((Source::Stated, value)))
}

/// The reminder for a reply that was cut off at its token limit and could not be read, with half
/// the length that this limit is enough for.
fn cut_off(limit: u32, language: Language, form: &str) -> String {
    let words = (limit / TOKENS_PER_WORD / 2).max(LEAST_WORDS);
    let (times, unit) = language.unit();
    format!("Your answer was cut off. Give it again in at most {} {unit}. {form}", words * times)
}

/// Tokens that a limit has for each word asked for.
const TOKENS_PER_WORD: u32 = 4;

/// The least length asked for.
const LEAST_WORDS: u32 = 20;

impl Unreadable {
    /// The same question again, together with the unreadable reply and what was wrong with it. A
    /// reply that was cut off is to be finished if its beginning is kept, else it gets twice the
    /// room; `usual` is the limit of questions that set none.
    fn reminded(self, reminder: &Reminder, finishing: &str, usual: u32, language: Language) -> Asked {
        let Unreadable { asked, turn, wrong, is_kept, .. } = self;
        let is_cut_off = turn.finish.is_cut_off();
        let mut ask = asked.ask;
        let words = ask.lines_reminder.unwrap_or(reminder.words);
        ask.exchange.push(Message::Ask(ask.prompt.clone()));
        // Some vendors refuse empty messages.
        if !turn.text.trim().is_empty() {
            ask.exchange.push(Message::Said { turn, own: true });
        }
        ask.prompt = if asked.who.is_person() {
            once_more(&ask)
        } else if is_kept {
            finishing.into()
        } else if is_cut_off {
            cut_off(ask.max_tokens.unwrap_or(usual), language, words).into()
        } else {
            reminding(&wrong, words).into()
        };
        if is_cut_off && !is_kept {
            let limit = ask.max_tokens.unwrap_or(usual);
            (ask.max_tokens, ask.least_tokens) = (Some(limit.saturating_mul(2)), Some(limit));
        }
        Asked { ask, step: asked.base.purpose(reminder.purpose), base: asked.base, who: asked.who }
    }
}

/// The reminder for a person whose answer could not be read. People don't know the forms, so it
/// repeats the question.
fn once_more(ask: &Ask) -> Arc<str> {
    let mut asked = ask.exchange.iter().filter_map(|it| match it {
        Message::Ask(prompt) => Some(prompt),
        Message::Said { .. } | Message::Found { .. } => None,
    });
    let first = asked.next().map_or("", |prompt| &**prompt);
    format!("Your answer could not be read, so here is the question once more.\n\n{first}").into()
}
