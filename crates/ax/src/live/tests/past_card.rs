//! The card of a discussion that is not the last.

use super::*;

#[test]
fn the_card_of_an_older_discussion_called_it_last() {
    let mut play = Play::of("synthesis", &[("ann", "speaker"), ("bob", "speaker")]);
    play.happens(&json!({ "type": "decided", "decision": { "synthesis": "Tabs." } }));
    play.happens(
        &json!({ "type": "concluded", "success": true, "stopping": "completed", "degraded": false }),
    );
    play.happens(&json!({ "type": "lifecycle_changed", "from": "completing", "to": "completed" }));
    let state = Snapshot::new(Box::new(play.screen.state.clone()), built_in());
    let commands = |naming| -> Vec<String> {
        let card = text(&card::lines(&state, AlreadyShown::Everything, naming, 110));
        card.lines().filter(|it| it.contains(" ax ")).map(str::to_owned).collect()
    };
    assert_eq!(
        commands(Naming::Last),
        [
            " next       ax follow \"And what then?\" asks the same panel",
            " again      ax replay last · ax show last -v · ax export last -o discussion.html",
        ]
    );
    assert_eq!(
        commands(Naming::ById),
        [
            " next       ax follow 01890000-0000 \"And what then?\" asks the same panel",
            " again      ax replay 01890000-0000 · ax show 01890000-0000 -v · ax export 01890000-0000 -o \
             discussion.html",
        ]
    );
}
