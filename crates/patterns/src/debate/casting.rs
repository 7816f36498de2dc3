//! Casting (D05): a model assigns positions and personas. Its reply is checked, and default parts
//! are the fallback.

use std::{collections::BTreeSet, sync::Arc};

use quorum_core::{
    call::Effort,
    floor::{
        Floor,
        halt::Halt,
        notes::Note,
        reading::{Misread, Reader, Reminder},
    },
    model::{
        mask::Mask,
        mention::{mention, resolve},
        participant::{Participant, Role},
        phase::Phase,
        reading::Source,
        spec::Spec,
    },
    vocabulary::{
        form::Form,
        option::Named,
        view::{Column, View},
    },
};
use serde_json::{Value, json};

use crate::{
    debate::{
        Cast, CastList, CastOrigin, DebateSpec, Diversity, Part, labels, line_form, sides::is_side_empty,
    },
    prompts::debating,
    ranking,
    readers::json::{last_object_with, may_hold, objects, text, texts, value},
    roles::{self, JUDGE, PROPONENT, WRITER},
};

/// The phase in which a model assigns positions.
pub(crate) const PHASE: Phase = Phase("casting");

/// The kinds in the record: of the model's reply, and of the final cast.
pub(crate) const CASTING: &str = "casting";
pub(crate) const CAST: &str = "cast";

/// How parts are displayed.
pub(crate) const VIEW: View = View::Table {
    columns: &[
        Column::text("participant", "/participant"),
        Column::text("argues", "/position"),
        Column::text("as", "/persona"),
    ],
};

/// Positions and personas for the debaters.
pub(crate) static FORM: Form = Form::new(CASTING)
    .effort(Effort::Low)
    .tell(|_| Some("assigned the positions".to_owned()))
    .sample(crate::samples::casting::sample)
    .recognises(|text| may_hold(text, "positions") || line_form::may_hold_casting(text));

pub(crate) const REMINDERS: &[Reminder] = &[Reminder {
    purpose: "strict",
    words: "Send it again as one JSON object and nothing else, with the keys reasoning and positions, in this order; \
            each position with participant, position, persona and keyArguments.",
}];

/// Everyone's part: given by the user, assigned by a model, or a default if it can't; empty if the
/// spec asks for none. A fork keeps the parts that its speeches so far were made in.
pub(crate) async fn cast(floor: &mut Floor) -> Result<Vec<Part>, Halt> {
    let spec = floor.spec();
    let options = DebateSpec::of(&spec);
    let cast = match options.spread() {
        None if options.positions.is_empty() => return Ok(Vec::new()),
        None => Cast::of(options.positions, CastOrigin::Given),
        Some(spread) => {
            let readers = Castings::of(&spec, spread, floor.mask());
            if let Some(cast) = floor.taken_over(CAST, 0, |it| readers.fits(it)) {
                return Ok(cast.parts);
            }
            floor.enter(PHASE, 0).await?;
            // Without a side there will be no debate to cast.
            let cast = if is_side_empty(floor) {
                return Ok(Vec::new());
            } else {
                assign(floor, &spec, &readers).await?
            };
            Cast { spread: Some(spread.name().to_owned()), ..cast }
        }
    };
    let told = Some("positions were assigned".to_owned());
    floor.note(Note { kind: CAST, key: "", round: floor.round(), value: &cast, told })?;
    Ok(cast.parts)
}

async fn assign(floor: &mut Floor, spec: &Spec, readers: &Castings) -> Result<Cast, Halt> {
    let Some(caster) = caster(floor, spec) else { return Ok(readers.default_cast()) };
    let given = floor.ask_for(&caster, debating::casting(spec, readers.spread), readers).await?;
    Ok(match given {
        Some(given) if given.source == Source::Stated => {
            let CastList { parts, reasoning } = given.value;
            Cast { by: Some(caster.name), reasoning, ..Cast::of(parts, CastOrigin::Assigned) }
        }
        _ => readers.default_cast(),
    })
}

