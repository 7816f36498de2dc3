//! Words errors for the terminal: what happened, and exactly what to type next.

use std::{io::ErrorKind, path::PathBuf};

use quorum::{
    Candidate, Complaint, Error, MissingVoice, Origin, Registry, Remedy, StoreError,
    config::{self, Mistake},
    model::{
        account::Period,
        agent::SpeaksThrough,
        error::{ErrorClass, Refusal},
        id::DiscussionId,
        outcome::RecallReport,
        spec::Spec,
    },
    request::{PanelChoice, flags},
    setup::{BadAddress, CostSource, LocalProgram, Missing, NoKeyName, prices},
    text,
};

/// One line for each error.
pub(crate) fn error(error: &Error, registry: &Registry) -> Vec<String> {
    match error {
        Error::Refused(complaints) => complaints.iter().map(|it| complaint(it, registry)).collect(),
        Error::Config(error) => config(error),
        Error::MissingVoices(who) => vec![missing_voices(who)],
        Error::Store(error) => vec![store(error)],
        Error::Ambiguous { given, among, more } => vec![ambiguous(given, among, *more)],
        other => vec![advised(other, next_step(other))],
    }
}

/// The discussions that a beginning of an id may mean, each in a line of its own.
fn ambiguous(given: &str, among: &[Candidate], more: usize) -> String {
    let line = |it: &Candidate| format!("\n  {}  {}", it.id, text::line(&it.topic, TOPIC));
    let lines: String = among.iter().map(line).collect();
    let more = if more > 0 { format!("\n  and {more} more") } else { String::new() };
    format!("several ids begin with {given}; give more of it:{lines}{more}")
}

fn advised(error: &dyn std::fmt::Display, advice: Option<String>) -> String {
    advice.map_or_else(|| error.to_string(), |advice| format!("{error}; {advice}"))
}

fn next_step(error: &Error) -> Option<String> {
    match error {
        Error::DataDirectory { .. } => Some("set AX_DATA_DIR to a writable directory".to_owned()),
        Error::SwitchedOff { file } => {
            Some(format!("set discussions = true under [features] in {}", file.display()))
        }
        Error::NotFound(_) | Error::TooFarBack { .. } => {
            Some("`ax history` lists all discussions".to_owned())
        }
        Error::WhoSpeaks(_) => Some("name the speaker with --as NAME".to_owned()),
        Error::NoneYet => Some("`ax discuss \"…\"` starts one".to_owned()),
        Error::NoSession(_) => Some(SESSIONS.to_owned()),
        Error::Fault(_) => Some("`ax resume` continues it".to_owned()),
        Error::NotOver(_) => Some("wait for it, or end it with `ax stop`".to_owned()),
        Error::SpendingCap(reached) => {
            let key = match reached.status.period {
                Period::Day => "max_cost_per_day",
                Period::Month => "max_cost_per_month",
            };
            Some(format!("{key} under [limits] in the configuration sets it"))
        }
        Error::Refused(_)
        | Error::Config(_)
        | Error::NoVoices
        | Error::Registry(_)
        | Error::MissingVoices(_)
        | Error::Store(_)
        | Error::Ambiguous { .. }
        | Error::NotSaid(_)
        | Error::NobodyToSpeak(_)
        | Error::AmbiguousSession { .. }
        | Error::KeyReused(_) => None,
    }
}

/// Why the server does not start.
pub(crate) fn server(error: &quorum_server::Error, registry: &Registry) -> Vec<String> {
    match error {
        quorum_server::Error::Quorum(error) => self::error(error, registry),
        quorum_server::Error::Exposed(_) => vec![error.to_string()],
        quorum_server::Error::Address { address, reason } => {
            let port = address.port();
            vec![match reason.kind() {
                ErrorKind::AddrInUse => {
                    format!("another program uses port {port} of {}; choose one with --port", address.ip())
                }
                ErrorKind::PermissionDenied => {
                    format!("this user may not use port {port}; choose one above 1023 with --port")
                }
                _ => format!("{error}; choose another address with --listen"),
            }]
        }
    }
}

const SESSIONS: &str = "`ax sessions` lists all sessions, `ax sessions create NAME` creates one";

