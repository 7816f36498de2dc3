//! The question of a discussion: its possible answers, and how to refer to it.

use quorum_core::model::{participant::Participant, spec::Spec};

use super::bank::{Bank, Stance, fill};

/// The roles that bind a seat to a side.
const FOR: &str = "proponent";
const AGAINST: &str = "opponent";
const BETWEEN: &str = "neutral";

/// The maximum number of characters of a topic that are repeated in a sentence.
const MOST_LETTERS: usize = 90;

/// The maximum number of words of an alternative; a longer one is really a sentence.
const MOST_WORDS: usize = 6;

/// The same in characters, for a script without spaces.
const MOST_CHARACTERS: usize = 16;

/// A question, analysed as far as a simulated voice needs it.
#[derive(Debug)]
pub(super) struct Question {
    pub(super) bank: &'static Bank,
    /// The question as a noun phrase: "whether to move", "the best database".
    pub(super) subject: String,
    /// The possible answers.
    pub(super) answers: Vec<Answer>,
    /// Whether the question is about what to do, not only about facts.
    pub(super) practical: bool,
    /// In a sub-discussion, the narrower question that the topic ends with.
    pub(super) tail: Option<&'static str>,
}

/// One possible answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Answer {
    pub(super) position: String,
    /// Arguments for it; rival answers never share one.
    pub(super) because: Vec<&'static str>,
    /// How it is written within a sentence: names as they are, anything else in quotation marks.
    pub(super) view: String,
}

impl Question {
    pub(super) fn of(spec: &Spec) -> Question {
        let bank = Bank::for_topic(&spec.topic);
        let topic = gist(&spec.topic);
        let tail = bank.tails.iter().find(|tail| spec.topic.ends_with(&tail.question));
        let subject = match tail {
            Some(tail) => subject(bank, &tail.question),
            None => subject(bank, &topic),
        };
        let named = if !spec.options.is_empty() {
            spec.options.clone()
        } else if let Some(tail) = tail {
            tail.answers.clone()
        } else {
            alternatives(bank, &topic)
        };
        let answers = answers(bank, spec, &topic, &named);
        let known = [&bank.whether, &bank.explain].map(|it| &it[0].position);
        let practical = !known.contains(&&answers[0].position);
        Question { bank, subject, answers, practical, tail: tail.map(|tail| tail.question.as_str()) }
    }

    /// The answer that this seat's role in a debate binds it to, if any.
    pub(super) fn bound(&self, who: &Participant) -> Option<usize> {
        let weighing = self.answers.len().checked_sub(1);
        match who.role.name() {
            FOR => Some(0),
            AGAINST => Some(1),
            BETWEEN => weighing,
            _ => None,
        }
    }

    /// The answer with this name, ignoring case.
    pub(super) fn answer(&self, position: &str) -> Option<usize> {
        let wanted = position.trim().to_lowercase();
        self.answers.iter().position(|answer| answer.position.to_lowercase() == wanted)
    }
}

fn answers(bank: &'static Bank, spec: &Spec, topic: &str, named: &[String]) -> Vec<Answer> {
    let has_sides = spec.participants.iter().any(|it| [FOR, AGAINST, BETWEEN].contains(&it.role.name()));
    match (has_sides, named.len()) {
        (true, 0 | 1) => {
            let [one, other] = sides(bank, topic);
            [one, other, &bank.sides.weigh].map(|it| stance(bank, it)).to_vec()
        }
        (true, _) => {
            named_answers(bank, named).into_iter().chain([stance(bank, &bank.sides.weigh)]).collect()
        }
        (false, 0) => stances(bank, topic).iter().map(|it| stance(bank, it)).collect(),
        (false, _) => named_answers(bank, named),
    }
}

fn stance(bank: &Bank, stance: &'static Stance) -> Answer {
    let because = stance.because.iter().map(String::as_str).collect();
    let view = fill(&bank.view, &[("position", &stance.position)]);
    Answer { position: stance.position.clone(), because, view }
}

