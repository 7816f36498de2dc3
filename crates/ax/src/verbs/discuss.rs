//! `ax discuss` and `ax fork`: what was ordered, checked and started.

use quorum::{Quorum, model::spec::Spec};

use crate::{
    args::{Discuss, Fork, input::Input},
    exit::{Demand, Exit, Usage},
    live::session::{self, Ending},
    render::hush,
    verbs::{detach, plan, restore::expire_old},
};

/// Starts a discussion and stays until it is over; or only says what it would come to, or leaves it to another process.
pub(crate) async fn discuss(quorum: &Quorum, args: &Discuss) -> anyhow::Result<Exit> {
    let (config, preset) = (quorum.config(), args.preset.as_deref());
    let output = args.output.or_configured(config, preset);
    let is_on = |long: &str| config.showing(preset, long) == Some(&serde_json::Value::Bool(true));
    if is_on("quiet") {
        hush();
    }
    // What is refused leaves everything as it was.
    let spec = order(quorum, args).await?;
    if args.dry_run {
        return plan::show(quorum, &spec, output).await;
    }
    expire_old(quorum).await;
    if args.detach {
        return detach::detach(quorum, spec, output).await;
    }
    let handle = quorum.begin(spec).await?;
    let demand = Demand::consensus_if(args.requires_consensus() || is_on("require-consensus"));
    session::run(quorum, handle, Ending { output, demand }).await
}

/// What was ordered, checked.
async fn order(quorum: &Quorum, args: &Discuss) -> anyhow::Result<Spec> {
    let mut request = args.request();
    let input = Input { topic: args.topic.as_deref(), context: args.context.as_deref(), files: &args.files };
    let (topic, context) = input.with_stdin()?;
    (request.topic, request.context) = (topic.clone().unwrap_or_default(), context);
    if let Some(session) = &args.session {
        request.session_id = Some(quorum.find_session(session).await?.to_string());
    }
    match &args.again {
        Some(_) if topic.is_some_and(|it| it.trim().is_empty()) => {
            let message = "<topic>: is empty; leave it out to keep that of the past discussion";
            Err(Usage(message.to_owned()).into())
        }
        Some(past) => Ok(quorum.again(quorum.find(past).await?, &request).await?),
        None => Ok(quorum.check(&request)?),
    }
}

/// `ax fork`
pub(crate) async fn fork(quorum: &Quorum, args: &Fork) -> anyhow::Result<Exit> {
    let id = quorum.find(&args.which.id).await?;
    let handle = quorum.fork(id, &args.forking()).await?;
    session::run(quorum, handle, Ending::shown(args.output)).await
}