pub(crate) fn store(error: &StoreError) -> String {
    let advice = match error {
        StoreError::Unknown(_) => Some("`ax history` lists all discussions"),
        StoreError::Held { .. } => {
            Some("`ax watch` shows it; `ax pause`, `ax stop` and `ax abort` reach it there")
        }
        StoreError::UnknownSession(_) => Some(SESSIONS),
        StoreError::Over(_) => {
            Some("`ax show` shows its result, `ax follow` asks its panel on, and `ax fork` changes a step")
        }
        StoreError::SessionInUse { .. } => Some(
            "delete its discussions first; `ax history --session ID` lists them, and `ax restore` those that are hidden",
        ),
        StoreError::Damaged(_) => {
            Some("`ax doctor --salvage` saves what can be read; or point AX_DATA_DIR elsewhere")
        }
        StoreError::Unusable(_) => Some("or point AX_DATA_DIR elsewhere"),
        StoreError::UnusableServer(_) => Some("AX_DATABASE_URL or `[store] url` has its address"),
        StoreError::Fenced(_)
        | StoreError::Gone(_)
        | StoreError::QueueFull { .. }
        | StoreError::TenantFull { .. }
        | StoreError::NotAwaited { .. }
        | StoreError::RulingNotAwaited { .. }
        | StoreError::NoSuchChoice { .. }
        | StoreError::NoSuchCandidate { .. }
        | StoreError::Unavailable(_) => None,
    };
    advised(error, advice.map(str::to_owned))
}

/// A failure, in a word or two.
pub(crate) fn failure(class: ErrorClass) -> &'static str {
    match class {
        ErrorClass::Network => "no connection",
        ErrorClass::RateLimit => "rate limit",
        ErrorClass::ApiError => "provider error",
        ErrorClass::Timeout => "timed out",
        ErrorClass::ContextOverflow => "too long",
        ErrorClass::Authentication => "key refused",
        ErrorClass::Validation => "request refused",
        ErrorClass::InvalidResponse => "unreadable",
    }
}

fn missing_voices(who: &[MissingVoice]) -> String {
    let line = |it: &MissingVoice| match &it.missing {
        Some(missing) => format!("{}: {}", it.participant, lacks(&it.provider, missing)),
        None => it.to_string(),
    };
    let lines: Vec<String> = who.iter().map(line).collect();
    format!("it can't continue here, because some participants are not available. {}", lines.join("; "))
}

/// A warning about a flag that was typed.
pub(crate) fn remark(remark: &Refusal, registry: &Registry) -> String {
    let filling = flags::filling(registry, &remark.field);
    let name = filling.map_or_else(|| format!("<{}>", remark.field), |flag| format!("--{}", flag.long));
    format!("warning: {name}: {}", remark.message)
}

/// What everyone is shown of earlier discussions, a line for each; a line that says so if there is
/// nothing to recall.
pub(crate) fn earlier(spec: &Spec) -> Vec<String> {
    let Some(shown) = RecallReport::of(spec) else { return Vec::new() };
    let line = |it: &RecallReport| {
        let verb = if it.number.starts_with('F') { "Follows" } else { "Recalled" };
        let score = it.score.map(|score| format!(", relevance {score:.2}")).unwrap_or_default();
        let cut = if it.cut { ", cut" } else { "" };
        format!(
            "{verb} [{}] {}, {} ({}{score}, {}{cut})",
            it.number,
            it.ended_at.get(..10).unwrap_or_default(),
            text::line(&it.topic, TOPIC),
            it.discussion_id,
            text::count(it.tokens, "token")
        )
    };
    let mut lines: Vec<String> = shown.iter().map(line).collect();
    if spec.recall.is_some() && !shown.iter().any(|it| it.number.starts_with('R')) {
        lines.push("Nothing is recalled: no earlier discussion on this subject was found.".to_owned());
    }
    let replaced = spec.follows.iter().flat_map(|it| &it.replaced);
    lines.extend(replaced.map(|it| format!("{} is no longer available; {} takes its seat.", it.seat, it.by)));
    lines
}

/// The most characters of an earlier discussion's topic that are shown.
const TOPIC: usize = 60;

/// A complaint under the name of the flag that was typed.
fn complaint(complaint: &Complaint, registry: &Registry) -> String {
    let other = ["at", "preset", "input"].into_iter().find(|it| *it == complaint.field);
    let named = [("recall.from", "recall-from"), ("follows", "continue"), ("without", "drop")];
    let other = other.or_else(|| named.iter().find(|it| it.0 == complaint.field).map(|it| it.1));
    // A pattern may name a missing value by its field in the spec, which the flag is named after.
    let field = complaint.field.as_str();
    let filling = flags::all(registry).into_iter().find(|it| it.field == field || it.long == field);
    let long = filling.map(|flag| flag.long).or(other.map(Into::into));
    let name = match (long, &complaint.origin) {
        // Nobody named a panel.
        (_, Some(Origin::DefaultPanel)) => String::new(),
        // In the file, it has the flag's name without the hyphens.
        (Some(long), Some(Origin::Configuration { .. })) => format!("{long}: "),
        (Some(long), _) => format!("--{long}: "),
        (None, _) => format!("<{}>: ", complaint.field),
    };
    let (origin, remedies) = (origin(complaint.origin.as_ref()), remedies(&complaint.remedies));
    format!("{name}{}{origin}{remedies}", complaint.message)
}

