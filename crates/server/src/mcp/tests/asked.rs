//! Input: every row of bad input, and every field that is taken.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use quorum::{Config, Quorum, memory::MemoryStore};
use serde_json::{Value, json};

use crate::{Limits, mcp::tests::client::Client};

async fn mistakes(client: &mut Client, tool: &str, arguments: Value) -> Vec<String> {
    let id = client.calling(tool, arguments).await;
    let result = client.result(tool, id).await;
    assert_eq!(result["isError"], true, "{result}");
    let told = &result["structuredContent"];
    assert_eq!([&told["code"], &told["tool"]], [&json!("INVALID_INPUT"), &json!(tool)], "{told}");
    let listed = told["details"]["validationErrors"].as_array().unwrap();
    listed.iter().map(|it| it.as_str().unwrap().to_owned()).collect()
}

#[tokio::test(start_paused = true)]
async fn b10_bad_input_is_refused_with_every_mistake_and_nothing_is_spent() {
    let mut client = Client::legacy().await;
    let many = |count: usize| (0..count).map(|it| format!("p{it}")).collect::<Vec<_>>();
    let cases = [
        ("ax_discuss", json!({}), vec!["topic: is missing"]),
        ("ax_discuss", json!({ "topic": "" }), vec!["topic: is empty"]),
        (
            "ax_discuss",
            json!({ "topic": "x".repeat(5_001) }),
            vec!["topic: has 5001, and must have 1 to 5000 characters"],
        ),
        (
            "ax_discuss_quick",
            json!({ "topic": "x".repeat(2_001) }),
            vec!["topic: has 2001, and must have 1 to 2000 characters"],
        ),
        ("ax_discuss_quick", json!({ "topic": "x?", "rounds": 1 }), vec!["rounds: there is no such field"]),
        (
            "ax_discuss",
            json!({
                "topic": 3, "rounds": 11, "votingOptions": many(11), "patern": "x", "providers": many(7),
                "maxWaitMs": 60_000, "temperature": 9,
            }),
            vec![
                "topic: must be a text, not 3",
                "rounds: must be from 1 to 10, not 11",
                "votingOptions: has 11, and must have 2 to 10 entries",
                "patern: there is no such field; did you mean `pattern`?",
                "providers: has 7, and must have 2 to 6 entries",
                "maxWaitMs: must be from 0 to 50000, not 60000",
                "temperature: must be from 0 to 2, not 9",
            ],
        ),
        (
            "ax_discuss",
            json!({ "topic": "x?", "providers": ["claude"] }),
            vec!["providers: has 1, and must have 2 to 6 entries"],
        ),
        ("ax_discuss", json!({ "topic": "x?", "rounds": 0 }), vec!["rounds: must be from 1 to 10, not 0"]),
        (
            "ax_discuss_recursive",
            json!({ "topic": "x?", "maxDepth": 0 }),
            vec!["maxDepth: must be from 1 to 4, not 0"],
        ),
        (
            "ax_discuss_recursive",
            json!({ "topic": "x?", "maxDepth": 5, "totalBudget": 1, "maxCalls": 4 }),
            vec![
                "maxDepth: must be from 1 to 4, not 5",
                "totalBudget: must be from 30000 to 1800000, not 1",
                "maxCalls: must be from 5 to 100, not 4",
            ],
        ),
        (
            "ax_discuss_recursive",
            json!({ "topic": "x?", "budgetMs": 1 }),
            vec!["budgetMs: must be from 30000 to 1800000, not 1"],
        ),
        (
            "ax_discuss_recursive",
            json!({ "topic": "x?", "budgetMs": 60_000, "totalBudget": 60_000 }),
            vec!["budgetMs: is given twice: totalBudget is another name of budgetMs"],
        ),
        (
            "ax_discuss",
            json!({ "topic": "x?", "maxWaitMs": 1e300, "rounds": 1e300 }),
            vec![
                "maxWaitMs: must be from 0 to 50000, not 1e+300",
                "rounds: must be from 1 to 10, not 1e+300",
            ],
        ),
    ];
    for (tool, arguments, expected) in cases {
        assert_eq!(mistakes(&mut client, tool, arguments.clone()).await, expected, "{tool} {arguments}");
    }
    assert_eq!(client.call("ax_history", json!({})).await["discussions"], json!([]), "nothing was started");
}

