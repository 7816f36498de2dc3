//! The next steps towards real models, by the keys and programs found on this machine.

use quorum::setup::{self, Provider, Setup};

use crate::render::hints::Hint;

/// The keys to name where none is found: one of three vendors is enough.
const KEYS: &str = "ANTHROPIC_API_KEY, OPENAI_API_KEY or GOOGLE_API_KEY";

/// The commands that ask real models.
pub(super) const ASK: [Hint; 2] = [
    ("ax \"Your question?\" --dry-run", "who would be asked, and what it would cost"),
    ("ax \"Your question?\"", "ask"),
];

/// The lines about real voices, before the commands that ask them.
pub(super) fn hints(setup: &Setup) -> Vec<String> {
    let found = setup.providers.iter().filter(|it| it.missing().is_none()).map(found);
    lines(&found.collect::<Vec<_>>())
}

/// A provider that could answer, and why.
fn found(provider: &Provider) -> String {
    use setup::KeyFrom::{Environment, File};
    match (&provider.key, provider.program()) {
        (_, Some(program)) => format!("{} (the program {})", provider.name, program.path.display()),
        (Some(Environment(name)), None) => format!("{} ({name})", provider.name),
        (Some(File(_)), None) => format!("{} (a stored key)", provider.name),
        (None, None) => format!("{} (on this machine)", provider.name),
    }
}

fn lines(found: &[String]) -> Vec<String> {
    let mut lines = vec![String::new()];
    if found.is_empty() {
        lines.push(format!("To hear real models, set {KEYS}; one is enough."));
        lines
            .push("A local server such as Ollama, or a coding CLI that is logged in, also works.".to_owned());
        lines.push("`ax doctor` shows what was looked for. Then:".to_owned());
    } else {
        lines.push(format!("Real voices found on this machine: {}.", found.join(", ")));
        lines.push("Ask them:".to_owned());
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_voices_found_are_named_and_else_the_keys() {
        let found = lines(&["claude (ANTHROPIC_API_KEY)".to_owned(), "ollama (on this machine)".to_owned()]);
        let voices =
            "Real voices found on this machine: claude (ANTHROPIC_API_KEY), ollama (on this machine).";
        assert_eq!(found[1..3], [voices, "Ask them:"]);
        assert_eq!(lines(&[])[1], format!("To hear real models, set {KEYS}; one is enough."));
    }
}
