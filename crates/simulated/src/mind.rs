//! What a voice thinks when it is asked: the answer it holds, where it comes from, and what it would say for it.

use std::cell::RefCell;

use quorum_core::call::Call;

use super::{
    Simulated,
    bank::{Bank, Lens, fill},
    chance::Chance,
    table::{Heard, Table, position},
    topic::{Answer, Question},
};

/// So many different views there are at a table at first; more would only be a list.
const VIEWS: usize = 3;

/// One voice at one step.
pub(super) struct Mind<'a> {
    pub(super) call: &'a Call,
    pub(super) bank: &'static Bank,
    pub(super) question: Question,
    pub(super) table: Table<'a>,
    /// How rarely it gives in, 0 to 1.
    pub(super) stubbornness: f64,
    /// What its provider is good at, for a seat that has no strengths of its own.
    strengths: &'static [String],
    /// The answer it holds.
    pub(super) holds: usize,
    /// The answer it gave up just now, if it did.
    pub(super) gave_up: Option<usize>,
    /// The same for everyone at this table.
    shared: Chance,
    /// The voice's own, the same in every step.
    lasting: Chance,
    /// The voice's own, for this step.
    passing: Chance,
    /// How often each list of sentences was used in this step, so that none is said twice.
    used: RefCell<Vec<(*const String, usize)>>,
}

impl<'a> Mind<'a> {
    pub(super) fn of(call: &'a Call, provider: &Simulated) -> Mind<'a> {
        let simulation = &provider.simulation;
        let shared = Chance::seeded(simulation.seed).of(&call.spec.topic);
        let lasting = shared.of(&call.participant.name);
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
            passing: lasting.of(call.step.as_str()),
            used: RefCell::default(),
        };
        mind.holds = mind.earlier().unwrap_or_else(|| mind.first_thought());
        mind.reconsider();
        mind
    }

    /// The position it holds.
    pub(super) fn position(&self) -> &str {
        &self.question.answers[self.holds].position
    }

    /// Whether it may change its mind at all.
    pub(super) fn is_bound(&self) -> bool {
        self.question.bound(&self.call.participant).is_some()
    }

    /// A draw for this purpose in this step.
    pub(super) fn chance(&self, what: &str) -> Chance {
        self.passing.of(what)
    }

    /// A draw for this purpose that is the same in every step.
    pub(super) fn conviction(&self, what: &str) -> Chance {
        self.lasting.of(what)
    }

    /// One of these sentences, with its places filled.
    pub(super) fn say(&self, sentences: &'static [String], with: &[(&str, &str)]) -> String {
        let Some(head) = sentences.first() else { return String::new() };
        let draw = self.shared.of(&self.call.round.to_string()).of(head).below(sentences.len());
        let at = draw + self.seat() + self.uses(sentences.as_ptr());
        self.fill(&sentences[at % sentences.len()], with)
    }

    /// How often this list was used before, in this step.
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

    /// The sentence with its places filled: what is given, and what every sentence may need.
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

    /// What speaks for its answer and was not said before; when all of it was said, what follows from it.
    pub(super) fn argument(&self) -> String {
        let because = &self.question.answers[self.holds].because;
        let critique = &self.bank.critique;
        let after = if self.question.practical { &critique.plan } else { &critique.inquiry };
        let after: Vec<&str> = after.iter().map(String::as_str).collect();
        let mut news = self.news("reason", because);
        news.extend(self.news("after", &after));
        let at = self.rank().min(news.len().saturating_sub(1));
        news.into_iter().nth(at).unwrap_or_else(|| self.again(because))
    }

    /// What it looks at by its strengths, and nobody looked at before as long as there is something new.
    pub(super) fn observation(&self) -> String {
        let lenses = self.lenses();
        let lens = lenses[self.table.own.len() % lenses.len()];
        let words: Vec<&str> = lens.words.iter().map(String::as_str).collect();
        self.news("lens", &words).into_iter().next().unwrap_or_else(|| self.again(&words))
    }

    /// Those of these that nobody has said. Before anyone has spoken each seat begins elsewhere.
    fn news(&self, what: &str, sentences: &[&str]) -> Vec<String> {
        let Some(head) = sentences.first() else { return Vec::new() };
        let seat = if self.table.others.is_empty() { self.seat() } else { 0 };
        let first = self.shared.of(what).of(head).below(sentences.len()) + seat;
        let order = sentences.iter().cycle().skip(first % sentences.len()).take(sentences.len());
        let said = |it: &String| self.said().any(|text| text.contains(it.as_str()));
        order.map(|it| self.fill(it, &[])).filter(|it| !said(it)).collect()
    }