/// Distributes the general reasons, so that two rivals don't use the same one.
fn named_answers(bank: &'static Bank, named: &[String]) -> Vec<Answer> {
    let reasons = &bank.option.because;
    let hands = named.len().min(reasons.len() / 3);
    let deal = |hand: usize| reasons.iter().skip(hand % hands).step_by(hands).map(String::as_str).collect();
    named
        .iter()
        .enumerate()
        .map(|(at, it)| Answer { position: it.clone(), because: deal(at), view: it.clone() })
        .collect()
}

/// The two sides of a debate on a question that names no alternatives. Nobody can be for or against
/// "Which database?", so there each side has an answer of its own.
fn sides(bank: &'static Bank, topic: &str) -> [&'static Stance; 2] {
    let answers = [(&bank.begins.open, &bank.open), (&bank.begins.explain, &bank.explain)];
    match answers.into_iter().find(|(starts, _)| begins(topic, starts)).map(|it| &it.1[..]) {
        Some([one, other, ..]) => [one, other],
        _ => [&bank.sides.favour, &bank.sides.against],
    }
}

fn stances(bank: &'static Bank, topic: &str) -> &'static [Stance] {
    match &bank.begins {
        it if begins(topic, &it.open) => &bank.open,
        it if begins(topic, &it.explain) => &bank.explain,
        it if begins(topic, &it.should) => &bank.should,
        it if begins(topic, &it.whether) => &bank.whether,
        _ => &bank.open,
    }
}

/// Whether a topic begins with one of these, as whole words, or has a Japanese one.
fn begins(topic: &str, starts: &[String]) -> bool {
    let topic = topic.to_lowercase();
    starts.iter().any(|start| {
        // Words of a question stand in its middle in Japanese.
        if start.starts_with(is_japanese) {
            return topic.contains(start.as_str());
        }
        topic.strip_prefix(start.as_str()).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
    })
}

fn is_japanese(it: char) -> bool {
    is_hiragana(it) || matches!(it, '\u{30a0}'..='\u{30ff}' | '\u{4e00}'..='\u{9fff}')
}

fn is_hiragana(it: char) -> bool {
    matches!(it, '\u{3040}'..='\u{309f}')
}

/// The first sentence or line of a topic, shortened so that it can be repeated.
fn gist(topic: &str) -> String {
    let line = topic.trim().lines().next().unwrap_or_default();
    let end = line.find("? ").map_or(line.len(), |at| at + 1);
    clipped(&line[..end], MOST_LETTERS)
}

/// The text, shortened to whole words if it is too long.
pub(super) fn clipped(text: &str, most: usize) -> String {
    let text = text.trim();
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let head: String = text.chars().take(most).collect();
    let end = head.rfind(' ').unwrap_or(head.len());
    format!("{}…", head[..end].trim_end_matches([',', ';', ':', ' ', '–']))
}

fn subject(bank: &'static Bank, topic: &str) -> String {
    let lower = topic.to_ascii_lowercase();
    let plain = |rest: &str| rest.trim().trim_end_matches(['?', '.', '!']).to_owned();
    let rewritten = bank.subject.iter().find_map(|rewrite| {
        let rest = lower.starts_with(&rewrite.begins).then(|| plain(&topic[rewrite.begins.len()..]))?;
        Some(rewrite.becomes.replace("{rest}", &rest).replace("{topic}", topic))
    });
    rewritten.unwrap_or_else(|| topic.to_owned())
}

/// The alternatives that a topic names, at least two: "Compare React vs Vue", "REST, GraphQL or
/// gRPC?".
fn alternatives(bank: &Bank, topic: &str) -> Vec<String> {
    let rules = &bank.alternatives;
    // Only ASCII is lowercased, so byte offsets stay the same.
    let lower = topic.to_ascii_lowercase();
    let Some(between) = rules.between.iter().find(|it| lower.contains(it.as_str())) else {
        return japanese_alternatives(topic);
    };
    let mut found = Vec::new();
    let (mut from, ends) = (0, lower.match_indices(between.as_str()).map(|(at, _)| at));
    for end in ends.chain([topic.len()]) {
        let part = &topic[from..end];
        let part = if from == 0 { without_lead(rules.leads.as_slice(), part) } else { part };
        let part = if end == topic.len() { without_tail(rules.tails.as_slice(), part) } else { part };
        found.extend(part.split(',').map(|it| it.trim_matches(TRIMMED).to_owned()));
        from = end + between.len();
    }
    let fits = |it: &String| {
        let words = it.split_whitespace().count();
        (1..=MOST_WORDS).contains(&words) && !rules.no.contains(&it.to_lowercase())
    };
    let different = found.windows(2).all(|pair| pair[0] != pair[1]);
    if found.len() > 1 && different && found.iter().all(fits) { found } else { Vec::new() }
}

/// The alternatives of a question in Japanese: 「AとBのどちら」, 「AかB」.
fn japanese_alternatives(topic: &str) -> Vec<String> {
    let fits = |found: &[String]| {
        let is_short = |it: &String| (1..=MOST_CHARACTERS).contains(&it.chars().count());
        found.len() > 1 && found.iter().all(is_short)
    };
    let parts = |named: &str, between: &[char]| -> Vec<String> {
        named.split(between).map(|it| it.trim_matches(['、', ' ']).to_owned()).collect()
    };
    let asks_which =
        topic.split_once("どちら").map(|it| it.0.trim_end_matches(['の', '、', 'は', 'が', ' ']));
    let of_both = asks_which.map(|named| parts(named, &['と', '、'])).filter(|it| fits(it));
    of_both
        .or_else(|| {
            let named = match asks_which {
                Some(named) => named.strip_suffix('か').unwrap_or(named),
                None => without_question(topic.trim_end_matches(['？', '?', '。', ' ', '　']))?,
            };
            let found = parts(named, &['か']);
            // か may also stand within a word.
            let is_word = |it: &String| found.len() == 2 || !it.starts_with(is_hiragana);
            let are_named = found.iter().all(|it| is_word(it) && !NO_ALTERNATIVE.contains(&it.as_str()));
            (fits(&found) && are_named).then_some(found)
        })
        .unwrap_or_default()
}

/// A question in Japanese without the か at its end; `None` if it asks whether something is so.
fn without_question(named: &str) -> Option<&str> {
    let named = named.strip_suffix('か')?;
    let polite = named.strip_suffix("です");
    // 「犬か猫ですか」 is a choice, 「続けるべきですか」 is none.
    let bare = polite.filter(|it| it.contains('か')).unwrap_or(named);
    let is_whether = ["です", "ます", "ません", "ました", "でしょう"].iter().any(|it| bare.ends_with(it));
    (!is_whether).then_some(bare)
}

/// What is no alternative before or after か: a word that asks, and "or not".
const NO_ALTERNATIVE: [&str; 11] =
    ["何", "なに", "誰", "だれ", "いつ", "どこ", "なぜ", "どう", "どれ", "どのよう", "否"];

const TRIMMED: [char; 9] = [' ', '?', '.', '!', '"', '“', '”', '„', ':'];

/// The first alternative starts after the last of these words: "Should we use React".
fn without_lead<'a>(leads: &[String], part: &'a str) -> &'a str {
    let lower = format!(" {}", part.to_ascii_lowercase());
    let end = |lead: &String| lower.rfind(&format!(" {lead}")).map(|at| at + lead.len());
    let start = leads.iter().filter_map(end).max().unwrap_or(0);
    let colon = part.rfind(": ").map_or(0, |at| at + 2);
    &part[start.max(colon)..]
}

