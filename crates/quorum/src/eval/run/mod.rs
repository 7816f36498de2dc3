//! Runs an evaluation: every question is put to every protocol, and the answers are graded.
//!
//! The first answers are asked once for each question. Every protocol starts from them as a fork,
//! so that protocols differ by the protocol alone, and the evaluation costs less than their sum.
//! Each discussion is an ordinary record under a key of the evaluation: running it again continues
//! it, and asks nothing that was answered.

mod answers;
mod budget;
mod grading;
mod hold;
mod order;
mod plan;

use futures::{StreamExt, stream};
use quorum_core::model::money::Usd;

pub use answers::{Cost, First, FirstAnswers, Flips, Row};
pub use plan::{Planned, PlannedGrader, PlannedProtocol};

use self::{
    answers::{derived, firsts, row},
    budget::Budget,
    grading::Grader,
    hold::{DiscussionRun, Ran},
    order::Job,
};
use super::{
    grade::Key,
    protocol::Protocol,
    question::{Posed, Question},
};
use crate::{Error, Request, Scope};

/// How many discussions run at once. The lanes of providers have their own limits.
const AT_ONCE: usize = 32;

/// How many questions are begun before others, where there is a budget.
const IN_A_PART: usize = 8;

/// An evaluation.
#[derive(Debug, Clone)]
pub struct Evaluation {
    /// The questions.
    pub questions: Vec<Question>,
    /// The protocols.
    pub protocols: Vec<Protocol>,
    /// The panel, the manner of answers and the simulation of all discussions.
    pub request: Request,
    /// The seed of everything that is drawn: the order of options, ties, resamples.
    pub seed: u64,
    /// How often each question is asked.
    pub repeat: u32,
    /// Whether every protocol asks for first answers of its own.
    pub independent: bool,
    /// The most that all discussions together may cost, in USD.
    pub max_cost: Option<f64>,
    /// The model that grades answers by a description.
    pub grader: Option<String>,
    /// The voice that did best in earlier outcomes.
    pub known_best: Option<String>,
    /// The id of this run: the same id continues it.
    pub run: String,
    /// The session its discussions belong to.
    pub session: Option<String>,
}

/// All answers of an evaluation, as far as it came.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answers {
    /// The questions as they were put.
    pub posed: Vec<Posed>,
    /// The first answers, by question and repeat.
    pub firsts: Vec<FirstAnswers>,
    /// The answers of all protocols.
    pub rows: Vec<Row>,
    /// The voice that protocols of the best voice used, and whether that is known only in
    /// hindsight.
    pub best: Option<Best>,
    /// The reason why it did not finish.
    pub stopped: Option<Stopped>,
    /// Discussions that failed, with the reason.
    pub failed: Vec<(String, String)>,
    /// The amount spent, in USD, grading included.
    pub spent_usd: f64,
    /// Grading by a model.
    pub grading: Grading,
    /// Calls that were made, without those that a protocol took over.
    pub calls: u64,
}

/// The cost of grading by a model.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Grading {
    /// Answers that were graded.
    pub answers: usize,
    /// Calls: two for each description, one in each order.
    pub calls: u64,
    /// Descriptions on which the model said yes in one order and no in the other.
    pub disagreed: usize,
    /// The cost.
    pub usd: Usd,
}

/// The best voice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Best {
    /// The voice.
    pub voice: String,
    /// Whether it was chosen by this evaluation's own answers.
    pub in_hindsight: bool,
}

/// The reason why an evaluation did not finish.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    /// The budget is used up.
    Budget,
    /// A person stopped it.
    User,
}

/// How far an evaluation is.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Progress {
    /// Discussions that are over.
    pub done: usize,
    /// All discussions.
    pub all: usize,
    /// How many of them an earlier process had finished.
    pub found: usize,
    /// The amount spent, in USD.
    pub usd: f64,
}

/// Watches an evaluation.
pub trait Watch: Sync {
    /// Called whenever a discussion is over.
    fn report(&self, progress: &Progress);

    /// Whether nothing more should be started.
    fn is_stopped(&self) -> bool;
}

impl Evaluation {
    /// Plans it: calls and cost of every protocol. Asks no model and records nothing.
    pub async fn plan(&self, scope: &Scope) -> Result<Planned, Error> {
        plan::planned(self, scope).await
    }

    /// Runs it to the end, or as far as the budget goes.
    pub async fn run(&self, scope: &Scope, watch: &dyn Watch) -> Result<Answers, Error> {
        let budget = Budget::of(self, scope).await?;
        let mut all = Answers { posed: self.posed(), ..Answers::default() };
        let bases = self.bases(&all.posed);
        let held_later = self.protocols.iter().filter(|it| it.way.needs_discussion()).count();
        let mut progress = Progress { all: bases.len() * (1 + held_later), ..Progress::default() };
        let run = Running { evaluation: self, scope, watch, budget: &budget };
        let mut grader = Grader::default();
        // With a budget, some questions are finished before others are begun: first answers alone
        // would be of no use. Without one, the best voice is known by all first answers.
        let at_once = if budget.is_limited() { IN_A_PART } else { bases.len().max(1) };
        for part in bases.chunks(at_once) {
            progress.all -= part.len() * held_later;
            run.part(part.to_vec(), &mut grader, (&mut all, &mut progress)).await?;
        }
        all.rows.sort_by_key(|it| (it.question, it.repeat, it.protocol));
        all.spent_usd = budget.spent();
        all.stopped = budget.stopped().or_else(|| watch.is_stopped().then_some(Stopped::User));
        Ok(all)
    }

