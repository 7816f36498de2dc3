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
        Assessment, DebateSpec, JudgeChange, JudgeFailure, JudgeLoss, Part,
        assessment_reader::Assessments,
        course::DebateCourse,
        judging::{JUDGE_CHANGE, ORDER, SWAPPED, VERDICT_ORDER},
        median,
        rubric::Rubric,
        sides::who_could_answer,
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

/// The participants that judge.
pub(crate) struct Bench {
    spec: Arc<Spec>,
    options: DebateSpec,
    parts: Vec<Part>,
    rubric: Rubric,
    judges: Vec<Participant>,
    /// The marks so far.
    marks: Vec<OwnMarks>,
    /// The names of judges that failed; they don't judge again.
    lost: Vec<String>,
    /// The rule that was applied when the last judge failed.
    rule: Option<JudgeFailure>,
}

/// One judge's marks for one round.
struct OwnMarks {
    round: u32,
    judge: String,
    assessment: Assessment,
}

impl Bench {
    pub(crate) fn of(spec: &Arc<Spec>, parts: Vec<Part>) -> Self {
        let judges = spec.playing(&JUDGE);
        let options = DebateSpec::of(spec);
        let rubric = Rubric::of(&options.evaluation_criteria);
        let (spec, marks, lost) = (spec.clone(), Vec::new(), Vec::new());
        Bench { options, spec, parts, rubric, judges, marks, lost, rule: None }
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
        let mut found: Vec<(String, Assessment)> = Vec::new();
        loop {
            let due = self.due(&found);
            if due.is_empty() {
                break;
            }
            found.extend(self.assessments_by(floor, &due, course).await?);
            let what = format!("its assessment of round {}", floor.round());
            self.lose_silent(floor, &due, &found, &what).await?;
        }
        let all: Vec<(&str, &Assessment)> = found.iter().map(|(name, it)| (name.as_str(), it)).collect();
        let combined = median::assessment(&all);
        let round = floor.round();
        self.marks.extend(found.into_iter().map(|(judge, assessment)| OwnMarks { round, judge, assessment }));
        Ok(combined)
    }

    /// Asks for the verdict. Without a judge the debate is concluded all the same.
    pub(crate) async fn verdict(&mut self, floor: &mut Floor) -> Result<(), Halt> {
        let mut given: Vec<(String, ())> = Vec::new();
        loop {
            let due = self.due(&given);
            if due.is_empty() {
                return Ok(());
            }
            given.extend(self.verdicts_by(floor, &due).await?.into_iter().map(|name| (name, ())));
            self.lose_silent(floor, &due, &given, "its verdict").await?;
        }
    }

    /// The verdict on a debate that ended early. A person is not waited for then.
    pub(crate) async fn last_word(&mut self, floor: &mut Floor) -> Result<(), Halt> {
        self.judges.retain(|it| !it.is_person());
        self.verdict(floor).await
    }

    /// The judges that have not answered yet.
    fn due<T>(&self, answered: &[(String, T)]) -> Vec<Participant> {
        let is_due = |it: &&Participant| !answered.iter().any(|(name, _)| *name == it.name);
        self.judges.iter().filter(is_due).cloned().collect()
    }

