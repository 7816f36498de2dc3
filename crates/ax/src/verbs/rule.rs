//! The verbs that make a decision a discussion waits for, such as `ax judge`.

use quorum::{
    Scope,
    model::ruling::Ruling,
    vocabulary::ruling::{RulingChoice, RulingKind},
};

use crate::{
    app::App,
    args::Rule,
    exit::{Exit, Usage},
    live::{
        events::ProcessSignals,
        session::{self, SessionOptions},
    },
};

/// Makes the decision, and continues the discussion.
pub(crate) async fn rule(app: &App, scope: &Scope, args: &Rule) -> anyhow::Result<Exit> {
    let ruling = ruling(app, args)?;
    let discussion = scope.find(&args.which.id).await?;
    let signals = ProcessSignals::new()?;
    let ruled = discussion.rule(ruling).await?;
    session::run_after(&discussion, ruled, signals, SessionOptions::of_past(args.output)).await
}

fn ruling(app: &App, args: &Rule) -> Result<Ruling, Usage> {
    let kind = app.registry.rulings().into_iter().find(|it| it.name == args.kind);
    let names = kind.and_then(|it| it.choice(&args.choice)).is_some_and(|it| it.takes_candidate);
    match (&args.name, names) {
        (Some(_), true) | (None, false) => {
            Ok(Ruling { kind: args.kind.clone(), choice: args.choice.clone(), candidate: args.name.clone() })
        }
        (None, true) => {
            let (kind, choice) = (&args.kind, &args.choice);
            Err(Usage(format!("{choice} needs the name of a participant: ax {kind} ID {choice} NAME")))
        }
        (Some(_), false) => Err(Usage(format!("{} takes no name{}", args.choice, others(kind)))),
    }
}

/// The choices of this kind that take a name.
fn others(kind: Option<&RulingKind>) -> String {
    let choices = kind.into_iter().flat_map(|it| it.choices).filter(|it| it.takes_candidate);
    let written = |it: &RulingChoice| format!("`ax {} ID {} NAME`", kind.map_or("", |it| it.name), it.name);
    let written: Vec<String> = choices.map(written).collect();
    if written.is_empty() { String::new() } else { format!("; {} does", written.join(" or ")) }
}
