//! Table tests of the outcomes: a seat and its news on one side, the facts and the next action on
//! the other.

use std::time::Duration;

use tokio::time::Instant;

use super::*;
use crate::{
    floor::{
        ask::{Ask, Stretch},
        group::Asked,
        labels::Labels,
        seat::Tried,
    },
    model::{
        error::{Code, Problem},
        event::{Broken, FailedTurn, Summarised},
        id::Step,
        money::{Price, Spent, Usage, Usd},
        participant::Participant,
        time::Timestamp,
        transcript::{Bill, Finish},
    },
};

const STEP: &str = "1/speaking/ann";
const PLACE: &str = "a place in the lane";
/// When the call under way was placed, by the wall clock.
const PLACED_AT: Timestamp = Timestamp(7);
/// How long the call took.
const TOOK: Duration = Duration::from_secs(2);
/// The request's size in tokens by our own count.
const COUNTED: u64 = 40;
const DRAW: u64 = 5;

/// A seat whose first call is under way.
fn calling(ask: Ask) -> Seat {
    let asked = Asked::new(&Participant::of("ann"), Step::from(STEP), ask);
    let mut seat = Seat::new(asked, None, Labels::default());
    seat.tried.begin(PLACED_AT, COUNTED);
    seat
}

fn speaker() -> Seat {
    calling(Ask { spoken: true, ..Ask::new("", "What now?") })
}

/// The same seat after a failure of this class, which it has counted.
fn after_failure(mut seat: Seat, class: ErrorClass) -> Seat {
    seat.tried.failures.count(class);
    seat
}

/// Nothing is held back, and the budget has room for another attempt.
fn going() -> Situation {
    let moment = Moment { now: Instant::now(), round: 3, phase: "speaking", heard: 4 };
    Situation {
        moment,
        draining: false,
        overflow: Overflow::Shrink,
        affordable: true,
        patience_ms: None,
        draw: DRAW,
    }
}

fn draining() -> Situation {
    Situation { draining: true, ..going() }
}

/// Checks the outcome of news that arrives two seconds after the seat's call was placed, in a step
/// of one minute.
#[track_caller]
#[expect(clippy::needless_pass_by_value, reason = "rows of a table read better without borrows")]
fn check(mut seat: Seat, news: News<&'static str>, situation: Situation, expected: Outcome<&'static str>) {
    let began = situation.moment.now;
    seat.tried.deadline_from(began, Duration::from_secs(60));
    let moment = Moment { now: began + TOOK, ..situation.moment };
    assert_eq!(outcome(&seat, news, &Situation { moment, ..situation }), expected);
}

