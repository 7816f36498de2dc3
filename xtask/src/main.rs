//! Development tasks, `cargo xtask <verb>`. A verb is one file with a `VERB` at its top and one
//! line in `VERBS`.

mod attack;
mod bench;
mod bounds;
mod browser;
mod cargo;
mod clients;
mod clis;
mod cluster;
mod coverage;
mod dependencies;
mod dist;
mod lab;
mod live;
mod mcp;
mod new;
mod panel_clients;
mod screenshots;
mod setup;
mod test;
mod tidy;

use std::process::ExitCode;

const VERBS: &[Verb] = &[
    setup::VERB,
    tidy::VERB,
    dependencies::VERB,
    test::VERB,
    coverage::VERB,
    bench::VERB,
    lab::VERB,
    cluster::VERB,
    bounds::VERB,
    attack::VERB,
    new::VERB,
    clis::VERB,
    mcp::VERB,
    panel_clients::VERB,
    clients::VERB,
    live::VERB,
    dist::VERB,
    screenshots::VERB,
];

/// A subcommand of `cargo xtask`.
struct Verb {
    name: &'static str,
    /// The arguments as shown in the help; empty if there are none.
    arguments: &'static str,
    summary: &'static str,
    run: fn(&[String]) -> anyhow::Result<()>,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((name, rest)) = arguments.split_first() else {
        eprint!("{}", help(VERBS));
        return ExitCode::from(2);
    };
    if matches!(name.as_str(), "help" | "--help" | "-h") {
        print!("{}", help(VERBS));
        return ExitCode::SUCCESS;
    }
    let Some(verb) = VERBS.iter().find(|verb| verb.name == name) else {
        eprint!("There is no verb `{name}`.\n\n{}", help(VERBS));
        return ExitCode::from(2);
    };
    run(verb, rest)
}

fn run(verb: &Verb, arguments: &[String]) -> ExitCode {
    match (verb.run)(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask {}: {error:#}", verb.name);
            ExitCode::FAILURE
        }
    }
}

fn help(verbs: &[Verb]) -> String {
    let usages: Vec<String> =
        verbs.iter().map(|verb| format!("{} {}", verb.name, verb.arguments).trim_end().to_owned()).collect();
    let width = usages.iter().map(String::len).max().unwrap_or_default();
    let rows = verbs
        .iter()
        .zip(usages)
        .map(|(verb, usage)| format!("  {usage:width$}  {}\n", verb.summary))
        .collect::<String>();
    format!("Usage: cargo xtask <verb>\n\n{rows}")
}

/// Refuses arguments, for verbs that take none: a misspelt flag must not be ignored silently.
fn refuse_arguments(arguments: &[String]) -> anyhow::Result<()> {
    match arguments.first() {
        Some(argument) => anyhow::bail!("unknown argument `{argument}`; this verb takes none"),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_is_made_from_the_list() {
        let verbs = [
            Verb { name: "sweep", arguments: "", summary: "Clean the floor", run: refuse_arguments },
            Verb { name: "wash", arguments: "[--hot]", summary: "Wash the dishes", run: refuse_arguments },
        ];
        let expected =
            "Usage: cargo xtask <verb>\n\n  sweep         Clean the floor\n  wash [--hot]  Wash the dishes\n";
        assert_eq!(help(&verbs), expected);
    }

    #[test]
    fn a_verb_without_arguments_refuses_them() {
        assert!(refuse_arguments(&[]).is_ok());
        assert!(refuse_arguments(&["--fast".to_owned()]).is_err());
    }
}
