//! The language of a question, where its script or its function words leave no doubt.

use std::{collections::BTreeMap, sync::LazyLock};

/// The language in which answers are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Language {
    name: Option<&'static str>,
    /// Whether its script has spaces between words, so that lengths can be given in words.
    pub has_spaces: bool,
}

/// How many characters of a script outweigh one European function word, as in a Japanese question
/// about a product with an English name.
const OUTWEIGHS: usize = 3;

/// Characters that only Chinese uses; the other Han characters may be Japanese as well.
const CHINESE: &str = "吗嗎呢吧们們这這你您么麼哪怎该該应还";

const GERMAN: &str = "German";

/// The short words of each language that decide. A word of several languages stands in each of
/// their lists.
const FUNCTION_WORDS: &[(Option<&str>, &str)] = &[
    (
        Some("English"),
        "the of and to is are was be in on for with this that it its or not no do does did should would could can will \
         what which who how why when where we our you your they their from at by as than if more most better best \
         an any use using have has must may about into between",
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
        "le la les des du de un une et ou est sont pas ne que qui quel quelle quels quelles comment pourquoi quand où \
         faut doit devons devrait nous notre vous votre pour dans sur avec sans plus mieux ce cette ces il elle on au \
         aux en par se son sa leur entre peut être",
    ),
    (
        Some("Spanish"),
        "el la los las un una unos unas y o de del que qué cuál cuáles cómo cuándo dónde quién es son está no para por \
         con sin en más mejor debe deben debería deberíamos nosotros nuestro nuestra su se lo al como entre puede ser \
         hay muy",
    ),
    // Not named, but no other language may be taken for sure where these fit as well.
    (
        None,
        "o os as um uma e ou de do da dos das no na não que qual quais como quando onde é são para por com sem em mais \
         melhor deve devemos se ao entre pode ser nós nosso",
    ),
    (
        None,
        "il lo la i gli le un una e o di del della dei che chi quale quali come quando dove è sono non per con senza in \
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

impl Language {
    /// The language of this question.
    #[must_use]
    pub fn of(question: &str) -> Self {
        let (words, best) = by_function_words(question);
        match by_script(question) {
            Some((characters, language)) if OUTWEIGHS * words < characters => language,
            _ => Language { name: best, has_spaces: true },
        }
    }

    /// Its name, or a description where it is not sure.
    #[must_use]
    pub fn told(self) -> &'static str {
        self.name.unwrap_or("the language of the question")
    }

    /// Whether it writes all nouns with a capital, so that a capital marks no name.
    pub(crate) fn capitalises_nouns(self) -> bool {
        self.name == Some(GERMAN)
    }
}

/// How many function words of the likeliest European language there are, and its name if no other
/// language fits as well.
fn by_function_words(question: &str) -> (usize, Option<&'static str>) {
    let words = question.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty());
    let mut counts: Vec<(usize, Option<&str>)> = FUNCTION_WORDS.iter().map(|(name, _)| (0, *name)).collect();
    for word in words {
        for position in LISTS_WITH.get(word.to_lowercase().as_str()).into_iter().flatten() {
            counts[*position].0 += 1;
        }
    }
    let most = counts.iter().map(|it| it.0).max().unwrap_or(0);
    let mut best = counts.iter().filter(|it| it.0 == most);
    let name = best.next().and_then(|it| it.1);
    (most, name.filter(|_| 0 < most && best.next().is_none()))
}

/// How many characters of a script that tells the language there are, and the language.
fn by_script(question: &str) -> Option<(usize, Language)> {
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
        Language { name: None, has_spaces: true },
    ),
];

const fn spaced(name: &'static str) -> Language {
    Language { name: Some(name), has_spaces: true }
}

const fn unspaced(name: Option<&'static str>) -> Language {
    Language { name, has_spaces: false }
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
    fn lengths_are_in_characters_where_words_have_no_spaces() {
        let has_spaces = |question: &str| Language::of(question).has_spaces;
        assert!(has_spaces("tabs or spaces?") && has_spaces("러스트를 써야 할까요?") && has_spaces(""));
        assert!(
            !has_spaces("タブとスペース?") && !has_spaces("東京対大阪?") && !has_spaces("ควรใช้ Rust ไหม")
        );
    }
}