#[tokio::test(start_paused = true)]
async fn b10_tools_that_ask_nobody_refuse_bad_input_too() {
    let mut client = Client::legacy().await;
    let cases = [
        (
            "ax_control",
            json!({ "id": "x", "action": "stopp" }),
            vec![
                "action: must be one of pause, resume, stop, abort, note, judge, window, not \"stopp\"; did you mean `stop`?",
            ],
        ),
        (
            "ax_history",
            json!({ "limit": 51, "sessionId": "x" }),
            vec!["limit: must be from 1 to 50, not 51", "sessionId: must be a UUID, not x"],
        ),
        ("ax_say", json!({ "id": "x" }), vec!["text: is missing"]),
    ];
    for (tool, arguments, expected) in cases {
        assert_eq!(mistakes(&mut client, tool, arguments.clone()).await, expected, "{tool} {arguments}");
    }
}

#[tokio::test(start_paused = true)]
async fn b10_mistakes_of_fields_and_of_the_whole_request_are_reported_together() {
    let mut client = Client::legacy().await;
    let told = mistakes(
        &mut client,
        "ax_discuss",
        json!({ "topic": "x?", "rounds": 0, "votingOptions": ["a", "a"] }),
    )
    .await;
    assert_eq!(told, ["rounds: must be from 1 to 10, not 0", "votingOptions: a is listed twice"]);
    // A field that is given under two names.
    let twice = json!({ "topic": "x?", "consensus": "voting", "consensusMethod": "voting", "rounds": 0 });
    let expected = [
        "rounds: must be from 1 to 10, not 0",
        "consensus: is given twice: consensusMethod is another name of consensus",
    ];
    assert_eq!(mistakes(&mut client, "ax_discuss", twice).await, expected);
    assert_eq!(client.call("ax_history", json!({})).await["discussions"], json!([]), "nothing was started");
}

#[tokio::test(start_paused = true)]
async fn b10_fields_that_do_not_go_together_were_no_invalid_input_and_had_no_details() {
    let mut client = Client::legacy().await;
    let order = json!({ "topic": "x?", "rounds": 1, "simulate": { "latencyMs": 0 } });
    let done = client.call("ax_discuss", order).await;
    let id = &done["discussionId"];
    let with = |fields: Value| {
        let mut order = json!({ "topic": "x?" });
        order.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        order
    };
    let cases = [
        (
            "ax_discuss",
            with(json!({ "pattern": "voting" })),
            "votingOptions: a vote needs at least 2 options, not 0",
        ),
        (
            "ax_discuss",
            with(json!({ "pattern": "dialogue", "providers": ["claude", "gemini", "glm"] })),
            "providers: a discussion of this kind takes 2 providers; 3 are named",
        ),
        (
            "ax_discuss",
            with(json!({ "preset": "none" })),
            "preset: there is no preset named none; the configuration has none; the server's operator can add [presets.none] to the configuration",
        ),
        (
            "ax_discuss",
            with(json!({ "synthesizer": "nobody" })),
            "synthesizer: nobody does not take part; the participants are claude, glm, qwen, gemini",
        ),
        (
            "ax_discuss",
            with(json!({ "pattern": "debate", "judge": "nobody" })),
            "judge: nobody does not take part; the participants are claude, glm, qwen, gemini",
        ),
        (
            "ax_discuss",
            with(json!({ "participants": ["claude", "glm"], "providers": ["claude", "glm"] })),
            "participants: names the whole panel, and so does providers; leave one of them out",
        ),
        (
            "ax_discuss",
            with(json!({ "task": "review" })),
            "task: applies only to agents, and none takes part; leave this out",
        ),
        (
            "ax_fork",
            json!({ "id": id, "at": "nowhere" }),
            "at: there is no answer at step nowhere; there are 1/answering/claude, 1/answering/gemini, 1/answering/glm, 1/answering/qwen, 1/deciding/claude",
        ),
        (
            "ax_fork",
            json!({ "id": id }),
            "changes: nothing is changed, so every answer would be the same; change something, or start over with the same request",
        ),
        (
            "ax_fork",
            json!({ "id": id, "without": ["zzz"] }),
            "without: zzz does not take part; the participants are claude, glm, qwen, gemini",
        ),
    ];
    let mut told = Vec::new();
    for (tool, arguments, _) in &cases {
        told.push(mistakes(&mut client, tool, arguments.clone()).await);
    }
    let expected: Vec<Vec<&str>> = cases.iter().map(|it| vec![it.2]).collect();
    assert_eq!(told, expected);
}

