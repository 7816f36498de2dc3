//! The language of a question, where its script or its function words leave no doubt.

use std::{borrow::Cow, collections::BTreeMap, sync::LazyLock};

/// The language in which answers are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Language {
    name: Option<&'static str>,
    /// Whether the question itself seems to name the language of the answer.
    asks_for_one: bool,
    /// Whether its script has spaces between words, so that lengths can be given in words.
    pub has_spaces: bool,
}

/// Characters for each word, in scripts without spaces.
const CHARACTERS_PER_WORD: u32 = 2;

/// How many characters of a script outweigh one European function word, as in a Japanese question
/// about a product with an English name.
const OUTWEIGHS: usize = 3;

/// Characters that only Chinese uses; the other Han characters may be Japanese as well.
const CHINESE: &str = "吗嗎呢吧们們这這你您么麼哪怎该該应还";

const GERMAN: &str = "German";

/// Function words that are parts of names as well, *Los Angeles*, or words of other languages, *sin
/// tax*. They count only beside another function word of their language.
const NEVER_ALONE: &str = "plus mit am im von los las sin son par hay";

/// The short words of each language that decide. A word of several languages stands in each of
/// their lists.
const FUNCTION_WORDS: &[(Option<&str>, &str)] = &[
    (
        Some("English"),
        "the of and to is are was be in on for with this that it its or not no do does did should would could can will \
         what which who how why when where we our you your they their from at by as than if more most better best \
         a an any use using have has must may about into between",
    ),
    (
        Some(GERMAN),
        "der die das den dem des und oder ist sind war nicht kein keine ein eine einen einer eines zu zum zur im in mit \
         von für auf bei aus nach über wie was wer wo wann warum welche welcher welches welchen soll sollen sollte \
         sollten wir uns unser unsere ich sich man kann können wird werden als auch besser mehr noch nur es er sie an \
         am ob",
    ),
    (
        Some("French"),
        "le la les des du de un une et ou a est sont pas ne que qui quel quelle quels quelles comment pourquoi quand où \
         faut doit devons devrait nous notre vous votre pour dans sur avec sans plus mieux ce cette ces il elle on au \
         aux en par se son sa leur entre peut être",
    ),
    (
        Some("Spanish"),
        "el la los las un una unos unas y o a de del que qué cuál cuáles cómo cuándo dónde quién es son está no para por \
         con sin en más mejor debe deben debería deberíamos nosotros nuestro nuestra su se lo al como entre puede ser \
         hay muy",
    ),
    // Not named, but no other language may be taken for sure where these fit as well.
    (
        None,
        "o os a as um uma e ou de do da dos das no na não que qual quais como quando onde é são para por com sem em mais \
         melhor deve devemos se ao entre pode ser nós nosso",
    ),
    (
        None,
        "il lo la i gli le un una e o a di del della dei che chi quale quali come quando dove è sono non per con senza in \
         più meglio deve dobbiamo si al tra può essere nostro da se",
    ),
    (
        None,
        "de het een en of is zijn niet geen van voor op bij met in uit naar hoe wat wie waar wanneer waarom welke moet \
         moeten we ons onze ik men kan kunnen wordt als ook beter meer nog te dat die",
    ),
    (
        None,
        "och eller är inte en ett att som för på med av vad hur ska bör vi vår det den og er ikke et til af om skal \
         hva hvad hvordan i de vil kan man",
    ),
];

/// For each function word, the positions of the lists that have it. Every prompt asks for the
/// language of its question, so the lists are split only once.
static LISTS_WITH: LazyLock<BTreeMap<&'static str, Vec<usize>>> = LazyLock::new(|| {
    let mut lists: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (position, (_, words)) in FUNCTION_WORDS.iter().enumerate() {
        for word in words.split(' ') {
            let with = lists.entry(word).or_default();
            if with.last() != Some(&position) {
                with.push(position);
            }
        }
    }
    lists
});

