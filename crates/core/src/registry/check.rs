//! Whether what was registered fits together, and whether an order fits what was registered.

use std::collections::BTreeMap;

use crate::{
    model::{
        error::{Code, Refusal},
        spec::{Spec, WindowSpec},
    },
    registry::{OnOverflow, Registry},
    vocabulary::{
        check::Known,
        option::{Declared, Kind},
    },
};

/// Why a registry can't be used.
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
    #[error("the option {0} is declared in two ways; whoever shares an option must declare it alike")]
    OptionsDiffer(&'static str),
    /// An option has the name of something built in.
    #[error("the option {0} has the name of a built-in one")]
    Reserved(&'static str),
    /// Two forms of one kind differ in version.
    #[error("the form {0} is declared in two versions")]
    FormsDiffer(&'static str),
    /// There is no pattern, no method or no strategy at all.
    #[error("there are no {0}")]
    None(&'static str),
}

impl Registry {
    /// Whether everything fits together; the names in `reserved` are no options.
    pub fn validate(&self, reserved: &[&str]) -> Result<(), RegistryError> {
        unique("patterns", self.patterns().iter().map(|it| it.name))?;
        unique("consensus methods", self.methods().iter().map(|it| it.name))?;
        unique("context strategies", self.strategies().iter().map(|it| it.name))?;
        if let Some(name) = first_twice(self.detectors().iter().map(|it| it.name)) {
            return Err(RegistryError::Twice { what: "detectors", name });
        }
        self.validate_options(reserved)?;
        self.validate_forms()
    }

    fn validate_options(&self, reserved: &[&str]) -> Result<(), RegistryError> {
        let patterns = self.patterns().iter().flat_map(|it| it.options);
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
        let patterns = self.patterns().iter().flat_map(|it| it.forms);
        let methods = self.methods().iter().flat_map(|it| it.forms);
        let mut known: BTreeMap<&str, u32> = BTreeMap::new();
        for form in patterns.chain(methods) {
            if known.insert(form.kind, form.version).is_some_and(|before| before != form.version) {
                return Err(RegistryError::FormsDiffer(form.kind));
            }
        }
        Ok(())
    }

    /// Everything about the vocabulary of this order that speaks against it.
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

    /// What a request that is too long may be followed by: a strategy's name, or the end.
    pub fn overflows(&self) -> impl Iterator<Item = &'static str> {
        let offered = self.strategies().iter().filter(|it| it.overflow != OnOverflow::NotOffered);
        offered.map(|it| it.name).chain([WindowSpec::END])
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
        let counting = self.options_for(pattern, method, &spec.window.strategy);
        let seats: Vec<&str> = spec.participants.iter().map(|it| it.name.as_str()).collect();
        let detectors: Vec<&str> = self.detectors().iter().map(|it| it.name).collect();
        let known = Known { seats: &seats, detectors: &detectors };
        let complaint = |(name, value): (&str, &serde_json::Value)| {
            let Some(declared) = counting.iter().find(|it| it.name == name) else {
                return Some(Refusal::new(name, Code::InvalidRequest, self.misplaced(name)));
            };
            let code = match declared.kind {
                Kind::Seat { role: Some(_) } => Code::InvalidRoles,
                _ => Code::InvalidRequest,
            };
            Some(Refusal::new(name, code, declared.kind.complaint(value, known)?))
        };
        spec.settings.iter().filter_map(complaint).collect()
    }

    /// Where an option counts that does not count here.
    fn misplaced(&self, name: &str) -> String {
        let declares =
            |options: crate::registry::Options| options.iter().any(|it| it.declared().name == name);
        let of = |what: &str, names: Vec<&str>| {
            let names = names.join(" or ");
            (!names.is_empty()).then(|| format!("counts only with the {what} {names}; leave this out"))
        };
        let patterns = self.patterns().iter().filter(|it| declares(it.options)).map(|it| it.name);
        let methods = self.methods().iter().filter(|it| declares(it.options)).map(|it| it.name);
        let strategies = self.strategies().iter().filter(|it| declares(it.options)).map(|it| it.name);
        of("pattern", patterns.collect())
            .or_else(|| of("consensus method", methods.collect()))
            .or_else(|| of("window strategy", strategies.collect()))
            .unwrap_or_else(|| "is no option that anything here reads".to_owned())
    }
}

fn unique(
    what: &'static str,
    names: impl Iterator<Item = &'static str> + Clone,
) -> Result<(), RegistryError> {
    if names.clone().next().is_none() {
        return Err(RegistryError::None(what));
    }
    first_twice(names).map_or(Ok(()), |name| Err(RegistryError::Twice { what, name }))
}

fn first_twice(names: impl Iterator<Item = &'static str>) -> Option<&'static str> {
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
    Refusal::new(field, code, format!("there is no {what} named {name}; there are {}", names.join(", ")))
}
