//! Small tasks of chat clients.

use serde_json::json;

use super::{calls, chat, config, question, vendor, with};
use crate::harness::TestServer;

const TASKS: [&str; 12] = [
    "### Task:\nGenerate a concise, 3-5 word title with an emoji summarizing the chat history.\n### Guidelines:\n- x",
    "### Task:\nGenerate a concise, 3-5 word title summarizing the chat history.",
    "### Task:\nCreate a concise, 3-5 word title with an emoji as a title for the chat history.",
    "### Task:\nGenerate 1-3 broad tags categorizing the main themes of the chat history.",
    "### Task:\nGenerate tags for this conversation.",
    "### Task:\nSuggest 3-5 relevant follow-up questions or prompts that the user might naturally ask next.",
    "### Task:\nGenerate follow-up questions.",
    "### Task:\nAnalyze the chat history to determine the necessity of generating search queries, in the given language.",
    "### Task:\nGenerate search queries for the last message.",
    "### Task:\nGenerate a search query.",
    "### Task:\nGenerate a detailed prompt for am image generation task based on the given language and context.",
    "### Task:\nYou are an autocompletion system. Continue the text in `<text>`.",
];

#[tokio::test]
async fn a6_a_task_of_a_chat_client_is_one_call_of_the_cheapest_voice() {
    let vendor = vendor().start();
    let server = TestServer::voiced(&config(&vendor)).await;
    for (count, task) in TASKS.iter().enumerate() {
        let body = json!({ "model": "quorum/debate", "messages": [{ "role": "user", "content": task }] });
        assert_eq!(chat(&server, &body).await.status, 200);
        assert_eq!(calls(&vendor).len(), count + 1, "{task}");
    }
    assert!(calls(&vendor).iter().all(|it| it == "beta-1"), "{:?}", calls(&vendor));
    let named = with(question("quorum"), json!({ "metadata": { "task": "title_generation" } }));
    assert_eq!(chat(&server, &named).await.status, 200);
    assert_eq!(calls(&vendor).len(), 13);
}

#[tokio::test]
async fn a6_a_question_about_tasks_is_for_the_panel() {
    let vendor = vendor().start();
    let server = TestServer::voiced(&config(&vendor)).await;
    for (count, task) in TASKS.iter().enumerate() {
        let content = format!("What would you answer to this?\n{task}");
        let body = json!({ "model": "quorum", "messages": [{ "role": "user", "content": content }], "quorum": { "rounds": 1 } });
        assert_eq!(chat(&server, &body).await.status, 200);
        assert_eq!(calls(&vendor).len(), 4 * (count + 1), "{task}");
    }
}

#[tokio::test]
async fn i19_the_configuration_says_what_answers_tasks() {
    for (tasks, expected) in [("gamma", vec!["gamma-1"]), ("panel", vec!["alpha-1", "beta-1", "gamma-1"])] {
        let vendor = vendor().start();
        let server =
            TestServer::voiced(&(config(&vendor) + &format!("[server]\ntasks = \"{tasks}\"\n"))).await;
        let body = json!({ "model": "quorum", "messages": [{ "role": "user", "content": TASKS[0] }] });
        assert_eq!(chat(&server, &body).await.status, 200);
        let mut asked = calls(&vendor);
        asked.sort();
        asked.dedup();
        assert_eq!(asked, expected);
    }
}

#[tokio::test]
async fn i19_a_voice_that_is_named_answers_its_tasks_itself() {
    let vendor = vendor().start();
    let server = TestServer::voiced(&config(&vendor)).await;
    let body = json!({ "model": "alpha", "messages": [{ "role": "user", "content": TASKS[0] }] });
    assert_eq!(chat(&server, &body).await.status, 200);
    assert_eq!(calls(&vendor), ["alpha-1"], "beta is cheaper");
}