fn origin(origin: Option<&Origin>) -> String {
    match origin {
        Some(Origin::Configuration { section, file }) => format!(" (from [{section}] in {})", file.display()),
        Some(Origin::Past(id)) => format!(" (again from {id})"),
        Some(Origin::Profile { file }) => format!(" (in {})", file.display()),
        Some(Origin::DefaultPanel) | None => String::new(),
    }
}

/// The commands to type, joined. If there are several providers to choose from, each has its own
/// line.
fn remedies(remedies: &[Remedy]) -> String {
    let lines: Vec<String> = remedies.iter().filter_map(to_choose_from).collect();
    let has_lines = lines.len() > 1;
    let inline = remedies.iter().filter(|it| !(has_lines && matches!(it, Remedy::Provide { .. })));
    let inline: String = inline.map(|it| format!("; {}", remedy(it))).collect();
    if has_lines { format!("{inline}; or make one of these available:{}", lines.concat()) } else { inline }
}

fn to_choose_from(remedy: &Remedy) -> Option<String> {
    let Remedy::Provide { provider, missing } = remedy else { return None };
    Some(format!("\n  {provider}: {}", lacks(provider, missing)))
}

fn remedy(remedy: &Remedy) -> String {
    match remedy {
        Remedy::SeatTwice { provider } => format!("`-p {provider},{provider}` lets it speak twice"),
        Remedy::AnotherModel { provider } if provider == "ollama" => {
            "`ollama pull NAME` gives it a second model".to_owned()
        }
        Remedy::AnotherModel { provider } => {
            format!("give it a second model, or name two: `-p {provider}/ONE,{provider}/OTHER`")
        }
        Remedy::NameModels { provider, models } => {
            let named: Vec<String> = models.iter().map(|it| format!("{provider}/{it}")).collect();
            let named = if named.is_empty() { format!("{provider},{provider}") } else { named.join(",") };
            format!("leave it out for the default panel, or name several models: `-p {named}`")
        }
        Remedy::Simulate => "`--offline` uses simulated voices".to_owned(),
        Remedy::Provide { provider, missing } => to_provide(provider, missing),
        Remedy::KeepKey { provider } => format!("or run `ax keys set {provider}`"),
        Remedy::WritePreset { name, file } => format!("add [presets.{name}] to {}", file.display()),
        Remedy::NameWholePanel => "name the whole panel with --participants instead".to_owned(),
        Remedy::ListSessions => "`ax sessions` lists them".to_owned(),
        Remedy::FindAgents { searched } => format!("{}; `ax agents` lists all agents", searched_in(searched)),
    }
}

/// The folders that were searched without success.
pub(crate) fn searched_in(searched: &[PathBuf]) -> String {
    let searched: Vec<String> = searched.iter().map(|it| it.display().to_string()).collect();
    format!("searched in {}", searched.join(", "))
}

/// The provider that an agent speaks through, and the candidates that were not available.
pub(crate) fn speaks_through(name: &str, through: &SpeaksThrough) -> String {
    let SpeaksThrough { provider, model, reason: why, passed_over } = through;
    let model = model.as_ref().map(|it| format!("/{it}")).unwrap_or_default();
    let passed = passed_over.iter().map(|it| format!("; not {}: {}", it.candidate, it.message));
    format!("{name} speaks through {provider}{model} ({}{})", text::reason(why), passed.collect::<String>())
}

/// How the panel differs from the default one, in a line.
pub(crate) fn panel(choice: &PanelChoice) -> String {
    match choice {
        PanelChoice::OneVendor { provider, models } => format!(
            "Only {provider} is available, so its models discuss: {}. `ax models` shows what the others lack.",
            models.join(", ")
        ),
        PanelChoice::OneProgram { provider, panel } => format!(
            "Only {provider} is available, so it takes {}: a panel of one family. `ax models` shows what \
             the others lack.",
            text::count(panel.len() as u64, "seat")
        ),
        PanelChoice::Narrowed { panel, missing, unasked } => format!(
            "The default panel without {} (not available): {}. `ax models` shows what is missing.{}",
            missing.join(", "),
            panel.join(", "),
            not_asked(unasked)
        ),
        PanelChoice::FilledUp { panel, added, unasked } if panel.len() == added.len() => format!(
            "No provider of the default panel is available, so others discuss: {}. `ax models` shows what \
             is missing.{}",
            panel.join(", "),
            not_asked(unasked)
        ),
        PanelChoice::FilledUp { panel, added, unasked } => format!(
            "Too few providers of the default panel are available, so {} joined: {}. `ax models` shows \
             what is missing.{}",
            added.join(", "),
            panel.join(", "),
            not_asked(unasked)
        ),
    }
}

