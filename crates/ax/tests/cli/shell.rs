//! Completions and manual pages.

use std::collections::BTreeSet;

use crate::user::User;

#[test]
fn there_are_completions_for_five_shells() {
    let user = User::new();
    user.configure("[presets.architecture]\nrounds = 3");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = user.ax(&["completions", shell]).ends(0).out;
        for word in ["discuss", "dry-run", "completions"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
    // Names from the registry and the configuration.
    for shell in ["bash", "zsh", "fish"] {
        let script = user.ax(&["completions", shell]).ends(0).out;
        for word in ["round-robin", "unanimous", "ax __complete", "repetition"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
    user.ax(&["completions", "tcsh"]).ends(2).says(&["invalid value 'tcsh'"]).prints_nothing();
    user.configure("[broken");
    user.ax(&["completions", "bash"]).ends(0);
}

#[test]
fn bash_reads_its_completions() {
    let user = User::new();
    let script = user.ax(&["completions", "bash"]).ends(0).out;
    user.write("ax.bash", &script);
    let line = ". ./ax.bash; COMP_WORDS=(ax discuss --pattern d); COMP_CWORD=3; _ax ax d --pattern; echo \"${COMPREPLY[*]}\"";
    let said = user.program("bash", &["-c", line]).env("PATH", "/usr/bin:/bin").output().unwrap();
    assert_eq!(String::from_utf8(said.stdout).unwrap(), "debate dialogue\n");
}

#[test]
fn every_verb_has_a_manual_page() {
    let user = User::new();
    let page = user.ax(&["man"]).ends(0).out;
    assert!(page.contains(".TH ax 1") && page.contains("ax\\-discuss(1)"), "{page}");
    let page = user.ax(&["man", "discuss"]).ends(0).out;
    for word in [".TH ax-discuss 1", "\\-\\-dry\\-run", "Opposing sides before a judge", ".SH EXAMPLES"] {
        assert!(page.contains(word), "{word}: {page}");
    }
    assert!(
        page.contains("\\&  ax discuss \"Rewrite or refactor?\" \\-\\-rounds 5 \\-\\-dry\\-run\n"),
        "{page}"
    );
    assert!(!page.contains(".SH EXTRA"), "{page}");
    user.ax(&["man", "nothing"]).ends(2).says(&["error: there is no verb named nothing"]).prints_nothing();
}

#[test]
fn parts_of_a_verb_have_a_manual_page_in_either_spelling() {
    let user = User::new();
    let page = user.ax(&["man", "config-path"]).ends(0).out;
    assert!(page.contains(".TH ax-config-path 1"), "{page}");
    assert_eq!(user.ax(&["man", "config", "path"]).ends(0).out, page);
    let said = user.ax(&["man", "config", "pth"]).ends(2).prints_nothing();
    said.says(&["error: config has no part named pth; did you mean path?"]);
    user.ax(&["man", "config-pth"]).ends(2).says(&["did you mean config-path?"]);
    user.ax(&["man", "doctor", "who"]).ends(2).says(&["doctor has no part named who"]).prints_nothing();
}

#[test]
fn help_with_a_slip_suggests_the_nearest_verb() {
    let user = User::new();
    let check =
        |args: &[&str], expected: &str| drop(user.ax(args).ends(2).prints_nothing().says(&[expected]));
    check(&["help", "discus"], "error: there is no verb named discus; did you mean discuss?");
    check(&["help", "config", "pth"], "tip: a similar subcommand exists: 'path'");
    let said = user.ax(&["help", "xyzzy"]).ends(2);
    assert!(!said.err.contains("did you mean"), "{}", said.err);
}

#[test]
fn the_manual_says_what_belongs_to_all_verbs() {
    let user = User::new();
    let page = user.ax(&["man"]).ends(0).out;
    for word in [".SH EXIT STATUS", "130  interrupted", ".SH ENVIRONMENT", "AX_DATA_DIR", ".SH FILES"] {
        assert!(page.contains(word), "{word}: {page}");
    }
    let pages = [page, user.ax(&["man", "config"]).ends(0).out].concat();
    assert!(!pages.contains("help(1)"), "there is no such page: {pages}");
}

/// Whether a word is the mark of a requirement (`B08`, `S12`) or an invariant (`INV-DISC-631`).
fn is_mark(word: &str) -> bool {
    let digits = word.trim_start_matches(|it: char| it.is_ascii_uppercase());
    let letters = word.len() - digits.len();
    let is_number = digits.len() == 2 && digits.bytes().all(|it| it.is_ascii_digit());
    word.starts_with("INV") || (letters == 1 && is_number)
}

#[test]
fn no_help_names_a_test_or_a_requirement() {
    let user = User::new();
    let overview = user.ax(&["man"]).ends(0).out;
    let verbs: BTreeSet<&str> =
        overview.split("ax\\-").skip(1).filter_map(|it| it.split_once("(1)")).map(|it| it.0).collect();
    assert!(verbs.len() > 30, "{verbs:?}");
    for verb in verbs.iter().map(|it| it.replace('\\', "")) {
        let help = user.ax(&["help", &verb]).ends(0).out + &user.ax(&["man", &verb]).ends(0).out;
        let mut words = help.split(|it: char| !it.is_ascii_alphanumeric() && it != '-');
        assert_eq!(words.find(|it| is_mark(it)), None, "{verb}: {help}");
    }
}

#[test]
fn help_manual_and_readme_agree_on_the_exit_codes() {
    let readme = include_str!("../../../../README.md").split_whitespace().collect::<Vec<_>>().join(" ");
    let help = User::new().ax(&["discuss", "--help"]).ends(0).out;
    let codes = help.split("Exit codes:\n").nth(1).unwrap().lines();
    let codes: Vec<String> = codes.map(|line| line.trim().replacen("  ", " ", 1)).collect();
    assert!(codes[0].starts_with("0 ") && 1 < codes.len(), "{help}");
    let sentence = format!("Exit codes: {}.", codes.join("; "));
    let sentence = ["--require-consensus", "--require-support", "--offline"]
        .iter()
        .fold(sentence, |sentence, flag| sentence.replace(flag, &format!("`{flag}`")));
    assert!(readme.contains(&sentence), "{sentence}");
}

#[test]
fn a_preset_with_a_blank_in_its_name_is_not_completed() {
    let user = User::new();
    user.configure("[presets.plain]\nrounds = 3\n[presets.\"two words\"]\nrounds = 3");
    assert_eq!(user.ax(&["__complete", "--", "discuss", "--preset", ""]).ends(0).out, "plain\tpreset\n");
    user.configure("[broken");
    user.ax(&["__complete", "--", "discuss", "--preset", ""]).ends(0).prints_nothing();
}

/// What bash offers for the last of these words.
fn in_bash(user: &User, words: &[&str]) -> Vec<String> {
    let words: Vec<String> = words.iter().map(|it| format!("'{it}'")).collect();
    let (last, words) = (words.len() - 1, words.join(" "));
    let line = format!(
        "ax completions bash > ax.bash; . ./ax.bash; COMP_WORDS=({words}); COMP_CWORD={last}; \
         _ax_dynamic ax \"${{COMP_WORDS[$COMP_CWORD]}}\" \"${{COMP_WORDS[$COMP_CWORD-1]}}\"; \
         printf '%s\\n' \"${{COMPREPLY[@]}}\""
    );
    user.write("complete.sh", &line);
    let said = user.shell("bash complete.sh").ends(0);
    said.out.lines().map(str::to_owned).collect()
}

#[test]
fn providers_presets_and_ids_are_completed_as_they_are_now() {
    let user = User::new();
    let offered = in_bash(&user, &["ax", "show", ""]);
    assert!(!offered.contains(&"last".to_owned()), "nothing is recorded: {offered:?}");
    assert!(!user.database().exists());
    let id = user.result(&["-p", "claude,gemini"])["discussionId"].as_str().unwrap().to_owned();
    assert_eq!(in_bash(&user, &["ax", "watch", &id[..9]]), [id]);
    assert_eq!(in_bash(&user, &["ax", "show", "la"]), ["last"]);
    assert_eq!(in_bash(&user, &["ax", "discuss", "q", "-p", "claude,gem"]), ["claude,gemini"]);
    user.configure("[presets.architecture]\nrounds = 3");
    assert_eq!(in_bash(&user, &["ax", "discuss", "--preset", "a"]), ["architecture"]);
    assert_eq!(in_bash(&user, &["ax", "discuss", "--pattern", "d"]), ["debate", "dialogue"]);
}

#[test]
fn help_has_the_words_of_the_descriptors() {
    let user = User::new();
    let help = user.ax(&["discuss", "--help"]).ends(0).out;
    let listed = user.ax(&["patterns", "--json"]).ends(0).json();
    for list in ["patterns", "consensus"] {
        for item in listed[list].as_array().unwrap() {
            let line = format!("{} ", item["name"].as_str().unwrap()).replace(' ', ":");
            let summary = item["summary"].as_str().unwrap();
            let words = summary.split_whitespace().next().unwrap();
            assert!(help.contains(&line) && help.contains(words), "{line} {summary}: {help}");
        }
    }
    assert!(help.contains("The older half is replaced by a summary"), "{help}");
}
