//! The local tenant: actions from a terminal use the same scope as those of a server, and are
//! recorded in the same audit.

use quorum::{Quorum, Scope, model::id::Tenant};

/// The audit's name for a person whose login name is unknown.
const UNKNOWN: &str = "terminal";

/// The scope of the person at this terminal.
pub(crate) fn scope(quorum: &Quorum) -> Scope {
    quorum.scope(Tenant::default(), &login_name(|name| std::env::var(name).ok()))
}

/// The login name from the environment.
fn login_name(variable: impl Fn(&str) -> Option<String>) -> String {
    let names = ["LOGNAME", "USER"].into_iter().filter_map(variable).map(|it| it.trim().to_owned());
    names.into_iter().find(|it| !it.is_empty()).unwrap_or_else(|| UNKNOWN.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_audit_name_is_the_login_name_or_the_terminal() {
        let check = |variables: &[(&str, &str)], expected: &str| {
            let found = |name: &str| variables.iter().find(|it| it.0 == name).map(|it| it.1.to_owned());
            assert_eq!(login_name(found), expected);
        };
        check(&[("LOGNAME", "ann"), ("USER", "bob")], "ann");
        check(&[("LOGNAME", " "), ("USER", "bob")], "bob");
        check(&[], "terminal");
    }
}
