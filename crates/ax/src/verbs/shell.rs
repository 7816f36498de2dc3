//! Shell completions and manual pages, generated from the same descriptions as the help.

use anyhow::Context;
use clap::builder::Resettable;
use clap_complete::Shell;
use quorum::config::nearest;

use crate::{
    app::App,
    args::command,
    exit::{self, Exit, Usage},
    render::write,
    verbs::complete,
};

/// The environment variables listed in the manual.
const ENVIRONMENT: [(&str, &str); 8] = [
    ("AX_CONFIG", "the configuration, instead of config.toml below"),
    ("AX_DATA_DIR", "where discussions are kept"),
    ("AX_DATABASE_URL", "a PostgreSQL database to keep discussions in, for several machines"),
    ("XDG_CONFIG_HOME, XDG_DATA_HOME, XDG_STATE_HOME", "where things are kept otherwise"),
    ("ANTHROPIC_API_KEY, OPENAI_API_KEY, GOOGLE_API_KEY, …", "keys; `ax models` lists them all"),
    ("NO_COLOR, CLICOLOR=0", "no colour"),
    ("CLICOLOR_FORCE", "colour on standard error, even in a pipe"),
    ("CI, TERM=dumb", "plain lines instead of the live view"),
];

/// The files listed in the manual, at their default XDG places.
const FILES: [(&str, &str); 4] = [
    ("~/.config/quorum/config.toml", "the configuration; `ax config` explains it"),
    ("~/.config/quorum/keys.toml", "keys that `ax keys` keeps"),
    ("~/.local/share/quorum/quorum.db", "discussions"),
    ("~/.local/state/quorum/runs/", "logs of detached runs"),
];

/// `ax completions`
pub(crate) fn completions(app: &App, shell: Shell) -> anyhow::Result<Exit> {
    write(&script(command(app), shell)?)?;
    Ok(Exit::Done)
}

/// The completions as text. Writing them straight to a closed pipe would panic.
fn script(mut command: clap::Command, shell: Shell) -> anyhow::Result<String> {
    let flags = flags(&command);
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, "ax", &mut script);
    let script = String::from_utf8(script).context("completions are text")?;
    Ok(match shell {
        Shell::Bash => format!("{script}{IN_BASH}"),
        Shell::Zsh => script + IN_ZSH,
        Shell::Fish => script + IN_FISH + &flags.map(in_fish).collect::<String>(),
        _ => script,
    })
}

