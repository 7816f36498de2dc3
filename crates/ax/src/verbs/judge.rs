//! `ax judge`: who judges now, where the judge failed and the debate waits for a word.

use quorum::{Quorum, model::vacancy::Ruling};

use crate::{
    args::Judge,
    exit::{Exit, Usage},
    live::session::{self, Ending},
};

/// `ax judge`
pub(crate) async fn judge(quorum: &Quorum, args: &Judge) -> anyhow::Result<Exit> {
    let ruling = ruling(args)?;
    let id = quorum.find(&args.which.id).await?;
    let ruled = quorum.judge(id, ruling).await?;
    session::run_after(quorum, id, ruled, Ending::shown(args.output)).await
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
