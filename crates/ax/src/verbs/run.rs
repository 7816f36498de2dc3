//! `ax run` and `ax workflow`: runs workflows, lists and checks them.

use std::{io::Read, path::PathBuf};

use quorum::patterns::workflow::plan::PlanStep;
use quorum::{
    Scope,
    model::spec::Spec,
    text::count,
    workflow::{
        RunError, RunOrder, Wrong,
        find::{all, file_of, folders},
        plan_of, schema, uses_of_input,
    },
};
use serde_json::{Map, Value, json};

use crate::{
    args::{Run, WorkflowVerb, Workflows, input::unreadable},
    exit::{Exit, Usage},
    live::{
        events::ProcessSignals,
        session::{self, SessionOptions},
    },
    render::{note, note_always, print, print_json},
    verbs::{detach, discuss::announce_simulation, restore::expire_old, run_plan},
};

/// The longest input, in bytes.
const LONGEST_INPUT: u64 = 4 * 1024 * 1024;

/// What a user does to allow a tool.
pub(super) const HOW_TO_ALLOW: &str = "allow it with --allow-tools NAME, or in [workflows] tools";

/// Runs a workflow and stays until it is over; or only shows its plan, or leaves it to another
/// process.
pub(crate) async fn run(scope: &Scope, args: &Run) -> anyhow::Result<Exit> {
    let mut order = order(scope, &args.workflow, &args.allow_tools)?;
    order.input = input(args.input.as_deref(), &args.set, Value::Null)?;
    order.variables = variables(args.variables.as_deref())?.unwrap_or_default();
    order.request = args.request();
    if let Some(session) = &args.session {
        order.request.session_id = Some(scope.find_session(session).await?.to_string());
    }
    let spec = match planned(scope, &order)? {
        Ok(spec) => spec,
        Err(exit) => return Ok(exit),
    };
    let greeting = announce_simulation(scope, &order.request, args.output)?;
    warn_about_input(&spec);
    if args.dry_run {
        return run_plan::show(scope, &spec, None, args.output).await;
    }
    expire_old(scope.quorum()).await;
    if args.detach {
        return detach::detach(scope, spec, args.output).await;
    }
    let signals = ProcessSignals::new()?;
    let (discussion, handle) = scope.start(spec).await?;
    let options = SessionOptions { greeting, ..SessionOptions::shown(args.output) };
    session::run(&discussion, handle, signals, options).await
}

/// `ax workflow`
pub(crate) fn workflow(scope: &Scope, args: &Workflows) -> anyhow::Result<Exit> {
    match &args.verb {
        WorkflowVerb::List(listed) => list(scope, listed.json),
        WorkflowVerb::Show { workflow } => {
            let order = order(scope, workflow, &[])?;
            print(String::from_utf8_lossy(&order.text).trim_end())?;
            Ok(Exit::Done)
        }
        WorkflowVerb::Check { workflow, allow_tools } => {
            let mut order = order(scope, workflow, allow_tools)?;
            // Whether a file is valid doesn't depend on which keys are set.
            order.request.offline = Some(true);
            order.input = json!({});
            match planned(scope, &order)? {
                Ok(spec) => {
                    let steps = plan_of(&spec).map_or(0, |it| count_steps(&it.steps));
                    print(&format!("{} is valid: {}.", order.file, count(steps, "step")))?;
                    Ok(Exit::Done)
                }
                Err(exit) => Ok(exit),
            }
        }
        WorkflowVerb::Schema => {
            print_json(&schema::schema())?;
            Ok(Exit::Done)
        }
    }
}

fn list(scope: &Scope, json: bool) -> anyhow::Result<Exit> {
    let folders = folders(&scope.quorum().config().file);
    let found = all(&folders);
    if json {
        let entry = |it: &quorum::workflow::find::Found| json!({ "name": it.name, "file": it.file, "hidden": it.hidden });
        print_json(&found.iter().map(entry).collect::<Vec<Value>>())?;
        return Ok(Exit::Done);
    }
    for it in &found {
        let hidden = if it.hidden { "  (hidden: another file of this name comes first)" } else { "" };
        print(&format!("{:<28} {}{hidden}", it.name, it.file.display()))?;
    }
    if found.is_empty() {
        let places: Vec<String> = folders.iter().map(|it| it.display().to_string()).collect();
        note(&format!("There are no workflows in {}.", places.join(", ")));
    }
    Ok(Exit::Done)
}

/// The order to run a workflow that is given by name or by file.
pub(super) fn order(scope: &Scope, given: &str, allow_tools: &[String]) -> anyhow::Result<RunOrder> {
    let folders = folders(&scope.quorum().config().file);
    let Some(file) = file_of(given, &folders) else {
        let places: Vec<String> = folders.iter().map(|it| it.display().to_string()).collect();
        let message = format!("there is no workflow {given}, neither as a file nor in {}", places.join(", "));
        return Err(Usage(message).into());
    };
    let text = bounded(&file, quorum::workflow::LARGEST_FILE as u64 + 1)
        .map_err(|error| Usage(format!("{}: {}", file.display(), unreadable(&error))))?;
    Ok(RunOrder {
        file: file.display().to_string(),
        text,
        allow_tools: allow_tools.to_vec(),
        how_to_allow: HOW_TO_ALLOW.to_owned(),
        declared_tools: true,
        ..RunOrder::default()
    })
}

