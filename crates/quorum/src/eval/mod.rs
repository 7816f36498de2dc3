//! Evaluations: questions with known answers are put to several protocols, and their answers
//! graded and compared.
//!
//! Files are read by [`formats`], answers graded by [`grade`], differences weighed by
//! [`statistics`], and [`report`] says what came out: pure functions. [`run`] puts the questions to
//! the engine.

pub mod formats;
pub mod grade;
mod lots;
mod protocol;
mod question;
pub mod report;
pub mod run;
pub mod statistics;

pub use lots::Lots;
pub use protocol::{Protocol, Way, protocols};
pub use question::{Posed, Question};
pub use report::Report;
pub use run::{Answers, Evaluation, Planned, Progress, Watch};

/// The letter of the option at this place.
#[must_use]
pub fn letter_of(place: usize) -> char {
    char::from(b'A' + u8::try_from(place.min(25)).unwrap_or_default())
}

/// A digest of a file, by which a changed file is noticed.
#[must_use]
pub fn digest(bytes: &[u8]) -> String {
    uuid::Uuid::new_v5(&uuid::Uuid::NAMESPACE_OID, bytes).to_string()
}
