//! Patterns, consensus methods, context strategies and detectors, and their registry. Each is a
//! constant with a name, a sentence, declarations and functions.

pub mod check;
mod detector;
mod method;
mod pattern;
pub mod report;
mod snapshot;
mod strategy;

use std::{collections::BTreeSet, sync::Arc};

use crate::{
    model::{
        error::{Code, Refusal},
        participant::{Participant, Role},
        spec::Spec,
    },
    vocabulary::{
        form::{Form, Quotes},
        option::{Declared, Declares},
        result::ResultField,
        ruling::{RulingKind, WINDOW},
        starter::Starter,
    },
};

pub use detector::{Course, Detection, Detector, Ends, RoundMarks, Speech};
pub use method::Consensus;
pub use pattern::{Defaults, ErrorOnLoss, InTurn, MissingRoles, Pattern, RoleKind, Seating, Talk};
pub use snapshot::Snapshot;
pub use strategy::{Before, ContextStrategy, Covered, Fit, Length, OnOverflow, SumUp};

/// The options that something declares.
pub type Options = &'static [&'static dyn Declares];

/// Everything registered, the default of each kind first.
///
/// Cheap to clone. Adding to a clone doesn't change the original.
#[derive(Clone, Default)]
pub struct Registry(Arc<Lists>);

#[derive(Clone, Default)]
struct Lists {
    patterns: Vec<&'static Pattern>,
    hidden: Vec<&'static Pattern>,
    methods: Vec<&'static Consensus>,
    strategies: Vec<&'static ContextStrategy>,
    detectors: Vec<&'static Detector>,
}

/// Registries are equal if they have the same names in the same order.
impl PartialEq for Registry {
    fn eq(&self, other: &Self) -> bool {
        let names = |it: &Registry| format!("{it:?}");
        Arc::ptr_eq(&self.0, &other.0) || names(self) == names(other)
    }
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names = |names: Vec<&'static str>| names.join(", ");
        f.debug_struct("Registry")
            .field("patterns", &names(self.all_patterns().map(|it| it.name).collect()))
            .field("methods", &names(self.methods().iter().map(|it| it.name).collect()))
            .field("strategies", &names(self.strategies().iter().map(|it| it.name).collect()))
            .field("detectors", &names(self.detectors().iter().map(|it| it.name).collect()))
            .finish()
    }
}

impl Registry {
    /// The same with these patterns.
    #[must_use]
    pub fn with_patterns(mut self, patterns: impl IntoIterator<Item = &'static Pattern>) -> Self {
        let lists = Arc::make_mut(&mut self.0);
        for pattern in patterns {
            if pattern.hidden { &mut lists.hidden } else { &mut lists.patterns }.push(pattern);
        }
        self
    }

    /// The same with these consensus methods.
    #[must_use]
    pub fn with_methods(mut self, methods: impl IntoIterator<Item = &'static Consensus>) -> Self {
        Arc::make_mut(&mut self.0).methods.extend(methods);
        self
    }

    /// The same with these context strategies.
    #[must_use]
    pub fn with_strategies(mut self, strategies: impl IntoIterator<Item = &'static ContextStrategy>) -> Self {
        Arc::make_mut(&mut self.0).strategies.extend(strategies);
        self
    }

    /// The same with these detectors.
    #[must_use]
    pub fn with_detectors(mut self, detectors: impl IntoIterator<Item = &'static Detector>) -> Self {
        Arc::make_mut(&mut self.0).detectors.extend(detectors);
        self
    }

    /// The patterns that requests can name, and that every list shows.
    #[must_use]
    pub fn patterns(&self) -> &[&'static Pattern] {
        &self.0.patterns
    }

    /// The same and the hidden ones, which only a spec can name.
    pub fn all_patterns(&self) -> impl Iterator<Item = &'static Pattern> + Clone + '_ {
        self.0.patterns.iter().chain(&self.0.hidden).copied()
    }

    /// The consensus methods.
    #[must_use]
    pub fn methods(&self) -> &[&'static Consensus] {
        &self.0.methods
    }

    /// The context strategies.
    #[must_use]
    pub fn strategies(&self) -> &[&'static ContextStrategy] {
        &self.0.strategies
    }

    /// The detectors.
    #[must_use]
    pub fn detectors(&self) -> &[&'static Detector] {
        &self.0.detectors
    }