#[tokio::test(start_paused = true)]
async fn b10_every_mistake_in_the_changes_of_a_fork_is_reported_at_once() {
    let mut client = Client::legacy().await;
    let fork = json!({ "id": "x", "at": 3, "changes": { "maxCost": "much", "rounds": 0, "patern": "x" } });
    let expected = [
        "at: must be a text, not 3",
        "changes.maxCost: must be a number, not \"much\"",
        "changes.rounds: must be from 1 to 10, not 0",
        "changes.patern: there is no such field; did you mean `pattern`?",
    ];
    assert_eq!(mistakes(&mut client, "ax_fork", fork).await, expected);
}

#[tokio::test(start_paused = true)]
async fn b10_a_budget_under_its_usual_name_was_refused_where_sub_discussions_are_allowed() {
    let mut client = Client::legacy().await;
    let order = json!({
        "topic": "Tabs?", "rounds": 1, "budgetMs": 60_000, "simulate": { "latencyMs": 0 },
    });
    let told = client.call("ax_discuss_recursive", order).await;
    assert_eq!(told["status"], "completed", "{told}");
}

#[tokio::test(start_paused = true)]
async fn b10_a_fork_of_a_discussion_without_an_answer_was_told_of_no_steps() {
    let mut client = Client::legacy().await;
    let order = json!({ "topic": "Tabs?", "rounds": 1, "maxWaitMs": 0, "simulate": { "latencyMs": 5_000 } });
    let id = client.call("ax_discuss", order).await["discussionId"].clone();
    let fork = json!({ "id": id, "changes": { "topic": "Spaces?" } });
    assert_eq!(mistakes(&mut client, "ax_fork", fork).await, ["at: it has no answer yet that could be kept"]);
}

#[tokio::test(start_paused = true)]
async fn b10_a_round_past_all_numbers_of_rounds_was_taken_for_the_first() {
    let mut client = Client::legacy().await;
    let order = json!({ "topic": "Tabs?", "rounds": 1, "simulate": { "latencyMs": 0 } });
    let id = client.call("ax_discuss", order).await["discussionId"].clone();
    for (round, count) in [(1_u64, 1), (2, 0), (4_294_967_297, 0), (u64::MAX, 0)] {
        let wanted = json!({ "id": id, "section": "rounds", "round": round });
        let told = client.call("ax_result", wanted).await;
        assert_eq!(told["rounds"].as_array().map(Vec::len), Some(count), "{round}: {told}");
    }
}

#[tokio::test(start_paused = true)]
async fn b10_an_unknown_id_and_a_malformed_one_are_told_in_the_same_words() {
    let mut client = Client::legacy().await;
    let rest = |tool: &str| match tool {
        "ax_say" => json!({ "text": "Hello." }),
        "ax_control" => json!({ "action": "pause" }),
        _ => json!({}),
    };
    for tool in ["ax_result", "ax_status", "ax_fork", "ax_say", "ax_control"] {
        let long = "x".repeat(5_000);
        for id in ["nope", "", "01890000-0000-7000-8000-000000000001", &long] {
            let mut arguments = rest(tool);
            arguments["id"] = json!(id);
            let told = client.call(tool, arguments).await;
            let expected = json!({ "code": "NOT_FOUND", "message": "there is no discussion with this id", "tool": tool });
            assert_eq!(told, expected);
        }
    }
}

/// The answer of `ax_discuss` to an order with one mistake.
fn invalid(message: &str) -> Value {
    let details = json!({ "validationErrors": [message] });
    json!({ "code": "INVALID_INPUT", "message": message, "tool": "ax_discuss", "details": details })
}

