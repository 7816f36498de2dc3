//! The page before its scripts run, which is all of it if scripts are off. Everything on it is our
//! own text or escaped.

use std::fmt::Write;

use axum::response::Html;
use quorum::{listing::Entry, text::clean};

use crate::web::assets;

/// The page that shows two discussions side by side.
pub(super) const COMPARE: &str =
    "<p>Showing two discussions side by side needs scripts. <a href=\"/\">Read them one by one</a>.</p>\n";

/// The calibration view without scripts.
pub(super) const CALIBRATION: &str = "<p>Showing the reliability of each voice needs scripts.</p>\n";

/// A page with this body for browsers without scripts.
pub(super) fn page(title: &str, body: &str) -> Html<String> {
    let modules: String = assets::modules()
        .map(|name| format!("<link rel=\"modulepreload\" href=\"/assets/{name}\">\n"))
        .collect();
    Html(format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{}</title>\n\
         <link rel=\"icon\" href=\"/assets/icon.svg\" type=\"image/svg+xml\">\n\
         <link rel=\"stylesheet\" href=\"/assets/page.css\">\n\
         <noscript><link rel=\"stylesheet\" href=\"/assets/read.css\"></noscript>\n\
         <script src=\"/assets/theme.js\"></script>\n{modules}\
         <script type=\"module\" src=\"/assets/main.js\"></script>\n</head>\n\
         <body>\n<div id=\"app\"></div>\n<noscript>\n{body}</noscript>\n</body>\n</html>\n",
        escaped(title)
    ))
}

/// The list of discussions.
pub(super) fn list(entries: &[Entry]) -> String {
    let mut body = String::from(
        "<h1>Quorum</h1>\n<p>Without scripts you can read here, but not start or steer anything. \
         <a href=\"/docs\">API documentation</a></p>\n<ul>\n",
    );
    if entries.is_empty() {
        body.push_str("<li>Nothing has been discussed yet.</li>\n");
    }
    for it in entries {
        let _ = writeln!(
            body,
            "<li><a href=\"/d/{}\">{}</a> <small>{}, {}</small></li>",
            it.discussion_id,
            escaped(it.title.as_ref().unwrap_or(&it.topic)),
            escaped(&it.pattern),
            escaped(&it.state().0)
        );
    }
    body + "</ul>\n"
}

/// A discussion to read, with a link back.
pub(super) fn reading(document: &str) -> String {
    format!("<p><a href=\"/\">All discussions</a></p>\n{document}")
}

/// The page for a discussion that does not exist or that the caller may not read.
pub(super) fn unreadable() -> (String, String) {
    let body = "<h1>Quorum</h1>\n<p>There is no such discussion, or a token is needed to read it. <a href=\"/\">All discussions</a></p>\n";
    ("Quorum".to_owned(), body.to_owned())
}

fn escaped(text: &str) -> String {
    clean(text)
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&#39;")
}

#[cfg(test)]
mod tests {
    use quorum::{
        model::{
            digest::{AwaitedTurn, Digest},
            id::DiscussionId,
            lifecycle::Lifecycle,
            outcome::{ResultKind, Standing, StandingReport},
            time::Timestamp,
        },
        seams::{RunStatus, Summary},
    };

    use super::*;

    #[test]
    fn a_degraded_discussion_and_one_that_waits_for_a_person_are_marked_without_scripts() {
        let id: DiscussionId = "01890000-0000-7000-8000-000000000001".parse().unwrap();
        let listed = |status, run, digest: Digest| {
            list(&[Entry::from(Summary {
                id,
                topic: "Tabs or spaces?".to_owned(),
                title: None,
                pattern: "debate".to_owned(),
                status,
                opened_at: Timestamp(0),
                ended_at: None,
                success: None,
                synthesis: None,
                simulated: false,
                session: None,
                run,
                digest: Some(digest),
            })])
        };
        let standing = Standing::plain(ResultKind::Answered);
        let result = Some(StandingReport { standing, degraded: true, simulated: false });
        let turn = AwaitedTurn { participant: "me".to_owned(), round: 1, phase: "speaking".to_owned() };
        let degraded = Digest { result, ..Digest::opened() };
        let waiting = Digest { awaiting: vec![turn], ..Digest::opened() };
        let told = |page: String| {
            let (_, told) = page.split_once("<small>").unwrap();
            told.split_once("</small>").unwrap().0.to_owned()
        };
        assert_eq!(told(listed(Lifecycle::Completed, RunStatus::Over, degraded)), "debate, degraded");
        assert_eq!(told(listed(Lifecycle::Running, RunStatus::Waiting, waiting)), "debate, waiting for me");
        let left = listed(Lifecycle::Running, RunStatus::Queued, Digest::opened());
        assert_eq!(told(left), "debate, interrupted");
    }
}
