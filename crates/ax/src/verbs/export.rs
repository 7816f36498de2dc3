//! `ax export`: a discussion written down, to standard output or into a file.

use std::path::Path;

use quorum::{
    Quorum,
    export::{FORMATS, Format, ending, named},
    model::id::Seq,
};

use crate::{
    args::Export,
    exit::{Exit, Usage},
    render::{note, write},
};

/// `ax export`
pub(crate) async fn export(quorum: &Quorum, args: &Export) -> anyhow::Result<Exit> {
    let id = quorum.find(&args.which.id).await?;
    let state = quorum.state(id).await?;
    let facts = quorum.facts(id, Seq::START).await?;
    let text = (format(args).write)(&state, &facts);
    if args.output == Path::new("-") {
        write(&text)?;
    } else {
        keep(&args.output, &text)?;
    }
    if !state.lifecycle.is_terminal() {
        note(&format!("This discussion is {}; this is what there is so far.", state.lifecycle));
    }
    Ok(Exit::Done)
}

/// What was asked for, or what the file's name says.
fn format(args: &Export) -> &'static Format {
    let by_name = args.format.as_deref().and_then(|name| named(name).or_else(|| ending(name)));
    let by_ending = || args.output.extension().and_then(|it| it.to_str()).and_then(ending);
    by_name.or_else(by_ending).unwrap_or(&FORMATS[0])
}

fn keep(file: &Path, text: &str) -> anyhow::Result<()> {
    let name = file.display();
    std::fs::write(file, text)
        .map_err(|error| Usage(format!("{name} can't be written: {error}; give another file with -o")))?;
    note(&format!("Wrote {name}."));
    Ok(())
}
