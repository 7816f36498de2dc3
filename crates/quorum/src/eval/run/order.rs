//! The discussions of an evaluation: what is asked for each question and protocol.

use quorum_core::model::{event::Fork, spec::Spec};
use quorum_patterns::protocols::{BASELINE, NamedProtocol, OPEN};
use uuid::Uuid;

use super::{Answers, Evaluation, Ran};
use crate::{
    Error, OrderKey, Request, Scope,
    eval::{
        protocol::{Protocol, Way},
        question::Posed,
    },
};

/// A discussion to be held.
#[derive(Debug, Clone)]
pub(crate) struct Job {
    /// The index of the question.
    pub(crate) question: usize,
    /// The repeat, from 0.
    pub(crate) repeat: u32,
    /// The index of the protocol; `None` if only first answers are asked for.
    pub(crate) protocol: Option<usize>,
    /// Its name in the key.
    pub(super) name: String,
    /// The request.
    pub(super) request: Request,
    /// Where its first answers are taken from.
    pub(super) fork: Option<Fork>,
    /// Whether it is graded although it has no options.
    pub(super) is_open: bool,
}

impl Job {
    /// The checked order.
    pub(super) fn order(&self, scope: &Scope) -> Result<Spec, Error> {
        Ok(Spec { graded: self.is_open, ..scope.check(&self.request)? })
    }

    /// The key under which the order is started once, in each attempt.
    pub(super) fn key(&self, evaluation: &Evaluation, spec: &Spec, attempt: usize) -> OrderKey {
        let name = format!("{}/{}/{}/{}", evaluation.run, self.name, self.request.topic, self.repeat);
        let name = if attempt > 0 { format!("{name}/{attempt}") } else { name };
        let key = format!("eval-{}", Uuid::new_v5(&Uuid::NAMESPACE_OID, name.as_bytes()));
        let digest = serde_json::to_string(spec).unwrap_or_default();
        let digest = Uuid::new_v5(&Uuid::NAMESPACE_OID, digest.as_bytes()).to_string();
        OrderKey { key, digest }
    }
}

impl Evaluation {
    /// The discussions that the first answers are taken from: one for each question and repeat.
    pub(super) fn bases(&self, posed: &[Posed]) -> Vec<Job> {
        let each = |(question, it): (usize, &Posed)| {
            (0..self.repeat.max(1)).map(move |repeat| (question, repeat)).map({
                let it = it.clone();
                move |(question, repeat)| self.base(question, &it, repeat)
            })
        };
        posed.iter().enumerate().flat_map(|it| each(it).collect::<Vec<_>>()).collect()
    }

    fn base(&self, question: usize, posed: &Posed, repeat: u32) -> Job {
        let baseline = self.protocols.iter().position(|it| it.way == Way::Baseline);
        if !posed.letters.is_empty() {
            let request = of_named(BASELINE, self.asking(posed, repeat));
            return self.job((question, repeat, baseline), BASELINE.name, posed, request);
        }
        // An open question has no vote, so its first answers come from the first protocol that
        // holds a discussion anyway.
        let held =
            self.protocols.iter().enumerate().find(|(_, it)| it.way.needs_discussion() && it.fits(posed));
        match held {
            Some((place, protocol)) => {
                let request = self.request_of(protocol, self.asking(posed, repeat), None);
                self.job((question, repeat, Some(place)), &protocol.name, posed, request)
            }
            None => {
                let request = of_named(OPEN, self.asking(posed, repeat));
                self.job((question, repeat, None), OPEN.name, posed, request)
            }
        }
    }

    /// The discussions of all protocols beyond the first answers.
    pub(super) fn jobs(&self, all: &Answers, based: &[Ran]) -> Vec<Job> {
        let held = |it: &&Ran| !it.has_failed();
        based.iter().filter(held).flat_map(|base| self.jobs_of(all, base)).collect()
    }

    fn jobs_of(&self, all: &Answers, base: &Ran) -> Vec<Job> {
        let posed = &all.posed[base.job.question];
        let wanted = self.protocols.iter().enumerate().filter(|(place, it)| {
            it.way.needs_discussion() && Some(*place) != base.job.protocol && it.fits(posed)
        });
        let best = all.best.as_ref().map(|it| it.voice.as_str());
        let job = |(place, protocol): (usize, &Protocol)| {
            let asked = self.asking(posed, base.job.repeat);
            let request = self.request_of(protocol, asked, best.zip(Some(base)));
            let at = (base.job.question, base.job.repeat, Some(place));
            let job = self.job(at, &protocol.name, posed, request);
            Job { fork: (!self.independent).then(|| base.fork()).flatten(), ..job }
        };
        wanted.map(job).collect()
    }

    fn job(&self, at: (usize, u32, Option<usize>), name: &str, posed: &Posed, request: Request) -> Job {
        let (question, repeat, protocol) = at;
        let is_open = posed.letters.is_empty();
        Job { question, repeat, protocol, name: name.to_owned(), request, fork: None, is_open }
    }

    /// The question with the panel and the settings of the evaluation.
    fn asking(&self, posed: &Posed, repeat: u32) -> Request {
        Request {
            topic: posed.topic.clone(),
            context: posed.context.clone(),
            voting_options: (!posed.letters.is_empty()).then(|| posed.letters.clone()),
            session_id: self.session.clone(),
            seed: Some(self.seed.wrapping_add(u64::from(repeat))),
            ..self.request.clone()
        }
    }

    fn request_of(&self, protocol: &Protocol, asked: Request, best: Option<(&str, &Ran)>) -> Request {
        match &protocol.way {
            Way::Single(_) | Way::Baseline => of_named(BASELINE, asked),
            Way::SelfConsistency { voice, draws } => {
                let known = best.map(|(name, base)| base.written(name));
                let voice = voice.clone().or(known).unwrap_or_default();
                let seats = best.map_or(2, |it| it.1.voices()).max(2);
                let draws = draws.map_or(seats, |it| it as usize);
                let request = of_named(BASELINE, asked);
                Request { providers: Some(vec![voice; draws]), participants: None, ..request }
            }
            Way::Discussion { preset, pattern, rounds, method } => Request {
                preset: preset.clone().or(asked.preset.clone()),
                pattern: pattern.clone(),
                rounds: *rounds,
                consensus: method.clone(),
                ..asked
            },
        }
    }

    /// The request of one protocol for planning, before any answer exists.
    pub(super) fn sample_request(&self, protocol: &Protocol, posed: &Posed, panel: &[String]) -> Request {
        let asked = self.asking(posed, 0);
        let request = self.request_of(protocol, asked, None);
        match &protocol.way {
            Way::SelfConsistency { voice, draws } => {
                let voice = voice.clone().or_else(|| self.known_best.clone());
                let voice = voice.or_else(|| panel.first().cloned()).unwrap_or_default();
                let draws = draws.map_or(panel.len().max(2), |it| it as usize);
                Request { providers: Some(vec![voice; draws]), ..request }
            }
            _ => request,
        }
    }

    /// The request that first answers to this question are asked with, for planning.
    pub(super) fn sample_base(&self, posed: &Posed) -> Request {
        self.base(0, posed, 0).request
    }
}

fn of_named(protocol: NamedProtocol, asked: Request) -> Request {
    Request {
        pattern: Some(protocol.pattern.to_owned()),
        rounds: Some(protocol.rounds),
        consensus: Some(protocol.method.to_owned()),
        ..asked
    }
}
