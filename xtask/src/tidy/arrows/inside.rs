//! Checks the dependencies between the modules of core, which the compiler doesn't: `use crate::…`
//! may only point to a lower layer.

use super::super::Finding;
use super::super::scan::Token;
use super::super::tree::Tree;

const SOURCES: &str = "crates/core/src/";

/// Each top-level module of core, and the others it may use.
const MAY_USE: &[(&str, &[&str])] = &[
    ("model", &[]),
    ("vocabulary", &["model"]),
    ("call", &["vocabulary", "model"]),
    ("seams", &["call", "model"]),
    ("memory", &["seams", "model"]),
    ("record", &["seams", "call", "model"]),
    // A pattern is a function over the floor, and the floor knows which pattern runs: one layer.
    ("registry", &["floor", "record", "seams", "call", "vocabulary", "model"]),
    ("floor", &["registry", "record", "seams", "call", "vocabulary", "model"]),
    ("engine", &["floor", "registry", "record", "seams", "call", "vocabulary", "model"]),
];

pub(super) fn findings(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (file, scan) in tree.rust() {
        let Some(module) = module_of(&file.path) else { continue };
        let Some(allowed) = may_use(module) else {
            findings.push(Finding::error(&file.path, 1, unlisted(module)));
            continue;
        };
        let is_wrong = |used: &str| used != module && may_use(used).is_some() && !allowed.contains(&used);
        let wrong = used_modules(&scan.tokens).into_iter().filter(|it| is_wrong(&it.text));
        findings.extend(wrong.map(|it| Finding::error(&file.path, it.line, wrong_arrow(module, &it.text))));
    }
    findings
}

/// The top-level module a file of core belongs to; `None` for the root itself and for other crates.
fn module_of(path: &str) -> Option<&str> {
    let inside = path.strip_prefix(SOURCES)?;
    let module = inside.split('/').next()?.trim_end_matches(".rs");
    (module != "lib").then_some(module)
}

fn may_use(module: &str) -> Option<&'static [&'static str]> {
    MAY_USE.iter().find(|(name, _)| *name == module).map(|(_, allowed)| *allowed)
}

/// The name after each `crate::` in the file: one name, or the first name of each path in braces.
fn used_modules(tokens: &[Token]) -> Vec<&Token> {
    let is_root = |it: &[Token]| it[0].text == "crate" && it[1].text == ":" && it[2].text == ":";
    let starts = tokens.windows(3).enumerate().filter(|(_, window)| is_root(window));
    starts.flat_map(|(start, _)| first_names(&tokens[start + 3..])).collect()
}

fn first_names(path: &[Token]) -> Vec<&Token> {
    if path.first().is_none_or(|it| it.text != "{") {
        return path.first().into_iter().collect();
    }
    let (mut names, mut depth) = (Vec::new(), 0);
    for pair in path.windows(2) {
        match pair[0].text.as_str() {
            "{" => depth += 1,
            "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            break;
        }
        if depth == 1 && matches!(pair[0].text.as_str(), "{" | ",") {
            names.push(&pair[1]);
        }
    }
    names
}

fn unlisted(module: &str) -> String {
    format!("`{module}` is new in core; list in xtask's tidy/arrows/inside.rs what it may use")
}

fn wrong_arrow(module: &str, used: &str) -> String {
    let allowed = may_use(module).unwrap_or_default();
    let list = if allowed.is_empty() { "none of core".to_owned() } else { allowed.join(", ") };
    format!("`{module}` must not use `{used}`: arrows in core point one way; it may use {list}")
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::expect;
    use super::*;

    #[track_caller]
    fn check(path: &str, text: &str, expected: &[&str]) {
        expect(|tree| Ok(findings(tree)), &[(path, text)], expected);
    }

    #[test]
    fn a_module_may_use_lower_modules_and_itself() {
        check(
            "crates/core/src/floor/gate.rs",
            "use crate::{record::Record, floor::Floor, model::id::Step};",
            &[],
        );
        check("crates/core/src/engine/mod.rs", "pub use crate::{floor::shared, record::feed};", &[]);
        check("crates/core/src/registry/mod.rs", "use crate::floor::Floor;", &[]);
        check("crates/core/src/lib.rs", "pub use crate::engine::Engine;", &[]);
    }

    #[test]
    fn a_higher_module_is_an_error_that_names_file_and_line() {
        check(
            "crates/core/src/record/mod.rs",
            "use std::fmt;\nuse crate::{\n    model::{id::Step, state},\n    floor::{halt::Halt, seat},\n};\n",
            &[
                "crates/core/src/record/mod.rs:4: error: `record` must not use `floor`: arrows in core point one way; \
               it may use seams, call, model",
            ],
        );
        check(
            "crates/core/src/model/spec.rs",
            "use crate::call::Call;\n",
            &[
                "crates/core/src/model/spec.rs:1: error: `model` must not use `call`: arrows in core point one way; \
               it may use none of core",
            ],
        );
    }

    #[test]
    fn a_path_in_the_middle_of_the_code_counts_too() {
        check(
            "crates/core/src/floor/gate.rs",
            "fn a() {\n    crate::engine::conduct::b();\n}\n",
            &[
                "crates/core/src/floor/gate.rs:2: error: `floor` must not use `engine`: arrows in core point one way; \
               it may use registry, record, seams, call, vocabulary, model",
            ],
        );
    }

    #[test]
    fn only_the_first_name_of_a_path_is_a_module_of_core() {
        check("crates/core/src/model/state.rs", "use crate::model::{engine, floor::{call}};", &[]);
        check("crates/core/src/model/state.rs", "use crate::{model::{call, floor}};", &[]);
        check("crates/patterns/src/judge.rs", "use crate::engine::x;", &[]);
        check("crates/core/src/model/state.rs", "// use crate::engine::x;\n", &[]);
    }

    #[test]
    fn a_new_module_must_be_listed() {
        check(
            "crates/core/src/novel/mod.rs",
            "use crate::model::id::Step;",
            &["crates/core/src/novel/mod.rs:1: error: `novel` is new in core; list in xtask's \
               tidy/arrows/inside.rs what it may use"],
        );
    }
}
