//! A plan is an upper bound: no discussion makes more calls, or takes more tokens, than its plan.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    sync::Arc,
};

use futures::{
    future::BoxFuture,
    stream::{self, BoxStream, StreamExt},
};
use proptest::prelude::*;
use quorum::{
    Error, Plan, Quorum, Request, Scope,
    call::Call,
    model::{
        error::{ErrorClass, ProviderError},
        id::Tenant,
        outcome::Outcome,
        participant::Participant,
        spec::{Simulation, Spec},
    },
    request::Simulate,
    seams::{Chunk, Provider, Voice, Voices},
    voices::{SimulatedVoices, simulated},
};

use crate::{
    in_virtual_time,
    requests::{debating, request},
    scope, trials,
    within::held,
};

/// Rates at which simulated voices fail, give unreadable replies, and digress.
#[derive(Debug, Clone, Copy)]
struct Wild {
    seed: u64,
    fails: u64,
    mumbles: u64,
    /// Whether failures are permanent, so that they are not retried.
    for_good: bool,
}

/// The program's own voices: simulated ones that misbehave.
struct WildVoices(Wild, SimulatedVoices, Option<Simulation>);

impl Voices for WildVoices {
    fn voice(&self, spec: &Spec, who: &Participant) -> Option<Voice> {
        let voice = self.1.voice(&Spec { simulation: self.2.clone(), ..spec.clone() }, who)?;
        let provider = Arc::new(WildProvider(self.0, voice.provider.clone()));
        Some(Voice { provider, ..voice })
    }
}

struct WildProvider(Wild, Arc<dyn Provider>);

impl Provider for WildProvider {
    fn reply(&self, call: Arc<Call>) -> BoxStream<'static, Result<Chunk, ProviderError>> {
        let Wild { seed, fails, mumbles, for_good } = self.0;
        let mut hasher = DefaultHasher::new();
        (seed, call.step.as_str(), call.attempt).hash(&mut hasher);
        let drawn = hasher.finish();
        if drawn % 100 < fails {
            let class = if for_good { ErrorClass::Validation } else { any_class(drawn / 100) };
            let error = ProviderError { retry_after_ms: Some(0), ..ProviderError::new(class, "wild") };
            return stream::iter([Err(error)]).boxed();
        }
        if drawn / 1_000 % 100 < mumbles {
            let end = Chunk::End { finish: quorum::model::transcript::Finish::Stop, usage: None, cost: None };
            return stream::iter([Ok(Chunk::Text("Mumbling.".to_owned())), Ok(end)]).boxed();
        }
        self.1.reply(call)
    }

    fn check<'a>(&'a self, who: &'a Participant) -> BoxFuture<'a, Result<(), ProviderError>> {
        self.1.check(who)
    }
}

fn any_class(drawn: u64) -> ErrorClass {
    ErrorClass::ALL[drawn as usize % ErrorClass::ALL.len()]
}

/// The request as one for real voices, and those voices: its simulated ones, misbehaving.
fn gone_wild(wild: Wild, request: Request) -> Result<(Scope, Request), TestCaseError> {
    let refused = |error: Error| TestCaseError::fail(error.to_string());
    let simulation = scope().check(&request).map_err(refused)?.simulation;
    let voices = Arc::new(WildVoices(wild, simulated(), simulation));
    let quorum = Quorum::builder().voices(voices).assigning_roles().build().map_err(refused)?;
    let request = Request { simulate: None, offline: None, ..request };
    Ok((quorum.scope(Tenant::default(), "ann"), request))
}

fn wild() -> impl Strategy<Value = Wild> {
    (any::<u64>(), 0..95_u64, 0..101_u64).prop_map(|(seed, fails, mumbles)| Wild {
        seed,
        fails,
        mumbles,
        for_good: false,
    })
}

fn planned_and_held(scope: &Scope, request: &Request) -> Result<(Plan, Outcome), String> {
    in_virtual_time(async {
        let told = |error: Error| error.to_string();
        let plan = scope.plan(&scope.check(request).map_err(told)?).await.map_err(told)?;
        Ok((plan, held(scope, request).await?))
    })
}

fn is_bound(plan: &Plan, outcome: &Outcome) -> Result<(), TestCaseError> {
    let taken = &outcome.metadata.cost_summary;
    prop_assert!(taken.total_calls <= plan.most.calls, "{} calls, planned {plan:#?}", taken.total_calls);
    prop_assert!(taken.estimated_cost_usd <= plan.most.cost_usd, "{taken:?}, planned {plan:#?}");
    prop_assert!(plan.usual.calls <= plan.most.calls && plan.usual.tokens <= plan.most.tokens, "{plan:#?}");
    Ok(())
}

/// The maximum number of calls for one question, as planned: one, its retries, one more when it was
/// too long, and one more when the answer was all thinking.
fn attempts() -> u32 {
    3 + ErrorClass::ALL.iter().map(|class| class.retries()).sum::<u32>()
}

proptest! {
    #![proptest_config(trials(10))]

    #[test]
    fn no_discussion_makes_more_calls_than_its_plan_said(request in request()) {
        let (plan, outcome) = planned_and_held(&scope(), &request).map_err(TestCaseError::fail)?;
        is_bound(&plan, &outcome)?;
    }

    #[test]
    fn no_failure_or_unread_reply_exceeds_the_plan(request in request(), wild in wild()) {
        let request = Request { recursive: None, max_depth: None, timeout_strategy: None, max_calls: None, ..request };
        let (scope, request) = gone_wild(wild, request)?;
        let (plan, outcome) = planned_and_held(&scope, &request).map_err(TestCaseError::fail)?;
        is_bound(&plan, &outcome)?;
    }

    #[test]
    fn no_debate_exceeds_its_plan(request in debating(), wild in wild()) {
        let (scope, request) = gone_wild(wild, request)?;
        let (plan, outcome) = planned_and_held(&scope, &request).map_err(TestCaseError::fail)?;
        is_bound(&plan, &outcome)?;
    }

    /// Without retries, so that a question missing from the plan is not covered by their allowance.
    #[test]
    fn no_question_is_missing_from_a_plan(request in prop_oneof![request(), debating()], wild in wild()) {
        let request = Request { recursive: None, max_depth: None, timeout_strategy: None, max_calls: None, ..request };
        let wild = Wild { fails: wild.fails / 3, for_good: true, ..wild };
        let simulate = request.simulate.clone().unwrap_or_default();
        let request = Request { simulate: Some(Simulate { failure: None, latency_ms: Some(0), ..simulate }), ..request };
        let (scope, request) = gone_wild(wild, request)?;
        let (plan, outcome) = planned_and_held(&scope, &request).map_err(TestCaseError::fail)?;
        let taken = outcome.metadata.cost_summary.total_calls;
        prop_assert!(taken * attempts() <= plan.most.calls, "{taken} calls, planned {plan:#?}");
    }

    /// Counts the tokens that simulated voices report. There is no limit per turn, because their
    /// answers could exceed it.
    #[test]
    fn no_discussion_takes_more_tokens_than_its_plan_said(request in request()) {
        let request = Request { max_tokens_per_turn: None, ..request };
        let (plan, outcome) = planned_and_held(&scope(), &request).map_err(TestCaseError::fail)?;
        let taken = outcome.metadata.cost_summary.total_tokens;
        prop_assert!(taken <= plan.most.tokens, "{taken} tokens, planned {plan:#?}");
    }
}
