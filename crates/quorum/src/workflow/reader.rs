//! Reads the fields of a workflow file and collects every mistake.

use quorum_core::model::excerpt::in_short;

use crate::{
    config::nearest,
    workflow::{
        mistake::Mistake,
        node::{Node, Place, Tree},
    },
};

/// A map whose keys are taken one by one, so that what is left is unknown.
pub(crate) struct Fields<'n> {
    place: Place,
    entries: Vec<(&'n str, Place, &'n Node)>,
    known: Vec<&'static str>,
    what: String,
}

impl<'n> Fields<'n> {
    /// The fields of a map; a mistake if it is none.
    pub(crate) fn of(node: &'n Node, what: &str, wrong: &mut Vec<Mistake>) -> Option<Fields<'n>> {
        let Tree::Map(entries) = &node.value else {
            wrong.push(Mistake::at(node.place, format!("{what} must be a map of names and values")));
            return None;
        };
        let mut fields: Vec<(&str, Place, &Node)> = Vec::new();
        for (key, value) in entries {
            let Tree::Text(name) = &key.value else {
                wrong.push(Mistake::at(key.place, format!("a name is expected in {what}")));
                continue;
            };
            if fields.iter().any(|(known, _, _)| known == name) {
                let message = format!("{} is given twice in {what}", in_short(name));
                wrong.push(Mistake::at(key.place, message));
                continue;
            }
            fields.push((name, key.place, value));
        }
        Some(Fields { place: node.place, entries: fields, known: Vec::new(), what: what.to_owned() })
    }

    pub(crate) fn place(&self) -> Place {
        self.place
    }

    /// Takes a field under one of its names, the usual one first.
    pub(crate) fn take_field(
        &mut self,
        names: &[&'static str],
        wrong: &mut Vec<Mistake>,
    ) -> Option<&'n Node> {
        self.known.extend(names);
        let mut found: Vec<(&str, Place, &'n Node)> = Vec::new();
        self.entries.retain(|entry| {
            let is_named = names.contains(&entry.0);
            if is_named {
                found.push(*entry);
            }
            !is_named
        });
        if let [(first, _, _), (second, place, _), ..] = found[..] {
            wrong.push(Mistake::at(place, format!("{second} means the same as {first}; give one of them")));
        }
        found.first().map(|it| it.2).filter(|it| it.value != Tree::Null)
    }

    pub(crate) fn text(&mut self, names: &[&'static str], wrong: &mut Vec<Mistake>) -> Option<String> {
        let node = self.take_field(names, wrong)?;
        text(node, names[0], wrong)
    }

    /// A text of at most this many characters.
    pub(crate) fn short_text(
        &mut self,
        names: &[&'static str],
        longest: usize,
        wrong: &mut Vec<Mistake>,
    ) -> Option<String> {
        let node = self.take_field(names, wrong)?;
        let text = text(node, names[0], wrong)?;
        let length = text.chars().count();
        if length > longest {
            let message = format!("{} may have {longest} characters; this has {length}", names[0]);
            wrong.push(Mistake::at(node.place, message));
        }
        Some(text)
    }

    pub(crate) fn whole(
        &mut self,
        names: &[&'static str],
        range: std::ops::RangeInclusive<u64>,
        wrong: &mut Vec<Mistake>,
    ) -> Option<u64> {
        let node = self.take_field(names, wrong)?;
        let number = match &node.value {
            Tree::Number(number) => number.as_u64(),
            _ => None,
        };
        let fits = number.filter(|it| range.contains(it));
        if fits.is_none() {
            let message = format!("{} must be a number from {} to {}", names[0], range.start(), range.end());
            wrong.push(Mistake::at(node.place, message));
        }
        fits
    }

    pub(crate) fn number(
        &mut self,
        names: &[&'static str],
        range: std::ops::RangeInclusive<f64>,
        wrong: &mut Vec<Mistake>,
    ) -> Option<f64> {
        let node = self.take_field(names, wrong)?;
        let number = match &node.value {
            Tree::Number(number) => number.as_f64(),
            _ => None,
        };
        let fits = number.filter(|it| range.contains(it));
        if fits.is_none() {
            let message = format!("{} must be a number from {} to {}", names[0], range.start(), range.end());
            wrong.push(Mistake::at(node.place, message));
        }
        fits
    }

    /// One of these names.
    pub(crate) fn choice(
        &mut self,
        names: &[&'static str],
        of: &[&'static str],
        wrong: &mut Vec<Mistake>,
    ) -> Option<&'static str> {
        let node = self.take_field(names, wrong)?;
        let text = text(node, names[0], wrong)?;
        let known = of.iter().find(|it| **it == text).copied();
        if known.is_none() {
            let message = format!("{} must be {}, not {}", names[0], of.join(" or "), in_short(&text));
            wrong.push(Mistake::at(node.place, message));
        }
        known
    }

    pub(crate) fn list(
        &mut self,
        names: &[&'static str],
        wrong: &mut Vec<Mistake>,
    ) -> Option<(Place, &'n [Node])> {
        let node = self.take_field(names, wrong)?;
        match &node.value {
            Tree::List(items) => Some((node.place, items)),
            _ => {
                wrong.push(Mistake::at(node.place, format!("{} must be a list", names[0])));
                None
            }
        }
    }

    /// The fields not taken yet, which are known after all.
    pub(crate) fn rest(&mut self) -> Vec<(&'n str, Place, &'n Node)> {
        std::mem::take(&mut self.entries)
    }

    /// Reports what is left as unknown.
    pub(crate) fn finish(self, wrong: &mut Vec<Mistake>) {
        for (name, place, _) in self.entries {
            let message = match nearest(name, self.known.iter().copied()) {
                Some(near) => {
                    format!("{} has no field {}; did you mean {near}?", self.what, in_short(name))
                }
                None => format!(
                    "{} has no field {}; there are {}",
                    self.what,
                    in_short(name),
                    self.known.join(", ")
                ),
            };
            wrong.push(Mistake::at(place, message));
        }
    }
}

/// A text; numbers and booleans are not texts.
pub(crate) fn text(node: &Node, name: &str, wrong: &mut Vec<Mistake>) -> Option<String> {
    match &node.value {
        Tree::Text(text) => Some(text.clone()),
        _ if node.is_bare_expression() => {
            wrong.push(Mistake::at(node.place, format!("write {name}: \"{{{{…}}}}\" in quotes")));
            None
        }
        _ => {
            wrong.push(Mistake::at(node.place, format!("{name} must be a text; put it in quotes")));
            None
        }
    }
}
