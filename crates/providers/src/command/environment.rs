//! A program's path, arguments and environment.

use std::{
    env,
    ffi::OsString,
    fs::Metadata,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use quorum_core::model::error::{ErrorClass, ProviderError};

use super::{Dialect, supervisor::Supervisor};
use crate::source::Program;

/// Environment variables that every program gets. No key is among them, not even the program's own
/// vendor's: with a key in its environment a coding CLI charges that key, although the user chose
/// it for its login. A user who wants that names the key in `Program::environment`.
const PASSED: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TMPDIR",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
];

const PASSED_PREFIXES: &[&str] = &["LC_", "XDG_"];

/// Variables that turn off colours and animation, since there is no terminal.
const SET: &[(&str, &str)] = &[("TERM", "dumb"), ("NO_COLOR", "1")];

const MODEL: &str = "{model}";

/// Everything needed to start a program. Not `Debug`, since a login may be in its environment.
pub(super) struct Launch {
    /// Its name in messages.
    pub(super) name: String,
    pub(super) path: PathBuf,
    pub(super) arguments: Vec<String>,
    pub(super) environment: Vec<(OsString, OsString)>,
    /// Files that are put into its folder.
    pub(super) files: &'static [(&'static str, &'static str)],
    /// Kills it when this process dies.
    pub(super) supervisor: Option<Supervisor>,
}

impl Launch {
    pub(super) fn new(
        program: &Program,
        dialect: &Dialect,
        arguments: Vec<String>,
    ) -> Result<Self, ProviderError> {
        let path = located(&program.path)?;
        let environment = environment(program, dialect, env::vars_os());
        let (name, supervisor) = (name_of(&program.path), program.supervisor.clone());
        Ok(Launch { name, path, arguments, environment, files: dialect.files, supervisor })
    }
}

/// The path of the executable program of this name in `PATH`.
#[must_use]
pub fn find(name: &str) -> Option<PathBuf> {
    let folders = env::var_os("PATH")?;
    env::split_paths(&folders).map(|folder| folder.join(name)).find(|path| may_run(path))
}

fn may_run(path: &Path) -> bool {
    path.metadata().is_ok_and(|it| is_executable(&it))
}

fn is_executable(metadata: &Metadata) -> bool {
    metadata.is_file() && metadata.permissions().mode() & 0o111 != 0
}

fn located(path: &Path) -> Result<PathBuf, ProviderError> {
    let (name, at) = (name_of(path), path.display());
    let refused = |message: String| Err(ProviderError::new(ErrorClass::Validation, message));
    if path.components().count() == 1 && path.is_relative() {
        return match find(&name) {
            Some(found) => std::path::absolute(found).or_else(|error| refused(error.to_string())),
            None => refused(format!("the program {name} was not found in PATH")),
        };
    }
    match path.metadata() {
        Ok(metadata) if is_executable(&metadata) => {
            std::path::absolute(path).or_else(|error| refused(error.to_string()))
        }
        Ok(_) => refused(format!("{at} is not an executable file")),
        Err(_) => refused(format!("the program {name} was not found at {at}")),
    }
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// The arguments with the model's name filled in. Without a model, an argument that mentions it is
/// left out, with the option before it.
pub(super) fn arguments(program: &Program, dialect: &Dialect, model: Option<&str>) -> Vec<String> {
    let usual = || dialect.arguments.iter().map(|&it| it.to_owned()).collect();
    let template = if program.arguments.is_empty() { usual() } else { program.arguments.clone() };
    let mut arguments: Vec<String> = Vec::with_capacity(template.len());
    for argument in template {
        match model {
            Some(model) => arguments.push(argument.replace(MODEL, model)),
            None if argument == MODEL => {
                arguments.pop_if(|before| before.starts_with('-'));
            }
            None if argument.contains(MODEL) => {}
            None => arguments.push(argument),
        }
    }
    arguments
}

fn environment(
    program: &Program,
    dialect: &Dialect,
    all: impl Iterator<Item = (OsString, OsString)>,
) -> Vec<(OsString, OsString)> {
    let is_passed = |name: &str| {
        PASSED.contains(&name)
            || PASSED_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
            || dialect.environment.contains(&name)
            || program.environment.iter().any(|it| it == name)
    };
    let passed = all.filter(|(name, _)| name.to_str().is_some_and(is_passed));
    let set = SET.iter().chain(dialect.variables);
    passed.chain(set.map(|(name, value)| (name.into(), value.into()))).collect()
}

#[cfg(test)]
mod tests {
    use super::{
        super::{claude, codex, plain},
        *,
    };

    #[test]
    fn without_a_model_its_option_is_left_out() {
        let check = |template: &[&str], model: Option<&str>, expected: &[&str]| {
            let arguments = template.iter().map(|&it| it.to_owned()).collect();
            let program = Program { arguments, ..Program::default() };
            assert_eq!(super::arguments(&program, &plain::DIALECT, model), expected, "{template:?}");
        };
        check(&["-m", "{model}", "-"], Some("x 1"), &["-m", "x 1", "-"]);
        check(&["-m", "{model}", "-"], None, &["-"]);
        check(&["run", "{model}"], None, &["run"]);
        check(&["--model={model}", "-q"], Some("x"), &["--model=x", "-q"]);
        check(&["--model={model}", "-q"], None, &["-q"]);
        check(&["$(id)", ";", "{other}"], None, &["$(id)", ";", "{other}"]);
        check(&[], Some("x"), &[]);
    }

    #[test]
    fn without_arguments_a_program_takes_its_dialects() {
        let arguments = |model| super::arguments(&Program::default(), &codex::DIALECT, model).join(" ");
        let (without, with) = (arguments(None), arguments(Some("m")));
        assert!(without.starts_with("exec --json ") && without.ends_with("=false -"), "{without}");
        assert_eq!(with, format!("{} -m m -", without.trim_end_matches(" -")));
    }

    #[test]
    fn s1_keys_reach_a_program_only_when_named() {
        let all = [
            "PATH",
            "HOME",
            "LC_ALL",
            "XDG_DATA_HOME",
            "TERM",
            "ANTHROPIC_API_KEY",
            "OPENAI_API_KEY",
            "GEMINI_API_KEY",
            "AWS_SECRET_ACCESS_KEY",
            "GITHUB_TOKEN",
            "CLAUDE_CONFIG_DIR",
            "CODEX_HOME",
            "https_proxy",
            "LD_PRELOAD",
            "NODE_OPTIONS",
        ];
        let check = |dialect: &Dialect, named: &[&str], expected: &[&str]| {
            let environment = named.iter().map(|&it| it.to_owned()).collect();
            let program = Program { environment, ..Program::default() };
            let all = all.iter().map(|&it| (it.into(), "value".into()));
            let passed = super::environment(&program, dialect, all);
            let names: Vec<&str> = passed.iter().map(|(name, _)| name.to_str().unwrap()).collect();
            assert_eq!(names, expected);
        };
        let usual = ["PATH", "HOME", "LC_ALL", "XDG_DATA_HOME", "https_proxy", "TERM", "NO_COLOR"];
        check(&plain::DIALECT, &[], &usual);
        check(
            &claude::DIALECT,
            &["ANTHROPIC_API_KEY"],
            &[
                "PATH",
                "HOME",
                "LC_ALL",
                "XDG_DATA_HOME",
                "ANTHROPIC_API_KEY",
                "CLAUDE_CONFIG_DIR",
                "https_proxy",
                "TERM",
                "NO_COLOR",
                "CLAUDE_CODE_DISABLE_ATTACHMENTS",
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
            ],
        );
    }
}
