//! A question without a verb: `ax "Should we …?"` is `ax discuss "Should we …?"`.
//!
//! Discussions cost money, so a mistyped verb must never be taken for a question.

use std::ffi::{OsStr, OsString};

use clap::{ArgAction, Command};

/// How a command line is understood.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// A command line to parse unchanged: it has a verb, or no words at all.
    AsTyped,
    /// A question: the same command line with the verb inserted.
    Question(Vec<OsString>),
    /// Neither a verb nor a question.
    Unclear(Unclear),
}

/// A command line that begins neither with a verb nor with a clear question.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unclear {
    /// The word in the verb's position.
    word: String,
    /// The verb that was probably meant.
    meant: Option<String>,
    /// The words joined into one question, as if they had been quoted.
    question: Option<String>,
}

impl Unclear {
    /// The error message: what is wrong, and what to type instead.
    pub(super) fn lines(&self) -> [String; 2] {
        let Unclear { word, meant, question } = self;
        if word.trim().is_empty() {
            return ["error: the question is empty".to_owned(), "Nothing was asked.".to_owned()];
        }
        let meant = meant.as_ref().map(|it| format!("; did you mean {it}?")).unwrap_or_default();
        // A shell interprets these characters inside double quotes.
        let plain = question.as_deref().filter(|it| !it.contains(['"', '$', '`', '\\', '!']));
        let question = plain.unwrap_or("…?");
        [
            format!("error: there is no verb named {word}{meant}"),
            format!(
                "Nothing was asked. `ax help` lists the verbs; a question goes in quotes: ax \"{question}\""
            ),
        ]
    }
}

/// The verb that a bare question implies.
const VERB: &str = "discuss";

/// The largest edit distance at which a word counts as a mistyped verb.
const SLIP: usize = 2;

/// The fewest unquoted words that count as a question. Two words are a verb and its argument, as in
/// other programs.
const FEWEST_WORDS: usize = 3;

/// Words that begin questions in English, German, French and Spanish. Followed by more words, they
/// count as a question even if they resemble a verb, as `what` resembles `chat`.
const QUESTION_WORDS: &[&str] = &[
    "what",
    "which",
    "why",
    "how",
    "who",
    "whom",
    "whose",
    "when",
    "where",
    "should",
    "shall",
    "is",
    "are",
    "was",
    "were",
    "can",
    "could",
    "do",
    "does",
    "did",
    "will",
    "would",
    "must",
    "welche",
    "welcher",
    "welches",
    "welchen",
    "warum",
    "wieso",
    "wie",
    "wer",
    "wen",
    "wem",
    "wann",
    "wo",
    "wohin",
    "woher",
    "soll",
    "sollen",
    "sollte",
    "sollten",
    "ist",
    "sind",
    "kann",
    "können",
    "darf",
    "dürfen",
    "muss",
    "müssen",
    "que",
    "quoi",
    "quel",
    "quelle",
    "quels",
    "quelles",
    "pourquoi",
    "comment",
    "qui",
    "quand",
    "où",
    "faut",
    "doit",
    "devons",
    "devrait",
    "est",
    "sont",
    "peut",
    "qué",
    "cuál",
    "cuáles",
    "cómo",
    "quién",
    "cuándo",
    "dónde",
    "debe",
    "deben",
    "debería",
    "deberíamos",
    "es",
    "son",
    "puede",
    "podemos",
];

/// Question marks, including those of other scripts.
const MARKS: [char; 3] = ['?', '？', '؟'];

/// Classifies a command line whose first item is the program's name.
pub(super) fn meaning(command: &Command, typed: &[OsString]) -> Meaning {
    let places = words(command, typed);
    let Some(first) = places.first().and_then(|place| typed[*place].to_str()) else {
        return Meaning::AsTyped;
    };
    if asks_about_the_program(&typed[..places[0]]) || verbs(command).any(|it| it == first) {
        return Meaning::AsTyped;
    }
    let all: Option<Vec<&str>> = places.iter().map(|place| typed[*place].to_str()).collect();
    let all = all.unwrap_or_default();
    let lower = first.to_lowercase();
    let meant = verbs(command).map(|it| (strsim::osa_distance(&lower, it), it)).min();
    // Two edits turn any two letters into any verb of two letters, so such a match means nothing.
    let is_like = |(edits, verb): &(usize, &str)| *edits <= SLIP && *edits < verb.len();
    let meant = meant.filter(is_like).map(|(_, verb)| verb.to_owned());
    // `can config path` may be `man config path`, whose arguments are verbs.
    let is_near_verb = || verbs(command).any(|it| strsim::osa_distance(&lower, it) <= 1);
    let names_verb = || all.get(1).is_some_and(|word| verbs(command).any(|it| it == *word));
    let begins_question =
        || QUESTION_WORDS.contains(&lower.trim_start_matches('¿')) && !(is_near_verb() && names_verb());
    if is_question(&all) && (meant.is_none() || has_space(first) || begins_question()) {
        return Meaning::Question(with_verb(typed, &places, &all.join(" ")));
    }
    let question = (all.len() > 1).then(|| all.join(" "));
    Meaning::Unclear(Unclear { word: first.to_owned(), meant, question })
}

