//! `ax restore`, and the notes about old discussions that retention hides or removes.

use quorum::{
    Error, Expired, Leap, Quorum, Scope, StoreError,
    model::time::Timestamp,
    text::{count, local_time},
};

use crate::{
    args::Restore,
    exit::{Exit, Usage},
    render::{listing, note, note_always, print, print_json},
};

/// `ax restore`: brings hidden discussions back, or lists them.
pub(crate) async fn restore(scope: &Scope, args: &Restore) -> anyhow::Result<Exit> {
    match &args.id {
        Some(_) if args.all => Err(Usage("give an id or --all, not both".to_owned()).into()),
        Some(given) => {
            let discussion = scope.find_hidden(given).await.map_err(not_hidden)?;
            discussion.restore().await?;
            note(&format!("Restored discussion {}.{}", discussion.id(), kept_again(scope)));
            Ok(Exit::Done)
        }
        None if args.all => restore_all(scope).await,
        None => list(scope, args).await,
    }
}

/// An unknown discussion is looked for among the hidden ones.
fn not_hidden(error: Error) -> anyhow::Error {
    match error {
        Error::NotFound(_) | Error::Store(StoreError::Unknown(_)) => {
            Usage(format!("{error}; `ax restore` lists the hidden discussions")).into()
        }
        other => other.into(),
    }
}

async fn restore_all(scope: &Scope) -> anyhow::Result<Exit> {
    let hidden = scope.hidden(0).await?;
    for entry in &hidden {
        scope.discussion(entry.discussion_id).await?.restore().await?;
    }
    note(&format!("Restored {}.{}", count(hidden.len() as u64, "discussion"), kept_again(scope)));
    Ok(Exit::Done)
}

fn kept_again(scope: &Scope) -> String {
    let days = scope.quorum().config().retention_days;
    days.map_or_else(String::new, |days| format!(" Kept for another {}.", count(days.into(), "day")))
}

async fn list(scope: &Scope, args: &Restore) -> anyhow::Result<Exit> {
    let hidden = scope.hidden(0).await?;
    if args.listed.json {
        print_json(&hidden)?;
    } else if hidden.is_empty() {
        note("No discussion is hidden.");
    } else {
        print(&hidden.iter().map(listing::row).collect::<Vec<_>>().join("\n"))?;
        note("`ax restore ID` brings one back, `ax restore --all` all of them.");
    }
    Ok(Exit::Done)
}

/// Hides and removes discussions past their retention, and reports it.
pub(crate) async fn expire_old(quorum: &Quorum) {
    match quorum.expire_old().await {
        Ok(expired) => announce(&expired, quorum.config().retention_days.unwrap_or_default()),
        Err(error) => note(&format!("warning: old discussions could not be hidden: {error}")),
    }
}

fn announce(expired: &Expired, days: u32) {
    sentences(expired, days).iter().for_each(|it| note(it));
    if let Some(leap) = &expired.leap {
        // Printed even with `--quiet`: the clock or the stored discussions need attention.
        note_always(&refused(leap));
    }
}

fn sentences(expired: &Expired, days: u32) -> Vec<String> {
    let Expired { hidden, removed, reappeared, leap: _, more: _ } = *expired;
    let hid = format!(
        "Hid {} that ended more than {} ago ([retention] in the configuration), to be removed for good in \
         7 days; `ax restore` lists hidden discussions and brings them back.",
        count(hidden, "discussion"),
        count(days.into(), "day"),
    );
    let gone = format!("Removed {} for good after 7 days of being hidden.", count(removed, "discussion"));
    let back =
        format!("Showing {} again: hidden earlier, but no longer too old.", count(reappeared, "discussion"));
    let all = [(hidden, hid), (removed, gone), (reappeared, back)];
    all.into_iter().filter(|(number, _)| *number > 0).map(|(_, sentence)| sentence).collect()
}

fn refused(leap: &Leap) -> String {
    let day = |at: Timestamp| local_time(at).chars().take(10).collect::<String>();
    format!(
        "warning: the clock says {}, but the newest record is of {}; no discussion was hidden or removed. If \
         the clock is wrong, set it; if it is right, there is nothing to do.",
        day(leap.wall),
        day(leap.newest)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_removal_is_reported() {
        let all = Expired { hidden: 1, removed: 2, reappeared: 3, leap: None, more: false };
        let expected = [
            "Hid 1 discussion that ended more than 30 days ago ([retention] in the configuration), to be \
             removed for good in 7 days; `ax restore` lists hidden discussions and brings them back.",
            "Removed 2 discussions for good after 7 days of being hidden.",
            "Showing 3 discussions again: hidden earlier, but no longer too old.",
        ];
        assert_eq!(sentences(&all, 30), expected);
        assert_eq!(sentences(&Expired::default(), 30), Vec::<String>::new());
    }
}
