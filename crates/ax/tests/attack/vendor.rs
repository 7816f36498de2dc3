//! Providers for attacks: honest ones and a hostile one, each with a key of its own.

use crate::user::User;

/// The wires, with the path prefixes of their endpoints.
pub(crate) const WIRES: [(&str, &str); 5] = [
    ("openai-chat", "/v1"),
    ("anthropic", "/v1"),
    ("gemini", "/v1beta"),
    ("ollama", ""),
    ("openai-responses", "/v1"),
];

/// The configuration of a provider at this address. Its key is in a variable.
pub(crate) fn provider(name: &str, url: &str, (wire, path): (&str, &str)) -> String {
    format!(
        "[providers.{name}]\nwire = '{wire}'\nbase_url = '{url}{path}'\nmodel = '{name}-1'\nkey_env = '{}'\n\
         first_token_ms = 1500\nidle_ms = 1500\nconcurrency = 8\n",
        variable(name)
    )
}

fn variable(name: &str) -> String {
    format!("{}_KEY", name.to_uppercase())
}

/// A user with these providers on one wire, and a unique key for each.
pub(crate) fn user(providers: &[(&str, &str)], wire: (&str, &str)) -> User {
    let rows: String = providers.iter().map(|(name, url)| provider(name, url, wire)).collect();
    let names: Vec<String> = providers.iter().map(|(name, _)| format!("'{name}'")).collect();
    let user = providers.iter().fold(User::new(), |user, (name, _)| user.with(&variable(name), &key(name)));
    user.configure(&format!("[defaults]\nproviders = [{}]\nrounds = 1\n{rows}", names.join(", ")));
    user
}

/// A secret named after its use, of characters that do not occur in hexadecimal numbers.
pub(crate) fn key(of: &str) -> String {
    const SIGNS: &[u8] = b"GHJKLMNPQRSTVWXYZghjkmnpqrstvwxyz";
    let mut state = of.bytes().fold(0x9e37_79b9_u64, |so_far, it| so_far.wrapping_mul(31) + u64::from(it));
    let next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        Some(char::from(SIGNS[(state >> 33) as usize % SIGNS.len()]))
    };
    std::iter::from_fn(next).take(32).collect()
}