fn is_question(words: &[&str]) -> bool {
    let says_something = words.iter().any(|it| it.chars().any(char::is_alphanumeric));
    let is_one = match words {
        [one] => has_space(one) || one.trim_end().ends_with(MARKS),
        several => several.len() >= FEWEST_WORDS || several.first().is_some_and(|it| has_space(it)),
    };
    says_something && is_one
}

fn has_space(word: &str) -> bool {
    word.contains(char::is_whitespace)
}

/// Every name accepted in the verb's position.
fn verbs(command: &Command) -> impl Iterator<Item = &str> {
    command
        .get_subcommands()
        .flat_map(|it| std::iter::once(it.get_name()).chain(it.get_all_aliases()))
        .chain(["help"])
}

/// Whether `--help` or `--version` comes before any word, and so is about the program itself.
fn asks_about_the_program(before: &[OsString]) -> bool {
    before.iter().any(|it| ["-h", "--help", "-V", "--version"].iter().any(|flag| it == flag))
}

/// The first word: the verb, if there is one.
pub(super) fn first_word<'t>(command: &Command, typed: &'t [OsString]) -> Option<&'t str> {
    words(command, typed).first().and_then(|place| typed[*place].to_str())
}

/// The positions of the words: arguments that are neither a flag of `discuss` nor the value of one.
fn words(command: &Command, typed: &[OsString]) -> Vec<usize> {
    let mut places = Vec::new();
    let mut at = 1;
    while let Some(argument) = typed.get(at) {
        if argument == "--" {
            places.extend(at + 1..typed.len());
            break;
        }
        match flag(argument) {
            Some(flag) if takes_the_next(command, flag) => at += 1,
            Some(_) => {}
            None => places.push(at),
        }
        at += 1;
    }
    places
}

fn flag(argument: &OsStr) -> Option<&str> {
    argument.to_str().filter(|it| it.len() > 1 && it.starts_with('-'))
}

/// Whether the value of this flag is the argument after it: `--rounds 3`, `-r 3`, but not
/// `--rounds=3` or `-r3`.
fn takes_the_next(command: &Command, flag: &str) -> bool {
    match flag.strip_prefix("--") {
        Some(long) => has_value(command, |it| it.get_long() == Some(long)),
        None => {
            let letters: Vec<char> = flag.chars().skip(1).collect();
            let taking = letters.iter().position(|it| has_value(command, |arg| arg.get_short() == Some(*it)));
            taking.is_some_and(|at| at + 1 == letters.len())
        }
    }
}

fn has_value(command: &Command, is_it: impl Fn(&clap::Arg) -> bool) -> bool {
    let discuss = command.find_subcommand(VERB);
    // The flags of every verb are declared on the program itself.
    let mut arguments = discuss.into_iter().flat_map(Command::get_arguments).chain(command.get_arguments());
    let found = arguments.find(|it| is_it(it));
    found.is_some_and(|it| matches!(it.get_action(), ArgAction::Set | ArgAction::Append))
}

