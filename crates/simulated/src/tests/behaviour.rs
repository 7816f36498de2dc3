//! Tests of streaming, latency, failures and sub-discussions.

use super::*;

#[tokio::test]
async fn e01_a_voice_convenes_at_most_once_in_a_step_and_quotes_what_was_found() {
    let mut convened = 0;
    for seed in 0..30 {
        let mut meeting = meeting(TOPICS[0]).with(|it| it.seed = seed);
        meeting.may_convene = true;
        let chunks = meeting.chunks(meeting.call(1, "answering", "glm", None)).await.unwrap();
        let [.., Chunk::Convene { topic }, Chunk::End { finish: Finish::Convene, .. }] = &chunks[..] else {
            continue;
        };
        convened += 1;
        assert!(topic.starts_with("On whether to move billing to event sourcing: "), "{topic}");
        meeting.found = Some((topic.clone(), "The largest risk is stopping half-way.".to_owned()));
        let chunks = meeting.chunks(meeting.call(1, "answering", "glm", None)).await.unwrap();
        assert!(!chunks.iter().any(|it| matches!(it, Chunk::Convene { .. })));
        assert!(text(&chunks).contains("“The largest risk is stopping half-way.”"));
    }
    assert!((5..=16).contains(&convened), "{convened}");
}

#[tokio::test]
async fn no_voice_convenes_where_it_is_not_allowed() {
    for seed in 0..30 {
        let mut meeting = meeting(TOPICS[0]).with(|it| it.seed = seed);
        let plain = meeting.chunks(meeting.call(1, "answering", "glm", None)).await.unwrap();
        meeting.may_convene = true;
        let late = meeting.chunks(meeting.call(2, "answering", "glm", None)).await.unwrap();
        let shaped = meeting.chunks(meeting.call(1, "voting", "glm", ballot_of(&["a"]))).await.unwrap();
        assert!(![plain, late, shaped].concat().iter().any(|it| matches!(it, Chunk::Convene { .. })));
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_takes_its_latency_and_begins_after_a_third_of_it() {
    let meeting = meeting(TOPICS[0]).with(|it| it.latency_ms = 1_000);
    let call = Arc::new(meeting.call(1, "answering", "glm", None));
    let provider = Simulated::new(meeting.spec.simulation.unwrap(), &[]);
    let (began, mut stream) = (Instant::now(), provider.reply(call));
    stream.next().await.unwrap().unwrap();
    let first = began.elapsed();
    assert!((Duration::from_millis(260)..=Duration::from_millis(340)).contains(&first), "{first:?}");
    stream.collect::<Vec<_>>().await;
    let all = began.elapsed();
    assert!((Duration::from_millis(890)..=Duration::from_millis(1_150)).contains(&all), "{all:?}");
}

#[tokio::test(start_paused = true)]
async fn without_latency_no_time_passes() {
    let began = Instant::now();
    meeting(TOPICS[0]).run(2).await;
    assert_eq!(began.elapsed(), Duration::ZERO);
}

#[tokio::test]
async fn the_end_reports_usage_and_the_token_limit_holds() {
    let mut meeting = meeting(TOPICS[0]);
    meeting.max_tokens = 10;
    let chunks = meeting.chunks(meeting.call(1, "answering", "glm", None)).await.unwrap();
    let Some(Chunk::End { finish, usage: Some(usage), .. }) = chunks.last() else { panic!("{chunks:?}") };
    assert_eq!((*finish, usage.prompt, usage.completion), (Finish::Length, 5, 10));
    assert_eq!(text(&chunks).len(), 40);
}

#[tokio::test]
async fn failures_are_transient_and_repeatable() {
    let meeting = meeting(TOPICS[0]).with(|it| it.failure = 0.5);
    let mut outcomes = Vec::new();
    for attempt in 1..=40 {
        let call = Call { attempt, ..meeting.call(1, "answering", "glm", None) };
        let outcome = meeting.chunks(call.clone()).await.map(|chunks| text(&chunks));
        assert_eq!(outcome, meeting.chunks(call).await.map(|chunks| text(&chunks)));
        outcomes.push(outcome);
    }
    let failed: Vec<ProviderError> = outcomes.iter().filter_map(|it| it.clone().err()).collect();
    assert!((10..=30).contains(&failed.len()), "{}", failed.len());
    assert!(failed.iter().all(|it| it.class.retries() > 0));
    let limited = failed.iter().find(|it| it.class == ErrorClass::RateLimit).unwrap();
    assert_eq!(limited.retry_after_ms, Some(50));
}

#[tokio::test]
async fn dead_providers_fail_their_check_and_every_answer() {
    let meeting = meeting(TOPICS[0]).with(|it| it.dead = vec!["glm".to_owned()]);
    let provider = Simulated::new(meeting.spec.simulation.clone().unwrap(), &[]);
    let outage = ProviderError::new(ErrorClass::Network, "simulated outage");
    assert_eq!(provider.check(&Participant::of("glm")).await, Err(outage.clone()));
    assert_eq!(provider.check(&Participant::of("claude")).await, Ok(()));
    assert_eq!(meeting.chunks(meeting.call(1, "answering", "glm", None)).await, Err(outage));
}

#[test]
fn only_simulated_discussions_have_simulated_voices() {
    let mut spec = meeting(TOPICS[0]).spec;
    let voices = SimulatedVoices::new(profile);
    let gemini = voices.voice(&spec, &Participant::of("gemini")).unwrap();
    let unknown = voices.voice(&spec, &Participant::of("somebody-new")).unwrap();
    assert_eq!((gemini.window, unknown.window), (1_000_000, 128_000));
    let again = voices.voice(&spec, &Participant::of("gemini")).unwrap();
    assert!(Arc::ptr_eq(&gemini.lane, &again.lane) && !Arc::ptr_eq(&gemini.lane, &unknown.lane));
    spec.simulation = None;
    assert!(voices.voice(&spec, &Participant::of("gemini")).is_none());
}
