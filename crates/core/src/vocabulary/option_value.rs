//! The types that an option's value can be read as.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{
    model::spec::Spec,
    vocabulary::option::{Declares, Kind, Named, Opt, OptionValue, Picked, Rows},
};

impl Spec {
    /// The value of this option.
    #[must_use]
    pub fn option<T: OptionValue + 'static>(&self, option: &Opt<T>) -> T {
        option.of(&self.settings)
    }

    /// Whether this option was given.
    #[must_use]
    pub fn sets(&self, option: &dyn Declares) -> bool {
        self.settings.get(option.declared().name).is_some()
    }
}

impl OptionValue for bool {
    fn read(written: &Value) -> Option<Self> {
        written.as_bool()
    }

    fn unset(kind: &Kind) -> Self {
        matches!(kind, Kind::Flag { default: true })
    }
}

impl OptionValue for u32 {
    fn read(written: &Value) -> Option<Self> {
        written.as_u64().and_then(|it| u32::try_from(it).ok())
    }

    fn unset(kind: &Kind) -> Self {
        match kind {
            Kind::Whole { default: Some(default), .. } => u32::try_from(*default).unwrap_or(u32::MAX),
            _ => 0,
        }
    }
}

impl OptionValue for f64 {
    fn read(written: &Value) -> Option<Self> {
        written.as_f64()
    }

    fn unset(kind: &Kind) -> Self {
        match kind {
            Kind::Number { default: Some(default), .. } => *default,
            _ => 0.0,
        }
    }
}

impl OptionValue for String {
    fn read(written: &Value) -> Option<Self> {
        written.as_str().map(str::to_owned)
    }

    fn unset(_: &Kind) -> Self {
        String::new()
    }
}

impl<T: OptionValue> OptionValue for Option<T> {
    fn read(written: &Value) -> Option<Self> {
        T::read(written).map(Some)
    }

    fn unset(_: &Kind) -> Self {
        None
    }
}

impl OptionValue for Vec<String> {
    fn read(written: &Value) -> Option<Self> {
        serde_json::from_value(written.clone()).ok()
    }

    fn unset(_: &Kind) -> Self {
        Vec::new()
    }
}

impl OptionValue for BTreeMap<String, Vec<String>> {
    fn read(written: &Value) -> Option<Self> {
        serde_json::from_value(written.clone()).ok()
    }

    fn unset(_: &Kind) -> Self {
        Self::new()
    }
}

impl<T: Named> OptionValue for Picked<T> {
    fn read(written: &Value) -> Option<Self> {
        T::named(written.as_str()?).map(Picked)
    }

    fn unset(_: &Kind) -> Self {
        Picked(T::ALL[0].0)
    }
}

impl<T: serde::de::DeserializeOwned> OptionValue for Rows<T> {
    fn read(written: &Value) -> Option<Self> {
        serde_json::from_value(written.clone()).ok().map(Rows)
    }

    fn unset(_: &Kind) -> Self {
        Rows(Vec::new())
    }
}
