//! `ax judge`: who judges now, where the judge failed and the debate waits for a word.

use quorum::{
    Quorum,
    model::vacancy::{Ruling, Vacancy},
};

use crate::{
    args::Judge,
    attend::{Ending, attend_after},
    exit::{Exit, Usage},
    render::note,
};

/// What can be said, as it is typed.
pub(crate) const RULINGS: [&str; 3] = ["swap", "none", "end"];

/// `ax judge`
pub(crate) async fn judge(quorum: &Quorum, args: &Judge) -> anyhow::Result<Exit> {
    let ruling = ruling(args)?;
    let id = quorum.find(&args.which.id).await?;
    let ruled = quorum.judge(id, ruling).await?;
    attend_after(quorum, id, ruled, Ending::shown(args.output)).await
}

fn ruling(args: &Judge) -> Result<Ruling, Usage> {
    match (args.ruling.as_str(), args.name.as_deref()) {
        ("swap", Some(name)) => Ok(Ruling::Swap { to: name.to_owned() }),
        ("none", None) => Ok(Ruling::GoWithout),
        ("end", None) => Ok(Ruling::End),
        ("swap", None) => Err(Usage("say who judges instead: ax judge ID swap NAME".to_owned())),
        (ruling, _) => Err(Usage(format!("{ruling} takes no name; `ax judge ID swap NAME` does"))),
    }
}

/// Says that the judge's seat is empty, and what can be said about it.
pub(crate) fn announce(id: impl std::fmt::Display, vacancy: &Vacancy) {
    let Vacancy { lost, round, reason, candidates, .. } = vacancy;
    note(&format!("{lost} can't judge any more (round {round}): {reason}. It waits for a word on who does:"));
    if !candidates.is_empty() {
        note(&format!("  `ax judge {id} swap NAME` puts another in the seat: {}", candidates.join(", ")));
    }
    note(&format!("  `ax judge {id} none` goes on without a judge"));
    note(&format!("  `ax judge {id} end` ends the debate and concludes it"));
}
