//! The bench: which participant judges, its masked prompts, and its replacement if it fails (D06,
//! D13).

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
    prompts::debating::{self, JudgeView},
    ranking,
    roles::{self, JUDGE},
};

/// The ruling that people can make after the judge has failed.
pub(crate) const RULING: RulingKind = RulingKind {
    name: "judge",
    summary: "Decide who replaces a judge that failed",
    choices: &[
        RulingChoice {
            name: "swap",
            summary: "The participant named judges from now on",
            takes_candidate: true,
        },
        RulingChoice {
            name: "go-without",
            summary: "The debate continues without a judge",
            takes_candidate: false,
        },
        RulingChoice { name: "end", summary: "The debate is concluded", takes_candidate: false },
    ],
};

/// The participant that judges, if any is left.
pub(crate) struct Bench {
    spec: Arc<Spec>,
    options: DebateSpec,
    parts: Vec<Part>,
    judge: Option<Participant>,
    /// The rule that was applied when the last judge failed.
    rule: Option<JudgeFailure>,
}

impl Bench {
    pub(crate) fn of(spec: &Arc<Spec>, parts: Vec<Part>) -> Self {
        let judge = spec.playing(&JUDGE).into_iter().next();
        Bench { options: DebateSpec::of(spec), spec: spec.clone(), parts, judge, rule: None }
    }

    /// Whether the judge failed and the debate should end because of it.
    pub(crate) fn ends_it(&self) -> bool {
        self.rule == Some(JudgeFailure::End)
    }

    /// The assessment of the latest round; `None` if nobody judges or there is no valid assessment.
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

    /// Asks for the verdict. Without a judge, or without a readable verdict, the debate is
    /// concluded all the same.
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

    /// The verdict on a debate that ended early. A person is not waited for then.
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
        let first = self.assessment_in(floor, judge, course, ViewOrder::Drawn(&order)).await?;
        let (true, Some(first)) = (self.judges_twice(judge), &first) else { return Ok(first) };
        let swapped = self.assessment_in(floor, judge, course, ViewOrder::Swapped(&order)).await?;
        Ok(swapped.and_then(|swapped| first.confirmed_by(&swapped)))
    }

    async fn assessment_in(
        &self,
        floor: &mut Floor,
        judge: &Participant,
        course: &DebateCourse,
        order_seen: ViewOrder<'_>,
    ) -> Result<Option<Assessment>, Halt> {
        let round = floor.round();
        let judged: Vec<String> = course.speakers(round).map(str::to_owned).collect();
        let noticed = course.detections(floor.registry().detectors());
        let mask = self.mask(order_seen);
        let ask = debating::assessment(&self.judge_view(judge, &mask), &judged, &noticed, round);
        let ask = match order_seen {
            ViewOrder::Drawn(_) => ask,
            ViewOrder::Swapped(_) => ask.purpose(SWAPPED),
        };
        let read = floor.ask_for(judge, ask, &Assessments::of(judged, &mask)).await?;
        Ok(read.map(|it| it.value))
    }

    async fn verdict_by(&self, floor: &mut Floor, judge: &Participant) -> Result<(), Halt> {
        let debaters = roles::debaters(&self.spec);
        let order = floor.draw_order(judge, VERDICT_ORDER, debaters.len());
        for (order_seen, purpose) in
            [(ViewOrder::Drawn(&order), "verdict"), (ViewOrder::Swapped(&order), "verdict/swapped")]
        {
            let mask = self.mask(order_seen);
            let ask = debating::verdict(&self.judge_view(judge, &mask)).purpose(purpose);
            let read = floor.ask_for(judge, ask, &Verdicts::on(&debaters, &mask)).await?;
            if read.is_none() || !self.judges_twice(judge) {
                break;
            }
        }
        Ok(())
    }

    /// Whether this participant judges in both orders. A person sees names and is asked only once.
    fn judges_twice(&self, judge: &Participant) -> bool {
        self.options.swap_check && !judge.is_person()
    }

    fn judge_view<'a>(&'a self, judge: &'a Participant, mask: &'a Arc<Mask>) -> JudgeView<'a> {
        JudgeView { spec: &self.spec, parts: &self.parts, judge, mask }
    }

    fn mask(&self, order_seen: ViewOrder<'_>) -> Arc<Mask> {
        Arc::new(masked(&self.spec, &order_seen.places()))
    }

    /// Replaces a failed judge, or leaves the seat empty, as the spec says. Waits for a ruling if
    /// people should decide.
    async fn replace(&mut self, floor: &mut Floor, lost: &Participant) -> Result<(), Halt> {
        let candidates = self.candidates(floor);
        let (rule, to) = match self.options.judge_failure {
            JudgeFailure::Ask => {
                let ruling = floor.ruling(&RULING, lost, &candidates).await?.ruling;
                (JudgeFailure::named(&ruling.choice).unwrap_or_default(), ruling.candidate)
            }
            rule @ (JudgeFailure::Swap | JudgeFailure::GoWithout | JudgeFailure::End) => {
                (rule, candidates.first().filter(|_| rule == JudgeFailure::Swap).map(|it| it.name.clone()))
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

    /// The candidates for the judge's seat: first participants that take no side, then the
    /// debaters, strongest first. A debater that judges doesn't see which speeches are its own.
    fn candidates(&self, floor: &Floor) -> Vec<Participant> {
        let debaters = roles::debaters(&self.spec);
        let present = floor.present(&self.spec.participants);
        let (sided, mut free): (Vec<Participant>, Vec<Participant>) =
            present.into_iter().partition(|it| debaters.contains(it));
        free.extend(ranking::strongest_first(sided, &self.spec.topic));
        free
    }
}

/// The order in which a judge sees the debaters.
#[derive(Clone, Copy)]
enum ViewOrder<'o> {
    /// The drawn order.
    Drawn(&'o [usize]),
    /// The reverse order.
    Swapped(&'o [usize]),
}

impl ViewOrder<'_> {
    fn places(self) -> Vec<usize> {
        match self {
            ViewOrder::Drawn(order) => order.to_vec(),
            ViewOrder::Swapped(order) => order.iter().rev().copied().collect(),
        }
    }
}

/// The judge's mask: the debaters in this order, then other speakers, then judges.
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