/// The providers that could be asked too, and how.
fn not_asked(unasked: &[String]) -> String {
    if unasked.is_empty() {
        return String::new();
    }
    format!(" Available, but not asked: {}; `--providers` names a panel of your own.", unasked.join(", "))
}

/// What a provider is missing, and what to do about it.
pub(crate) fn lacks(name: &str, missing: &Missing) -> String {
    let lacks = match missing {
        Missing::Key { .. } => "no key".to_owned(),
        Missing::Program(program) => format!("the command {program} was not found"),
        Missing::BadAddress { .. } => return to_provide(name, missing),
        Missing::Server { .. } | Missing::Model | Missing::Address | Missing::Wire(_) => missing.to_string(),
    };
    format!("{lacks}: {}", to_provide(name, missing))
}

fn to_provide(name: &str, missing: &Missing) -> String {
    let section = format!("[providers.{name}]");
    match missing {
        Missing::Key { names, program } => {
            let install = program.as_ref().map(|it| format!(", or install the command {it}"));
            format!("set {}, run `ax keys set {name}`{}", names.join(" or "), install.unwrap_or_default())
        }
        Missing::Server { variable } => {
            format!("start it and set {variable}, or add {section} to config.toml")
        }
        Missing::Model => format!("set model under {section} in config.toml"),
        Missing::Address => format!("set base_url under {section} in config.toml"),
        Missing::BadAddress { wrong: BadAddress::PlainHttp, .. } => {
            format!("{missing} under {section} in config.toml")
        }
        Missing::BadAddress { .. } => missing.to_string(),
        Missing::Program(_) => "install it, or put its whole path into config.toml".to_owned(),
        Missing::Wire(_) => "update this program".to_owned(),
    }
}

/// Which program answers, and what its cost means.
pub(crate) fn program(program: &LocalProgram) -> String {
    let cost = match program.cost {
        CostSource::Program => {
            "the program reports its cost at API prices, which a subscription may not charge"
        }
        CostSource::Prices => "its cost is calculated at API prices, which a subscription may not charge",
        CostSource::Unknown => "its cost is not known",
    };
    format!("answered by the command {}; {cost}", program.path.display())
}

/// The mistakes in the configuration, one per line.
pub(crate) fn config(error: &config::Error) -> Vec<String> {
    let advice = match error {
        config::Error::Wrong { file, mistakes } => {
            return mistakes.iter().map(|it| format!("{}: {}", file.display(), mistake(it))).collect();
        }
        config::Error::NoHome => Some("set AX_DATA_DIR and AX_CONFIG"),
        config::Error::Prices(prices::Error::Garbled { .. }) => {
            Some("delete it, or replace it with `ax prices import FILE`")
        }
        config::Error::Unreadable { .. } => {
            Some("make it a file that you can read, or name another with AX_CONFIG")
        }
        config::Error::Keys(_) | config::Error::Prices(_) => None,
    };
    vec![advised(error, advice.map(str::to_owned))]
}

/// One mistake in the configuration and what to do about it.
pub(crate) fn mistake(mistake: &Mistake) -> String {
    let remedy = mistake.remedy.as_ref().map(|it| format!(", {}", remedy(it))).unwrap_or_default();
    format!("{}{remedy}", mistake.message.trim_end())
}

/// Why there is no variable to keep a provider's key under.
pub(crate) fn no_key_name(error: &NoKeyName) -> String {
    let advice = match error {
        NoKeyName::Unknown { nearest: Some(nearest), .. } => Some(format!("did you mean {nearest}?")),
        NoKeyName::Unknown { nearest: None, .. } => Some("`ax models` lists all providers".to_owned()),
        NoKeyName::NotNeeded(_) => None,
    };
    advised(error, advice)
}

/// What to do about a provider's failure.
pub(crate) fn advice(class: ErrorClass) -> &'static str {
    match class {
        ErrorClass::Timeout => "give it more time with --timeout, or use a faster model",
        ErrorClass::Network
        | ErrorClass::RateLimit
        | ErrorClass::ApiError
        | ErrorClass::ContextOverflow
        | ErrorClass::Authentication
        | ErrorClass::Validation
        | ErrorClass::InvalidResponse => class.advice(),
    }
}

/// The commands with which the reader of an exported discussion can see it again.
pub(crate) fn to_see_it_again(id: DiscussionId) -> Vec<String> {
    vec![
        format!("ax replay {id}"),
        format!("ax export {id} --as html -o discussion.html"),
        format!("ax discuss --again {id}"),
    ]
}