/// The beginning of a file.
fn bounded(file: &PathBuf, most: u64) -> std::io::Result<Vec<u8>> {
    let mut text = Vec::new();
    std::fs::File::open(file)?.take(most).read_to_end(&mut text)?;
    Ok(text)
}

/// The spec of a run; mistakes in the file are printed.
fn planned(scope: &Scope, order: &RunOrder) -> anyhow::Result<Result<Spec, Exit>> {
    match scope.plan_workflow(order) {
        Ok(spec) => Ok(Ok(spec)),
        Err(RunError::Wrong(wrong)) => Ok(Err(report(&wrong))),
        Err(RunError::Quorum(error)) => Err(error.into()),
    }
}

/// Prints everything that is wrong with a workflow, and returns the exit code.
pub(super) fn report(wrong: &Wrong) -> Exit {
    wrong.lines().iter().for_each(|line| note_always(&format!("error: {line}")));
    note("Nothing was asked and nothing was spent.");
    if wrong.lacks_providers() { Exit::TooFewProviders } else { Exit::BadInput }
}

/// The values by name, if there are any.
pub(super) fn variables(written: Option<&str>) -> anyhow::Result<Option<Map<String, Value>>> {
    let Some(written) = written else { return Ok(None) };
    match value(&text_of(written, "--variables")?) {
        Value::Object(variables) => Ok(Some(variables)),
        _ => Err(Usage("--variables: must be a JSON object".to_owned()).into()),
    }
}

/// The input: JSON if it is JSON, else the text itself, with the single fields set afterwards. If
/// no input is given, the fields are set in the earlier one.
pub(super) fn input(written: Option<&str>, set: &[String], before: Value) -> anyhow::Result<Value> {
    let mut input = match written {
        None => before,
        Some(written) => {
            let text = text_of(written, "--input")?;
            let looks_like_json = text.trim_start().starts_with(['{', '[', '"']);
            match serde_json::from_str(&text) {
                Ok(value) => value,
                Err(error) if looks_like_json => {
                    return Err(Usage(format!("--input: is not valid JSON: {error}")).into());
                }
                Err(_) => Value::String(text),
            }
        }
    };
    for pair in set {
        let Some((key, written)) = pair.split_once('=').filter(|it| !it.0.is_empty()) else {
            return Err(Usage(format!("--set: must be KEY=VALUE, not {pair}")).into());
        };
        if input.is_null() {
            input = Value::Object(Map::new());
        }
        let Value::Object(fields) = &mut input else {
            let message = "--set: the input is not a JSON object, so it has no fields";
            return Err(Usage(message.to_owned()).into());
        };
        fields.insert(key.to_owned(), value(written));
    }
    Ok(input)
}

/// A value: JSON if it is JSON, else the text itself.
fn value(written: &str) -> Value {
    serde_json::from_str(written).unwrap_or_else(|_| Value::String(written.to_owned()))
}

/// A text that is typed, or read from a file or standard input.
fn text_of(written: &str, flag: &str) -> anyhow::Result<String> {
    let bytes = if written == "-" {
        let mut bytes = Vec::new();
        let read = std::io::stdin().take(LONGEST_INPUT + 1).read_to_end(&mut bytes);
        read.map_err(|error| Usage(format!("{flag}: standard input {}", unreadable(&error))))?;
        bytes
    } else if let Some(file) = written.strip_prefix('@') {
        let read = bounded(&PathBuf::from(file), LONGEST_INPUT + 1);
        read.map_err(|error| Usage(format!("{flag} @{file}: {}", unreadable(&error))))?
    } else {
        written.as_bytes().to_vec()
    };
    if bytes.len() as u64 > LONGEST_INPUT {
        return Err(Usage(format!("{flag}: is longer than 4 MiB")).into());
    }
    String::from_utf8(bytes).map_err(|_| Usage(format!("{flag}: is not in UTF-8")).into())
}

/// Warns if fields of the input are used and the input has none.
fn warn_about_input(spec: &Spec) {
    let Some(plan) = plan_of(spec).filter(|it| !it.input.is_object()) else { return };
    if uses_of_input(&plan.steps).iter().any(|it| !it.is_whole) {
        let why = if plan.input.is_null() { "none is given" } else { "the input is not a JSON object" };
        note(&format!("warning: the workflow uses fields of its input, and {why}; they stay as written"));
    }
}

fn count_steps(steps: &[PlanStep]) -> u64 {
    let mut count = 0;
    quorum::patterns::workflow::plan::walk(steps, &mut |_, _| count += 1);
    count
}
