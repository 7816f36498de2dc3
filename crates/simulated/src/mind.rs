//! The mind of a voice at one step: the answer it holds, where it comes from, and the arguments for
//! it.

use std::cell::RefCell;

use quorum_core::call::Call;

use super::{
    Simulated,
    bank::{Bank, Lens, fill},
    random::Random,
    table::{Speaker, Table, position},
    topic::{Answer, Question},
};

/// How many different views there are at the start; more would be too many to discuss.
const VIEWS: usize = 3;

/// One voice at one step.
pub(super) struct Mind<'a> {
    pub(super) call: &'a Call,
    pub(super) bank: &'static Bank,
    pub(super) question: Question,
    pub(super) table: Table<'a>,
    /// How rarely it changes its mind, 0 to 1.
    pub(super) stubbornness: f64,
    /// The strengths of its provider, for a seat that has none of its own.
    strengths: &'static [String],
    /// The index of the answer it holds.
    pub(super) holds: usize,
    /// The index of the answer it gave up just now, if it did.
    pub(super) gave_up: Option<usize>,
    /// Random state shared by the whole panel.
    shared: Random,
    /// The voice's own random state, the same in every step.
    lasting: Random,
    /// The voice's own random state for this step.
    passing: Random,
    /// How often each list of sentences was used in this step, so that none is used twice.
    used: RefCell<Vec<(*const String, usize)>>,
}