    /// Records the right answers beside the discussions that have the first answers, so that later
    /// discussions can weigh voices by them. Called when everything is graded: no protocol may
    /// learn from the questions it is tested with.
    pub async fn record_outcomes(&self, scope: &Scope, all: &Answers) -> Result<usize, Error> {
        let mut recorded = 0;
        for first in &all.firsts {
            let posed = &all.posed[first.question];
            let Key::Choice(right) = posed.key else { continue };
            let discussion = scope.discussion(first.discussion).await?;
            if discussion.outcomes().await?.is_empty() {
                discussion.resolve(&posed.letters[right], Some("eval")).await?;
                recorded += 1;
            }
        }
        Ok(recorded)
    }

    fn posed(&self) -> Vec<Posed> {
        self.questions.iter().map(|it| it.posed(self.seed)).collect()
    }

    /// The best voice: of earlier outcomes, else of this evaluation's own first answers.
    fn best(&self, firsts: &[FirstAnswers]) -> Option<Best> {
        if let Some(voice) = &self.known_best {
            return Some(Best { voice: voice.clone(), in_hindsight: false });
        }
        let mut right: Vec<(String, f64, usize)> = Vec::new();
        for first in firsts.iter().flat_map(|it| &it.answers) {
            let score = first.mark.score();
            match right.iter_mut().find(|it| it.0 == first.voice) {
                Some(known) => (known.1, known.2) = (known.1 + score, known.2 + 1),
                None => right.push((first.voice.clone(), score, 1)),
            }
        }
        let share = |it: &(String, f64, usize)| it.1 / it.2.max(1) as f64;
        // The first of those that are equally good.
        let best = right.iter().rev().max_by(|one, other| share(one).total_cmp(&share(other)))?;
        Some(Best { voice: best.0.clone(), in_hindsight: true })
    }
}

/// An evaluation that is running.
pub(super) struct Running<'r> {
    pub(super) evaluation: &'r Evaluation,
    pub(super) scope: &'r Scope,
    watch: &'r dyn Watch,
    pub(super) budget: &'r Budget,
}

impl Running<'_> {
    /// Asks for these first answers, holds the discussions of all protocols on them, and grades.
    async fn part(
        &self,
        bases: Vec<Job>,
        grader: &mut Grader,
        (all, progress): (&mut Answers, &mut Progress),
    ) -> Result<(), Error> {
        let based = self.all(bases, progress).await?;
        all.firsts.extend(based.iter().filter_map(|it| firsts(&all.posed, it)));
        grader.firsts(self, all).await?;
        all.best = all.best.take().or_else(|| self.evaluation.best(&all.firsts));
        let jobs = self.evaluation.jobs(all, &based);
        progress.all += jobs.len();
        let held = self.all(jobs, progress).await?;
        let from = all.rows.len();
        for ran in based.iter().chain(&held) {
            all.failed.extend(ran.failure());
            let row = row(self.evaluation, all, ran, &based);
            all.rows.extend(row);
            all.calls += ran.calls();
        }
        let asked = based.iter().map(|it| it.job.question).collect();
        let derived = derived(self.evaluation, all, &asked, from);
        all.rows.extend(derived);
        grader.rows(self, all).await
    }

    /// Holds these discussions, several at once, and returns those that took place.
    async fn all(&self, jobs: Vec<Job>, progress: &mut Progress) -> Result<Vec<Ran>, Error> {
        let mut holding = stream::iter(jobs).map(|job| self.run_discussion(job)).buffer_unordered(AT_ONCE);
        let mut ran = Vec::new();
        while let Some(held) = holding.next().await {
            if let DiscussionRun::Took(it) = held? {
                progress.found += usize::from(it.was_found);
                ran.push(*it);
            }
            progress.done += 1;
            progress.usd = self.budget.spent();
            self.watch.report(progress);
        }
        // The order of arrival is chance.
        ran.sort_by_key(|it| (it.job.question, it.job.repeat, it.job.protocol));
        Ok(ran)
    }

    /// Whether a person has stopped it.
    pub(super) fn is_stopped(&self) -> bool {
        self.watch.is_stopped()
    }

    async fn run_discussion(&self, job: Job) -> Result<DiscussionRun, Error> {
        if self.is_stopped() {
            return Ok(DiscussionRun::NotStarted);
        }
        hold::run_discussion(self, job).await
    }
}