/// The last alternative ends before the first of these: "Vue for a new page?".
fn without_tail<'a>(tails: &[String], part: &'a str) -> &'a str {
    let lower = part.to_ascii_lowercase();
    let ends = tails.iter().filter_map(|tail| lower.find(tail.as_str()));
    let end = ends.chain(part.find([',', ':', '?'])).filter(|at| *at > 0).min();
    &part[..end.unwrap_or(part.len())]
}

/// The topic of a sub-discussion: the same matter with a narrower question.
pub(super) fn narrower(question: &Question, topic: &str, tail: &str) -> String {
    match question.tail.and_then(|own| topic.strip_suffix(own)) {
        Some(matter) => format!("{matter}{tail}"),
        None => {
            let gist = gist(topic);
            fill(&question.bank.on, &[("subject", &question.subject), ("topic", &gist), ("question", tail)])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(topic: &str, expected: &[&str]) {
        assert_eq!(alternatives(Bank::for_topic(topic), topic), expected, "{topic}");
    }

    #[test]
    fn alternatives_are_found_in_the_topic() {
        check("Microservices vs Monolith", &["Microservices", "Monolith"]);
        check("Compare React vs Vue", &["React", "Vue"]);
        check("Compare React vs Vue for a small dashboard", &["React", "Vue"]);
        check("Should we use Postgres or MySQL?", &["Postgres", "MySQL"]);
        check("REST, GraphQL or gRPC?", &["REST", "GraphQL", "gRPC"]);
        check("Is it better to buy or build?", &["buy", "build"]);
        check(
            "Should we rewrite the parser or repair the one that we have?",
            &["rewrite the parser", "repair the one that we have"],
        );
        check("Tabs versus spaces", &["Tabs", "spaces"]);
        check("For our API: REST or GraphQL?", &["REST", "GraphQL"]);
        check("Sollten wir lieber Kotlin oder Java für die App nutzen?", &["Kotlin", "Java"]);
        check("Should Rust or Go be our next language?", &["Rust", "Go"]);
    }

    #[test]
    fn a_choice_in_japanese_has_two_alternatives() {
        check("タブとスペースのどちらがよいですか？", &["タブ", "スペース"]);
        check("PostgreSQLとSQLiteのどちらを選ぶべきですか？", &["PostgreSQL", "SQLite"]);
        check("週休三日制を導入すべきですか？", &[]);
        check("どちらがよいですか？", &[]);
    }

    #[test]
    fn a_choice_in_japanese_needs_no_word_for_which() {
        check("RustかGoか？", &["Rust", "Go"]);
        check("東京か大阪か", &["東京", "大阪"]);
        check("紙の本か電子書籍か、どちらがよいですか？", &["紙の本", "電子書籍"]);
        check("タブかスペースのどちらを使いますか？", &["タブ", "スペース"]);
        check("犬か猫ですか？", &["犬", "猫"]);
        check("続けるか、やめるか。", &["続ける", "やめる"]);
        check("電車か車か自転車か？", &["電車", "車", "自転車"]);
        for none in [
            "導入すべきか否か？",
            "導入するかどうか",
            "何かすべきですか？",
            "なぜ遅れますか？",
            "温かい飲み物か冷たい飲み物か？",
            "静かですか？",
        ] {
            check(none, &[]);
        }
    }

    #[test]
    fn not_every_or_is_a_choice() {
        check("Should we go or not?", &[]);
        check("Should we move billing to event sourcing?", &[]);
        check("How do we keep the people who built all of this or at least their knowledge?", &[]);
        check("Best API style", &[]);
    }

    #[test]
    fn a_question_becomes_a_noun_phrase() {
        let subject = |topic: &str| subject(Bank::for_topic(topic), topic);
        assert_eq!(
            subject("Should we move billing to event sourcing?"),
            "whether to move billing to event sourcing"
        );
        assert_eq!(
            subject("What's the best database for a real-time app?"),
            "the best database for a real-time app"
        );
        assert_eq!(subject("Best API style"), "“Best API style”");
        assert_eq!(
            subject("Sollten wir die Abrechnung umstellen?"),
            "der Frage, ob wir die Abrechnung umstellen sollten,"
        );
    }
}
