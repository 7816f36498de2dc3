//! Structured replies: the form's own sample, made with this voice's mind, or a filled-in schema.

use quorum_core::{
    call::Shape,
    vocabulary::sample::{self, Voice},
};
use serde_json::Value;

use crate::{
    filler::{completed, filled},
    mind::Mind,
    table::{Speaker, quotable},
};

/// The reply in this form.
pub(super) fn answer(mind: &Mind<'_>, shape: &Shape) -> String {
    match shape.form.sample {
        Some(sample) => sample(mind, shape.schema.as_deref()),
        None => filled(mind, shape),
    }
}

impl sample::Mind for Mind<'_> {
    fn name(&self) -> &str {
        self.label()
    }

    fn topic(&self) -> &str {
        &self.call.spec.topic
    }

    fn round(&self) -> u32 {
        self.call.round
    }

    fn asked(&self) -> &str {
        self.table.asked
    }

    fn answers(&self) -> Vec<sample::Answer> {
        let answers = self.question.answers.iter().enumerate();
        let answer = |(place, it): (usize, &crate::topic::Answer)| sample::Answer {
            position: it.position.clone(),
            view: it.view.clone(),
            because: it.because.iter().map(|because| self.reason_for(place, because)).collect(),
            strength: self.strength(place),
        };
        answers.map(answer).collect()
    }

    fn holds(&self) -> usize {
        self.holds
    }

    fn bound(&self, participant: &str) -> Option<usize> {
        let name = self.call.labels.name(participant).unwrap_or(participant);
        self.call.spec.seat(name).and_then(|it| self.question.bound(it))
    }

    fn argument(&self) -> String {
        Mind::argument(self)
    }

    fn confidence(&self) -> f64 {
        Mind::confidence(self)
    }

    fn stubbornness(&self) -> f64 {
        self.stubbornness
    }

    fn chance(&self, purpose: &str) -> f64 {
        Mind::chance(self, purpose).fraction()
    }

    fn conviction(&self, purpose: &str) -> f64 {
        Mind::conviction(self, purpose).fraction()
    }

    fn others(&self) -> Vec<Voice> {
        self.table.others.iter().map(|it| self.voice(it)).collect()
    }

    fn own(&self) -> Option<Voice> {
        let (name, said) = (self.label(), self.table.own.clone());
        let (seat, round) = (self.call.participant.name.as_str(), self.call.round);
        (!said.is_empty()).then(|| self.voice(&Speaker { name, seat, said, round }))
    }

    fn phrase(&self, key: &str, with: &[(&str, &str)]) -> String {
        match self.bank.phrases(key) {
            [] => String::new(),
            [only] => self.fill(only, with),
            several => self.sentence(several, with),
        }
    }

    fn lens(&self, number: usize) -> String {
        let lenses = &self.bank.lens;
        let words = lenses.get(number % lenses.len().max(1)).and_then(|it| it.words.first());
        words.map(|it| self.fill(it, &[])).unwrap_or_else(|| self.position().to_owned())
    }

    fn list(&self, names: &[&str]) -> String {
        self.bank.list(names)
    }

    fn completed(&self, value: Value, schema: Option<&Value>) -> Value {
        completed(self, value, schema)
    }
}

impl Mind<'_> {
    fn voice(&self, speaker: &Speaker<'_>) -> Voice {
        Voice {
            name: speaker.name.to_owned(),
            said: speaker.said.iter().map(|it| (*it).to_owned()).collect(),
            holds: self.held_by(speaker),
            position: speaker.position(),
            first_position: speaker.first_position(),
            point: speaker.main_point(),
            points: speaker.said.iter().flat_map(|text| quotable(text)).collect(),
        }
    }
}