    /// The pattern with this name, hidden or not.
    #[must_use]
    pub fn pattern(&self, name: &str) -> Option<&'static Pattern> {
        self.all_patterns().find(|it| it.name == name)
    }

    /// The consensus method with this name.
    #[must_use]
    pub fn method(&self, name: &str) -> Option<&'static Consensus> {
        self.0.methods.iter().copied().find(|it| it.name == name)
    }

    /// The context strategy with this name.
    #[must_use]
    pub fn strategy(&self, name: &str) -> Option<&'static ContextStrategy> {
        self.0.strategies.iter().copied().find(|it| it.name == name)
    }

    /// Every role that a pattern declares, once each.
    #[must_use]
    pub fn roles(&self) -> Vec<&'static RoleKind> {
        let mut seen = BTreeSet::new();
        let all = self.0.patterns.iter().flat_map(|it| it.roles);
        all.filter(|it| seen.insert(it.name)).collect()
    }

    /// Every option that requests can set, once each, in the order of registration.
    #[must_use]
    pub fn options(&self) -> Vec<&'static Declared> {
        let mut seen = BTreeSet::new();
        let patterns = self.0.patterns.iter().flat_map(|it| it.options);
        let methods = self.0.methods.iter().flat_map(|it| it.options);
        let strategies = self.0.strategies.iter().flat_map(|it| it.options);
        let all = patterns.chain(methods).chain(strategies).map(|it| it.declared());
        all.filter(|it| seen.insert(it.name)).collect()
    }

    /// The options that apply to this pattern, method and strategy, once each.
    #[must_use]
    pub fn options_for(&self, pattern: &str, method: &str, strategy: &str) -> Vec<&'static Declared> {
        let mut seen = BTreeSet::new();
        let pattern = self.pattern(pattern).map(|it| it.options);
        let method = self.method(method).map(|it| it.options);
        let strategy = self.strategy(strategy).map(|it| it.options);
        let all = [pattern, method, strategy].into_iter().flatten().flatten().map(|it| it.declared());
        all.filter(|it| seen.insert(it.name)).collect()
    }

    /// The maximum number of rounds: by an option that limits them, if it is set, else as the spec
    /// says.
    #[must_use]
    pub fn most_rounds(&self, spec: &Spec) -> u32 {
        let limits = self.options().into_iter().filter(|it| it.of_rounds);
        let given = limits.filter_map(|it| spec.settings.get(it.name)?.as_u64()).max();
        given.and_then(|it| u32::try_from(it).ok()).unwrap_or(spec.rounds)
    }

    /// The option with this name.
    #[must_use]
    pub fn option(&self, name: &str) -> Option<&'static Declared> {
        self.options().into_iter().find(|it| it.name == name)
    }

    /// The role with this name.
    #[must_use]
    pub fn role(&self, name: &str) -> Option<&'static RoleKind> {
        self.roles().into_iter().find(|it| it.name == name)
    }

    /// The values of this spec that have no effect, or another one than they say.
    #[must_use]
    pub fn remarks(&self, spec: &Spec) -> Vec<Refusal> {
        let (Some(pattern), Some(method)) =
            (self.pattern(&spec.pattern), self.method(&spec.consensus.method))
        else {
            return Vec::new();
        };
        let remark = |field, message| Refusal::new(field, Code::InvalidRequest, message);
        let votes = pattern.votes || method.votes || (method.opens)(spec);
        let unused_options = (!spec.options.is_empty() && !votes).then(|| {
            let (pattern, method) = (pattern.name, method.name);
            remark(
                "votingOptions",
                format!("no effect: neither the pattern {pattern} nor the method {method} votes on options"),
            )
        });
        let has_role = |it: &Participant| !it.is_person() && it.role != Role::SPEAKER;
        let plays = pattern.roles.is_empty() && spec.participants.iter().any(has_role);
        let unused_roles =
            plays.then(|| remark("roles", format!("no effect: the pattern {} has no roles", pattern.name)));
        let own = (pattern.remarks)(spec).into_iter().chain((method.remarks)(spec));
        unused_options.into_iter().chain(unused_roles).chain(own).collect()
    }

    /// Every ruling that a pattern declares, once each, and the one about windows.
    #[must_use]
    pub fn rulings(&self) -> Vec<&'static RulingKind> {
        let mut seen = BTreeSet::new();
        let all = self.all_patterns().flat_map(|it| it.rulings).chain([&WINDOW]);
        all.filter(|it| seen.insert(it.name)).collect()
    }

    /// Every ready-made order, once each, with the name of its pattern.
    #[must_use]
    pub fn starters(&self) -> Vec<(&'static str, &'static Starter)> {
        let mut seen = BTreeSet::new();
        let of = |pattern: &&'static Pattern| pattern.starters.iter().map(|it| (pattern.name, it));
        let all = self.0.patterns.iter().flat_map(of);
        all.filter(|(_, it)| seen.insert(it.name)).collect()
    }

    /// Every declared form, once each.
    #[must_use]
    pub fn forms(&self) -> Vec<&'static Form> {
        let mut seen = BTreeSet::new();
        let patterns = self.all_patterns().flat_map(|it| it.forms);
        let methods = self.0.methods.iter().flat_map(|it| it.forms);
        patterns.chain(methods).copied().filter(|it| seen.insert(it.kind)).collect()
    }

    /// The forms whose replies are quoted in every request of a discussion by this spec, because
    /// its participants vote.
    pub(crate) fn quoted_forms(&self, spec: &Spec) -> Vec<&'static Form> {
        let (pattern, method) = (self.pattern(&spec.pattern), self.method(&spec.consensus.method));
        let votes = pattern.is_some_and(|it| it.votes) || method.is_some_and(|it| it.votes);
        let of_pattern = pattern.into_iter().flat_map(|it| it.forms);
        let forms = of_pattern.chain(method.into_iter().flat_map(|it| it.forms)).copied();
        forms.filter(|it| votes && it.quotes == Quotes::Lines).collect()
    }

    /// The result fields that the pattern and the method of this spec add, once each.
    #[must_use]
    pub fn results_of(&self, spec: &Spec) -> Vec<&'static ResultField> {
        let mut seen = BTreeSet::new();
        let pattern = self.pattern(&spec.pattern).map(|it| it.results).unwrap_or_default();
        let method = self.method(&spec.consensus.method).map(|it| it.results).unwrap_or_default();
        pattern.iter().chain(method).filter(|it| seen.insert(it.name)).collect()
    }
}