impl<'a> Mind<'a> {
    pub(super) fn of(call: &'a Call, provider: &Simulated) -> Mind<'a> {
        let simulation = &provider.simulation;
        let shared = Random::seeded(simulation.seed).derive(&call.spec.topic);
        let lasting = shared.derive(&call.participant.name);
        let question = Question::of(&call.spec);
        let mut mind = Mind {
            call,
            bank: question.bank,
            question,
            table: Table::of(call),
            stubbornness: simulation.stubbornness.clamp(0.0, 1.0),
            strengths: provider.strengths,
            holds: 0,
            gave_up: None,
            shared,
            lasting,
            passing: lasting.derive(call.step.as_str()),
            used: RefCell::default(),
        };
        mind.holds = mind.stated_before().unwrap_or_else(|| mind.initial_answer());
        mind.reconsider();
        mind
    }

    /// The position it holds.
    pub(super) fn position(&self) -> &str {
        &self.question.answers[self.holds].position
    }

    /// Whether its role binds it to an answer.
    pub(super) fn is_bound(&self) -> bool {
        self.question.bound(&self.call.participant).is_some()
    }

    /// Random state for this purpose in this step.
    pub(super) fn chance(&self, what: &str) -> Random {
        self.passing.derive(what)
    }

    /// Random state for this purpose that is the same in every step.
    pub(super) fn conviction(&self, what: &str) -> Random {
        self.lasting.derive(what)
    }

    /// One of these sentences, with its placeholders filled.
    pub(super) fn sentence(&self, sentences: &'static [String], with: &[(&str, &str)]) -> String {
        let Some(head) = sentences.first() else { return String::new() };
        let draw = self.shared.derive(&self.call.round.to_string()).derive(head).below(sentences.len());
        let at = draw + self.seat() + self.uses(sentences.as_ptr());
        self.fill(&sentences[at % sentences.len()], with)
    }

    /// How often this list was used before in this step.
    fn uses(&self, list: *const String) -> usize {
        let mut used = self.used.borrow_mut();
        match used.iter_mut().find(|(it, _)| *it == list) {
            Some((_, uses)) => {
                *uses += 1;
                *uses
            }
            None => {
                used.push((list, 0));
                0
            }
        }
    }

    /// The sentence with its placeholders filled from `with` and from common values.
    pub(super) fn fill(&self, sentence: &str, with: &[(&str, &str)]) -> String {
        let rival = self.rival();
        let answer = &self.question.answers[self.holds];
        let always = [
            ("subject", &*self.question.subject),
            ("position", &answer.position),
            ("view", &answer.view),
            ("rival", rival),
        ];
        let all: Vec<(&str, &str)> = with.iter().copied().chain(always).collect();
        fill(sentence, &all)
    }

    /// A new argument for its answer; if all have been given, a new conclusion from it.
    pub(super) fn argument(&self) -> String {
        let because = &self.question.answers[self.holds].because;
        let critique = &self.bank.critique;
        let after = if self.question.practical { &critique.plan } else { &critique.inquiry };
        let after: Vec<&str> = after.iter().map(String::as_str).collect();
        let mut unsaid = self.unsaid("reason", because);
        unsaid.extend(self.unsaid("after", &after));
        let at = self.rank().min(unsaid.len().saturating_sub(1));
        unsaid.into_iter().nth(at).unwrap_or_else(|| self.repeat(because))
    }

    /// An observation in line with its strengths, a new one if there is any.
    pub(super) fn observation(&self) -> String {
        let lenses = self.lenses();
        let lens = lenses[self.table.own.len() % lenses.len()];
        let words: Vec<&str> = lens.words.iter().map(String::as_str).collect();
        self.unsaid("lens", &words).into_iter().next().unwrap_or_else(|| self.repeat(&words))
    }

    /// Those of these sentences that nobody has said yet. Before anyone has spoken, each seat
    /// starts at a different one.
    fn unsaid(&self, what: &str, sentences: &[&str]) -> Vec<String> {
        let Some(head) = sentences.first() else { return Vec::new() };
        let seat = if self.table.others.is_empty() { self.seat() } else { 0 };
        let first = self.shared.derive(what).derive(head).below(sentences.len()) + seat;
        let order = sentences.iter().cycle().skip(first % sentences.len()).take(sentences.len());
        let said = |it: &String| self.said().any(|text| text.contains(it.as_str()));
        order.map(|it| self.fill(it, &[])).filter(|it| !said(it)).collect()
    }

    /// How many other holders of the same answer speak in parallel and may use a reason before it.
    fn rank(&self) -> usize {
        let speaks_now = |it: &&Speaker<'a>| it.round < self.call.round;
        let before = |it: &&Speaker<'a>| self.gave_up.is_some() || self.seat_of(it.seat) < self.seat();
        self.holders(self.holds).filter(speaks_now).filter(before).count()
    }

    /// A repeated sentence when all were said: another one than the last time.
    fn repeat(&self, sentences: &[&str]) -> String {
        let at = self.seat() + self.table.own.len();
        sentences.get(at % sentences.len().max(1)).map(|it| self.fill(it, &[])).unwrap_or_default()
    }

    /// Everything said so far, by anyone.
    fn said(&self) -> impl Iterator<Item = &str> {
        let others = self.table.others.iter().flat_map(|it| &it.said);
        self.table.own.iter().chain(others).copied()
    }

    /// Its own label, or its name if the call shows names.
    pub(super) fn label(&self) -> &str {
        let name = &self.call.participant.name;
        self.call.labels.label(name).unwrap_or(name)
    }

    /// Its seat index.
    fn seat(&self) -> usize {
        self.seat_of(&self.call.participant.name)
    }

    fn seat_of(&self, name: &str) -> usize {
        self.call.spec.participants.iter().position(|it| it.name == name).unwrap_or_default()
    }

    /// Its confidence, 0 to 1, in hundredths: higher if others agree, and higher the more stubborn
    /// it is.
    pub(super) fn confidence(&self) -> f64 {
        let others = self.table.others.len().max(1) as f64;
        let company = self.holders(self.holds).count() as f64 / others;
        let doubt = if self.gave_up.is_some() { 0.08 } else { 0.0 };
        let mood = self.chance("confidence").fraction();
        let sure = 0.55 + 0.2 * mood + 0.12 * company + 0.08 * self.stubbornness - doubt;
        (sure.clamp(0.05, 0.97) * 100.0).round() / 100.0
    }

    /// The others that hold this answer.
    pub(super) fn holders(&self, answer: usize) -> impl Iterator<Item = &Speaker<'a>> {
        let holds = move |speaker: &&Speaker<'a>| self.held_by(speaker) == Some(answer);
        self.table.others.iter().filter(holds)
    }

    /// The answer that this speaker holds, if it stated one.
    pub(super) fn held_by(&self, speaker: &Speaker<'_>) -> Option<usize> {
        self.question.answer(&speaker.position()?)
    }

