//! The bench: who judges, what is asked behind the veil, and what becomes of the seat when a judge fails (D06, D13).

use std::sync::Arc;

use quorum_core::{
    floor::{Floor, halt::Halt, veil::Veil},
    model::{
        assessment::Assessment,
        debate::{JudgeChange, JudgeFailure, Part},
        judging::{ORDER, SWAPPED, VERDICT_ORDER},
        participant::{Participant, Role},
        spec::Spec,
    },
};

use crate::{
    assessment::Assessments,
    detect::Course,
    prompts::debating::{self, Bar},
    strength,
    verdict::Verdicts,
};

/// Who judges, if anyone still does.
pub(crate) struct Bench {
    spec: Arc<Spec>,
    parts: Vec<Part>,
    judge: Option<Participant>,
    /// What was ordered when the last judge was lost.
    rule: Option<JudgeFailure>,
}

impl Bench {
    pub(crate) fn of(spec: &Arc<Spec>, parts: Vec<Part>) -> Self {
        let judge = spec.playing(Role::Judge).into_iter().next();
        Bench { spec: spec.clone(), parts, judge, rule: None }
    }

    /// Whether the judge is lost and the debate is to end with that.
    pub(crate) fn ends_it(&self) -> bool {
        self.rule == Some(JudgeFailure::End)
    }

    /// The assessment of the latest round, by whoever judges; `None` when nobody does, or none that counts could be had.
    pub(crate) async fn assess(
        &mut self,
        floor: &mut Floor,
        course: &Course,
    ) -> Result<Option<Assessment>, Halt> {
        while let Some(judge) = self.judge.clone() {
            let found = self.assessment_by(floor, &judge, course).await?;
            if is_present(floor, &judge) {
                return Ok(found);
            }
            self.replace(floor, &judge).await?;
        }
        Ok(None)
    }

    /// The final verdict. Without a judge, or without a verdict that can be read, the debate is concluded all the same.
    pub(crate) async fn verdict(&mut self, floor: &mut Floor) -> Result<(), Halt> {
        while let Some(judge) = self.judge.clone() {
            self.verdict_by(floor, &judge).await?;
            if is_present(floor, &judge) {
                break;
            }
            self.replace(floor, &judge).await?;
        }
        Ok(())
    }

    /// The verdict on a debate that was ended early. Nobody waits for a person then.
    pub(crate) async fn last_word(&mut self, floor: &mut Floor) -> Result<(), Halt> {
        if self.judge.as_ref().is_some_and(Participant::is_person) {
            return Ok(());
        }
        self.verdict(floor).await
    }

    async fn assessment_by(
        &self,
        floor: &mut Floor,
        judge: &Participant,
        course: &Course,
    ) -> Result<Option<Assessment>, Halt> {
        let order = floor.draw_order(judge, ORDER, self.spec.debaters().len());
        let first = self.assessment_in(floor, judge, course, Seen::Drawn(&order)).await?;
        let (true, Some(first)) = (self.checks(judge), &first) else { return Ok(first) };
        let swapped = self.assessment_in(floor, judge, course, Seen::Swapped(&order)).await?;
        Ok(swapped.and_then(|swapped| first.confirmed_by(&swapped)))
    }

    async fn assessment_in(
        &self,
        floor: &mut Floor,
        judge: &Participant,
        course: &Course,
        seen: Seen<'_>,
    ) -> Result<Option<Assessment>, Halt> {
        let round = floor.round();
        let judged: Vec<String> = course.speakers(round).map(str::to_owned).collect();
        let veil = self.veil(seen);
        let ask = debating::assessment(&self.bar(judge, &veil), &judged, &course.noticed(), round);
        let ask = match seen {
            Seen::Drawn(_) => ask,
            Seen::Swapped(_) => ask.purpose(SWAPPED),
        };
        let read = floor.ask_for(judge, ask, &Assessments::of(judged, &veil)).await?;
        Ok(read.map(|it| it.value))
    }

    async fn verdict_by(&self, floor: &mut Floor, judge: &Participant) -> Result<(), Halt> {
        let debaters = self.spec.debaters();
        let order = floor.draw_order(judge, VERDICT_ORDER, debaters.len());
        for (seen, purpose) in [(Seen::Drawn(&order), "verdict"), (Seen::Swapped(&order), "verdict/swapped")]
        {
            let veil = self.veil(seen);
            let ask = debating::verdict(&self.bar(judge, &veil)).purpose(purpose);
            let read = floor.ask_for(judge, ask, &Verdicts::on(&debaters, &veil)).await?;
            if read.is_none() || !self.checks(judge) {
                break;
            }
        }
        Ok(())
    }

    /// Whether this one judges in both orders; people see names, and are asked once.
    fn checks(&self, judge: &Participant) -> bool {
        self.spec.debate.swap_check && !judge.is_person()
    }

    fn bar<'a>(&'a self, judge: &'a Participant, veil: &'a Arc<Veil>) -> Bar<'a> {
        Bar { spec: &self.spec, parts: &self.parts, judge, veil }
    }

    fn veil(&self, seen: Seen<'_>) -> Arc<Veil> {
        Arc::new(Veil::of_debate(&self.spec, &seen.places()))
    }

    /// Puts another on the bench, or nobody, as ordered; where people are to say so, waits for their word.
    async fn replace(&mut self, floor: &mut Floor, lost: &Participant) -> Result<(), Halt> {
        let able = self.able(floor);
        let change = match self.spec.debate.judge_failure {
            JudgeFailure::Ask => floor.ruling(lost, &able).await?,
            rule @ (JudgeFailure::Swap | JudgeFailure::GoWithout | JudgeFailure::End) => {
                let to = able.first().filter(|_| rule == JudgeFailure::Swap).map(|it| it.name.clone());
                let change = JudgeChange { round: floor.round(), from: lost.name.clone(), to, rule };
                floor.note_judge(change.clone());
                change
            }
        };
        self.judge = change.to.and_then(|name| self.spec.seat(&name).cloned());
        self.rule = Some(change.rule);
        Ok(())
    }

    /// Who could judge: first those present who take no side, then the debaters, the strongest first; they do not see which
    /// speeches are their own.
    fn able(&self, floor: &Floor) -> Vec<Participant> {
        let debaters = self.spec.debaters();
        let present = floor.present(&self.spec.participants);
        let (sided, mut free): (Vec<Participant>, Vec<Participant>) =
            present.into_iter().partition(|it| debaters.contains(it));
        free.extend(strength::strongest_first(sided, &self.spec.topic));
        free
    }
}

/// In which order a judge sees the debaters.
#[derive(Clone, Copy)]
enum Seen<'o> {
    /// As it was drawn.
    Drawn(&'o [usize]),
    /// The other way round.
    Swapped(&'o [usize]),
}

impl Seen<'_> {
    fn places(self) -> Vec<usize> {
        match self {
            Seen::Drawn(order) => order.to_vec(),
            Seen::Swapped(order) => order.iter().rev().copied().collect(),
        }
    }
}

fn is_present(floor: &Floor, who: &Participant) -> bool {
    !floor.present(std::slice::from_ref(who)).is_empty()
}