#[tokio::test(start_paused = true)]
async fn b10_an_unknown_agent_or_session_is_refused_without_an_endpoint_of_another_surface() {
    let config = Config::parse("", Path::new("nowhere/config.toml"), PathBuf::new()).unwrap();
    let quorum = Quorum::builder().store(Arc::new(MemoryStore::new())).config(config).simulated();
    let mut client = Client::of(quorum.build().unwrap(), Limits::default()).await;
    let seats = json!(["claude", { "type": "agent", "id": "reviewer" }]);
    let told = client.call("ax_discuss", json!({ "topic": "x?", "participants": seats })).await;
    assert_eq!(told, invalid("participants: there is no agent named reviewer"));
    let session = "01890000-0000-7000-8000-000000000001";
    let told = client.call("ax_discuss", json!({ "topic": "x?", "sessionId": session })).await;
    let message = told["message"].as_str().unwrap();
    assert!(message.starts_with("sessionId: there is no session") && !message.contains("/api/"), "{told}");
    assert_eq!(told, invalid(message));
}

#[tokio::test(start_paused = true)]
async fn b10_the_fields_of_the_first_clients_are_taken() {
    let mut client = Client::legacy().await;
    let order = json!({
        "topic": "Best API style", "pattern": "voting", "providers": ["claude", "gemini", "glm"], "rounds": 1.0,
        "consensusMethod": "voting", "votingOptions": ["REST", "gRPC"], "context": "A small team.",
        "timeout": 60_000, "sessionId": null, "simulate": { "latencyMs": 0 },
    });
    let told = client.call("ax_discuss", order).await;
    assert_eq!(told["status"], "completed", "{told}");
    assert!(told["votes"]["votes"].is_object(), "{told}");
    assert_eq!(told["outcome"]["simulated"], true);
    let seats = json!({
        "topic": "Tabs or spaces?", "rounds": 1, "simulate": { "latencyMs": 0 },
        "participants": [{ "type": "provider", "id": "claude" }, "gemini"],
    });
    let told = client.call("ax_discuss", seats).await;
    assert_eq!(told["participatingProviders"], json!(["claude", "gemini"]), "{told}");
    let full = json!({ "id": told["discussionId"], "fullOutput": true });
    let full = client.call("ax_result", full).await;
    assert_eq!(full["rounds"][0]["responses"].as_array().map(Vec::len), Some(2), "{full}");
    for section in ["synthesis", "dissent", "votes", "rounds"] {
        let part = client.call("ax_result", json!({ "id": told["discussionId"], "section": section })).await;
        assert!(part.get(section).is_some(), "{part}");
    }
}

fn with_full_output(mut order: Value) -> Value {
    order["fullOutput"] = json!(true);
    order
}

