//! Rewords the TOML deserializer's errors for people.

/// Rewords "expected … found …" for people who don't know the deserializer's type names.
pub(super) fn plainly(message: &str) -> String {
    let wrong = |kind: &str| message.strip_prefix(kind)?.rsplit_once(", expected ");
    match (wrong("invalid type: "), wrong("invalid value: ")) {
        (Some((there, wanted)), _) => format!("must be {}, not {}", in_words(wanted, WANTED), found(there)),
        (None, Some((there, wanted))) => {
            format!("must be {}, not {}", in_words(wanted, BOUNDED), found(there))
        }
        (None, None) => message.to_owned(),
    }
}

/// The deserializer's expected types, in plain words.
const WANTED: &[(&str, &str)] = &[
    ("u32", "a whole number"),
    ("u64", "a whole number"),
    ("f64", "a number"),
    ("a boolean", "true or false"),
    ("a sequence", "a list"),
    ("a map", "a table"),
];

/// The same for a value of the right type that is out of range.
const BOUNDED: &[(&str, &str)] =
    &[("u32", "a whole number from 0 to 4294967295"), ("u64", "a whole number from 0 on")];

fn in_words<'w>(name: &'w str, words: &[(&str, &'w str)]) -> &'w str {
    words.iter().find(|(it, _)| *it == name).map_or(name, |(_, words)| words)
}

/// A value as written in the file: `integer \`5\`` is 5, `string "two"` is "two".
fn found(there: &str) -> &str {
    let quoted = there.strip_prefix("string ").or_else(|| there.split('`').nth(1));
    quoted.unwrap_or_else(|| in_words(there, &[("sequence", "a list"), ("map", "a table")]))
}
