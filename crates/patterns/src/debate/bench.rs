//! The bench: who judges, what is asked behind the mask, and what becomes of the seat when a judge fails (D06, D13).

use std::sync::Arc;

use quorum_core::{
    floor::{Floor, halt::Halt, notes::Note},
    model::{mask::Mask, participant::Participant, spec::Spec},
    vocabulary::{
        option::Named,
        ruling::{RulingChoice, RulingKind},
    },
};

use crate::{
    debate::{
        Assessment, DebateSpec, JudgeChange, JudgeFailure, Part,
        assessment_reader::Assessments,
        course::DebateCourse,
        judging::{JUDGE_CHANGE, ORDER, SWAPPED, VERDICT_ORDER},
        verdict_reader::Verdicts,
    },
    prompts::debating::{self, Bar},
    ranking,
    roles::{self, JUDGE},
};

/// What people may decide when the judge has failed.
pub(crate) const RULING: RulingKind = RulingKind {
    name: "judge",
    summary: "Say what becomes of the seat of a judge that failed",
    choices: &[
        RulingChoice {
            name: "swap",
            summary: "The participant named judges from now on",
            takes_candidate: true,
        },
        RulingChoice {
            name: "go-without",
            summary: "The debate goes on without a judge",
            takes_candidate: false,
        },
        RulingChoice { name: "end", summary: "The debate is concluded", takes_candidate: false },
    ],
};

/// Who judges, if anyone still does.
pub(crate) struct Bench {
    spec: Arc<Spec>,
    order: DebateSpec,
    parts: Vec<Part>,
    judge: Option<Participant>,
    /// What was ordered when the last judge was lost.
    rule: Option<JudgeFailure>,
}

impl Bench {
    pub(crate) fn of(spec: &Arc<Spec>, parts: Vec<Part>) -> Self {
        let judge = spec.playing(&JUDGE).into_iter().next();
        Bench { order: DebateSpec::of(spec), spec: spec.clone(), parts, judge, rule: None }
    }

    /// Whether the judge is lost and the debate is to end with that.
    pub(crate) fn ends_it(&self) -> bool {
        self.rule == Some(JudgeFailure::End)
    }

    /// The assessment of the latest round, by whoever judges; `None` when nobody does, or none that counts could be had.
    pub(crate) async fn assess(
        &mut self,
        floor: &mut Floor,
        course: &DebateCourse,
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
        course: &DebateCourse,
    ) -> Result<Option<Assessment>, Halt> {
        let order = floor.draw_order(judge, ORDER, roles::debaters(&self.spec).len());
        let first = self.assessment_in(floor, judge, course, Seen::Drawn(&order)).await?;
        let (true, Some(first)) = (self.checks(judge), &first) else { return Ok(first) };
        let swapped = self.assessment_in(floor, judge, course, Seen::Swapped(&order)).await?;
        Ok(swapped.and_then(|swapped| first.confirmed_by(&swapped)))
    }

    async fn assessment_in(
        &self,
        floor: &mut Floor,
        judge: &Participant,
        course: &DebateCourse,
        seen: Seen<'_>,
    ) -> Result<Option<Assessment>, Halt> {
        let round = floor.round();
        let judged: Vec<String> = course.speakers(round).map(str::to_owned).collect();
        let noticed = course.noticed(floor.registry().detectors());
        let mask = self.mask(seen);
        let ask = debating::assessment(&self.bar(judge, &mask), &judged, &noticed, round);
        let ask = match seen {
            Seen::Drawn(_) => ask,
            Seen::Swapped(_) => ask.purpose(SWAPPED),
        };
        let read = floor.ask_for(judge, ask, &Assessments::of(judged, &mask)).await?;
        Ok(read.map(|it| it.value))
    }

