//! `[server]`: listen address, access tokens and allowed origins.

use std::{fmt, net::SocketAddr, ops::RangeInclusive};

use quorum_core::model::{account::Caps, id::Tenant, participant::is_name};

use super::{
    Config, Error, Mistake, Mistakes,
    limits::{PER_DAY, PER_MONTH, add_cap},
    unknown,
};

/// Whether a token with caps may use voices without a known price.
const ALLOW_UNPRICED: &str = "allow_unpriced";

/// The minimum length of a token, against guessing.
const SHORTEST_TOKEN: usize = 16;

/// The allowed range for the number of concurrent discussions.
const RUNNING: RangeInclusive<usize> = 1..=100_000;

/// The allowed range for the number of concurrent discussions of one tenant.
const RUNNING_OF_TENANT: RangeInclusive<u64> = 1..=1_000_000;

/// The allowed range for the number of waiting orders of a tenant.
const QUEUED: RangeInclusive<usize> = 0..=1_000_000;

/// The allowed range for the drain time, in seconds.
const DRAIN: RangeInclusive<u64> = 0..=3_600;

/// The keys of the table.
const KEYS: [&str; 8] =
    ["listen", "tokens", "origins", "max_running", "max_running_of_tenant", "max_queued", "drain", "tasks"];

/// The server's settings.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Server {
    /// The listen address; loopback, port 3000, by default.
    pub listen: Option<SocketAddr>,
    /// The access tokens. Without any, every client on this machine's loopback has access.
    pub tokens: Vec<Token>,
    /// Tokens whose variable is not set here. Only a server needs the secrets, and must not start
    /// without them.
    pub unset: Vec<UnsetToken>,
    /// Origins of other pages that may use the server: `https://panel.example.org`.
    pub origins: Vec<String>,
    /// The limit on concurrent discussions, if set.
    pub max_running: Option<usize>,
    /// The limit on concurrent discussions of one tenant on all nodes together, if set.
    pub max_running_of_tenant: Option<u64>,
    /// The limit on orders of one tenant that wait to be run, if set.
    pub max_queued: Option<usize>,
    /// How many seconds calls under way may take at shutdown, if set.
    pub drain: Option<u64>,
    /// What answers the small tasks of chat clients.
    pub tasks: Tasks,
}

/// What answers the small tasks of chat clients that use the panel as one model: titles, tags,
/// follow-up questions, search queries.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Tasks {
    /// One call of the cheapest available voice.
    #[default]
    Cheapest,
    /// One call of this voice: `claude`, or `claude/MODEL`.
    Voice(String),
    /// The panel, like every other question.
    Panel,
}

/// An access token and its owner.
#[derive(Debug, Clone, PartialEq)]
pub struct Token {
    /// The owner's name in records.
    pub name: String,
    /// The tenant whose discussions the owner can reach.
    pub tenant: Tenant,
    /// The secret that the client sends.
    pub secret: Secret,
    /// What discussions that the owner starts may cost.
    pub caps: Caps,
}

/// An access token whose secret is in a variable that is not set.
#[derive(Debug, Clone, PartialEq)]
pub struct UnsetToken {
    /// The owner's name in records.
    pub name: String,
    /// The tenant whose discussions the owner can reach.
    pub tenant: Tenant,
    /// The variable.
    pub variable: String,
    /// What discussions that the owner starts may cost.
    pub caps: Caps,
}

impl UnsetToken {
    /// That the variable is missing.
    fn mistake(&self) -> Mistake {
        let UnsetToken { name, variable, .. } = self;
        format!("server.tokens: {name}: the variable {variable} is not set").into()
    }
}

impl Server {
    /// The owner of each token, set or not, and what may be spent.
    pub(crate) fn owners(&self) -> impl Iterator<Item = (&str, &Tenant, Caps)> {
        let unset = self.unset.iter().map(|it| (it.name.as_str(), &it.tenant, it.caps));
        self.tokens.iter().map(|it| (it.name.as_str(), &it.tenant, it.caps)).chain(unset)
    }
}

impl Config {
    /// The tokens that a server could not accept, because their variables are not set here.
    #[must_use]
    pub fn unset_tokens(&self) -> Vec<Mistake> {
        self.server.unset.iter().map(UnsetToken::mistake).collect()
    }

