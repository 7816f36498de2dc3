//! Structured replies: how they are read, and what happens if they can't be.

use std::{borrow::Cow, sync::Arc};

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::{
    call::Shape,
    model::reading::{Reading, Source},
    vocabulary::form::Form,
};

/// Reads one kind of structured reply. Reading is pure, so a replay reads the same.
///
/// The order is: `read`, then `infer`, then the next reminder, and if none is left, `give_up`.
pub trait Reader: Send + Sync {
    /// The type of the value that is read.
    type Value: Clone + Send + Sync + Serialize + DeserializeOwned;

    /// The form's name and description, as every interface shows it.
    fn form(&self) -> &'static Form;

    /// The JSON schema, its properties in the order the model should write them; `None` if the form
    /// is described in the prompt.
    fn schema(&self) -> Option<Value>;

    /// The mark between the prose of a reply and its structure, for a form with prose.
    fn mark(&self) -> Option<Arc<str>> {
        None
    }

    /// The participants that the prose may cite in markers like `[ann:2]`, which people are not
    /// shown. The default is none, and then nothing is taken for a marker.
    fn cited(&self) -> Arc<[String]> {
        Arc::default()
    }

    /// Reads a reply that has the form, or returns what is wrong with it.
    fn read(&self, reply: &str) -> Result<Self::Value, Misread>;

    /// Reads the reply of a person, who need not know the form. The default is `read`.
    fn read_from_person(&self, reply: &str) -> Result<Self::Value, Misread> {
        self.read(reply)
    }

    /// What is wrong with a reply to a form in lines, which has other words than the usual one. The
    /// default is what is `wrong` with it by the usual form.
    fn wrong_in_lines(&self, _reply: &str, wrong: Misread) -> Misread {
        wrong
    }

    /// Guesses the value of a reply that doesn't have the form.
    fn infer(&self, _reply: &str) -> Option<Self::Value> {
        None
    }

    /// The reminders for an unreadable reply, in the order they are sent.
    fn reminders(&self) -> &[Reminder];

    /// Reads the beginning of a reply that was cut off at its token limit. It is kept in case the
    /// rest never comes, and the participant is asked to [finish](Reader::finishing) it. `None` if
    /// such a reply is read like any other.
    fn keep(&self, _beginning: &str) -> Option<Self::Value> {
        None
    }

    /// The reminder to finish a reply whose beginning is kept.
    fn finishing(&self) -> &'static str {
        ""
    }

    /// The value assumed if all reminders failed; `None` leaves the participant out.
    fn give_up(&self) -> Option<Self::Value> {
        None
    }
}

/// What is wrong with a reply, as a clause for the participant: `confidence is missing`. It may
/// quote the reply; a reminder repeats only its beginning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misread(pub Cow<'static, str>);

impl Misread {
    /// An error with this description.
    #[must_use]
    pub fn new(wrong: impl Into<Cow<'static, str>>) -> Self {
        Misread(wrong.into())
    }

    /// Its beginning for the record: it may quote a reply of any length.
    pub(crate) fn shortened(&self) -> String {
        self.cut(&self.0, LONGEST_ON_RECORD)
    }

    /// Its beginning for a reminder, which has to stay short.
    fn told(&self) -> String {
        let words: usize = self.0.split_inclusive(char::is_whitespace).take(MOST_WORDS).map(str::len).sum();
        self.cut(&self.0[..words], LONGEST_MISTAKE)
    }

    /// The beginning with at most this many characters, marked if it is not all of it.
    fn cut(&self, beginning: &str, most: usize) -> String {
        let told: String = beginning.chars().take(most).collect();
        if told.len() == self.0.len() { told } else { format!("{} …", told.trim_end()) }
    }
}

/// The message for a participant whose reply could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reminder {
    /// The purpose in the step's name: `remind1`, `strict`.
    pub purpose: &'static str,
    /// The text that follows the description of what was wrong: the form, and never the task. At
    /// most 27 words, so that a reminder as it is sent has 45.
    pub words: &'static str,
}

/// The most characters of a description that are recorded.
const LONGEST_ON_RECORD: usize = 300;

/// The most characters of it that a reminder repeats.
const LONGEST_MISTAKE: usize = 80;

/// The most words of it that a reminder repeats.
const MOST_WORDS: usize = 11;

/// A reminder as it is sent: what was wrong, and what to do about it.
#[must_use]
pub fn reminding(wrong: &Misread, words: &str) -> String {
    format!("Your answer could not be read: {}. {words}", wrong.told())
}

/// A structured reply that was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Understood<V> {
    /// The participant that replied.
    pub participant: String,
    /// How the reply was read.
    pub source: Source,
    /// The value read from it.
    pub value: V,
}

/// A reader with a constant schema: the simplest way to declare a form.
///
/// ```
/// use quorum_core::{floor::reading::{Misread, Reminder, Static}, vocabulary::form::Form};
///
/// const YEAR: Form = Form::new("year");
/// const YEARS: Static<u32> = Static {
///     form: &YEAR,
///     schema: || None,
///     read: |reply| reply.trim().parse().map_err(|_| Misread::new("it is not a year")),
///     reminders: &[Reminder { purpose: "remind1", words: "Answer with the year alone." }],
/// };
/// ```
pub struct Static<T: 'static> {
    /// The form.
    pub form: &'static Form,
    /// The form's schema.
    pub schema: fn() -> Option<Value>,
    /// Reads a reply, or returns what is wrong with it.
    pub read: fn(&str) -> Result<T, Misread>,
    /// The reminders for an unreadable reply, in the order they are sent.
    pub reminders: &'static [Reminder],
}