    /// How convincing an answer is to everyone here, all else being equal.
    pub(super) fn strength(&self, answer: usize) -> f64 {
        if answer == self.weighing() {
            return 0.0;
        }
        self.shared.derive("strength").derive(&self.question.answers[answer].position).fraction()
    }

    /// The answer it argues against: the one that most of the others hold.
    fn rival(&self) -> &str {
        self.rival_of(self.holds)
    }

    /// A reason for this answer, whichever this voice holds.
    pub(super) fn reason_for(&self, place: usize, because: &str) -> String {
        let answer = &self.question.answers[place];
        let own = [("position", &*answer.position), ("view", &answer.view), ("rival", self.rival_of(place))];
        self.fill(because, &own)
    }

    /// The strongest answer beside this one.
    fn rival_of(&self, holds: usize) -> &str {
        let answers = &self.question.answers;
        let rivals = (0..answers.len()).filter(|at| *at != holds && *at != self.weighing());
        let heavier = |one: &usize, other: &usize| self.weight(*one).total_cmp(&self.weight(*other));
        rivals.max_by(heavier).map_or("", |at| answers[at].position.as_str())
    }

    /// In a debate, the index of the neutral answer; otherwise an index that doesn't exist.
    fn weighing(&self) -> usize {
        let weigh = &self.bank.sides.weigh.position;
        self.question.answers.iter().position(|it: &Answer| it.position == *weigh).unwrap_or(usize::MAX)
    }

    /// The weight of an answer: the number of its holders, plus its strength to break ties.
    fn weight(&self, answer: usize) -> f64 {
        self.holders(answer).count() as f64 + self.strength(answer)
    }

    /// The answer it stated before.
    fn stated_before(&self) -> Option<usize> {
        let stated = self.table.own.iter().rev().find_map(|text| position(text))?;
        self.question.answer(&stated)
    }

    /// Its answer before it has heard anyone. The first two seats always differ, so that there is
    /// something to discuss.
    fn initial_answer(&self) -> usize {
        let who = &self.call.participant;
        let count = self.question.answers.len();
        let first = self.shared.derive("first").below(count);
        match (self.question.bound(who), self.seat()) {
            (Some(bound), _) => bound,
            (None, seat @ 0..=1) => (first + seat) % count,
            (None, _) => (first + self.lasting.derive("first").below(VIEWS)) % count,
        }
    }

    /// Changes its mind, if it has spoken before and another answer has more weight. In a tie
    /// everyone moves to the same answer, so two voices never just swap theirs.
    fn reconsider(&mut self) {
        if self.is_bound() || self.table.own.is_empty() || self.table.others.is_empty() {
            return;
        }
        let mine = self.weight(self.holds) + 1.0;
        let held = (0..self.question.answers.len()).filter(|at| self.holders(*at).next().is_some());
        let better = held.filter(|at| *at != self.holds && self.weight(*at) > mine);
        let Some(best) = better.max_by(|one, other| self.weight(*one).total_cmp(&self.weight(*other))) else {
            return;
        };
        let share = self.holders(best).count() as f64 / self.table.others.len() as f64;
        let gives_in = 1.0 - self.stubbornness.powf(0.3 + share);
        if self.chance("reconsider").fraction() < gives_in {
            self.gave_up = Some(self.holds);
            self.holds = best;
        }
    }

    fn lenses(&self) -> Vec<&'static Lens> {
        let who = &self.call.participant;
        let strengths = if who.strengths.is_empty() { self.strengths } else { &who.strengths };
        let mut lenses: Vec<&'static Lens> = Vec::new();
        for strength in strengths {
            let fits = |lens: &&Lens| lens.tags.contains(strength);
            lenses.extend(
                self.bank
                    .lens
                    .iter()
                    .find(fits)
                    .filter(|it| !lenses.iter().any(|had| std::ptr::eq(*had, *it))),
            );
        }
        if lenses.is_empty() {
            let first = self.lasting.derive("lenses").below(self.bank.lens.len());
            lenses.extend(self.bank.lens.iter().cycle().skip(first).take(2));
        }
        lenses
    }
}
