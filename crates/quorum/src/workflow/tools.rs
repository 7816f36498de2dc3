//! The tools that workflows may use: memory, and programs that the user's configuration declares.

use std::collections::BTreeMap;

/// The tools of this program that workflows may use.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolTable {
    declared: BTreeMap<String, Declared>,
    /// What a user does to allow a declared tool, with `NAME` for its name.
    how_to_allow: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Declared {
    repeatable: bool,
    allowed: bool,
}

impl ToolTable {
    /// A table without any tool.
    #[must_use]
    pub fn new(how_to_allow: &str) -> Self {
        ToolTable { declared: BTreeMap::new(), how_to_allow: how_to_allow.to_owned() }
    }

    /// Adds a tool.
    pub(crate) fn declare(&mut self, name: &str, repeatable: bool, allowed: bool) {
        self.declared.insert(name.to_owned(), Declared { repeatable, allowed });
    }

    /// Whether the tool may be used again after a crash; the error is why it can't be used at all.
    pub(crate) fn find(&self, name: &str) -> Result<bool, String> {
        match self.declared.get(name) {
            Some(Declared { repeatable, allowed: true }) => Ok(*repeatable),
            Some(_) => {
                let how = self.how_to_allow.replace("NAME", name);
                Err(format!("{name} is declared and not allowed here; {how}"))
            }
            None => Err(format!("{name} is no tool here; declare [tools.{name}] in the configuration")),
        }
    }
}
