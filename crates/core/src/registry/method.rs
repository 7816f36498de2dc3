//! Consensus methods.

use futures::future::BoxFuture;

use crate::{
    floor::{Floor, halt::Halt},
    model::{
        error::Refusal,
        outcome::{Decision, Traced},
        spec::Spec,
        state::State,
        transcript::Turn,
    },
    registry::Options,
    vocabulary::{form::Form, result::ResultField},
};

/// A way to reach one decision from the talk.
#[derive(Clone, Copy)]
pub struct Consensus {
    /// The name in requests.
    pub name: &'static str,
    /// One line for help, schemas and docs.
    pub summary: &'static str,
    /// The options it reads.
    pub options: Options,
    /// The structured replies it asks for.
    pub forms: &'static [&'static Form],
    /// The fields it adds to the result.
    pub results: &'static [ResultField],
    /// Whether it has the participants vote on the options of a request.
    pub votes: bool,
    /// Checks the spec and says what is missing for this method.
    pub check: fn(&Spec) -> Vec<Refusal>,
    /// Remarks to show before a spec starts: options that have no effect, for instance.
    pub remarks: fn(&Spec) -> Vec<Refusal>,
    /// The maximum number of calls it makes if nothing fails. That many are reserved from the
    /// budget during the talk.
    pub calls: fn(&Spec) -> u32,
    /// The token limit of its longest answer, which is reserved for each of these calls.
    pub longest: fn(&Spec) -> u32,
    /// Whether the text of its form with prose is the decision, so that people may be shown it as
    /// the answer while it is written; not where the text is voted on first.
    pub writes_answer: bool,
    /// Whether it asks something before the talk of this spec.
    pub opens: fn(&Spec) -> bool,
    /// Asks what has to be known before the talk.
    pub open: for<'f> fn(&'f mut Floor) -> BoxFuture<'f, Result<(), Halt>>,
    /// Makes the decision.
    pub decide: for<'f> fn(&'f mut Floor) -> BoxFuture<'f, Result<Decision, Halt>>,
    /// Asks what the result is to be compared with, after the decision. If nothing more can be
    /// asked, the decision stays.
    pub compare: for<'f> fn(&'f mut Floor) -> BoxFuture<'f, Result<(), Halt>>,
    /// Finds out who said what each sentence of a complete decision rests on, from the record
    /// alone. The turns are in the order of the talk, which is the same in every replay.
    pub trace: fn(&State, &[&Turn], &Decision) -> Traced,
    /// Completes a decision, made by the method or by the pattern itself.
    pub finish: for<'f> fn(&'f mut Floor, Decision) -> BoxFuture<'f, Result<Decision, Halt>>,
}

impl Consensus {
    /// A method that declares nothing; a base for `..Consensus::PLAIN`.
    pub const PLAIN: Consensus = Consensus {
        name: "",
        summary: "",
        options: &[],
        forms: &[],
        results: &[],
        votes: false,
        check: |_| Vec::new(),
        remarks: |_| Vec::new(),
        calls: |_| 1,
        longest: |spec| spec.manner.max_tokens,
        writes_answer: false,
        opens: |_| false,
        open: |_| Box::pin(async { Ok(()) }),
        decide: |_| Box::pin(async { Ok(Decision::default()) }),
        compare: |_| Box::pin(async { Ok(()) }),
        trace: |_, _, _| Traced::default(),
        finish: |_, decision| Box::pin(async { Ok(decision) }),
    };
}