/// The participant that casts: the judge or the writer, who take no side, else the strongest
/// present. Always a model, because people aren't asked to fill in forms.
fn caster(floor: &Floor, spec: &Spec) -> Option<Participant> {
    let mut models = floor.present(&spec.participants);
    models.retain(|it| !it.is_person());
    let playing = |role: &Role| models.iter().find(|it| it.role == *role).cloned();
    let strongest = || ranking::strongest_first(models.clone(), &spec.topic).into_iter().next();
    playing(&JUDGE).or_else(|| playing(&WRITER)).or_else(strongest)
}

impl Cast {
    fn of(parts: Vec<Part>, origin: CastOrigin) -> Self {
        Cast { parts, origin, by: None, reasoning: None, spread: None }
    }
}

/// Reads castings of these debaters.
struct Castings {
    debaters: Vec<Participant>,
    spread: Diversity,
    /// The labels under which the caster is told the debaters.
    mask: Arc<Mask>,
}

impl Castings {
    fn of(spec: &Spec, spread: Diversity, mask: &Arc<Mask>) -> Self {
        Castings { debaters: roles::debaters(spec), spread, mask: mask.clone() }
    }

    fn default_cast(&self) -> Cast {
        Cast::of(default_parts(&self.debaters, self.spread), CastOrigin::Fallback)
    }

    /// Whether this cast of another discussion is for these debaters, and spread like this.
    fn fits(&self, cast: &Cast) -> bool {
        let spread = Some(self.spread.name()) == cast.spread.as_deref();
        spread && self.checked(cast.parts.clone()).is_ok()
    }

    /// The debater that a reply means: by its name or its label, with or without a title before it
    /// and a role after it.
    fn meant(&self, written: &str) -> Option<&Participant> {
        let written = resolve(written, str::to_owned);
        let plain = written.trim_matches(|it: char| it.is_whitespace() || "*_`\"'@".contains(it));
        let named = |wanted: &str| {
            let wanted = wanted.to_lowercase();
            self.debaters.iter().find(|it| it.name.to_lowercase() == wanted)
        };
        let before_role = || named(plain.split_once(" (")?.0.trim_end());
        named(plain).or_else(before_role).or_else(|| named(labels::meant(&self.mask, &written)?))
    }

    /// Checks for the right number, the right names and different positions.
    fn checked(&self, mut parts: Vec<Part>) -> Result<Vec<Part>, Misread> {
        let names: BTreeSet<&str> = parts.iter().map(|it| it.participant.as_str()).collect();
        let wanted: BTreeSet<&str> = self.debaters.iter().map(|it| it.name.as_str()).collect();
        let positions: BTreeSet<String> = parts.iter().map(|it| it.position.to_lowercase()).collect();
        if names != wanted || parts.len() != wanted.len() || positions.len() != parts.len() {
            let wrong = "each debater must have one position, no two the same";
            return Err(Misread::new(wrong));
        }
        parts.sort_by_key(|part| self.debaters.iter().position(|it| it.name == part.participant));
        Ok(parts)
    }
}

impl Reader for Castings {
    type Value = CastList;

    fn form(&self) -> &'static Form {
        &FORM
    }

    fn schema(&self) -> Option<Value> {
        let names: Vec<String> = self.debaters.iter().map(|it| mention(&it.name)).collect();
        Some(schema(&names))
    }

    fn read(&self, reply: &str) -> Result<CastList, Misread> {
        let wrong = || Misread::new("there is no JSON object with a list of positions in it");
        let object = last_object_with(reply, "positions").or_else(|| line_form::casting(reply));
        let object = object.ok_or_else(wrong)?;
        let listed = value(&object, "positions").and_then(Value::as_array).ok_or_else(wrong)?.len();
        let parts: Option<Vec<Part>> = objects(&object, "positions")
            .map(|it| {
                let who = self.meant(&text(it, "participant")?)?;
                let (position, persona) = (text(it, "position")?, text(it, "persona")?);
                let key_arguments = texts(it, "keyArguments");
                Some(Part { participant: who.name.clone(), position, persona, key_arguments })
            })
            .collect();
        let incomplete = || Misread::new("every entry needs a known debater, a position and an outlook");
        let parts = parts.filter(|it| it.len() == listed).ok_or_else(incomplete)?;
        Ok(CastList { parts: self.checked(parts)?, reasoning: text(&object, "reasoning") })
    }

    fn wrong_in_lines(&self, reply: &str, wrong: Misread) -> Misread {
        line_form::wrong_with_casting(reply).unwrap_or(wrong)
    }

    fn reminders(&self) -> &[Reminder] {
        REMINDERS
    }

    /// Recorded as assumed, so that the result shows it.
    fn give_up(&self) -> Option<CastList> {
        Some(CastList { parts: default_parts(&self.debaters, self.spread), reasoning: None })
    }
}