impl<T: Clone + Send + Sync + Serialize + DeserializeOwned> Reader for Static<T> {
    type Value = T;

    fn form(&self) -> &'static Form {
        self.form
    }

    fn schema(&self) -> Option<Value> {
        (self.schema)()
    }

    fn read(&self, reply: &str) -> Result<T, Misread> {
        (self.read)(reply)
    }

    fn reminders(&self) -> &[Reminder] {
        self.reminders
    }
}

/// The form as it is sent to a provider.
pub(crate) fn shape<R: Reader>(reader: &R) -> Shape {
    Shape { form: reader.form(), schema: reader.schema().map(Arc::new) }
}

/// The reading as it is recorded. A value that can't be serialized is recorded as null.
pub fn recorded<R: Reader>(reader: &R, value: &R::Value) -> Reading {
    let form = reader.form();
    let value = serde_json::to_value(value).unwrap_or(Value::Null);
    let (told, stance) = ((form.tell)(&value), (form.stance)(&value));
    let reason_at = (!form.reason_at.is_empty()).then(|| form.reason_at.to_owned());
    Reading { kind: form.kind.to_owned(), version: form.version, value, told, reason_at, stance }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::reading::Stance;

    static YEAR: Form = Form {
        version: 2,
        ..Form::new("year").tell(|value| Some(format!("says {value}"))).reason_at("/why").stance(|value| {
            let position = value.as_u64()?.to_string();
            Some(Stance { position, confidence: 1.0, chooses: true, joins: true })
        })
    };

    const YEARS: Static<u32> = Static {
        form: &YEAR,
        schema: || Some(json!({ "type": "integer" })),
        read: |reply| reply.trim().parse().map_err(|_| Misread::new("it is not a year")),
        reminders: &[Reminder { purpose: "remind1", words: "Answer with the year alone." }],
    };

    #[test]
    fn a_static_reader_reads_as_its_functions_say() {
        assert_eq!(YEARS.read(" 1989\n"), Ok(1989));
        assert_eq!(YEARS.read_from_person("1989"), Ok(1989));
        assert_eq!(YEARS.read("last year"), Err(Misread::new("it is not a year")));
        assert_eq!((YEARS.infer("1989?"), YEARS.give_up()), (None, None));
        assert_eq!(YEARS.reminders().iter().map(|it| it.purpose).collect::<Vec<_>>(), ["remind1"]);
        let expected = Shape { form: &YEAR, schema: Some(Arc::new(json!({ "type": "integer" }))) };
        assert_eq!(shape(&YEARS), expected);
    }

    #[test]
    fn a_reading_is_recorded_with_all_that_its_form_says_of_it() {
        let expected = Reading {
            kind: "year".to_owned(),
            version: 2,
            value: json!(1989),
            told: Some("says 1989".to_owned()),
            reason_at: Some("/why".to_owned()),
            stance: Some(Stance { position: "1989".to_owned(), confidence: 1.0, chooses: true, joins: true }),
        };
        let reading = recorded(&YEARS, &1989);
        assert_eq!(reading, expected);
        assert_eq!((reading.read::<u32>("year"), reading.read::<u32>("ballot")), (Some(1989), None));
        assert_eq!((reading.read::<String>("year"), reading.reason()), (None, ""));
    }

    #[test]
    fn a_plain_form_says_nothing_of_its_values() {
        static PLAIN: Form = Form::new("plain");
        let plain = Static { form: &PLAIN, schema: || None, ..YEARS };
        let Reading { told, reason_at, stance, version, .. } = recorded(&plain, &7);
        assert_eq!((told, reason_at, stance, version), (None, None, None, 1));
    }

    #[test]
    fn a_long_mistake_made_a_long_reminder() {
        let words = YEARS.reminders[0].words;
        let sent = |wrong: String| reminding(&Misread::new(wrong), words);
        let short = sent("it is not a year".to_owned());
        assert_eq!(short, "Your answer could not be read: it is not a year. Answer with the year alone.");
        let unspaced = sent("年".repeat(100_000));
        let expected = "年".repeat(LONGEST_MISTAKE);
        assert_eq!(
            unspaced,
            format!("Your answer could not be read: {expected} …. Answer with the year alone.")
        );
        let of_words = sent("a b\nc d e f g h i j k l m".to_owned());
        assert_eq!(
            of_words,
            "Your answer could not be read: a b\nc d e f g h i j k …. Answer with the year alone."
        );
    }

    #[test]
    fn a_long_mistake_is_recorded_to_a_certain_length() {
        let recorded = |length: usize| Misread::new("ä".repeat(length)).shortened();
        assert_eq!(recorded(LONGEST_ON_RECORD), "ä".repeat(LONGEST_ON_RECORD));
        assert_eq!(recorded(LONGEST_ON_RECORD + 1), format!("{} …", "ä".repeat(LONGEST_ON_RECORD)));
    }
}
