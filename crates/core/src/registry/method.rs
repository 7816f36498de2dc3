//! What a consensus method is.

use futures::future::BoxFuture;

use crate::{
    floor::{Floor, halt::Halt},
    model::{error::Refusal, outcome::Decision, spec::Spec},
    registry::Options,
    vocabulary::{form::Form, result::ResultField},
};

/// A way to turn what was said into one decision.
#[derive(Clone, Copy)]
pub struct Consensus {
    /// What users call it.
    pub name: &'static str,
    /// One line for help, schemas and docs.
    pub summary: &'static str,
    /// The options it reads.
    pub options: Options,
    /// The structured replies it asks for.
    pub forms: &'static [&'static Form],
    /// The fields it adds to the result.
    pub results: &'static [ResultField],
    /// What is missing in the spec for this method.
    pub check: fn(&Spec) -> Vec<Refusal>,
    /// How many calls it makes at most when nothing fails; that many are kept back from the budget
    /// while the talk goes on.
    pub calls: fn(&Spec) -> u32,
    /// Decides.
    pub decide: for<'f> fn(&'f mut Floor) -> BoxFuture<'f, Result<Decision, Halt>>,
}

impl Consensus {
    /// A method that declares nothing of its own; a base for `..Consensus::PLAIN`.
    pub const PLAIN: Consensus = Consensus {
        name: "",
        summary: "",
        options: &[],
        forms: &[],
        results: &[],
        check: |_| Vec::new(),
        calls: |_| 1,
        decide: |_| Box::pin(async { Ok(Decision::default()) }),
    };
}