    async fn verdict_by(&self, floor: &mut Floor, judge: &Participant) -> Result<(), Halt> {
        let debaters = roles::debaters(&self.spec);
        let order = floor.draw_order(judge, VERDICT_ORDER, debaters.len());
        for (seen, purpose) in [(Seen::Drawn(&order), "verdict"), (Seen::Swapped(&order), "verdict/swapped")]
        {
            let mask = self.mask(seen);
            let ask = debating::verdict(&self.bar(judge, &mask)).purpose(purpose);
            let read = floor.ask_for(judge, ask, &Verdicts::on(&debaters, &mask)).await?;
            if read.is_none() || !self.checks(judge) {
                break;
            }
        }
        Ok(())
    }

    /// Whether this one judges in both orders; people see names, and are asked once.
    fn checks(&self, judge: &Participant) -> bool {
        self.order.swap_check && !judge.is_person()
    }

    fn bar<'a>(&'a self, judge: &'a Participant, mask: &'a Arc<Mask>) -> Bar<'a> {
        Bar { spec: &self.spec, parts: &self.parts, judge, mask }
    }

    fn mask(&self, seen: Seen<'_>) -> Arc<Mask> {
        Arc::new(masked(&self.spec, &seen.places()))
    }

    /// Puts another on the bench, or nobody, as ordered; where people are to say so, waits for their word.
    async fn replace(&mut self, floor: &mut Floor, lost: &Participant) -> Result<(), Halt> {
        let able = self.able(floor);
        let (rule, to) = match self.order.judge_failure {
            JudgeFailure::Ask => {
                let ruling = floor.ruling(&RULING, lost, &able).await?.ruling;
                (JudgeFailure::named(&ruling.choice).unwrap_or_default(), ruling.candidate)
            }
            rule @ (JudgeFailure::Swap | JudgeFailure::GoWithout | JudgeFailure::End) => {
                (rule, able.first().filter(|_| rule == JudgeFailure::Swap).map(|it| it.name.clone()))
            }
        };
        let change = JudgeChange { round: floor.round(), from: lost.name.clone(), to, rule };
        let told = Some(match &change.to {
            Some(to) => format!("{to} judges in place of {}", lost.name),
            None => format!("{} judges no more", lost.name),
        });
        let round = floor.round();
        floor.note(Note { kind: JUDGE_CHANGE, key: &lost.name, round, value: &change, told })?;
        self.judge = change.to.and_then(|name| self.spec.seat(&name).cloned());
        self.rule = Some(change.rule);
        Ok(())
    }

    /// Who could judge: first those present who take no side, then the debaters, the strongest first; they do not see which
    /// speeches are their own.
    fn able(&self, floor: &Floor) -> Vec<Participant> {
        let debaters = roles::debaters(&self.spec);
        let present = floor.present(&self.spec.participants);
        let (sided, mut free): (Vec<Participant>, Vec<Participant>) =
            present.into_iter().partition(|it| debaters.contains(it));
        free.extend(ranking::strongest_first(sided, &self.spec.topic));
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

/// The mask before the judge: the debaters in these places under labels in this order, then those who
/// speak and take no side, then those who judge.
fn masked(spec: &Spec, places: &[usize]) -> Mask {
    let debaters = roles::debaters(spec);
    let shown = places.iter().filter_map(|place| debaters.get(*place));
    let mut labels: Vec<(&Participant, String)> =
        shown.zip('A'..).map(|(who, letter)| (who, format!("Debater {letter}"))).collect();
    let others = spec.participants.iter().filter(|it| !debaters.contains(it));
    let (judges, others): (Vec<&Participant>, Vec<&Participant>) = others.partition(|it| it.role == JUDGE);
    labels.extend(others.into_iter().zip('A'..).map(|(who, letter)| (who, format!("Guest {letter}"))));
    labels.extend(judges.into_iter().map(|who| (who, "the judge".to_owned())));
    Mask::new(&labels.iter().map(|it| (it.0, it.1.as_str())).collect::<Vec<_>>())
}

fn is_present(floor: &Floor, who: &Participant) -> bool {
    !floor.present(std::slice::from_ref(who)).is_empty()
}