/// A preposition and the names of languages that may come after it: *in German*, *auf Deutsch*.
const NAMED_AFTER: &[(&str, &str)] = &[
    (
        "in",
        "english german french spanish italian portuguese dutch polish russian ukrainian turkish swedish danish \
         norwegian finnish greek hebrew arabic hindi japanese chinese mandarin korean \
         italiano inglese tedesco francese spagnolo",
    ),
    (
        "auf",
        "deutsch englisch französisch spanisch italienisch portugiesisch niederländisch polnisch russisch türkisch \
         schwedisch japanisch chinesisch koreanisch arabisch",
    ),
    (
        "en",
        "français anglais allemand espagnol italien portugais néerlandais russe japonais chinois arabe \
         español inglés alemán francés italiano portugués japonés chino",
    ),
    ("em", "português inglês alemão francês espanhol"),
    ("het", "nederlands engels duits frans"),
];

/// The same where the name and its particle are one word, or the name has cases.
const NAMED_WITHIN: &str = "語で|用中文|用英文|用英语|用英語|用德语|用德語|用日语|用日語|用法语|用法語|한국어로|영어로|독일어로|일본어로|\
                            по-русски|по-английски|по-немецки|на русском|на английском|на немецком";

impl Language {
    /// The language of this question.
    #[must_use]
    pub fn of(question: &str) -> Self {
        let (words, best) = by_function_words(question);
        let found = match by_script(question) {
            Some((characters, language)) if OUTWEIGHS * words < characters => language,
            _ => Language { name: best, asks_for_one: false, has_spaces: true },
        };
        Language { asks_for_one: asks_for_one(question), ..found }
    }

    /// Its name, or a description where it is not sure.
    #[must_use]
    pub fn told(self) -> &'static str {
        // Right even where the language that is named is only a part of the subject.
        if self.asks_for_one {
            return "the language of the question, or the one that it asks for";
        }
        self.name.unwrap_or("the language of the question")
    }

    /// How lengths are told, with the number of these units for each word: in words, or in
    /// characters where its script has no spaces.
    #[must_use]
    pub fn unit(self) -> (u32, &'static str) {
        if self.has_spaces { (1, "words") } else { (CHARACTERS_PER_WORD, "characters") }
    }

    /// Whether it writes all nouns with a capital, so that a capital marks no name.
    pub(crate) fn capitalises_nouns(self) -> bool {
        self.name == Some(GERMAN)
    }
}

/// Whether a question names a language, as in *answer in German* or *in plain English*.
fn asks_for_one(question: &str) -> bool {
    let lower = question.to_lowercase();
    let written: Vec<&str> = words(&lower).collect();
    let is_named = |(preposition, names): &(&str, &str)| {
        let is_name = |word: &str| names.split(' ').any(|it| it == word);
        let mut places = written.iter().enumerate().filter(|it| it.1 == preposition);
        // One word may stand between them: *in plain English*.
        places.any(|(at, _)| written[at + 1..].iter().take(2).any(|it| is_name(it)))
    };
    let is_within = || !lower.is_ascii() && NAMED_WITHIN.split('|').any(|it| lower.contains(it));
    NAMED_AFTER.iter().any(is_named) || is_within()
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty())
}

/// How much a word tells about the language of a question.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Weight {
    /// It decides.
    Decides,
    /// It counts beside a word of the same language that decides.
    Supports,
    /// It may be a part of a name, or an abbreviation: *Disney Plus*, *MIT*.
    Ignored,
}

/// The weight of a function word as it is written here.
fn weight(word: &str, is_first: bool) -> Weight {
    let is_lower = !word.contains(char::is_uppercase);
    let is_capitals = !word.contains(char::is_lowercase);
    match (is_lower, is_first) {
        (true, _) if NEVER_ALONE.split(' ').any(|it| it == word) => Weight::Supports,
        (true, _) => Weight::Decides,
        // A question may begin with a name: *Von Neumann architecture*.
        (false, true) if !is_capitals => Weight::Supports,
        (false, _) => Weight::Ignored,
    }
}

