//! Words errors for HTTP: what to send instead, by the names of fields and endpoints.

use quorum::{Complaint, Origin, Remedy, model::id::DiscussionId, request::PanelChoice, text};

/// The message about a field: what is wrong, where its value came from, and what to send instead.
pub(crate) fn complaint(complaint: &Complaint) -> String {
    let origin = match &complaint.origin {
        Some(Origin::Configuration { section, .. }) => format!(" (from [{section}] in the configuration)"),
        Some(Origin::Past(id)) => format!(" (from discussion {id})"),
        // The message has the file's name; the folder is the server's own.
        Some(Origin::Profile { .. } | Origin::DefaultPanel) | None => String::new(),
    };
    let remedies = complaint.remedies.iter().filter_map(remedy).map(|it| format!("; {it}"));
    format!("{}{origin}{}", complaint.message, remedies.collect::<String>())
}

/// `None` for a remedy that callers can't apply: they have no keys and no programs on the server.
fn remedy(remedy: &Remedy) -> Option<String> {
    match remedy {
        Remedy::Simulate => Some("\"offline\": true uses simulated voices".to_owned()),
        Remedy::SeatTwice { provider } => {
            Some(format!("\"providers\": [\"{provider}\", \"{provider}\"] lets it speak twice"))
        }
        Remedy::FindAgents { .. } => Some("GET /api/agents lists all agents".to_owned()),
        Remedy::NameWholePanel => Some("name the whole panel with participants instead".to_owned()),
        Remedy::ListSessions => Some("GET /api/sessions lists all sessions".to_owned()),
        Remedy::WritePreset { name, .. } => {
            Some(format!("the server's operator can add [presets.{name}] to the configuration"))
        }
        Remedy::Provide { .. }
        | Remedy::KeepKey { .. }
        | Remedy::AnotherModel { .. }
        | Remedy::NameModels { .. } => None,
    }
}

/// How the panel differs from the default one.
pub(crate) fn panel(choice: &PanelChoice) -> String {
    match choice {
        PanelChoice::OneVendor { provider, models } => {
            format!("only {provider} is available, so its models discuss: {}", models.join(", "))
        }
        PanelChoice::OneProgram { provider, panel } => {
            let seats = text::count(panel.len() as u64, "seat");
            format!("only {provider} is available, so it takes {seats}: a panel of one family")
        }
        PanelChoice::Narrowed { panel, missing, unasked } => {
            let (panel, missing, others) = (panel.join(", "), missing.join(", "), not_asked(unasked));
            format!("{missing} can't be asked here, so the panel is {panel}{others}")
        }
        PanelChoice::FilledUp { panel, added, unasked } if panel.len() == added.len() => {
            let (panel, others) = (panel.join(", "), not_asked(unasked));
            format!("no provider of the default panel is available, so others discuss: {panel}{others}")
        }
        PanelChoice::FilledUp { panel, added, unasked } => {
            let (panel, added, others) = (panel.join(", "), added.join(", "), not_asked(unasked));
            format!(
                "too few providers of the default panel are available, so it is filled up with {added}: {panel}{others}"
            )
        }
    }
}

/// The providers that could be asked too, and how.
fn not_asked(unasked: &[String]) -> String {
    if unasked.is_empty() {
        return String::new();
    }
    format!("; available, but not asked: {}; providers names another panel", unasked.join(", "))
}

/// The requests that the reader of an exported discussion can send to see it again.
pub(crate) fn to_see_it_again(id: DiscussionId) -> Vec<String> {
    vec![
        format!("GET /api/discussions/{id}/events"),
        format!("GET /api/discussions/{id}/export?format=html"),
        format!("POST /api/discussions/{id}/again"),
    ]
}