    /// How many with the same answer are speaking now as well and may take a reason before it.
    fn rank(&self) -> usize {
        let speaks_now = |it: &&Heard<'a>| it.round < self.call.round;
        let before = |it: &&Heard<'a>| self.gave_up.is_some() || self.seat_of(it.name) < self.seat();
        self.holders(self.holds).filter(speaks_now).filter(before).count()
    }

    /// When all of these were said: another one than the last time.
    fn again(&self, sentences: &[&str]) -> String {
        let at = self.seat() + self.table.own.len();
        sentences.get(at % sentences.len().max(1)).map(|it| self.fill(it, &[])).unwrap_or_default()
    }

    /// Everything said so far, by anyone.
    fn said(&self) -> impl Iterator<Item = &str> {
        let others = self.table.others.iter().flat_map(|it| &it.said);
        self.table.own.iter().chain(others).copied()
    }

    /// Its place at the table.
    fn seat(&self) -> usize {
        self.seat_of(&self.call.participant.name)
    }

    fn seat_of(&self, name: &str) -> usize {
        self.call.spec.participants.iter().position(|it| it.name == name).unwrap_or_default()
    }

    /// How sure it is, 0 to 1, in hundredths: surer in company, and surer the more stubborn it is.
    pub(super) fn confidence(&self) -> f64 {
        let others = self.table.others.len().max(1) as f64;
        let company = self.holders(self.holds).count() as f64 / others;
        let doubt = if self.gave_up.is_some() { 0.08 } else { 0.0 };
        let mood = self.chance("confidence").share();
        let sure = 0.55 + 0.2 * mood + 0.12 * company + 0.08 * self.stubbornness - doubt;
        (sure.clamp(0.05, 0.97) * 100.0).round() / 100.0
    }

    /// The others who hold this answer.
    pub(super) fn holders(&self, answer: usize) -> impl Iterator<Item = &Heard<'a>> {
        let holds = move |heard: &&Heard<'a>| self.held_by(heard) == Some(answer);
        self.table.others.iter().filter(holds)
    }

    /// The answer this one holds, as far as it said so.
    pub(super) fn held_by(&self, heard: &Heard<'_>) -> Option<usize> {
        self.question.answer(&heard.position()?)
    }

    /// Which of two answers everyone here would find the stronger one, all else being equal.
    pub(super) fn strength(&self, answer: usize) -> f64 {
        if answer == self.weighing() {
            return 0.0;
        }
        self.shared.of("strength").of(&self.question.answers[answer].position).share()
    }

    /// The answer it argues against: the one most of the others hold.
    fn rival(&self) -> &str {
        let (holds, answers) = (self.holds, &self.question.answers);
        let rivals = (0..answers.len()).filter(|at| *at != holds && *at != self.weighing());
        let heavier = |one: &usize, other: &usize| self.weight(*one).total_cmp(&self.weight(*other));
        rivals.max_by(heavier).map_or("", |at| answers[at].position.as_str())
    }

    /// The answer that is no alternative, in a debate; else one that does not exist.
    fn weighing(&self) -> usize {
        let weigh = &self.bank.sides.weigh.position;
        self.question.answers.iter().position(|it: &Answer| it.position == *weigh).unwrap_or(usize::MAX)
    }

    /// How much stands behind an answer: heads, and among equals its strength.
    fn weight(&self, answer: usize) -> f64 {
        self.holders(answer).count() as f64 + self.strength(answer)
    }

    /// What it said before.
    fn earlier(&self) -> Option<usize> {
        let stated = self.table.own.iter().rev().find_map(|text| position(text))?;
        self.question.answer(&stated)
    }

    /// What it thinks before it heard anyone. The first two seats never think the same, so that there is something to discuss.
    fn first_thought(&self) -> usize {
        let who = &self.call.participant;
        let count = self.question.answers.len();
        let first = self.shared.of("first").below(count);
        match (self.question.bound(who), self.seat()) {
            (Some(bound), _) => bound,
            (None, seat @ 0..=1) => (first + seat) % count,
            (None, _) => (first + self.lasting.of("first").below(VIEWS)) % count,
        }
    }

    /// Changes its mind, if it has spoken before and more weight is on another side. In a tie all move towards the
    /// same answer, so two voices never just swap theirs.
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
        if self.chance("reconsider").share() < gives_in {
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
            let first = self.lasting.of("lenses").below(self.bank.lens.len());
            lenses.extend(self.bank.lens.iter().cycle().skip(first).take(2));
        }
        lenses
    }
}
