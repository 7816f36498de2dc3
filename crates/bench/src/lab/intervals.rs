//! E6: whether intervals cover what they promise, and how often a test gives a false alarm.

use quorum::eval::{
    Lots,
    statistics::{Discordant, mcnemar, paired_interval, wilson},
};

use crate::table::Table;

/// The questions of one simulated evaluation.
const QUESTIONS: usize = 200;

/// The chances of a question: both right, only the first, only the second.
const CHANCES: [f64; 3] = [0.72, 0.08, 0.05];

/// Simulates evaluations of two protocols whose accuracies are known.
pub(crate) fn coverage(evaluations: usize, table: &mut Table) {
    let [both, first, second] = CHANCES;
    let (accuracy, difference) = (both + first, first - second);
    let (mut by_wilson, mut by_bootstrap, mut alarms) = (0, 0, 0);
    for number in 0..evaluations {
        let mut lots = Lots::of(number as u64, &["evaluation"]);
        let drawn: Vec<(f64, f64)> = (0..QUESTIONS).map(|_| outcome(CHANCES, &mut lots)).collect();
        let right: f64 = drawn.iter().map(|it| it.0).sum::<f64>() / QUESTIONS as f64;
        by_wilson += usize::from(wilson(right, QUESTIONS).includes(accuracy));
        let differences: Vec<f64> = drawn.iter().map(|it| it.0 - it.1).collect();
        by_bootstrap += usize::from(paired_interval(&differences, number as u64).includes(difference));
        // Two protocols that are equally good.
        let equal: Vec<(f64, f64)> =
            (0..QUESTIONS).map(|_| outcome([0.7, 0.065, 0.065], &mut lots)).collect();
        let count = |is: fn(&(f64, f64)) -> bool| equal.iter().filter(|it| is(it)).count() as u32;
        let discordant = Discordant { first: count(|it| it.0 > it.1), second: count(|it| it.0 < it.1) };
        alarms += usize::from(mcnemar(discordant) < 0.05);
    }
    let share = |count: usize| count as f64 / evaluations as f64;
    for (name, count) in [("Wilson", by_wilson), ("paired bootstrap", by_bootstrap)] {
        table.row(
            &format!(
                "E6 coverage of the 95 % interval, {name}, {evaluations} evaluations of {QUESTIONS} questions"
            ),
            format!("{:.1} %", 100.0 * share(count)),
            "93 to 97 %",
            (0.93..=0.97).contains(&share(count)),
        );
    }
    table.row(
        "E6 false alarms of the exact McNemar test",
        format!("{:.1} %", 100.0 * share(alarms)),
        "<= 5.5 %",
        share(alarms) <= 0.055,
    );
}

/// Whether each of two protocols is right.
fn outcome([both, first, second]: [f64; 3], lots: &mut Lots) -> (f64, f64) {
    match lots.share() {
        it if it < both => (1.0, 1.0),
        it if it < both + first => (1.0, 0.0),
        it if it < both + first + second => (0.0, 1.0),
        _ => (0.0, 0.0),
    }
}