    /// The assessment by each of these judges that could be read in every order asked for.
    async fn assessments_by(
        &self,
        floor: &mut Floor,
        judges: &[Participant],
        course: &DebateCourse,
    ) -> Result<Vec<(String, Assessment)>, Halt> {
        let count = roles::judged(&self.spec).len();
        let orders: Vec<Vec<usize>> = judges.iter().map(|it| floor.draw_order(it, ORDER, count)).collect();
        let seats: Vec<(&Participant, ViewOrder<'_>)> =
            judges.iter().zip(&orders).map(|(who, order)| (who, ViewOrder::Drawn(order))).collect();
        let first = self.assessments_in(floor, &seats, course).await?;
        let again = seats.iter().filter(|(who, _)| self.judges_twice(who) && is_named(&first, who));
        let again: Vec<_> = again.map(|(who, order)| (*who, order.swapped())).collect();
        let second = self.assessments_in(floor, &again, course).await?;
        let both = first.into_iter().filter_map(|(name, first)| {
            if !again.iter().any(|(who, _)| who.name == name) {
                return Some((name, first));
            }
            let swapped = second.iter().find(|it| it.0 == name)?;
            let both = first.in_both_orders(&swapped.1);
            Some((name, both))
        });
        Ok(both.collect())
    }

    async fn assessments_in(
        &self,
        floor: &mut Floor,
        seats: &[(&Participant, ViewOrder<'_>)],
        course: &DebateCourse,
    ) -> Result<Vec<(String, Assessment)>, Halt> {
        let round = floor.round();
        let spoke = |name: &String| course.speakers(round).any(|it| it == name);
        let judged = roles::judged(&self.spec).into_iter().map(|it| it.name);
        let judged: Vec<String> = judged.filter(spoke).collect();
        let noticed = course.detections(floor.registry().detectors());
        let heard = who_could_answer(floor);
        let asked = seats.iter().map(|(judge, order)| {
            let purpose = if order.is_swapped() { SWAPPED } else { "judging" };
            let mask = self.mask(floor, judge, *order, purpose);
            let ask = debating::assessment(&self.judge_view(judge, &mask, &heard), &judged, &noticed, round);
            let ask = if order.is_swapped() { ask.purpose(SWAPPED) } else { ask };
            ((*judge).clone(), ask, Assessments::of(judged.clone(), &mask, self.rubric.clone()))
        });
        let asked: Vec<_> = asked.collect();
        let read = floor.ask_each_for(&asked).await?;
        Ok(read.into_iter().map(|it| (it.participant, it.value)).collect())
    }

    /// Those of these judges whose verdict could be read in every order asked for.
    async fn verdicts_by(&self, floor: &mut Floor, judges: &[Participant]) -> Result<Vec<String>, Halt> {
        let count = roles::judged(&self.spec).len();
        let orders: Vec<Vec<usize>> =
            judges.iter().map(|it| floor.draw_order(it, VERDICT_ORDER, count)).collect();
        let seats: Vec<(&Participant, ViewOrder<'_>)> =
            judges.iter().zip(&orders).map(|(who, order)| (who, ViewOrder::Drawn(order))).collect();
        let mut given = self.verdicts_in(floor, &seats).await?;
        let again = seats.iter().filter(|(who, _)| self.judges_twice(who) && given.contains(&who.name));
        let again: Vec<_> = again.map(|(who, order)| (*who, order.swapped())).collect();
        let second = self.verdicts_in(floor, &again).await?;
        given.retain(|name| second.contains(name) || !again.iter().any(|(who, _)| who.name == *name));
        Ok(given)
    }

    async fn verdicts_in(
        &self,
        floor: &mut Floor,
        seats: &[(&Participant, ViewOrder<'_>)],
    ) -> Result<Vec<String>, Halt> {
        let (judged, heard) = (roles::judged(&self.spec), who_could_answer(floor));
        let asked = seats.iter().map(|(judge, order)| {
            let purpose = if order.is_swapped() { "verdict/swapped" } else { "verdict" };
            let mask = self.mask(floor, judge, *order, purpose);
            let own = self.marks.iter().filter(|it| it.judge == judge.name);
            let own: Vec<(u32, &Assessment)> = own.map(|it| (it.round, &it.assessment)).collect();
            let ask = debating::verdict(&self.judge_view(judge, &mask, &heard), &own).purpose(purpose);
            ((*judge).clone(), ask, Verdicts::on(&judged, &mask))
        });
        let asked: Vec<_> = asked.collect();
        let read = floor.ask_each_for(&asked).await?;
        Ok(read.into_iter().map(|it| it.participant).collect())
    }

    /// Whether this participant judges in both orders. A person sees names and is asked only once.
    fn judges_twice(&self, judge: &Participant) -> bool {
        self.options.swap_check && !judge.is_person()
    }

    fn judge_view<'a>(
        &'a self,
        judge: &'a Participant,
        mask: &'a Arc<Mask>,
        heard: &'a str,
    ) -> JudgeView<'a> {
        JudgeView { spec: &self.spec, parts: &self.parts, judge, mask, rubric: &self.rubric, heard }
    }

    /// Labels for this judgement alone: the debaters in this order, then everyone else.
    fn mask(&self, floor: &Floor, judge: &Participant, seen: ViewOrder<'_>, purpose: &str) -> Arc<Mask> {
        let judged = roles::judged(&self.spec);
        let shown = seen.places().into_iter().filter_map(|place| judged.get(place).cloned());
        floor.relabelled(judge, purpose, &shown.collect::<Vec<_>>())
    }

    /// Removes the judges that were asked and have not answered: those that failed, and those that
    /// could not be read.
    async fn lose_silent<T>(
        &mut self,
        floor: &mut Floor,
        asked: &[Participant],
        answered: &[(String, T)],
        what: &str,
    ) -> Result<(), Halt> {
        for judge in asked.iter().filter(|it| !is_named(answered, it)) {
            self.judges.retain(|it| it.name != judge.name);
            self.lost.push(judge.name.clone());
            self.replace(floor, judge, what).await?;
        }
        Ok(())
    }

    /// Replaces a failed judge, or leaves the seat empty, as the spec says. Waits for a ruling if
    /// people should decide. While other judges are left, they go on without it.
    async fn replace(&mut self, floor: &mut Floor, lost: &Participant, what: &str) -> Result<(), Halt> {
        let why = if is_present(floor, lost) { JudgeLoss::Unread } else { JudgeLoss::Failed };
        let candidates = self.candidates(floor);
        let (rule, to) = match self.options.judge_failure {
            _ if !self.judges.is_empty() => (JudgeFailure::GoWithout, None),
            JudgeFailure::Ask => {
                let reason = format!("{what} could not be read");
                let ruling = floor.ruling(&RULING, lost, &reason, &candidates).await?.ruling;
                (JudgeFailure::named(&ruling.choice).unwrap_or_default(), ruling.candidate)
            }
            rule @ (JudgeFailure::Swap | JudgeFailure::GoWithout | JudgeFailure::End) => {
                (rule, candidates.first().filter(|_| rule == JudgeFailure::Swap).map(|it| it.name.clone()))
            }
        };
        let change = JudgeChange { round: floor.round(), from: lost.name.clone(), to, rule, why };
        let because = match why {
            JudgeLoss::Failed => "",
            JudgeLoss::Unread => ", whose reply could not be read",
        };
        let told = Some(match &change.to {
            Some(to) => format!("{to} judges in place of {}{because}", lost.name),
            None => format!("{} judges no more{because}", lost.name),
        });
        let round = floor.round();
        floor.note(Note { kind: JUDGE_CHANGE, key: &lost.name, round, value: &change, told })?;
        self.judges.extend(change.to.and_then(|name| self.spec.seat(&name).cloned()));
        self.rule = Some(change.rule).filter(|_| self.judges.is_empty());
        Ok(())
    }

    /// The candidates for the judge's seat: first participants that take no turns, then others that
    /// take no side, then the debaters, strongest first. A debater that judges doesn't see which
    /// speeches are its own.
    fn candidates(&self, floor: &Floor) -> Vec<Participant> {
        let mut present = floor.present(&self.spec.participants);
        present.retain(|it| !self.lost.contains(&it.name));
        let (sided, mut free): (Vec<Participant>, Vec<Participant>) =
            present.into_iter().partition(roles::is_debater);
        free.sort_by_key(|it| (!it.aside, roles::is_judged(it)));
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

impl<'o> ViewOrder<'o> {
    fn swapped(self) -> ViewOrder<'o> {
        let (ViewOrder::Drawn(order) | ViewOrder::Swapped(order)) = self;
        ViewOrder::Swapped(order)
    }

    fn is_swapped(self) -> bool {
        matches!(self, ViewOrder::Swapped(_))
    }

    fn places(self) -> Vec<usize> {
        match self {
            ViewOrder::Drawn(order) => order.to_vec(),
            ViewOrder::Swapped(order) => order.iter().rev().copied().collect(),
        }
    }
}

fn is_named<T>(answered: &[(String, T)], who: &Participant) -> bool {
    answered.iter().any(|(name, _)| *name == who.name)
}

fn is_present(floor: &Floor, who: &Participant) -> bool {
    !floor.present(std::slice::from_ref(who)).is_empty()
}