    /// Refuses tokens whose variables are not set, before a server starts.
    pub fn check_tokens(&self) -> Result<(), Error> {
        match self.unset_tokens() {
            none if none.is_empty() => Ok(()),
            mistakes => Err(Error::Wrong { file: self.file.clone(), mistakes }),
        }
    }
}

/// A secret text. It is never displayed.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// The secret itself, for comparison.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl From<String> for Secret {
    fn from(secret: String) -> Self {
        Secret(secret)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(secret)")
    }
}

pub(super) fn read(config: &mut Config, table: &toml::Table) -> Result<(), Mistakes> {
    for (key, value) in table {
        match key.as_str() {
            "listen" => config.server.listen = Some(address(value)?),
            "tokens" => tokens(&mut config.server, value)?,
            "origins" => config.server.origins = each(value, "origins", origin)?,
            "max_running" => config.server.max_running = Some(whole(value, key, RUNNING)?),
            "max_running_of_tenant" => {
                config.server.max_running_of_tenant = Some(whole(value, key, RUNNING_OF_TENANT)?);
            }
            "max_queued" => config.server.max_queued = Some(whole(value, key, QUEUED)?),
            "drain" => config.server.drain = Some(whole(value, key, DRAIN)?),
            "tasks" => config.server.tasks = tasks(value)?,
            _ => {
                return Err(unknown("key in [server]", key, KEYS).into());
            }
        }
    }
    Ok(())
}

/// Reads the tokens one by one, so that all mistakes are found at once.
fn tokens(server: &mut Server, value: &toml::Value) -> Result<(), Mistakes> {
    let mut wrong = Vec::new();
    for entry in list(value, "tokens")? {
        match token(entry) {
            Ok(TokenEntry::Set(token)) => server.tokens.push(token),
            Ok(TokenEntry::Unset(token)) => server.unset.push(token),
            Err(message) => wrong.push(format!("server.tokens: {message}").into()),
        }
    }
    let mut names: Vec<&str> = server.owners().map(|it| it.0).collect();
    names.sort_unstable();
    let mut twice: Vec<&str> = names.windows(2).filter(|it| it[0] == it[1]).map(|it| it[0]).collect();
    twice.dedup();
    wrong.extend(twice.into_iter().map(|name| format!("server.tokens: two are named {name}").into()));
    Mistakes(wrong).none_or_err()
}

fn tasks(value: &toml::Value) -> Result<Tasks, String> {
    match value.as_str() {
        Some("cheapest") => Ok(Tasks::Cheapest),
        Some("panel") => Ok(Tasks::Panel),
        Some(name) if is_name(name) => Ok(Tasks::Voice(name.to_owned())),
        Some(_) | None => {
            Err(format!("server.tasks is \"cheapest\", \"panel\" or a provider's name, not {value}"))
        }
    }
}

fn address(value: &toml::Value) -> Result<SocketAddr, String> {
    let read = value.as_str().and_then(|text| text.parse().ok());
    read.ok_or_else(|| format!("server.listen is an address and a port like \"127.0.0.1:3000\", not {value}"))
}

fn whole<T>(value: &toml::Value, key: &str, within: RangeInclusive<T>) -> Result<T, String>
where
    T: TryFrom<i64> + PartialOrd + fmt::Display,
{
    let read = value.as_integer().and_then(|it| T::try_from(it).ok()).filter(|it| within.contains(it));
    let (least, most) = (within.start(), within.end());
    read.ok_or_else(|| format!("server.{key} must be a whole number from {least} to {most}, not {value}"))
}

fn list<'v>(value: &'v toml::Value, key: &str) -> Result<&'v [toml::Value], String> {
    let list = value.as_array().ok_or_else(|| format!("server.{key} is a list: [ … ]"))?;
    Ok(list)
}

/// Reads the entries of a list one by one, so that all mistakes are found at once.
fn each<T>(
    value: &toml::Value,
    key: &str,
    read: fn(&toml::Value) -> Result<T, String>,
) -> Result<Vec<T>, Mistakes> {
    let (mut entries, mut wrong) = (Vec::new(), Vec::new());
    for entry in list(value, key)? {
        match read(entry) {
            Ok(entry) => entries.push(entry),
            Err(message) => wrong.push(format!("server.{key}: {message}").into()),
        }
    }
    Mistakes(wrong).none_or_err()?;
    Ok(entries)
}