/// How many function words of the likeliest European language there are, and its name if no other
/// language fits as well.
fn by_function_words(question: &str) -> (usize, Option<&'static str>) {
    let mut counts = vec![Count::default(); FUNCTION_WORDS.len()];
    for (place, word) in words(question).enumerate() {
        let lower = match word.contains(char::is_uppercase) {
            true => Cow::Owned(word.to_lowercase()),
            false => Cow::Borrowed(word),
        };
        let Some(positions) = LISTS_WITH.get(&*lower) else { continue };
        let weight = weight(word, place == 0);
        positions.iter().for_each(|it| counts[*it].add(weight));
    }
    let most = counts.iter().map(Count::words).max().unwrap_or(0);
    let mut best = FUNCTION_WORDS.iter().zip(&counts).filter(|it| it.1.words() == most);
    let name = best.next().and_then(|it| it.0.0);
    (most, name.filter(|_| 0 < most && best.next().is_none()))
}

/// The function words of one language in a question.
#[derive(Clone, Copy, Default)]
struct Count {
    deciding: usize,
    supporting: usize,
}

impl Count {
    fn add(&mut self, weight: Weight) {
        match weight {
            Weight::Decides => self.deciding += 1,
            Weight::Supports => self.supporting += 1,
            Weight::Ignored => {}
        }
    }

    /// The words that count.
    fn words(&self) -> usize {
        if self.deciding == 0 { 0 } else { self.deciding + self.supporting }
    }
}

