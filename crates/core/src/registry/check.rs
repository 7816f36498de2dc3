//! Checks of a registry, and of a spec against a registry.

use std::collections::BTreeMap;

use crate::{
    model::{
        error::{Code, Refusal},
        excerpt::in_short,
        outcome::Outcome,
        spec::{Spec, WindowSpec},
    },
    registry::{OnOverflow, Registry},
    vocabulary::{
        check::Known,
        option::{Declared, Kind},
    },
};

/// Why a registry is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RegistryError {
    /// Two of one kind have the same name.
    #[error("there are two {what} named {name}")]
    Twice {
        /// The kind: `patterns`.
        what: &'static str,
        /// The name.
        name: &'static str,
    },
    /// Two declarations of one option differ.
    #[error("the option {0} is declared in two ways; declarations of a shared option must be equal")]
    OptionsDiffer(&'static str),
    /// An option has the name of a built-in field.
    #[error("the option {0} has the name of a built-in one")]
    Reserved(&'static str),
    /// Two forms of one kind differ in version.
    #[error("the form {0} is declared in two versions")]
    FormsDiffer(&'static str),
    /// A result field of a pattern or method has the name of a built-in one.
    #[error("the result field {0} has the name of a built-in one")]
    ReservedField(&'static str),
    /// No pattern, no method or no strategy is registered.
    #[error("there are no {0}")]
    None(&'static str),
}

impl Registry {
    /// Checks that the registered entries fit together. No option may have a name in `reserved`.
    pub fn validate(&self, reserved: &[&str]) -> Result<(), RegistryError> {
        unique("patterns", self.all_patterns().map(|it| it.name))?;
        unique("consensus methods", self.methods().iter().map(|it| it.name))?;
        unique("context strategies", self.strategies().iter().map(|it| it.name))?;
        if let Some(name) = first_duplicate(self.detectors().iter().map(|it| it.name)) {
            return Err(RegistryError::Twice { what: "detectors", name });
        }
        self.validate_options(reserved)?;
        self.validate_forms()?;
        self.validate_results()
    }

    fn validate_options(&self, reserved: &[&str]) -> Result<(), RegistryError> {
        let patterns = self.all_patterns().flat_map(|it| it.options);
        let methods = self.methods().iter().flat_map(|it| it.options);
        let strategies = self.strategies().iter().flat_map(|it| it.options);
        let mut known: BTreeMap<&str, &Declared> = BTreeMap::new();
        for declared in patterns.chain(methods).chain(strategies).map(|it| it.declared()) {
            if reserved.contains(&declared.name) {
                return Err(RegistryError::Reserved(declared.name));
            }
            if known.insert(declared.name, declared).is_some_and(|before| before != declared) {
                return Err(RegistryError::OptionsDiffer(declared.name));
            }
        }
        Ok(())
    }

    fn validate_forms(&self) -> Result<(), RegistryError> {
        let patterns = self.all_patterns().flat_map(|it| it.forms);
        let methods = self.methods().iter().flat_map(|it| it.forms);
        let mut known: BTreeMap<&str, u32> = BTreeMap::new();
        for form in patterns.chain(methods) {
            if known.insert(form.kind, form.version).is_some_and(|before| before != form.version) {
                return Err(RegistryError::FormsDiffer(form.kind));
            }
        }
        Ok(())
    }

    fn validate_results(&self) -> Result<(), RegistryError> {
        let patterns = self.all_patterns().map(|it| it.results);
        for fields in patterns.chain(self.methods().iter().map(|it| it.results)) {
            let names = fields.iter().map(|it| it.name);
            if let Some(name) = names.clone().find(|it| Outcome::FIELDS.contains(it)) {
                return Err(RegistryError::ReservedField(name));
            }
            if let Some(name) = first_duplicate(names) {
                return Err(RegistryError::Twice { what: "result fields", name });
            }
        }
        Ok(())
    }

    /// Everything wrong with the names and option values of this spec.
    #[must_use]
    pub fn refusals(&self, spec: &Spec) -> Vec<Refusal> {
        let mut refusals = Vec::new();
        match self.pattern(&spec.pattern) {
            Some(pattern) => refusals.extend((pattern.check)(spec)),
            None => refusals.push(unknown(
                ("pattern", Code::InvalidPattern),
                "pattern",
                &spec.pattern,
                self.patterns().iter().map(|it| it.name),
            )),
        }
        match self.method(&spec.consensus.method) {
            Some(method) => refusals.extend((method.check)(spec)),
            None => refusals.push(unknown(
                ("consensus", Code::InvalidRequest),
                "consensus method",
                &spec.consensus.method,
                self.methods().iter().map(|it| it.name),
            )),
        }
        refusals.extend(self.window_refusals(&spec.window));
        refusals.extend(self.option_refusals(spec));
        refusals
    }

    /// The possible reactions to a request that is too long: a strategy's name, the end, or to ask.
    pub fn overflows(&self) -> impl Iterator<Item = &'static str> {
        let offered = self.strategies().iter().filter(|it| it.overflow != OnOverflow::NotOffered);
        offered.map(|it| it.name).chain([WindowSpec::END, WindowSpec::ASK])
    }

    fn window_refusals(&self, window: &WindowSpec) -> Vec<Refusal> {
        let mut refusals = Vec::new();
        if self.strategy(&window.strategy).is_none() {
            let names = self.strategies().iter().map(|it| it.name);
            let field = ("windowStrategy", Code::InvalidRequest);
            refusals.push(unknown(field, "context strategy", &window.strategy, names));
        }
        if !self.overflows().any(|it| it == window.overflow) {
            let field = ("windowOverflow", Code::InvalidRequest);
            refusals.push(unknown(field, "answer to an overflow", &window.overflow, self.overflows()));
        }
        refusals
    }

    fn option_refusals(&self, spec: &Spec) -> Vec<Refusal> {
        let (pattern, method) = (&spec.pattern, &spec.consensus.method);
        let applicable = self.options_for(pattern, method, &spec.window.strategy);
        let seats: Vec<&str> = spec.participants.iter().map(|it| it.name.as_str()).collect();
        let detectors: Vec<&str> = self.detectors().iter().map(|it| it.name).collect();
        let known = Known { seats: Some(&seats), detectors: &detectors };
        let complaint = |(name, value): (&str, &serde_json::Value)| {
            let Some(declared) = applicable.iter().find(|it| it.name == name) else {
                return Some(Refusal::new(name, Code::InvalidRequest, self.misplaced(name)));
            };
            let code = match declared.kind {
                Kind::Seat { role: Some(_) } | Kind::Seats { role: Some(_) } => Code::InvalidRoles,
                _ => Code::InvalidRequest,
            };
            Some(Refusal::new(name, code, declared.kind.complaint(value, known)?))
        };
        spec.settings.iter().filter_map(complaint).collect()
    }

    /// Says where an option applies that doesn't apply here.
    fn misplaced(&self, name: &str) -> String {
        let declares =
            |options: crate::registry::Options| options.iter().any(|it| it.declared().name == name);
        let only_with = |what: &str, names: Vec<&str>| {
            let choose = if names.len() == 1 { "choose it" } else { "choose one of them" };
            let names = names.join(" or ");
            let message = || format!("applies only to the {what} {names}; {choose}, or leave this out");
            (!names.is_empty()).then(message)
        };
        let patterns = self.patterns().iter().filter(|it| declares(it.options)).map(|it| it.name);
        let methods = self.methods().iter().filter(|it| declares(it.options)).map(|it| it.name);
        let strategies = self.strategies().iter().filter(|it| declares(it.options)).map(|it| it.name);
        only_with("pattern", patterns.collect())
            .or_else(|| only_with("consensus method", methods.collect()))
            .or_else(|| only_with("window strategy", strategies.collect()))
            .unwrap_or_else(|| "is not a known option".to_owned())
    }
}

fn unique(
    what: &'static str,
    names: impl Iterator<Item = &'static str> + Clone,
) -> Result<(), RegistryError> {
    if names.clone().next().is_none() {
        return Err(RegistryError::None(what));
    }
    first_duplicate(names).map_or(Ok(()), |name| Err(RegistryError::Twice { what, name }))
}

fn first_duplicate(names: impl Iterator<Item = &'static str>) -> Option<&'static str> {
    let mut seen = std::collections::BTreeSet::new();
    names.into_iter().find(|name| !seen.insert(*name))
}

fn unknown(
    (field, code): (&str, Code),
    what: &str,
    name: &str,
    names: impl Iterator<Item = &'static str>,
) -> Refusal {
    let names: Vec<&str> = names.collect();
    let name = in_short(name);
    Refusal::new(field, code, format!("there is no {what} named {name}; there are {}", names.join(", ")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        floor::ask::Ask,
        model::spec::tests::order,
        registry::{
            Before, Consensus, ContextStrategy, Course, Detection, Detector, Ends, Fit, Length, Options,
            Pattern,
        },
        vocabulary::{form::Form, option::Opt, result::ResultField, view::View},
    };

    const PACE: Opt<f64> = Opt::number("pace", "How fast it goes", 0.0..=1.0, 0.5);
    const FASTER: Opt<f64> = Opt::number("pace", "How fast it goes", 0.0..=2.0, 0.5);
    const CHAIR: Opt<Option<String>> = Opt::seat_in_role("chair", "Who leads", "chair");
    const QUORUM: Opt<Option<u32>> = Opt::whole_or_none("quorum", "How many must vote", 1..=6);
    const NOTICES: Opt<Vec<String>> = Opt::detectors("notices", "What may end it");
    const DEPTH: Opt<Option<u32>> = Opt::whole_or_none("depth", "How many turns are shown", 1..=9);

    const TALK: Pattern = Pattern { name: "talk", options: &[&PACE, &CHAIR, &NOTICES], ..Pattern::PLAIN };
    const PARADE: Pattern = Pattern { name: "parade", options: &[&PACE], ..Pattern::PLAIN };
    const VOTE: Consensus = Consensus { name: "vote", options: &[&QUORUM], ..Consensus::PLAIN };
    const LOT: Consensus = Consensus { name: "lot", ..Consensus::PLAIN };
    const NEWEST: ContextStrategy = strategy("plain", &[], OnOverflow::NotOffered);
    const DEEP: ContextStrategy = strategy("deep", &[&DEPTH], OnOverflow::Shrinks);
    const BOREDOM: Detector =
        Detector { name: "boredom", summary: "Nobody listens", detect: nothing, ends: Ends::AtOnce };

    static PATTERNS: &[Pattern] = &[TALK, PARADE];
    static METHODS: &[Consensus] = &[VOTE, LOT];
    static STRATEGIES: &[ContextStrategy] = &[NEWEST, DEEP];
    static DETECTORS: &[Detector] = &[BOREDOM];

    const fn strategy(name: &'static str, options: Options, overflow: OnOverflow) -> ContextStrategy {
        let fit: fn(&Length<'_>) -> Fit =
            |talk| Fit { before: Before::FirstTurns, room: talk.room, sum_up: None, tight: None };
        ContextStrategy { name, summary: "", fit, options, overflow, words: |_, _| Ask::new("", "") }
    }

    fn nothing(_: &Course) -> Vec<Detection> {
        Vec::new()
    }

    fn registry() -> Registry {
        Registry::default()
            .with_patterns(PATTERNS)
            .with_methods(METHODS)
            .with_strategies(STRATEGIES)
            .with_detectors(DETECTORS)
    }

    #[track_caller]
    fn check(registry: &Registry, reserved: &[&str], expected: &RegistryError, told: &str) {
        assert_eq!(registry.validate(reserved).as_ref(), Err(expected));
        assert_eq!(expected.to_string(), told);
    }

    #[test]
    fn a_consistent_registry_is_accepted() {
        assert_eq!(registry().validate(&["topic", "rounds"]), Ok(()));
        let none: Registry = Registry::default();
        check(&none, &[], &RegistryError::None("patterns"), "there are no patterns");
        let no_method = Registry::default().with_patterns(PATTERNS);
        check(&no_method, &[], &RegistryError::None("consensus methods"), "there are no consensus methods");
    }

    #[test]
    fn a_name_is_registered_once() {
        let twice = |what, name| RegistryError::Twice { what, name };
        let talks = registry().with_patterns(&PATTERNS[..1]);
        check(&talks, &[], &twice("patterns", "talk"), "there are two patterns named talk");
        let votes = registry().with_methods(&METHODS[..1]);
        check(&votes, &[], &twice("consensus methods", "vote"), "there are two consensus methods named vote");
        let plain = registry().with_strategies(&STRATEGIES[..1]);
        let told = "there are two context strategies named plain";
        check(&plain, &[], &twice("context strategies", "plain"), told);
        let bored = registry().with_detectors(DETECTORS);
        check(&bored, &[], &twice("detectors", "boredom"), "there are two detectors named boredom");
        assert_eq!(
            registry().validate(&[]),
            Ok(()),
            "a clone that is added to leaves the others as they are"
        );
    }

    #[test]
    fn declarations_of_a_shared_option_are_equal() {
        static FAST: &[Consensus] = &[Consensus { name: "race", options: &[&FASTER], ..Consensus::PLAIN }];
        let told = "the option pace is declared in two ways; declarations of a shared option must be equal";
        check(&registry().with_methods(FAST), &[], &RegistryError::OptionsDiffer("pace"), told);
    }

    #[test]
    fn an_option_has_no_reserved_name() {
        let told = "the option quorum has the name of a built-in one";
        check(&registry(), &["topic", "quorum"], &RegistryError::Reserved("quorum"), told);
        check(
            &registry(),
            &["depth"],
            &RegistryError::Reserved("depth"),
            "the option depth has the name of a built-in one",
        );
    }

    #[test]
    fn declarations_of_a_shared_form_have_the_same_version() {
        static ONE: Form = Form::new("vow");
        static OTHER: Form = Form { version: 2, ..Form::new("vow") };
        static VOWS: &[Pattern] = &[
            Pattern { name: "vows", forms: &[&ONE], ..Pattern::PLAIN },
            Pattern { name: "new-vows", forms: &[&OTHER], ..Pattern::PLAIN },
        ];
        let told = "the form vow is declared in two versions";
        check(&registry().with_patterns(VOWS), &[], &RegistryError::FormsDiffer("vow"), told);
        assert_eq!(registry().with_patterns(&VOWS[..1]).validate(&[]), Ok(()));
    }

    #[test]
    fn a_result_field_has_a_name_of_its_own() {
        const fn named(name: &'static str) -> ResultField {
            ResultField { name, title: "", view: View::Hidden, of: |_| None }
        }
        static TALKS: &[Pattern] = &[
            Pattern { name: "double", results: &[named("spread"), named("spread")], ..Pattern::PLAIN },
            Pattern { name: "failing", results: &[named("error")], ..Pattern::PLAIN },
        ];
        let twice = RegistryError::Twice { what: "result fields", name: "spread" };
        let told = "there are two result fields named spread";
        check(&registry().with_patterns(&TALKS[..1]), &[], &twice, told);
        let told = "the result field error has the name of a built-in one";
        check(&registry().with_patterns(&TALKS[1..]), &[], &RegistryError::ReservedField("error"), told);
    }

    #[track_caller]
    fn refuses(spec: &Spec, expected: &[(&str, Code)]) {
        let refusals = registry().refusals(spec);
        let told: Vec<(String, Code)> = refusals.iter().map(|it| (it.to_string(), it.code)).collect();
        let expected: Vec<(String, Code)> =
            expected.iter().map(|(told, code)| ((*told).to_owned(), *code)).collect();
        assert_eq!(told, expected);
    }

    fn setting(name: &str, value: serde_json::Value) -> Spec {
        Spec { settings: order().settings.with(name, value), ..order() }
    }

    #[test]
    fn unknown_names_are_refused_with_the_known_ones() {
        refuses(&order(), &[]);
        let mut spec = Spec { pattern: "riot".to_owned(), ..order() };
        spec.consensus.method = "coin".to_owned();
        spec.window = WindowSpec { strategy: "hope".to_owned(), overflow: "plain".to_owned() };
        let expected = [
            ("pattern: there is no pattern named riot; there are talk, parade", Code::InvalidPattern),
            ("consensus: there is no consensus method named coin; there are vote, lot", Code::InvalidRequest),
            (
                "windowStrategy: there is no context strategy named hope; there are plain, deep",
                Code::InvalidRequest,
            ),
            (
                "windowOverflow: there is no answer to an overflow named plain; there are deep, end, ask",
                Code::InvalidRequest,
            ),
        ];
        refuses(&spec, &expected);
    }

    #[test]
    fn an_option_that_applies_elsewhere_is_refused_with_where() {
        refuses(&setting("pace", json!(0.7)), &[]);
        let elsewhere = |name, told| refuses(&setting(name, json!(3)), &[(told, Code::InvalidRequest)]);
        elsewhere("depth", "depth: applies only to the window strategy deep; choose it, or leave this out");
        elsewhere("mood", "mood: is not a known option");
        let by_lot = |name, told| {
            let mut spec = Spec { pattern: "parade".to_owned(), ..setting(name, json!(3)) };
            spec.consensus.method = "lot".to_owned();
            refuses(&spec, &[(told, Code::InvalidRequest)]);
        };
        by_lot("quorum", "quorum: applies only to the consensus method vote; choose it, or leave this out");
        by_lot("chair", "chair: applies only to the pattern talk; choose it, or leave this out");
        let riot = Spec { pattern: "riot".to_owned(), ..setting("pace", json!(0.7)) };
        let told = "pace: applies only to the pattern talk or parade; choose one of them, or leave this out";
        let unknown = "pattern: there is no pattern named riot; there are talk, parade";
        refuses(&riot, &[(unknown, Code::InvalidPattern), (told, Code::InvalidRequest)]);
    }

    #[test]
    fn values_are_checked_against_the_participants_and_the_detectors() {
        refuses(&setting("chair", json!("ann")), &[]);
        let stranger = "chair: eve does not take part; the participants are ann, bob, cyd";
        refuses(&setting("chair", json!("eve")), &[(stranger, Code::InvalidRoles)]);
        refuses(&setting("notices", json!(["boredom"])), &[]);
        let unknown = "notices: there is no \"hunger\"; there are boredom";
        refuses(&setting("notices", json!(["hunger"])), &[(unknown, Code::InvalidRequest)]);
        let range = "quorum: must be from 1 to 6, not 7";
        refuses(&setting("quorum", json!(7)), &[(range, Code::InvalidRequest)]);
    }
}