fn origin(value: &toml::Value) -> Result<String, String> {
    let is_one = |it: &&str| {
        let rest = it.strip_prefix("https://").or_else(|| it.strip_prefix("http://"));
        rest.is_some_and(|host| !host.is_empty() && !host.contains(['/', '?', '#', ' ', '*']))
    };
    let read = value.as_str().filter(is_one).map(str::to_lowercase);
    read.ok_or_else(|| format!("an origin is like \"https://panel.example.org\", not {value}"))
}

/// A token of the list.
enum TokenEntry {
    Set(Token),
    /// Its secret is in a variable that is not set here.
    Unset(UnsetToken),
}

/// Reads `{ name = "ann", tenant = "acme", env = "ANN_TOKEN" }`, or `token = "…"` instead of `env`.
fn token(value: &toml::Value) -> Result<TokenEntry, String> {
    let shape =
        "a token is { name = \"ann\", env = \"ANN_TOKEN\" }, with tenant = \"acme\" where there are several";
    let table = value.as_table().ok_or_else(|| shape.to_owned())?;
    let known = ["name", "tenant", "token", "env", PER_DAY, PER_MONTH, ALLOW_UNPRICED];
    if let Some(key) = table.keys().find(|key| !known.contains(&key.as_str())) {
        return Err(unknown("key of a token", key, known));
    }
    let text = |key: &str| table.get(key).and_then(toml::Value::as_str);
    let name = text("name").filter(|it| !it.is_empty()).ok_or_else(|| shape.to_owned())?;
    let (name, tenant) = (name.to_owned(), Tenant::named(text("tenant").unwrap_or_default()));
    let caps = caps(table).map_err(|message| format!("{name}: {message}"))?;
    let secret = match (text("token"), text("env")) {
        (Some(token), None) => token.to_owned(),
        (None, Some(variable)) => match std::env::var(variable) {
            Ok(secret) => secret,
            Err(_) => {
                let variable = variable.to_owned();
                return Ok(TokenEntry::Unset(UnsetToken { name, tenant, variable, caps }));
            }
        },
        (Some(_), Some(_)) | (None, None) => return Err(format!("{name} needs either token or env")),
    };
    if secret.len() < SHORTEST_TOKEN || !secret.bytes().all(|it| it.is_ascii_graphic()) {
        return Err(format!("{name}'s token must have {SHORTEST_TOKEN} characters or more, and no blanks"));
    }
    Ok(TokenEntry::Set(Token { name, tenant, secret: secret.into(), caps }))
}