/// The command line with the verb first and the question in place of its first word.
fn with_verb(typed: &[OsString], places: &[usize], question: &str) -> Vec<OsString> {
    let mut all: Vec<OsString> = typed.iter().take(1).cloned().chain([VERB.into()]).collect();
    for (at, argument) in typed.iter().enumerate().skip(1) {
        match places.iter().position(|place| *place == at) {
            Some(0) => all.push(question.into()),
            Some(_) => {}
            None => all.push(argument.clone()),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{app::App, args::command};

    /// How a command line is understood, as one string to compare.
    fn verdict(typed: &[&str]) -> String {
        let typed: Vec<OsString> =
            std::iter::once("ax").chain(typed.iter().copied()).map(Into::into).collect();
        match meaning(&command(&App::built_in()), &typed) {
            Meaning::AsTyped => "as typed".to_owned(),
            Meaning::Question(typed) => {
                typed.iter().map(|it| it.to_string_lossy()).collect::<Vec<_>>().join(" | ")
            }
            Meaning::Unclear(Unclear { meant: Some(meant), .. }) => format!("did you mean {meant}?"),
            Meaning::Unclear(_) => "no verb".to_owned(),
        }
    }

    #[track_caller]
    fn check(cases: &[(&[&str], &str)]) {
        for (typed, expected) in cases {
            assert_eq!(verdict(typed), *expected, "{typed:?}");
        }
    }

    #[test]
    fn a_bare_question_is_a_discussion() {
        check(&[
            (&["Should we do it?"], "ax | discuss | Should we do it?"),
            (&["tabs or spaces"], "ax | discuss | tabs or spaces"),
            (&["help me?"], "ax | discuss | help me?"),
            (&["show last"], "ax | discuss | show last"),
            (&["Kubernetes?"], "ax | discuss | Kubernetes?"),
            (&["why?"], "ax | discuss | why?"),
            (&["why?", "--log", "text"], "ax | discuss | why? | --log | text"),
            (&["--log", "json", "why?", "-q"], "ax | discuss | --log | json | why? | -q"),
            (&["何をすべきですか？"], "ax | discuss | 何をすべきですか？"),
            (&["ماذا؟"], "ax | discuss | ماذا؟"),
            (&["¿Qué hacemos?"], "ax | discuss | ¿Qué hacemos?"),
            (&["which one should we take"], "ax | discuss | which one should we take"),
            (&["two\nlines"], "ax | discuss | two\nlines"),
        ]);
    }

    #[test]
    fn flags_may_stand_before_and_after_a_bare_question() {
        check(&[
            (&["-q", "q?"], "ax | discuss | -q | q?"),
            (&["q?", "-q"], "ax | discuss | q? | -q"),
            (&["--offline", "q?", "--json"], "ax | discuss | --offline | q? | --json"),
            (&["-p", "claude,glm", "q?"], "ax | discuss | -p | claude,glm | q?"),
            (&["--pattern", "debate", "q?"], "ax | discuss | --pattern | debate | q?"),
            (&["--pattern=debate", "q?"], "ax | discuss | --pattern=debate | q?"),
            (&["--judge", "qwen", "q?"], "ax | discuss | --judge | qwen | q?"),
            (&["-qr", "3", "q?"], "ax | discuss | -qr | 3 | q?"),
            (&["-r3", "q?"], "ax | discuss | -r3 | q?"),
            (&["--", "-1 or +1?"], "ax | discuss | -- | -1 or +1?"),
            (&["-q", "--", "q?"], "ax | discuss | -q | -- | q?"),
            (&["which", "-r", "1", "queue", "fits"], "ax | discuss | which queue fits | -r | 1"),
        ]);
    }

    #[test]
    fn several_words_are_a_question_if_the_first_is_far_from_any_verb() {
        check(&[
            (&["Should", "we", "do", "it"], "ax | discuss | Should we do it"),
            (&["stats", "foo", "bar"], "ax | discuss | stats foo bar"),
            (&["tabs or", "spaces"], "ax | discuss | tabs or spaces"),
            (&["listen", "last"], "no verb"),
            (&["status", "last"], "no verb"),
        ]);
    }

    #[test]
    fn a_question_may_begin_with_a_question_word_near_a_verb() {
        check(&[
            (&["what", "should", "we", "do"], "ax | discuss | what should we do"),
            (&["how", "about", "this"], "ax | discuss | how about this"),
            (&["Do", "we", "need", "it"], "ax | discuss | Do we need it"),
            (&["was", "sollen", "wir", "tun"], "ax | discuss | was sollen wir tun"),
            (&["Can", "-r", "1", "it", "work"], "ax | discuss | Can it work | -r | 1"),
            (&["¿qué", "hacemos", "ahora?"], "ax | discuss | ¿qué hacemos ahora?"),
            (&["est", "ce", "utile"], "ax | discuss | est ce utile"),
            (&["can", "config", "path"], "did you mean man?"),
            // Two words are a verb and its argument.
            (&["what", "now"], "did you mean chat?"),
            (&["what"], "did you mean chat?"),
            (&["how"], "did you mean show?"),
        ]);
    }

    /// All words that are a slip of the finger away from this one: a letter left out, doubled, or
    /// exchanged with its neighbour.
    fn slips(verb: &str) -> Vec<String> {
        let letters: Vec<char> = verb.chars().collect();
        let mut words = Vec::new();
        for at in 0..letters.len() {
            let (mut shorter, mut longer, mut turned) = (letters.clone(), letters.clone(), letters.clone());
            shorter.remove(at);
            longer.insert(at, letters[at]);
            turned.swap(at, (at + 1).min(letters.len() - 1));
            words.extend([shorter, longer, turned].map(|it| it.into_iter().collect::<String>()));
        }
        words
    }

    #[test]
    fn every_typo_of_every_verb_is_refused_whatever_follows() {
        let command = command(&App::built_in());
        let is_verb = |word: &String| verbs(&command).any(|verb| verb == word);
        for verb in verbs(&command) {
            let slips = slips(verb).into_iter().filter(|it| !is_verb(it) && !it.is_empty());
            for slip in slips.filter(|it| !QUESTION_WORDS.contains(&it.as_str())) {
                for rest in [&["last"][..], &["should", "we", "do"], &["q?"]] {
                    let typed: Vec<&str> = [slip.as_str()].iter().chain(rest).copied().collect();
                    let verdict = verdict(&typed);
                    assert!(verdict.starts_with("did you mean "), "{typed:?}: {verdict}");
                }
            }
        }
    }

    /// A question has at least three words, so it can't be a verb with one argument. `man` takes
    /// more, but its arguments are verbs, which `meaning` recognises.
    #[test]
    fn no_question_word_is_one_edit_from_a_verb_that_takes_two_arguments() {
        let command = command(&App::built_in());
        for verb in command.get_subcommands().filter(|it| ![VERB, "man"].contains(&it.get_name())) {
            let arguments = verb.get_positionals().count();
            for name in std::iter::once(verb.get_name()).chain(verb.get_all_aliases()) {
                let near = QUESTION_WORDS.iter().filter(|it| strsim::osa_distance(it, name) <= 1);
                let near: Vec<_> = near.collect();
                assert!(near.is_empty() || arguments < FEWEST_WORDS - 1, "{name}: {near:?}");
            }
        }
    }

    #[test]
    fn a_typo_never_spends_money() {
        check(&[
            (&["dicuss", "Tabs or spaces?"], "did you mean discuss?"),
            (&["disuss"], "did you mean discuss?"),
            (&["dsicuss", "q?"], "did you mean discuss?"),
            (&["Dicsuss", "Should", "we", "do", "it"], "did you mean discuss?"),
            (&["DISCUSS", "Should", "we", "do", "it"], "did you mean discuss?"),
            (&["ak", "Should we do it?"], "did you mean ask?"),
            (&["cht", "q?"], "did you mean chat?"),
            (&["histroy", "billing", "events", "of", "May"], "did you mean history?"),
            (&["-q", "dicuss", "q?"], "did you mean discuss?"),
            (&["--offline", "dicuss", "q?"], "did you mean discuss?"),
            (&["help?"], "did you mean help?"),
            (&["delet", "last", "--yes"], "did you mean delete?"),
            (&["judg", "last", "swap", "glm"], "did you mean judge?"),
        ]);
    }

    #[test]
    fn a_single_word_is_never_a_question() {
        check(&[
            (&["Kubernetes"], "no verb"),
            (&["何をすべきですか"], "no verb"),
            (&["?"], "no verb"),
            (&[" "], "no verb"),
            (&[""], "no verb"),
            (&["-"], "no verb"),
            (&["-q", "Kubernetes"], "no verb"),
        ]);
    }

    #[test]
    fn verbs_and_flags_alone_are_left_to_the_parser() {
        check(&[
            (&[], "as typed"),
            (&["-h"], "as typed"),
            (&["--version"], "as typed"),
            (&["-V", "q?"], "as typed"),
            (&["--help", "dicuss"], "as typed"),
            (&["-1 or +1?"], "as typed"),
            (&["discuss", "q?"], "as typed"),
            (&["ask", "q?"], "as typed"),
            (&["chat", "what", "now"], "as typed"),
            (&["help", "dicuss"], "as typed"),
            (&["-q", "show", "last"], "as typed"),
            (&["judge", "last", "none"], "as typed"),
        ]);
    }

    #[test]
    fn a_command_line_with_neither_verb_nor_question_gets_advice() {
        let unclear = |word: &str, meant: Option<&str>, question: Option<&str>| Unclear {
            word: word.to_owned(),
            meant: meant.map(str::to_owned),
            question: question.map(str::to_owned),
        };
        let quotes = "Nothing was asked. `ax help` lists the verbs; a question goes in quotes: ax";
        assert_eq!(
            unclear("dicuss", Some("discuss"), Some("dicuss now")).lines(),
            [
                "error: there is no verb named dicuss; did you mean discuss?".to_owned(),
                format!("{quotes} \"dicuss now\""),
            ]
        );
        let empty = ["error: the question is empty", "Nothing was asked."];
        assert_eq!(unclear(" ", None, None).lines(), empty);
        assert_eq!(
            unclear("stats", None, Some("stats $HOME")).lines(),
            ["error: there is no verb named stats".to_owned(), format!("{quotes} \"…?\"")]
        );
    }
}