#[tokio::test(start_paused = true)]
async fn b10_a_discussion_follows_and_recalls_others() {
    let mut client = Client::legacy().await;
    let order = json!({
        "topic": "Tabs or spaces in a compiler?", "rounds": 1, "providers": ["claude", "glm"],
        "simulate": { "latencyMs": 0 },
    });
    let first = client.call("ax_discuss", order).await;
    let follow = json!({
        "topic": "And in its tests?", "follows": first["discussionId"], "recall": { "most": 2 },
        "simulate": { "latencyMs": 0 },
    });
    let second = client.call("ax_discuss", with_full_output(follow)).await;
    assert_eq!(second["status"], "completed", "{second}");
    assert_eq!(second["participatingProviders"], json!(["claude", "glm"]), "the panel is the first one's");
    let (told, id) = (&second["metadata"], &first["discussionId"]);
    assert_eq!([&told["follows"], &told["recalled"][0]["discussionId"]], [id, id], "{told}");
    let third = json!({
        "topic": "Tabs or spaces in a compiler, again?", "rounds": 1, "recall": 1,
        "simulate": { "latencyMs": 0 },
    });
    let third = client.call("ax_discuss", with_full_output(third)).await;
    assert_eq!(third["metadata"]["recalled"].as_array().map(Vec::len), Some(1), "{third}");
    let unknown = json!({ "topic": "x?", "follows": "01890000" });
    let told = client.call("ax_discuss", unknown).await;
    assert!(told["code"].is_string(), "{told}");
    assert_eq!(
        mistakes(
            &mut client,
            "ax_discuss",
            json!({ "topic": "x?", "recall": "all", "agentWeightMultiplier": 4 })
        )
        .await,
        [
            "recall: must be a whole number or an object, not \"all\"",
            "agentWeightMultiplier: must be from 0.5 to 3, not 4",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn b10_a_compact_answer_names_what_was_recalled() {
    let mut client = Client::legacy().await;
    let about =
        |topic: &str| json!({ "topic": topic, "rounds": 1, "recall": 1, "simulate": { "latencyMs": 0 } });
    let first = client.call("ax_discuss", about("Tabs or spaces in a compiler?")).await;
    assert_eq!(first["recalled"], json!([]), "{first}");
    let second = client.call("ax_discuss", about("Tabs or spaces in the compiler's tests?")).await;
    assert_eq!(second["recalled"][0]["discussionId"], first["discussionId"], "{second}");
    assert_eq!(second["recalled"][0]["number"], "R1", "{second}");
}

#[tokio::test(start_paused = true)]
async fn b10_the_quick_tool_answers_in_plain_text_and_says_what_it_is() {
    let mut client = Client::legacy().await;
    let id = client.calling("ax_discuss_quick", json!({ "topic": "Tabs or spaces?" })).await;
    let result = client.result("ax_discuss_quick", id).await;
    let text = result["content"][0]["text"].as_str().unwrap();
    let synthesis = result["structuredContent"]["synthesis"].as_str().unwrap();
    assert_eq!(text, format!("Simulated: no model was asked, and what follows is made up.\n\n{synthesis}"));
    let id = client.calling("ax_discuss_quick", json!({ "topic": " " })).await;
    let result = client.result("ax_discuss_quick", id).await;
    assert_eq!(result["isError"], true);
    assert!(result["content"][0]["text"].as_str().unwrap().starts_with("Error: topic"), "{result}");
}

#[tokio::test(start_paused = true)]
async fn b10_every_tool_says_what_it_does_and_takes_what_the_registry_declares() {
    let mut client = Client::legacy().await;
    let listed = client.request("tools/list", json!({})).await;
    let tools = listed["result"]["tools"].as_array().unwrap();
    let hints = |name: &str| {
        let tool = tools.iter().find(|it| it["name"] == name).unwrap();
        assert!(
            tool["outputSchema"]["type"] == "object" && tool["inputSchema"]["additionalProperties"] == false
        );
        let mut hints = tool["annotations"].clone();
        hints.as_object_mut().unwrap().remove("title");
        hints
    };
    let spends = json!({ "readOnlyHint": false, "destructiveHint": false, "idempotentHint": false, "openWorldHint": true });
    for name in
        ["ax_discuss", "ax_discuss_quick", "ax_discuss_recursive", "ax_fork", "ax_say", "ax_workflow_run"]
    {
        assert_eq!(hints(name), spends, "{name}");
    }
    let reads = json!({ "readOnlyHint": true, "openWorldHint": false });
    for name in ["ax_status", "ax_history", "ax_list_models"] {
        assert_eq!(hints(name), reads, "{name}");
    }
    for tool in tools {
        for schema in ["inputSchema", "outputSchema"] {
            for (field, schema) in tool[schema]["properties"].as_object().unwrap() {
                let kinds = ["type", "anyOf", "oneOf"].iter().filter(|it| schema.get(**it).is_some());
                assert_eq!(kinds.count(), 1, "{} {field}: {schema}", tool["name"]);
            }
        }
        let names_a_cap = tool["description"].as_str().unwrap().contains("maxCost");
        let takes_one = tool["inputSchema"]["properties"].get("maxCost").is_some();
        // One leads to another tool, the other takes it among its changes.
        let leads_on = ["ax_discuss_quick", "ax_fork"].contains(&tool["name"].as_str().unwrap());
        assert_eq!(names_a_cap, takes_one || leads_on, "{}", tool["description"]);
    }
    let quick = tools.iter().find(|it| it["name"] == "ax_discuss_quick").unwrap();
    assert!(quick["description"].as_str().unwrap().contains("to cap it, call ax_discuss with maxCost"));
    assert_eq!(hints("ax_control")["destructiveHint"], true);
    assert_eq!(hints("ax_result")["idempotentHint"], true);
    let input = &tools[0]["inputSchema"]["properties"];
    let registry = quorum::built_in();
    for option in registry.options() {
        assert!(input.get(option.name).is_some(), "{} is missing", option.name);
    }
    for field in quorum::request::fields::names() {
        assert!(input.get(field).is_some(), "{field} is missing");
    }
    let seats = input["participants"]["items"]["oneOf"].as_array().unwrap().iter();
    let typed: Vec<&Value> = seats.filter_map(|it| it.pointer("/properties/type/enum")).collect();
    assert_eq!(typed, [&json!(["provider", "agent", "person"])], "one alternative for each kind of seat");
    let patterns: Vec<&str> = registry.patterns().iter().map(|it| it.name).collect();
    assert_eq!(input["pattern"]["enum"], json!(patterns));
    assert!(!tools[0].to_string().contains("null"), "no field is sent as null");
}

/// The most characters of the list of tools: clients show all of it to their models.
const LONGEST_LIST: usize = 60_000;

#[tokio::test(start_paused = true)]
async fn b10_fields_had_no_descriptions_and_the_list_of_tools_was_long() {
    let mut client = Client::legacy().await;
    let listed = client.request("tools/list", json!({})).await["result"].clone();
    let tools = listed["tools"].as_array().unwrap();
    let lengths: Vec<(&Value, usize, usize)> = tools
        .iter()
        .map(|it| (&it["name"], it["inputSchema"].to_string().len(), it["outputSchema"].to_string().len()))
        .collect();
    let length = listed.to_string().chars().count();
    assert!(length <= LONGEST_LIST, "{length}: {lengths:?}");
    let bare = tools.iter().flat_map(|tool| {
        let fields = tool["inputSchema"]["properties"].as_object().unwrap().iter();
        let bare = fields.filter(|(_, it)| it["description"].as_str().is_none_or(str::is_empty));
        bare.map(|(field, _)| format!("{} {field}", tool["name"]))
    });
    assert_eq!(bare.collect::<Vec<_>>(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn b10_resources_prompts_and_completion() {
    let mut client = Client::legacy().await;
    let order = json!({ "topic": "Tabs or spaces?", "rounds": 1, "simulate": { "latencyMs": 0 } });
    let id = client.call("ax_discuss", order).await["discussionId"].as_str().unwrap().to_owned();
    let listed = client.request("resources/list", json!({})).await;
    assert_eq!(listed["result"]["resources"][0]["uri"], format!("discussion://{id}/result"));
    for (part, kind) in
        [("result", "application/json"), ("transcript", "text/markdown"), ("facts", "application/jsonl")]
    {
        let uri = format!("discussion://{id}/{part}");
        let read = client.request("resources/read", json!({ "uri": uri })).await;
        let contents = &read["result"]["contents"][0];
        assert_eq!(contents["mimeType"], kind, "{read}");
        assert!(contents["text"].as_str().unwrap().contains("Tabs or spaces?"), "{read}");
    }
    let uri = "discussion://01890000-0000-7000-8000-000000000001/result";
    let unknown = client.request("resources/read", json!({ "uri": uri })).await;
    assert_eq!([&unknown["error"]["code"], &unknown["error"]["data"]["uri"]], [&json!(-32_002), &json!(uri)]);
    let prompts = client.request("prompts/list", json!({})).await;
    let names: Vec<&str> = prompts["result"]["prompts"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|it| it["name"].as_str())
        .collect();
    assert_eq!(names, ["debate", "critique", "decide", "settle"]);
    let filled = json!({ "name": "decide", "arguments": { "question": "Which?", "options": "A, B" } });
    let prompt = client.request("prompts/get", filled).await;
    let text = prompt["result"]["messages"][0]["content"]["text"].as_str().unwrap();
    assert!(text.contains("Which?") && text.contains("A, B") && text.contains("ax_discuss"), "{text}");
    let empty = client.request("prompts/get", json!({ "name": "decide" })).await;
    assert_eq!(empty["error"]["data"]["missing"], json!(["question", "options"]));
    let complete = |name: &str, value: &str| {
        json!({
            "ref": { "type": "ref/resource", "uri": "discussion://{id}/result" },
            "argument": { "name": name, "value": value },
        })
    };
    let done = client.request("completion/complete", complete("id", &id[..8])).await;
    assert_eq!(done["result"]["completion"]["values"], json!([id]));
    let done = client.request("completion/complete", complete("providers", "claude, gem")).await;
    assert_eq!(done["result"]["completion"]["values"], json!(["claude, gemini"]));
}