fn schema(names: &[String]) -> Value {
    let entry = json!({
        "type": "object",
        "properties": {
            "participant": { "type": "string", "enum": names, "description": "The debater's name" },
            "position": { "type": "string", "description": "What this one argues, as a statement" },
            "persona": { "type": "string", "description": "The outlook: what such a person cares about most and fears most" },
            "keyArguments": {
                "type": "array", "items": { "type": "string" }, "description": "What speaks for it, two or three",
            },
        },
        "required": ["participant", "position", "persona", "keyArguments"],
        "additionalProperties": false,
    });
    json!({
        "type": "object",
        "properties": {
            "reasoning": { "type": "string", "description": "Why these make a good debate, briefly" },
            "positions": {
                "type": "array", "items": entry, "minItems": names.len(), "maxItems": names.len(),
                "description": "One for each debater, no two the same",
            },
        },
        "required": ["reasoning", "positions"],
        "additionalProperties": false,
    })
}

/// The default parts, which need no model and are always the same.
fn default_parts(debaters: &[Participant], spread: Diversity) -> Vec<Part> {
    let mut seats: Vec<&Participant> = debaters.iter().collect();
    // Proponents come first, at the end that is in favour.
    seats.sort_by_key(|it| it.role != PROPONENT);
    let parts = seats.iter().enumerate().map(|(place, who)| {
        let (position, persona) = match spread {
            Diversity::Binary => side(&seats, place),
            Diversity::Spectrum => stance(place, seats.len()),
            Diversity::MultiPerspective => LENSES[place % LENSES.len()],
        };
        let (position, persona) = (position.to_owned(), persona.to_owned());
        Part { participant: who.name.clone(), position, persona, key_arguments: Vec::new() }
    });
    let mut parts: Vec<Part> = parts.collect();
    parts.sort_by_key(|part| debaters.iter().position(|it| it.name == part.participant));
    parts
}

fn side(seats: &[&Participant], place: usize) -> (&'static str, &'static str) {
    let role = &seats[place].role;
    let before = seats[..place].iter().filter(|it| it.role == *role).count();
    if *role == PROPONENT { FOR[before % FOR.len()] } else { AGAINST[before % AGAINST.len()] }
}

/// A stance on the scale from one end to the other, evenly spaced.
fn stance(place: usize, all: usize) -> (&'static str, &'static str) {
    let last = STANCES.len() - 1;
    let steps = all.saturating_sub(1).max(1);
    STANCES[(place * last + steps / 2) / steps]
}

type PartText = (&'static str, &'static str);

// A question may also ask for a choice, which nobody can be for or against.
const FOR: [PartText; 4] = [
    (
        "For what the question proposes, or the first choice it suggests, for what that achieves",
        "Cares most about results and fears standing still",
    ),
    (
        "For what the question proposes, or the first choice it suggests, for what doing without it costs",
        "Cares most about chances and fears missing them",
    ),
    (
        "For what the question proposes, or the first choice it suggests, on principle",
        "Cares most about principles and fears trading them for convenience",
    ),
    (
        "For what the question proposes, or the first choice it suggests, for the long run",
        "Cares most about the long run and fears short-lived savings",
    ),
];

const AGAINST: [PartText; 4] = [
    (
        "Against what the question proposes, or for another choice than the first, for the harm it does",
        "Cares most about what works today and fears breaking it",
    ),
    (
        "Against what the question proposes, or for another choice than the first, for there is a better way",
        "Cares most about alternatives and fears settling too early",
    ),
    (
        "Against what the question proposes, or for another choice than the first, on principle",
        "Cares most about those concerned and fears that they were not asked",
    ),
    (
        "Against what the question proposes, or for another choice than the first, for the long run",
        "Cares most about the way back and fears what can't be undone",
    ),
];

