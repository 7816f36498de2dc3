//! The card of a discussion that is not the last.

use super::{ID, text, voted};
use crate::render::card::{self, AlreadyShown, Naming};

#[test]
fn the_card_of_an_older_discussion_called_it_last() {
    let state = voted();
    let check = |naming, expected: &str| {
        let card = text(&card::lines(&state, AlreadyShown::Everything, naming, 110));
        let card = card.split_whitespace().collect::<Vec<_>>().join(" ");
        let commands = card.split_once(" next ").unwrap().1;
        assert_eq!(commands, format!("{expected} id {ID}"));
    };
    check(
        Naming::Last,
        "ax follow \"And what then?\" asks the same panel \
         again ax replay last · ax show last -v · ax export last -o discussion.html",
    );
    check(
        Naming::ById,
        "ax follow 01890000-0000 \"And what then?\" asks the same panel \
         again ax replay 01890000-0000 · ax show 01890000-0000 -v · ax export 01890000-0000 -o discussion.html",
    );
}