/// How many characters of a script that tells the language there are, and the language.
fn by_script(question: &str) -> Option<(usize, Language)> {
    if question.is_ascii() {
        return None;
    }
    let count = |is_of: fn(char) -> bool| question.chars().filter(|it| is_of(*it)).count();
    let kana = count(|it| matches!(it, '\u{3041}'..='\u{30ff}'));
    let han = count(|it| matches!(it, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'));
    let is_chinese = question.contains(|it| CHINESE.contains(it));
    let east_asian = match (kana, han) {
        (0, 0) => None,
        (0, _) => Some((han, unspaced(is_chinese.then_some("Chinese")))),
        _ => Some((kana + han, unspaced(Some("Japanese")))),
    };
    east_asian.or_else(|| {
        let scripts = SCRIPTS.iter().map(|(is_of, language)| (count(*is_of), *language));
        scripts.filter(|it| 0 < it.0).max_by_key(|it| it.0)
    })
}

type Script = (fn(char) -> bool, Language);

/// Scripts of one language, or of several that are not told apart.
const SCRIPTS: &[Script] = &[
    (|it| matches!(it, '\u{ac00}'..='\u{d7a3}'), spaced("Korean")),
    (|it| matches!(it, '\u{370}'..='\u{3ff}'), spaced("Greek")),
    (|it| matches!(it, '\u{590}'..='\u{5ff}'), spaced("Hebrew")),
    (|it| matches!(it, '\u{10a0}'..='\u{10ff}'), spaced("Georgian")),
    (|it| matches!(it, '\u{530}'..='\u{58f}'), spaced("Armenian")),
    (|it| matches!(it, '\u{e00}'..='\u{e7f}'), unspaced(Some("Thai"))),
    (|it| matches!(it, '\u{e80}'..='\u{eff}'), unspaced(Some("Lao"))),
    (|it| matches!(it, '\u{1000}'..='\u{109f}'), unspaced(Some("Burmese"))),
    (|it| matches!(it, '\u{1780}'..='\u{17ff}'), unspaced(Some("Khmer"))),
    // Cyrillic, Arabic and the scripts of India are those of several languages.
    (
        |it| matches!(it, '\u{400}'..='\u{52f}' | '\u{600}'..='\u{6ff}' | '\u{900}'..='\u{dff}'),
        Language { name: None, asks_for_one: false, has_spaces: true },
    ),
];

const fn spaced(name: &'static str) -> Language {
    Language { name: Some(name), asks_for_one: false, has_spaces: true }
}

const fn unspaced(name: Option<&'static str>) -> Language {
    Language { name, asks_for_one: false, has_spaces: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_language_is_named_only_where_it_is_sure() {
        let check = |question: &str, expected: &str| {
            assert_eq!(Language::of(question).told(), expected, "{question}");
        };
        for english in [
            "tabs or spaces?",
            "Should we use Rust?",
            "Which database is best for us?",
            "What does カイゼン mean?",
            "Is the \"Grundgesetz\" the right model?",
        ] {
            check(english, "English");
        }
        for german in [
            "Rust oder Go?",
            "Sollten wir auf Kubernetes umsteigen?",
            "Welche Datenbank ist die beste?",
            "Ist \"Move fast and break things\" noch ein guter Rat für uns und die Welt?",
        ] {
            check(german, "German");
        }
        check("Faut-il une base de données pour notre équipe ?", "French");
        check("¿Debería el equipo usar Rust para los servicios?", "Spanish");
        check("Rust と Go のどちらを選ぶべきですか?", "Japanese");
        check("The Rust Bookは良いですか", "Japanese");
        check("我们应该用 Rust 吗?", "Chinese");
        check("러스트를 써야 할까요?", "Korean");
        check("ควรใช้ Rust ไหม", "Thai");
        for unsure in [
            "Microservices?",
            "東京対大阪?",
            "Стоит ли использовать Rust?",
            "Devemos usar Rust para os serviços?",
            "Rust o Go per la nostra squadra?",
            "Moeten we Rust gebruiken voor onze diensten?",
            "tabs ou espaces ?",
            "",
        ] {
            check(unsure, "the language of the question");
        }
    }

    #[test]
    fn a_name_or_an_abbreviation_decided_on_a_language() {
        for unsure in [
            "MIT vs GPL?",
            "mit vs gpl?",
            "AM vs FM?",
            "Disney Plus?",
            "Disney plus?",
            "Von Neumann architecture: obsolete?",
            "Die Hard?",
            "Los Angeles?",
            "los angeles?",
            "Sin tax?",
            "Las Vegas?",
            "Par excellence?",
            "IT SHOULD BE TABS?",
        ] {
            assert_eq!(Language::of(unsure).told(), "the language of the question", "{unsure}");
        }
        for english in [
            "Von Neumann or Harvard?",
            "MIT, or the GPL?",
            "Los Angeles or Las Vegas?",
            "Should a team of two use AM?",
        ] {
            assert_eq!(Language::of(english).told(), "English", "{english}");
        }
        assert_eq!(Language::of("Mit Rust oder mit Go?").told(), "German");
    }

    #[test]
    fn a_language_that_the_question_asks_for_is_not_overruled() {
        for asking in [
            "tabs or spaces? Answer in German.",
            "Should we use tabs? Explain it in simple English.",
            "Sollten wir Tabs nehmen? Antworte auf Englisch.",
            "Faut-il des tabulations ? Réponds en anglais.",
            "¿Deberíamos usar Rust? Responde en inglés.",
            "タブとスペースのどちらがよいですか? 英語で答えてください。",
            "应该用 Rust 吗? 请用英文回答。",
        ] {
            let told = "the language of the question, or the one that it asks for";
            assert_eq!(Language::of(asking).told(), told, "{asking}");
        }
        for named in ["Is English in decline, or not?", "Should we write the service in Rust or in Go?"] {
            assert_eq!(Language::of(named).told(), "English", "{named}");
        }
    }

    #[test]
    fn lengths_are_in_characters_where_words_have_no_spaces() {
        let has_spaces = |question: &str| Language::of(question).has_spaces;
        assert!(has_spaces("tabs or spaces?") && has_spaces("러스트를 써야 할까요?") && has_spaces(""));
        assert!(
            !has_spaces("タブとスペース?") && !has_spaces("東京対大阪?") && !has_spaces("ควรใช้ Rust ไหม")
        );
    }
}
