//! Reads a person's judgement of a round (D06): scores like `ann 7, bob 5`, `stop`, and plain text.

/// Words that end a debate if they stand alone or only with scores.
const STOPS: [&str; 4] = ["stop", "end", "enough", "end it"];

const TEN: std::ops::RangeInclusive<f64> = 0.0..=10.0;

/// A person's judgement, parsed.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Marks {
    /// The scores, in the order they were given; debaters without one are missing.
    pub(crate) scores: Vec<(String, f64)>,
    /// Whether the debate should end.
    pub(crate) stops: bool,
    /// The remaining text.
    pub(crate) reasoning: String,
}

enum Mark {
    Score(String, f64),
    Stop,
}

/// Parses the text; `find` returns the debater with a name. A line counts as scores only if all of
/// it is scores, so that no sentence is misread.
pub(crate) fn read(text: &str, find: impl Fn(&str) -> Option<String>) -> Marks {
    let (mut found, mut words) = (Marks::default(), Vec::new());
    for line in text.lines() {
        let parts = line.split([',', ';']).map(str::trim).filter(|it| !it.is_empty());
        let marks: Option<Vec<Mark>> = parts.map(|part| mark(part, &find)).collect();
        match marks {
            Some(marks) if !marks.is_empty() => marks.into_iter().for_each(|it| found.add(it)),
            _ => words.push(line),
        }
    }
    found.reasoning = words.join("\n").trim().to_owned();
    found
}

fn mark(part: &str, find: impl Fn(&str) -> Option<String>) -> Option<Mark> {
    let bare = part.trim_end_matches(['.', '!']).trim();
    if STOPS.iter().any(|it| it.eq_ignore_ascii_case(bare)) {
        return Some(Mark::Stop);
    }
    let of_ten = bare.strip_suffix("/10").unwrap_or(bare).trim_end();
    let (name, number) = of_ten.rsplit_once([' ', '\t', ':', '='])?;
    let score: f64 = number.parse().ok().filter(|it| TEN.contains(it))?;
    let name = find(name.trim_end_matches([' ', '\t', ':', '=']).trim())?;
    Some(Mark::Score(name, score))
}

impl Marks {
    /// Adds a score. A second score for a debater replaces the first.
    fn add(&mut self, mark: Mark) {
        match mark {
            Mark::Stop => self.stops = true,
            Mark::Score(name, score) => match self.scores.iter_mut().find(|it| it.0 == name) {
                Some(known) => known.1 = score,
                None => self.scores.push((name, score)),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, scores: &[(&str, f64)], stops: bool, reasoning: &str) {
        let names = ["ann", "bob-2", "Eva Maria"];
        let find =
            |name: &str| names.iter().find(|it| it.eq_ignore_ascii_case(name)).map(|it| (*it).to_owned());
        let scores = scores.iter().map(|(name, score)| ((*name).to_owned(), *score)).collect();
        assert_eq!(read(text, find), Marks { scores, stops, reasoning: reasoning.to_owned() }, "{text}");
    }

    #[test]
    fn d06_scores_are_read_from_lines_that_contain_nothing_else() {
        let both = [("ann", 7.0), ("bob-2", 5.0)];
        check("ann 7, bob-2 5", &both, false, "");
        check("ANN: 7/10; Bob-2 = 5\nA fair round.", &both, false, "A fair round.");
        check("Ann was clearer.\n\nann 7,\nbob-2 5.\n", &both, false, "Ann was clearer.");
        check("Eva Maria 8.5", &[("Eva Maria", 8.5)], false, "");
        check("ann 3\nann 7", &[("ann", 7.0)], false, "");
        check("ann 0, bob-2 10, stop", &[("ann", 0.0), ("bob-2", 10.0)], true, "");
    }

    #[test]
    fn d06_stop_must_stand_alone() {
        check("stop", &[], true, "");
        check("They repeat themselves.\nEnd!", &[], true, "They repeat themselves.");
        check("Enough.", &[], true, "");
        check(
            "They should not stop, and in the end ann 7 is fair.",
            &[],
            false,
            "They should not stop, and in the end ann 7 is fair.",
        );
        check("stop, look, listen", &[], false, "stop, look, listen");
    }

    #[test]
    fn d06_anything_that_is_not_a_score_is_text() {
        for words in [
            "ann 11, bob-2 5",
            "zoe 7",
            "ann",
            "ann seven",
            "ann -1",
            "ann NaN",
            "ann inf",
            "7",
            ", ;",
            "7, 5",
        ] {
            check(words, &[], false, words);
        }
    }
}
