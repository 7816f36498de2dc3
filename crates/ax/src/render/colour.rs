//! Decides whether output is coloured: as the user wishes, and never on a piped stdout.

use std::{
    ffi::OsString,
    io::{IsTerminal, stderr, stdout},
};

use crate::render::line::Colour;

/// For stderr. Forced colour applies in a pipe as well.
pub(crate) fn of_stderr() -> Colour {
    chosen(stderr().is_terminal(), |name| std::env::var_os(name))
}

/// For stdout, which another program may read: only if it is a terminal.
pub(crate) fn of_stdout() -> Colour {
    if stdout().is_terminal() { chosen(true, |name| std::env::var_os(name)) } else { Colour::Off }
}

fn chosen(terminal: bool, variable: impl Fn(&str) -> Option<OsString>) -> Colour {
    let set = |name: &str| variable(name).filter(|it| !it.is_empty());
    let on = match (set("NO_COLOR"), set("CLICOLOR_FORCE").filter(|it| it != "0")) {
        (Some(_), _) => false,
        (None, Some(_)) => true,
        (None, None) => {
            terminal
                && set("TERM").is_none_or(|it| it != "dumb")
                && set("CLICOLOR").is_none_or(|it| it != "0")
        }
    };
    if on { Colour::On } else { Colour::Off }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colour_is_as_the_user_wishes() {
        let on = |terminal, set: &[(&str, &str)]| {
            let value = |name: &str| set.iter().find(|it| it.0 == name).map(|it| it.1.into());
            chosen(terminal, value) == Colour::On
        };
        for (terminal, set, expected) in [
            (true, &[][..], true),
            (false, &[], false),
            (true, &[("NO_COLOR", "1")], false),
            (true, &[("NO_COLOR", "")], true),
            (false, &[("CLICOLOR_FORCE", "1")], true),
            (false, &[("CLICOLOR_FORCE", "0")], false),
            (true, &[("CLICOLOR", "0")], false),
            (true, &[("TERM", "dumb")], false),
            (true, &[("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")], false),
        ] {
            assert_eq!(on(terminal, set), expected, "{terminal} {set:?}");
        }
    }
}
