//! Answers with a form: how they are read, and what happens when they can't be.

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
/// The order is: `read`, then `infer`, then the next reminder, and when there is none left,
/// `give_up`.
pub trait Reader: Send + Sync {
    /// What is read.
    type Value: Clone + Send + Sync + Serialize + DeserializeOwned;

    /// The form as every surface knows it.
    fn form(&self) -> &'static Form;

    /// The JSON schema, its properties in the order the model should write them; `None` where the
    /// form is described in the prompt.
    fn schema(&self) -> Option<Value>;

    /// Reads a reply that has the form, or says what is wrong with it.
    fn read(&self, reply: &str) -> Result<Self::Value, Misread>;

    /// Reads what a person wrote, who need not know the form; the same unless the reader knows
    /// better.
    fn read_from_person(&self, reply: &str) -> Result<Self::Value, Misread> {
        self.read(reply)
    }

    /// Guesses at a reply that has not the form.
    fn infer(&self, _reply: &str) -> Option<Self::Value> {
        None
    }

    /// What a participant is told when its reply could not be read, one after the other.
    fn reminders(&self) -> &[Reminder];

    /// What is assumed when nothing helped; `None` leaves the participant out.
    fn give_up(&self) -> Option<Self::Value> {
        None
    }
}

/// What is wrong with a reply, as a clause that the participant is told: `confidence is missing`.
/// It may quote the reply; only its beginning is repeated in a reminder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misread(pub Cow<'static, str>);

impl Misread {
    /// This is wrong.
    #[must_use]
    pub fn new(wrong: impl Into<Cow<'static, str>>) -> Self {
        Misread(wrong.into())
    }
}

/// What a participant is told when its reply could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reminder {
    /// The purpose in the step's name: `remind1`, `strict`.
    pub purpose: &'static str,
    /// What the participant is told after what was wrong.
    pub words: &'static str,
}

/// So much of what was wrong is repeated, in characters: a reply of any length may be quoted in it.
const LONGEST_MISTAKE: usize = 300;

impl Reminder {
    /// What was wrong, and what to do about it.
    pub(crate) fn about(&self, wrong: &Misread) -> String {
        let told: String = wrong.0.chars().take(LONGEST_MISTAKE).collect();
        let rest = if told.len() < wrong.0.len() { " …" } else { "" };
        format!("Your answer could not be read: {told}{rest}. {}", self.words)
    }
}

/// A structured reply, understood.
#[derive(Debug, Clone, PartialEq)]
pub struct Understood<V> {
    /// Who replied.
    pub participant: String,
    /// How it was understood.
    pub source: Source,
    /// What it says.
    pub value: V,
}

/// A reader whose schema is always the same: the simplest way to declare a form.
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
    /// Its schema.
    pub schema: fn() -> Option<Value>,
    /// Reads a reply.
    pub read: fn(&str) -> Result<T, Misread>,
    /// What a participant is told when its reply could not be read.
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

/// The form as a provider's wire gets it.
pub(crate) fn shape<R: Reader>(reader: &R) -> Shape {
    Shape { form: reader.form(), schema: reader.schema().map(Arc::new) }
}

/// The reading as the record keeps it. A value that can't be written is kept as null.
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
        let reminder = &YEARS.reminders[0];
        let short = reminder.about(&Misread::new("it is not a year"));
        assert_eq!(short, "Your answer could not be read: it is not a year. Answer with the year alone.");
        let quoted = Misread::new("ä".repeat(100_000));
        let expected = format!(
            "Your answer could not be read: {} …. Answer with the year alone.",
            "ä".repeat(LONGEST_MISTAKE)
        );
        assert_eq!(reminder.about(&quoted), expected);
    }
}