const STANCES: [PartText; 7] = [
    ("Wholly for what the question proposes", "Cares most about the goal and fears half measures"),
    ("For it in most cases", "Cares most about the usual case and fears that exceptions decide"),
    ("For it under conditions", "Cares most about the gain and fears haste"),
    ("It depends: neither for nor against as a rule", "Cares most about the case at hand and fears rules"),
    ("Against it unless conditions are met", "Cares most about safety and fears promises"),
    ("Against it in most cases", "Cares most about the usual case and fears that one success decides"),
    ("Wholly against what the question proposes", "Cares most about what would be lost and fears regret"),
];

const LENSES: [PartText; 4] = [
    ("What works in practice must decide", "Cares most about daily use and fears plans on paper"),
    ("What it costs and who pays must decide", "Cares most about costs and fears bills that come later"),
    ("What is fair to those concerned must decide", "Cares most about fairness and fears that the weak pay"),
    ("What holds up in the long run must decide", "Cares most about the long run and fears quick fixes"),
];

#[cfg(test)]
mod tests {
    use quorum_core::model::mention::mention;

    use super::*;
    use crate::roles::OPPONENT;

    fn debaters(roles: &[Role]) -> Vec<Participant> {
        ["ann", "bob", "cyd", "dan"]
            .iter()
            .zip(roles)
            .map(|(name, role)| Participant::of(name).playing(role.clone()))
            .collect()
    }

    fn reader() -> Castings {
        castings(&[PROPONENT, OPPONENT], Diversity::Binary)
    }

    fn castings(roles: &[Role], spread: Diversity) -> Castings {
        let debaters = debaters(roles);
        let labels: Vec<(&Participant, &str)> = debaters.iter().zip(["@KX", "@QV", "@ZJ", "@JQ"]).collect();
        let mask = Arc::new(Mask::new(&labels));
        Castings { debaters, spread, mask }
    }

    fn part(name: &str, position: &str, persona: &str) -> Value {
        json!({"participant": name, "position": position, "persona": persona})
    }

    const INCOMPLETE: &str = "every entry needs a known debater, a position and an outlook";
    const NOT_ONE_EACH: &str = "each debater must have one position, no two the same";

    #[track_caller]
    fn check(parts: &[Value], wrong: Option<&'static str>) {
        let reply = json!({ "positions": parts }).to_string();
        assert_eq!(reader().read(&reply).err(), wrong.map(Misread::new), "{reply}");
    }

    #[test]
    fn d05_a_casting_is_checked_against_its_schema() {
        check(&[part("bob", "no", "a critic"), part(" Ann ", "yes", "a fan")], None);
        let (ann, bob) = (part("ann", "yes", "a fan"), part("bob", "no", "a critic"));
        check(std::slice::from_ref(&ann), Some(NOT_ONE_EACH));
        check(&[ann.clone(), bob.clone(), part("cyd", "so", "so")], Some(INCOMPLETE));
        check(&[ann.clone(), part("ann", "no", "a critic")], Some(NOT_ONE_EACH));
        check(&[ann.clone(), part("eve", "no", "a critic")], Some(INCOMPLETE));
        check(&[part("ann", "Yes", "a fan"), part("bob", "yes", "a critic")], Some(NOT_ONE_EACH));
        check(&[part("ann", "yes", " "), bob.clone()], Some(INCOMPLETE));
        check(&[part("ann", "", "a fan"), bob.clone()], Some(INCOMPLETE));
        check(&[ann, bob, json!("and so on")], Some(INCOMPLETE));
        for named in ["@bob", "**bob**", "bob (opponent)", "@Bob (against)", &mention("bob")] {
            check(&[part("`ann`", "yes", "a fan"), part(named, "no", "a critic")], None);
        }
        check(&[part("ann", "yes", "a fan"), part("bob and ann", "no", "a critic")], Some(INCOMPLETE));
        let prose = Misread::new("there is no JSON object with a list of positions in it");
        assert_eq!(reader().read("Ann is for it, Bob against."), Err(prose));
    }