fn bare(next: Next<&'static str>) -> Outcome<&'static str> {
    Outcome { facts: Vec::new(), next }
}

fn fact(step: &str, event: Event, next: Next<&'static str>) -> Outcome<&'static str> {
    Outcome { facts: vec![(Some(Step::from(step)), event)], next }
}

fn reply(text: &str) -> Reply {
    let usage = Some(Usage::new(50, 10));
    Reply {
        text: text.to_owned(),
        finish: Finish::Stop,
        usage,
        cost: None,
        answered_by: None,
        convene: None,
        tokens_dropped: 0,
    }
}

fn turn(text: &str, finish: Finish, bill: Bill) -> Arc<Turn> {
    Arc::new(Turn {
        step: Step::from(STEP),
        participant: "ann".to_owned(),
        round: 3,
        phase: "speaking".to_owned(),
        form: None,
        text: text.into(),
        prose: None,
        started_at: PLACED_AT,
        duration_ms: 2_000,
        finish,
        bill,
        model: None,
        answered_by: None,
        reused: false,
    })
}

fn unpriced() -> Bill {
    Bill { usage: Usage::new(50, 10), estimated: false, price: None, cost: None }
}

fn error(class: ErrorClass) -> ProviderError {
    ProviderError::new(class, "no")
}

fn failed(class: ErrorClass) -> News<&'static str> {
    News::Failed(Failed::of(error(class)))
}

fn call_failed(class: ErrorClass, retry_in_ms: Option<u64>, broken: Option<Broken>) -> Event {
    let (participant, message) = ("ann".to_owned(), "no".to_owned());
    let (limit, only_thoughts) = (None, false);
    Event::CallFailed { attempt: 1, participant, class, message, limit, only_thoughts, retry_in_ms, broken }
}

fn turn_failed(class: ErrorClass, broken: Option<Broken>) -> Event {
    Event::TurnFailed(FailedTurn {
        participant: "ann".to_owned(),
        round: 3,
        phase: "speaking".to_owned(),
        class,
        message: "no".to_owned(),
        attempts: 1,
        duration_ms: 2_000,
        broken,
    })
}

fn sub(number: u32) -> Sub {
    Sub { step: Step::from(STEP).purpose(&format!("sub{number}")), topic: "Why?".to_owned() }
}

fn sub_ended() -> SubConcluded {
    SubConcluded {
        participant: "ann".to_owned(),
        child: None,
        synthesis: Some("Because.".to_owned()),
        problem: None,
        spent: Spent::default(),
        ran_ms: 9,
    }
}

#[test]
fn a_place_in_the_lane_is_used_unless_nothing_may_be_begun() {
    check(speaker(), News::Cleared(PLACE), going(), bare(Next::Place(PLACE)));
    check(speaker(), News::Cleared(PLACE), draining(), bare(Next::Rest));
}

#[test]
fn an_answer_settles_the_seat_also_while_nothing_may_be_begun() {
    let said = turn("Hello.", Finish::Stop, unpriced());
    let completed = || {
        let event = Event::TurnCompleted { turn: said.clone() };
        fact(STEP, event, Next::Settle(Some(said.clone())))
    };
    check(speaker(), News::Answered(reply("Hello.")), going(), completed());
    check(speaker(), News::Answered(reply("Hello.")), draining(), completed());
}

#[test]
fn an_answer_is_billed_by_its_price_unless_the_provider_says_what_it_cost() {
    let usd = |dollars| Usd::from_dollars(dollars).unwrap();
    let price = Price { input: usd(2.0), output: usd(10.0), cached: None, written: None };
    let priced = || {
        let mut seat = speaker();
        seat.question.price = Some(price);
        seat
    };
    let completed = |bill: Bill| {
        let said = turn("Hello.", Finish::Stop, bill);
        fact(STEP, Event::TurnCompleted { turn: said.clone() }, Next::Settle(Some(said)))
    };
    let usage = Usage::new(50, 10);
    let by_price = Bill { price: Some(price), cost: Some(price.of(usage)), ..unpriced() };
    check(priced(), News::Answered(reply("Hello.")), going(), completed(by_price));
    let cost = Usd::from_dollars(1.0);
    let told = Reply { cost, ..reply("Hello.") };
    check(priced(), News::Answered(told), going(), completed(Bill { cost, ..by_price }));
}

#[test]
fn an_answer_without_usage_is_billed_by_our_own_count() {
    let uncounted = Reply { usage: None, ..reply("Hello.") };
    let written = crate::call::tokens::Family::of(&Participant::of("ann")).estimate("Hello.");
    let bill = Bill { usage: Usage::new(COUNTED, written), estimated: true, ..unpriced() };
    let said = turn("Hello.", Finish::Stop, bill);
    let expected = fact(STEP, Event::TurnCompleted { turn: said.clone() }, Next::Settle(Some(said)));
    check(speaker(), News::Answered(uncounted), going(), expected);
}

#[test]
fn a_summary_is_a_fact_of_its_own_whether_it_was_had_or_not() {
    let summariser = || calling(Ask { stretch: Some(Stretch { from: 0, to: 2 }), ..Ask::new("", "") });
    let said = turn("In short.", Finish::Stop, unpriced());
    let tried = Summarised { covers: 2, heard: 4, turn: None };
    let had = Event::Summarised(Summarised { turn: Some(said.clone()), ..tried.clone() });
    let expected = fact(STEP, had, Next::Settle(Some(said)));
    check(summariser(), News::Answered(reply("In short.")), going(), expected);
    let seat = after_failure(summariser(), ErrorClass::Authentication);
    let expected = fact(STEP, Event::Summarised(tried.clone()), Next::Settle(None));
    check(seat, failed(ErrorClass::Authentication), going(), expected);
    // A summary request that was too long is not shortened: there is nothing left to leave out.
    let seat = after_failure(summariser(), ErrorClass::ContextOverflow);
    let expected = fact(STEP, Event::Summarised(tried), Next::Settle(None));
    check(seat, failed(ErrorClass::ContextOverflow), going(), expected);
}

#[test]
fn e01_a_speaker_that_asks_for_a_sub_discussion_gets_it() {
    let asking = || Reply { convene: Some("Why?".to_owned()), ..reply("Let me see.") };
    let said = turn("Let me see.", Finish::Convene, unpriced());
    let requested = |number: u32| {
        let event = Event::SubRequested { turn: said.clone(), topic: "Why?".to_owned() };
        fact(sub(number).step.as_str(), event, Next::Convene(sub(number), said.clone()))
    };
    check(speaker(), News::Answered(asking()), going(), requested(1));
    check(speaker(), News::Answered(asking()), draining(), requested(1));
}

#[test]
fn e01_only_a_speaker_may_convene_and_only_twice() {
    let asking = || Reply { convene: Some("Why?".to_owned()), ..reply("Let me see.") };
    let settled = |step: &str| {
        let said = Turn { step: step.into(), ..(*turn("Let me see.", Finish::Convene, unpriced())).clone() };
        let said = Arc::new(said);
        fact(step, Event::TurnCompleted { turn: said.clone() }, Next::Settle(Some(said)))
    };
    check(calling(Ask::new("", "Vote.")), News::Answered(asking()), going(), settled(STEP));
    let mut third = speaker();
    for number in [1, 2] {
        third.begin_sub(sub(number), &turn("Let me see.", Finish::Convene, unpriced()));
        third.end_sub("Why?".to_owned(), &sub_ended());
        third.tried.begin(PLACED_AT, COUNTED);
    }
    check(third, News::Answered(asking()), going(), settled("1/speaking/ann/after2"));
}

#[test]
fn e01_a_seat_goes_on_after_its_sub_discussion_as_soon_as_something_may_be_begun() {
    let concluded = |next| fact(sub(1).step.as_str(), Event::SubConcluded(sub_ended()), next);
    let ended = || News::Convened(sub(1), Some(Box::new(sub_ended())));
    let (topic, end) = ("Why?".to_owned(), Box::new(sub_ended()));
    check(speaker(), ended(), going(), concluded(Next::GoOn(topic.clone(), end.clone())));
    check(speaker(), ended(), draining(), concluded(Next::Learn(topic, end)));
    check(speaker(), News::Convened(sub(1), None), going(), bare(Next::Rest));
}

#[test]
fn d12_a_failed_attempt_is_made_again_while_its_class_the_budget_and_the_time_allow() {
    let network = || after_failure(speaker(), ErrorClass::Network);
    let again = |wait_ms, next| fact(STEP, call_failed(ErrorClass::Network, Some(wait_ms), None), next);
    let over = || fact(STEP, turn_failed(ErrorClass::Network, None), Next::Settle(None));
    check(network(), failed(ErrorClass::Network), going(), again(1_005, Next::Retry(1_005)));
    // The time of the next attempt is recorded, though nothing begins now.
    check(network(), failed(ErrorClass::Network), draining(), again(1_005, Next::Rest));
    let broke = Situation { affordable: false, ..going() };
    check(network(), failed(ErrorClass::Network), broke, over());
    let (mut late, situation) = (network(), going());
    late.tried.deadline_from(situation.moment.now, Duration::from_secs(3));
    check(late, failed(ErrorClass::Network), situation, over());
    let refused = after_failure(speaker(), ErrorClass::Authentication);
    let expected = fact(STEP, turn_failed(ErrorClass::Authentication, None), Next::Settle(None));
    check(refused, failed(ErrorClass::Authentication), going(), expected);
}

#[test]
fn a13_a_question_may_allow_fewer_attempts() {
    let twice = |most| {
        let seat = calling(Ask::new("", "Vote.").retries(most));
        after_failure(after_failure(seat, ErrorClass::Network), ErrorClass::Network)
    };
    let again = fact(STEP, call_failed(ErrorClass::Network, Some(2_005), None), Next::Retry(2_005));
    check(twice(2), failed(ErrorClass::Network), going(), again);
    let over = fact(STEP, turn_failed(ErrorClass::Network, None), Next::Settle(None));
    check(twice(1), failed(ErrorClass::Network), going(), over);
}

#[test]
fn the_received_part_of_a_failed_answer_is_kept_and_billed() {
    let written = crate::call::tokens::Family::of(&Participant::of("ann")).estimate("Hel");
    let bill = Bill { usage: Usage::new(COUNTED, written), estimated: true, ..unpriced() };
    let broken = Some(Broken { text: "Hel".into(), bill });
    let broke_off = |class| News::Failed(Failed { said: "Hel".to_owned(), ..Failed::of(error(class)) });
    let again = call_failed(ErrorClass::Network, Some(1_005), broken.clone());
    let seat = after_failure(speaker(), ErrorClass::Network);
    check(seat, broke_off(ErrorClass::Network), going(), fact(STEP, again, Next::Retry(1_005)));
    let seat = after_failure(speaker(), ErrorClass::Authentication);
    let over = fact(STEP, turn_failed(ErrorClass::Authentication, broken), Next::Settle(None));
    check(seat, broke_off(ErrorClass::Authentication), going(), over);
}

#[test]
fn d12_a_request_that_was_too_long_is_made_shorter_once_or_ends_the_talk() {
    let class = ErrorClass::ContextOverflow;
    let too_long = || after_failure(speaker(), class);
    let under = |overflow| Situation { overflow, ..going() };
    let again = |next| fact(STEP, call_failed(class, Some(0), None), next);
    check(too_long(), failed(class), under(Overflow::Shrink), again(Next::Retry(0)));
    check(too_long(), failed(class), draining(), again(Next::Rest));
    check(too_long(), failed(class), under(Overflow::SumUp), again(Next::Shrink));
    let full = WindUp::WindowFull { participant: "ann".to_owned() };
    let ends = fact(STEP, call_failed(class, None, None), Next::WindUp(full));
    check(too_long(), failed(class), under(Overflow::End), ends);
    for overflow in [Overflow::End, Overflow::Shrink, Overflow::SumUp] {
        let over = fact(STEP, turn_failed(class, None), Next::Settle(None));
        check(after_failure(too_long(), class), failed(class), under(overflow), over);
    }
}

#[test]
fn a_seat_that_gets_no_place_in_the_lane_is_out() {
    let waiting = Seat { tried: Tried::default(), ..speaker() };
    let out = Event::TurnFailed(FailedTurn {
        participant: "ann".to_owned(),
        round: 3,
        phase: "speaking".to_owned(),
        class: ErrorClass::Validation,
        message: "no".to_owned(),
        attempts: 0,
        duration_ms: 2_000,
        broken: None,
    });
    let news = News::TurnedAway(error(ErrorClass::Validation));
    check(waiting, news, going(), fact(STEP, out, Next::Settle(None)));
}

#[test]
fn a_failed_sub_discussion_is_reported_in_words() {
    let held = |synthesis: Option<&str>, problem: Option<Problem>| {
        let mut seat = speaker();
        seat.begin_sub(sub(1), &turn("", Finish::Convene, unpriced()));
        let end = SubConcluded { synthesis: synthesis.map(str::to_owned), problem, ..sub_ended() };
        seat.end_sub("Why?".to_owned(), &end);
        (seat.step().to_string(), seat.question.ask().exchange.clone())
    };
    let check = |synthesis, problem, text: &str| {
        let asked = crate::call::Message::Ask("What now?".into());
        let found = crate::call::Message::Found { topic: "Why?".to_owned(), text: text.to_owned() };
        let expected = (format!("{STEP}/after1"), vec![asked, found]);
        assert_eq!(held(synthesis, problem), expected);
    };
    check(Some("Because."), None, "Because.");
    let problem = Problem::new(Code::MaxDepthExceeded, "too deep");
    check(None, Some(problem), "No sub-discussion was held: too deep.");
    check(None, None, "The sub-discussion came to no result.");
}

/// Everyone is needed, and there are ten minutes left.
fn needed() -> Situation {
    Situation { patience_ms: Some(600_000), ..going() }
}

fn limited(retry_after_ms: u64) -> ProviderError {
    ProviderError { retry_after_ms: Some(retry_after_ms), ..error(ErrorClass::RateLimit) }
}

fn limited_for(retry_after_ms: u64) -> Failed {
    Failed::of(limited(retry_after_ms))
}

#[test]
fn a_rate_limit_longer_than_the_step_is_waited_for_if_nobody_else_is_left() {
    let seat = || after_failure(speaker(), ErrorClass::RateLimit);
    let (failed, long) = (|ms| News::Failed(limited_for(ms)), 300_000);
    let held = |ms| Next::Hold(ms, Box::new(limited_for(ms)));
    let waits = call_failed(ErrorClass::RateLimit, Some(long), None);
    let lost = || turn_failed(ErrorClass::RateLimit, None);
    check(seat(), failed(long), needed(), fact(STEP, waits, held(long)));
    check(seat(), failed(long), going(), fact(STEP, lost(), Next::Settle(None)));
    check(seat(), failed(900_000), needed(), fact(STEP, lost(), Next::Settle(None)));
    check(seat(), News::TurnedAway(limited(long)), needed(), bare(held(long)));
    let broke = Situation { affordable: false, ..needed() };
    check(seat(), failed(long), broke, fact(STEP, lost(), Next::Settle(None)));
}