/// Completes what only this machine knows, and leaves the rest to the script above.
const IN_BASH: &str = r#"
_ax_dynamic() {
    local found
    COMPREPLY=()
    # Providers, presets and ids, as they are now.
    while IFS=$'\t' read -r found _; do
        COMPREPLY+=("$found")
    done < <(ax __complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
    [[ ${#COMPREPLY[@]} -gt 0 ]] || _ax "$@"
}
complete -F _ax_dynamic -o nosort -o bashdefault -o default ax
"#;

const IN_ZSH: &str = r#"
_ax_dynamic() {
    local -a found
    local line
    # Providers, presets and ids, as they are now.
    for line in "${(@f)$(ax __complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
        [[ -n $line ]] && found+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
    done
    if (( ${#found} )); then
        _describe 'value' found
    else
        _ax "$@"
    fi
}
compdef _ax_dynamic ax
"#;

const IN_FISH: &str = r#"
function __ax_dynamic
    # Providers, presets and ids, as they are now.
    set -l words (commandline -opc) (commandline -ct)
    ax __complete -- $words[2..-1] 2>/dev/null
end
complete -c ax -f -a '(__ax_dynamic)'
"#;

/// In fish, the values of a flag are completed by a line of their own.
fn in_fish(long: &str) -> String {
    format!("complete -c ax -l {long} -r -f -a '(__ax_dynamic)'\n")
}

/// The flags whose values only this machine knows.
fn flags(command: &clap::Command) -> impl Iterator<Item = &'static str> + use<> {
    let discuss = command.find_subcommand("discuss");
    let typed: Vec<String> = discuss
        .iter()
        .flat_map(|it| it.get_arguments())
        .filter_map(|it| Some(format!("--{}", it.get_long()?)))
        .collect();
    complete::flags()
        .filter(move |flag| typed.iter().any(|it| it == flag))
        .filter_map(|it| it.strip_prefix("--"))
}

/// `ax man`
pub(crate) fn man(app: &App, verb: Option<&str>, part: Option<&str>) -> anyhow::Result<Exit> {
    write(&page(app, verb, part)?)?;
    Ok(Exit::Done)
}

fn page(app: &App, verb: Option<&str>, part: Option<&str>) -> anyhow::Result<String> {
    // A manual page for `help` would have no content.
    let mut command = command(app).disable_help_subcommand(true);
    command = command.mut_subcommands(|it| it.disable_help_subcommand(true));
    command.build();
    let about_all = verb.is_none();
    let page = verb.map(|verb| page_of(&command, verb, part)).transpose()?.unwrap_or(command);
    let after = page.get_after_help().map(ToString::to_string).unwrap_or_default();
    let mut text = Vec::new();
    clap_mangen::Man::new(page.after_help(Resettable::Reset)).render(&mut text)?;
    let text = String::from_utf8(text).context("a manual page is text")?;
    let surroundings = if about_all { surroundings() } else { String::new() };
    Ok(format!("{}{}{surroundings}", text.trim_end_matches('\n'), as_written(&after)))
}

/// The page of a verb or of its subcommand, as `config path` or `config-path`.
fn page_of(command: &clap::Command, verb: &str, part: Option<&str>) -> Result<clap::Command, Usage> {
    let (verb, dashed) = verb.split_once('-').map_or((verb, None), |(verb, part)| (verb, Some(part)));
    let names = [Some(verb), dashed, part];
    let (mut page, mut name) = (command, "ax".to_owned());
    for wanted in names.into_iter().flatten() {
        page = page.find_subcommand(wanted).ok_or_else(|| no_page(page, wanted))?;
        name = format!("{name}-{wanted}");
    }
    Ok(page.clone().name(name.clone()).display_name(name))
}

fn no_page(of: &clap::Command, wanted: &str) -> Usage {
    let names: Vec<&str> = of.get_subcommands().map(clap::Command::get_name).collect();
    let meant = nearest(wanted, names.iter().copied()).map(|it| format!("; did you mean {it}?"));
    let listed =
        || if names.is_empty() { String::new() } else { format!("; there are {}", names.join(", ")) };
    let verb = of.get_name();
    Usage(format!("{verb} has no part named {wanted}{}", meant.unwrap_or_else(listed)))
}

/// The text below the help, line by line, so that examples can be copied.
fn as_written(after: &str) -> String {
    match after.strip_prefix("Examples:\n") {
        Some(examples) => section("EXAMPLES", examples),
        None => section("NOTES", after),
    }
}

/// The sections shared by all verbs: exit codes, variables and files.
fn surroundings() -> String {
    let terms = |title: &str, pairs: &[(&str, &str)]| -> String {
        let term = |(name, meaning): &(&str, &str)| {
            format!(".TP\n\\fB{}\\fR\n{}\n", escaped(name), escaped(meaning))
        };
        format!(".SH {title}\n{}", pairs.iter().map(term).collect::<String>())
    };
    let (variables, files) = (terms("ENVIRONMENT", &ENVIRONMENT), terms("FILES", &FILES));
    format!("{}{variables}{files}", section("EXIT STATUS", &exit::codes()))
}

fn section(title: &str, lines: &str) -> String {
    // A line that begins with a dot or a quote would be a roff request.
    let lines: String = lines.lines().map(|it| format!("\\&{}\n", escaped(it))).collect();
    format!("\n.SH {title}\n.nf\n{lines}.fi\n")
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\e").replace('-', "\\-")
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;

    use super::*;

    #[test]
    fn a_builds_own_parts_are_completed_where_a_shell_completes_values() {
        let app = App::with_acme();
        for shell in Shell::value_variants() {
            let script = script(command(&app), *shell).unwrap();
            // Only these three complete values; the others only complete flags.
            let completes_values = matches!(shell, Shell::Bash | Shell::Zsh | Shell::Fish);
            let missing: Vec<&str> = App::ACME.into_iter().filter(|it| !script.contains(it)).collect();
            assert_eq!(missing.is_empty(), completes_values, "{shell}: {missing:?}");
        }
    }

    #[test]
    fn a_builds_own_parts_are_in_the_manual() {
        let page = |app: &App| page(app, Some("discuss"), None).unwrap();
        let (own, built_in) = (page(&App::with_acme()), page(&App::built_in()));
        let named = |page: &str| App::ACME.map(|name| page.contains(&escaped(name)));
        assert_eq!((named(&own), named(&built_in)), ([true; 4], [false; 4]));
    }
}
