//! Who said it, at the command line: the line below an answer, `--sources` and `--require-support`.

use crate::user::User;

const ASK: [&str; 6] =
    ["discuss", "Should a team of five split its monolith?", "-p", "claude,glm,qwen", "--seed", "5"];

#[test]
fn an_answer_says_how_much_of_it_rests_on_the_talk() {
    let user = User::new();
    let said = user.ax(&ASK).ends(0);
    assert!(said.out.contains("a source in the discussion"), "{}", said.out);
    let result = user.ax(&["show", "last", "--json"]).ends(0).json();
    let synthesis: Vec<char> = result["synthesis"].as_str().unwrap().chars().collect();
    let sentences = result["provenance"].as_array().unwrap();
    assert!(!sentences.is_empty());
    for sentence in sentences {
        let place = |key: &str| sentence[key].as_u64().unwrap() as usize;
        assert!(place("start") < place("end") && place("end") <= synthesis.len(), "{sentence}");
    }
    assert!(sentences.iter().any(|it| it["sources"][0]["participant"].is_string()), "{sentences:?}");
}

#[test]
fn sources_name_who_said_what_a_sentence_rests_on() {
    let user = User::new();
    user.ax(&ASK).ends(0);
    let notes = |out: &str| ["[claude R", "[glm R", "[qwen R"].iter().filter(|it| out.contains(*it)).count();
    for args in [
        &["show", "last", "--sources"][..],
        &["export", "last", "--as", "markdown", "--sources"],
        &["show", "last", "--format", "md", "--sources"],
    ] {
        let out = user.ax(args).ends(0).out.replace('\\', "");
        assert!(0 < notes(&out), "{args:?}: {out}");
    }
    let shown = user.ax(&["show", "last", "--sources"]).ends(0).out;
    assert!(shown.contains(". Headings, transitions and short sentences don't count.*"), "{shown}");
    for args in [&["show", "last"][..], &["export", "last", "--as", "markdown"]] {
        assert_eq!(notes(&user.ax(args).ends(0).out.replace('\\', "")), 0, "{args:?}");
    }
    let page = user.ax(&["export", "last", "--as", "html"]).ends(0).out;
    assert!(page.contains("href=\"#said-1\"") && page.contains("id=\"said-1\"") && page.contains("<mark>"));
    user.configure("[defaults]\nsimulate = \"latency=0ms\"\nsources = true\n");
    assert!(0 < notes(&user.ax(&ASK).ends(0).out));
}

#[test]
fn too_little_support_ends_with_6() {
    let user = User::new();
    let with = |share: &str| user.ax(&[&ASK[..], &["--require-support", share]].concat());
    with("0").ends(0);
    // Votes leave no sentence to compare.
    let vote = ["discuss", "Best?", "--pattern", "voting", "-o", "a,b", "--require-support", "0"];
    user.ax(&vote).ends(6).says(&["Too little support: no sentence of the answer could be compared"]);
    user.ax(&["resume", "last", "--require-support", "0.5"]).ends(6);
    user.configure("[defaults]\nsimulate = \"latency=0ms\"\nrequire-support = 0\n");
    user.ax(&vote[..6]).ends(6);
    user.configure("[defaults]\nrequire-support = 2\n");
    user.ax(&ASK).ends(3).says(&["must be a number from 0 to 1, not 2"]);
    user.configure("[defaults]\nsimulate = \"latency=0ms\"\n");
    for share in ["1.5", "-1", "most"] {
        with(share).ends(2).says(&["must be a number from 0 to 1, like 0.8"]).prints_nothing();
    }
}
