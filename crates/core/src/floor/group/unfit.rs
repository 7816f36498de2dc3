//! Seats that can't be asked because their window has too little room: they fail, or the talk ends,
//! or people decide.

use super::Group;
use crate::{
    floor::{
        halt::Halt,
        seat::{Seat, Stage},
        window::Overflow,
    },
    model::{
        event::{Event, WindUp},
        ruling::{AwaitedChoice, RulingAwaited},
    },
    vocabulary::ruling::WINDOW,
};

impl Group<'_, '_> {
    /// Settles the seats whose window has too little room for what has to be shown.
    pub(super) async fn settle_unfit(&mut self) -> Result<(), Halt> {
        let mut facts = Vec::new();
        for index in self.to_ask() {
            let seat = &mut self.seats[index];
            let (refused, unfit) = (seat.may_shrink(), seat.unfit(self.floor));
            if !refused && unfit.is_none() {
                continue;
            }
            match (self.floor.overflow(seat.name()), unfit) {
                (Overflow::End, _) => {
                    let reason = WindUp::WindowFull { participant: seat.name().to_owned() };
                    return Err(self.floor.wind_up(&self.key, reason).await?);
                }
                (Overflow::Ask, unfit) => {
                    let message = unfit.map(|it| it.error.message);
                    return Err(self.ask_people(index, message));
                }
                (Overflow::Shrink | Overflow::SumUp, Some(failed)) => {
                    facts.push((Some(seat.step().clone()), seat.gave_up(&failed, self.floor.moment())));
                    seat.stage = Stage::Settled(None);
                }
                (Overflow::Shrink | Overflow::SumUp, None) => {}
            }
        }
        Ok(self.floor.record.append(facts).await?)
    }

    /// Leaves until people have decided how this seat is to be asked.
    fn ask_people(&mut self, index: usize, unfit: Option<String>) -> Halt {
        let seat: &Seat = &self.seats[index];
        let refused = || "its provider refused a request as too long for its context window".to_owned();
        let answers = seat.step().purpose(WINDOW.name);
        let awaited = RulingAwaited {
            kind: WINDOW.name.to_owned(),
            about: seat.name().to_owned(),
            answers: answers.clone(),
            round: self.floor.now.round,
            reason: unfit.unwrap_or_else(refused),
            choices: WINDOW.choices.iter().map(AwaitedChoice::from).collect(),
            candidates: Vec::new(),
        };
        self.floor.record.once(answers.purpose("awaited"), Event::RulingAwaited(awaited));
        Halt::awaiting()
    }
}