fn caps(table: &toml::Table) -> Result<Caps, String> {
    let mut caps = Caps::default();
    for (key, value) in table {
        if key == ALLOW_UNPRICED {
            let read = value.as_bool();
            caps.allow_unpriced = read.ok_or_else(|| format!("{key} is true or false, not {value}"))?;
        } else {
            add_cap(&mut caps, key, value)?;
        }
    }
    Ok(caps)
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::*;

    fn read_text(text: &str) -> Result<Server, String> {
        let parsed = Config::parse(text, Path::new("c.toml"), PathBuf::new());
        parsed.map(|it| it.server).map_err(|error| error.to_string())
    }

    #[test]
    fn s2_the_section_is_read_and_a_token_is_never_shown() {
        let server = read_text(
            "[server]\nmax_running = 7\ndrain = 90\nlisten = \"0.0.0.0:80\"\norigins = [\"https://A.example\"]\n\
             tokens = [{ name = \"ann\", tenant = \"acme\", token = \"0123456789abcdef\" }]",
        )
        .unwrap();
        assert_eq!(server.listen, "0.0.0.0:80".parse().ok());
        assert_eq!(server.origins, ["https://a.example"]);
        assert_eq!((server.max_running, server.drain), (Some(7), Some(90)));
        assert_eq!(server.tokens[0].tenant, Tenant::named("acme"));
        assert!(!format!("{server:?}").contains("0123456789abcdef"));
    }

    #[test]
    fn s14_caps_of_tokens_are_read() {
        let server = read_text(
            "[server]\ntokens = [\
             { name = \"ann\", token = \"0123456789abcdef\", max_cost_per_day = 5, max_cost_per_month = 50.5 },\
             { name = \"bob\", token = \"fedcba9876543210\", max_cost_per_day = 0, allow_unpriced = true },\
             { name = \"cyd\", token = \"0011223344556677\" }]",
        )
        .unwrap();
        let usd = quorum_core::model::money::Usd::from_dollars;
        let expected = [
            Caps { per_day: usd(5.0), per_month: usd(50.5), allow_unpriced: false },
            Caps { per_day: usd(0.0), per_month: None, allow_unpriced: true },
            Caps::default(),
        ];
        assert_eq!(server.tokens.iter().map(|it| it.caps).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_token_whose_variable_is_not_set_kept_everything_else_from_working() {
        let text = "[server]\ntokens = [{ name = \"ann\", env = \"QUORUM_NO_SUCH\", max_cost_per_day = 5 },\
                    { name = \"bob\", token = \"0123456789abcdef\" }]";
        let config = Config::parse(text, Path::new("c.toml"), PathBuf::new()).unwrap();
        let per_day = quorum_core::model::money::Usd::from_dollars(5.0);
        let ann = UnsetToken {
            name: "ann".to_owned(),
            tenant: Tenant::default(),
            variable: "QUORUM_NO_SUCH".to_owned(),
            caps: Caps { per_day, ..Caps::default() },
        };
        assert_eq!(config.server.unset, [ann]);
        assert_eq!(config.server.tokens.iter().map(|it| it.name.as_str()).collect::<Vec<_>>(), ["bob"]);
        // A server has to refuse it, and its caps hold for everyone.
        let error = config.check_tokens().unwrap_err().to_string();
        assert_eq!(error, "c.toml: server.tokens: ann: the variable QUORUM_NO_SUCH is not set");
        assert_eq!(config.server.owners().find(|it| it.0 == "ann").map(|it| it.2.per_day), Some(per_day));
    }

    #[test]
    fn every_mistake_in_a_list_is_reported() {
        let text = "[server]\ntokens = [{ name = \"ann\", token = \"short\" }, { name = \"bob\" }]\n\
                    origins = [\"*\", \"ftp://x\"]";
        let expected = [
            "c.toml: server.origins: an origin is like \"https://panel.example.org\", not \"*\"",
            "c.toml: server.origins: an origin is like \"https://panel.example.org\", not \"ftp://x\"",
            "c.toml: server.tokens: ann's token must have 16 characters or more, and no blanks",
            "c.toml: server.tokens: bob needs either token or env",
        ];
        let told = read_text(text).unwrap_err();
        let mut told: Vec<&str> = told.lines().collect();
        told.sort_unstable();
        assert_eq!(told, expected);
    }

    #[test]
    fn s2_mistakes_are_reported_without_the_token() {
        let check = |inside: &str, expected: &str| {
            let error = read_text(&format!("[server]\n{inside}")).unwrap_err();
            assert!(error.contains(expected), "{error}");
            assert!(!error.contains("hunter2"), "{error}");
        };
        check("listen = 3000", "is an address and a port");
        check("max_running = 0", "must be a whole number from 1 to 100000, not 0");
        check("drain = -1", "server.drain must be a whole number from 0 to 3600, not -1");
        check("tasks = 3", "server.tasks is \"cheapest\", \"panel\" or a provider's name, not 3");
        check("tasks = \"a b\"", "server.tasks is");
        check("max_running = \"two\"", "must be a whole number from 1 to 100000, not \"two\"");
        check("listn = 3000", "did you mean listen?");
        check("tokens = \"hunter2\"", "is a list");
        check("tokens = [\"hunter2\"]", "a token is {");
        check("tokens = [{ name = \"ann\", token = \"hunter2\" }]", "16 characters or more");
        check("tokens = [{ name = \"ann\", tokn = \"hunter2\" }]", "did you mean token?");
        check("tokens = [{ name = \"ann\" }]", "needs either token or env");
        let capped = |inside: &str, expected: &str| {
            check(
                &format!("tokens = [{{ name = \"ann\", token = \"0123456789abcdef\", {inside} }}]"),
                expected,
            );
        };
        capped("max_cost_per_day = -1", "ann: max_cost_per_day must be an amount in USD from 0");
        capped("max_cost_per_mont = 1", "did you mean max_cost_per_month?");
        capped("allow_unpriced = 1", "ann: allow_unpriced is true or false, not 1");
        check("origins = [\"*\"]", "an origin is like");
        let twice = "{ name = \"ann\", token = \"0123456789abcdef\" }";
        check(&format!("tokens = [{twice}, {twice}]"), "two are named ann");
    }
}
