//! Tests of declaring and reading options.

use serde_json::json;

use super::*;

crate::choices! {
    #[derive(Debug, Clone, Copy, PartialEq)]
    enum Pace {
        Slow = "slow": "with care",
        Fast = "fast": "at once",
    }
}

#[track_caller]
fn check<T: OptionValue + PartialEq + std::fmt::Debug>(option: &Opt<T>, given: Value, values: &[T; 2]) {
    let [read, unset] = values;
    assert_eq!(&option.of(&Settings::default().with(option.name(), given)), read);
    assert_eq!(&option.of(&Settings::default()), unset);
    let wrong = Settings::default().with(option.name(), json!({ "is": ["of", "another", "kind"] }));
    assert_eq!(&option.of(&wrong), unset, "a value of another type counts as not given");
}

#[test]
fn an_option_has_the_value_given_or_its_default() {
    check(&Opt::flag("open", "", true), json!(false), &[false, true]);
    check(&Opt::whole("rounds", "", 1..=9, 3), json!(7), &[7, 3]);
    check(&Opt::whole_or_none("limit", "", 1..=9), json!(7), &[Some(7), None]);
    check(&Opt::number("pace", "", 0.0..=1.0, 0.5), json!(1), &[1.0, 0.5]);
    check(&Opt::text("prompt", "", 9, "TEXT"), json!("so"), &[Some("so".to_owned()), None]);
    check(&Opt::seat("chair", ""), json!("ann"), &[Some("ann".to_owned()), None]);
    check(&Opt::embedder("embeddings", ""), json!("a/b"), &[Some("a/b".to_owned()), None]);
    check(&Opt::detectors("endOn", ""), json!(["drift"]), &[vec!["drift".to_owned()], Vec::new()]);
    check(&Opt::choice("pace", ""), json!("fast"), &[Picked(Pace::Fast), Picked(Pace::Slow)]);
    check(&Opt::choice_or_none("pace", ""), json!("fast"), &[Some(Picked(Pace::Fast)), None]);
    let years = Opt::<Rows<u32>>::rows("years", "", &[], 9);
    check(&years, json!([1989]), &[Rows(vec![1989]), Rows(Vec::new())]);
}

#[test]
fn a_name_becomes_a_flag_with_hyphens() {
    let flag = |name| Opt::flag(name, "", false).declared().flag();
    assert_eq!(flag("roundLimit"), "round-limit");
    assert_eq!(flag("minRoundsBeforeConsensus"), "min-rounds-before-consensus");
    assert_eq!(flag("mode"), "mode");
}

#[test]
fn an_option_says_whether_it_is_inherited_and_where_it_is_offered() {
    const PLAIN: Opt<bool> = Opt::flag("open", "Whether anybody may come", false);
    const OTHER: Opt<bool> =
        Opt::flag("open", "Whether anybody may come", false).inherited().in_requests_only();
    let expected = Declared { inherited: true, on_surfaces: false, ..PLAIN.declared().clone() };
    assert_eq!(OTHER.declared(), &expected);
    assert!(!PLAIN.declared().inherited && PLAIN.declared().on_surfaces);
}