    #[test]
    fn d05_a_casting_by_bare_labels_or_titles_is_read() {
        for (one, other) in [
            ("KX", "QV"),
            ("kx (proponent)", "qv (opponent)"),
            ("Debater KX", "Debater @bob"),
            ("debater_kx", "**Debater-QV**"),
            ("KX: for", "QV: against"),
        ] {
            check(&[part(one, "yes", "a fan"), part(other, "no", "a critic")], None);
            let lines = |who: &str, position: &str| {
                format!("Debater: {who}\nPosition: {position}\nOutlook: calm\nArgument: none\n")
            };
            let read = reader().read(&format!("{}\n{}", lines(other, "no"), lines(one, "yes"))).unwrap();
            let read: Vec<(&str, &str)> =
                read.parts.iter().map(|it| (&*it.participant, &*it.position)).collect();
            assert_eq!(read, [("ann", "yes"), ("bob", "no")], "{one} {other}");
        }
        check(&[part("KX and QV", "yes", "a fan"), part("QV", "no", "a critic")], Some(INCOMPLETE));
        check(&[part("ZZ", "yes", "a fan"), part("QV", "no", "a critic")], Some(INCOMPLETE));
    }

    #[test]
    fn d05_the_arguments_and_the_reasoning_are_kept() {
        let mut ann = part("ann", "yes", "a fan");
        ann["keyArguments"] = json!(["It works.", " ", "It lasts."]);
        let reply = json!({ "positions": [ann, part("bob", "no", "a critic")], "reasoning": "They differ." });
        let read = reader().read(&reply.to_string()).unwrap();
        assert_eq!(read.parts[0].key_arguments, ["It works.", "It lasts."]);
        assert_eq!((read.parts[1].key_arguments.len(), read.reasoning.as_deref()), (0, Some("They differ.")));
    }

    #[test]
    fn d05_parts_come_back_in_seating_order_and_with_the_panels_names() {
        let reply = json!({ "positions": [part("BOB", "no", "a critic"), part("ann", "yes", "a fan")] });
        let read = reader().read(&reply.to_string()).unwrap();
        let names: Vec<&str> = read.parts.iter().map(|it| it.participant.as_str()).collect();
        assert_eq!(names, ["ann", "bob"]);
    }

    #[test]
    fn d05_default_parts_are_complete_distinct_and_always_the_same() {
        let tables: [&[Role]; 4] = [
            &[PROPONENT, OPPONENT],
            &[OPPONENT, PROPONENT, OPPONENT],
            &[OPPONENT, OPPONENT, PROPONENT, PROPONENT],
            &[PROPONENT, PROPONENT, PROPONENT, OPPONENT],
        ];
        for (table, spread) in
            tables.into_iter().flat_map(|it| Diversity::ALL.iter().map(move |(spread, _)| (it, *spread)))
        {
            let castings = castings(table, spread);
            let parts = castings.default_cast().parts;
            assert_eq!(castings.checked(parts.clone()), Ok(parts.clone()), "{table:?} {spread:?}");
            // An outlook has no credentials: those lower the accuracy of what a model says.
            let is_outlook =
                |it: &Part| it.persona.starts_with("Cares most about ") && it.persona.contains(" and fears ");
            assert!(parts.iter().all(is_outlook), "{parts:?}");
        }
    }

    #[test]
    fn d05_default_parts_follow_the_roles_and_are_evenly_spread() {
        let positions = |roles: &[Role], spread| -> Vec<String> {
            default_parts(&debaters(roles), spread).into_iter().map(|it| it.position).collect()
        };
        let binary = positions(&[OPPONENT, PROPONENT], Diversity::Binary);
        let expected = [AGAINST[0].0, FOR[0].0];
        assert_eq!(binary, expected);
        // "Tabs or spaces?" proposes nothing, and has two sides all the same.
        assert!(
            binary[0].contains("another choice than the first") && binary[1].contains("the first choice")
        );
        let three = positions(&[OPPONENT, PROPONENT, OPPONENT], Diversity::Spectrum);
        assert_eq!(three, [STANCES[3].0, STANCES[0].0, STANCES[6].0]);
        let four = positions(&[PROPONENT, PROPONENT, OPPONENT, OPPONENT], Diversity::Spectrum);
        assert_eq!(four, [STANCES[0].0, STANCES[2].0, STANCES[4].0, STANCES[6].0]);
    }
}
