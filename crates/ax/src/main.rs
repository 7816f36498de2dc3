//! The command. Reads what was typed, acts as the local tenant, prints the result to stdout and everything else to stderr.

mod args;
mod exit;
mod live;
mod local;
mod render;
mod terminal;
mod verbs;

fn main() -> std::process::ExitCode {
    let (cli, verb) = args::parse();
    if cli.quiet {
        render::hush();
    }
    match verbs::run(cli.verb) {
        Ok(exit) => exit.into(),
        Err(error) => exit::report(&error, &verb).into(),
    }
}
