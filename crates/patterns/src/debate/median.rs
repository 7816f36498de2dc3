//! Combines the judgements of several judges: medians of marks, and whatever more than half of them
//! find.

use quorum_core::model::flips::rounded;

use crate::debate::{Assessment, Criteria, Flags, KeyPoints, Rated, Verdict, Winner};

/// The median; of an even number of values, the mean of the two in the middle.
pub(super) fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let upper = *values.get(values.len() / 2)?;
    let lower = values[(values.len() - 1) / 2];
    Some(rounded(f64::midpoint(lower, upper)))
}

/// The assessment of a round by these judges. One judge's is taken as it is.
pub(super) fn assessment(by: &[(&str, &Assessment)]) -> Option<Assessment> {
    if let [(_, only)] = by {
        return Some((*only).clone());
    }
    let all = || by.iter().map(|it| it.1);
    let most = |finds: &dyn Fn(&Assessment) -> bool| 2 * all().filter(|it| finds(it)).count() > by.len();
    (!by.is_empty()).then(|| Assessment {
        should_continue: !most(&|it| !it.should_continue),
        quality_score: median(all().filter_map(|it| it.quality_score)),
        assessments: debaters(by).iter().map(|name| rated(name, by)).collect(),
        flags: Flags {
            repetitive: most(&|it| it.flags.repetitive),
            drifting: most(&|it| it.flags.drifting),
            diminishing_returns: most(&|it| it.flags.diminishing_returns),
            convergence_reached: most(&|it| it.flags.convergence_reached),
        },
        reasoning: told(by.iter().map(|(judge, it)| (*judge, it.reasoning.as_str()))),
        // Debaters are shown these, and no judge is named to them.
        recommendations: union(all().map(|it| &it.recommendations)).join("\n"),
    })
}

/// The debaters that any of them marked.
fn debaters(by: &[(&str, &Assessment)]) -> Vec<String> {
    union(by.iter().flat_map(|it| it.1.assessments.iter().map(|it| &it.participant)))
}

fn rated(name: &str, by: &[(&str, &Assessment)]) -> Rated {
    let marked = || by.iter().flat_map(|it| &it.1.assessments).filter(|it| it.participant == name);
    let named = union(marked().filter_map(|it| it.criteria.as_ref()).flat_map(|it| it.0.keys()));
    let criterion = |criterion: String| {
        let marks = marked().filter_map(|it| it.criteria.as_ref()?.get(&criterion));
        Some((criterion.clone(), median(marks)?))
    };
    let criteria = Criteria(named.into_iter().filter_map(criterion).collect());
    Rated {
        participant: name.to_owned(),
        strengths: union(marked().flat_map(|it| &it.strengths)),
        weaknesses: union(marked().flat_map(|it| &it.weaknesses)),
        score: median(marked().map(|it| it.score)).unwrap_or_default(),
        criteria: Some(criteria).filter(|it| !it.0.is_empty()),
    }
}

/// The verdict of these judges. One judge's is taken as it is; among several, a winner needs more
/// than half of them.
pub(super) fn verdict(by: &[(&str, Verdict)]) -> Option<Verdict> {
    if let [(_, only)] = by {
        return Some(only.clone());
    }
    let all = || by.iter().map(|it| &it.1);
    (!by.is_empty()).then(|| Verdict {
        summary: told(by.iter().map(|(judge, it)| (*judge, it.summary.as_str()))),
        key_points: key_points(by),
        areas_of_agreement: union(all().flat_map(|it| &it.areas_of_agreement)),
        areas_of_disagreement: union(all().flat_map(|it| &it.areas_of_disagreement)),
        winner: winner(by),
        quality_score: median(all().filter_map(|it| it.quality_score)),
        insights: union(all().flat_map(|it| &it.insights)),
    })
}

fn key_points(by: &[(&str, Verdict)]) -> Vec<KeyPoints> {
    let all = || by.iter().flat_map(|it| &it.1.key_points);
    let named = union(all().map(|it| &it.participant)).into_iter();
    let points = named.map(|participant| {
        let of_one = all().filter(|it| it.participant == participant);
        let main_arguments = union(of_one.flat_map(|it| &it.main_arguments));
        KeyPoints { participant, main_arguments }
    });
    points.collect()
}

fn winner(by: &[(&str, Verdict)]) -> Option<Winner> {
    let named: Vec<(&str, &Winner)> =
        by.iter().filter_map(|(judge, it)| Some((*judge, it.winner.as_ref()?))).collect();
    let votes = |name: &str| named.iter().filter(|it| it.1.participant == name).count();
    let participant = &named.iter().find(|it| 2 * votes(&it.1.participant) > by.len())?.1.participant;
    let reasons = named.iter().filter(|it| it.1.participant == *participant);
    let reasoning = told(reasons.map(|(judge, it)| (*judge, it.reasoning.as_str())));
    Some(Winner { participant: participant.clone(), reasoning })
}

/// What each judge says, under its name.
fn told<'t>(said: impl Iterator<Item = (&'t str, &'t str)>) -> String {
    let said = said.filter(|(_, text)| !text.trim().is_empty());
    said.map(|(judge, text)| format!("{judge}: {text}")).collect::<Vec<_>>().join("\n\n")
}

/// Every text once, in the order of its first mention; blank ones are left out.
fn union<'t>(texts: impl Iterator<Item = &'t String>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for text in texts.filter(|it| !it.trim().is_empty()) {
        if !all.contains(text) {
            all.push(text.clone());
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d06_the_median_is_the_middle_mark() {
        let of = |marks: &[f64]| median(marks.iter().copied());
        assert_eq!(
            [of(&[]), of(&[7.0]), of(&[8.0, 3.0, 7.0]), of(&[8.0, 3.0])],
            [None, Some(7.0), Some(7.0), Some(5.5)]
        );
    }

    #[test]
    fn d07_a_winner_needs_more_than_half_of_the_judges() {
        let verdict_for = |name: &str| {
            let winner = Some(Winner { participant: name.to_owned(), reasoning: "clearer".to_owned() });
            Verdict { winner: winner.filter(|_| !name.is_empty()), ..Verdict::default() }
        };
        let check = |names: &[&str], expected: Option<&str>| {
            let by: Vec<(&str, Verdict)> =
                ["cyd", "dan", "eve"].into_iter().zip(names.iter().map(|it| verdict_for(it))).collect();
            let winner = verdict(&by).and_then(|it| it.winner).map(|it| it.participant);
            assert_eq!(winner.as_deref(), expected, "{names:?}");
        };
        check(&["ann"], Some("ann"));
        check(&["ann", "bob"], None);
        check(&["ann", ""], None);
        check(&["ann", "bob", "ann"], Some("ann"));
        check(&["ann", "", ""], None);
    }
}
