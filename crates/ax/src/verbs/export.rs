//! `ax export`: writes a discussion to standard output or to a file.

use std::path::Path;

use quorum::{
    Scope,
    export::{Extras, FORMATS, Format, ending, named},
};

use crate::{
    args::Export,
    exit::{Exit, Usage},
    render::{note, wording::to_see_it_again, write},
};

/// `ax export`
pub(crate) async fn export(scope: &Scope, args: &Export) -> anyhow::Result<Exit> {
    let format = format(args)?;
    let discussion = scope.find(&args.which.id).await?;
    let state = discussion.state().await?;
    let extras =
        Extras { commands: to_see_it_again(discussion.id()), sources: args.sources, ..Extras::default() };
    let text = discussion.export_with(format, extras).await?;
    if args.output == Path::new("-") {
        write(&text)?;
    } else {
        write_file(&args.output, &text)?;
    }
    if !state.lifecycle.is_terminal() {
        note(&format!("This discussion is {}; this is its record so far.", state.lifecycle));
    }
    Ok(Exit::Done)
}

/// The requested format, or the one of the file's extension.
fn format(args: &Export) -> Result<&'static Format, Usage> {
    let by_name = args.format.as_deref().and_then(|name| named(name).or_else(|| ending(name)));
    let Some(extension) = args.output.extension().filter(|_| by_name.is_none()) else {
        return Ok(by_name.unwrap_or(&FORMATS[0]));
    };
    let extension = extension.to_string_lossy();
    ending(&extension).or_else(|| named(&extension)).ok_or_else(|| {
        let known: Vec<String> = FORMATS.iter().map(|it| format!(".{}", it.ending)).collect();
        Usage(format!(
            "--output: no format has the extension .{extension}; there are {}, or name the format with --as",
            known.join(", ")
        ))
    })
}

fn write_file(file: &Path, text: &str) -> anyhow::Result<()> {
    let name = file.display();
    std::fs::write(file, text)
        .map_err(|error| Usage(format!("can't write {name}: {error}; choose another file with -o")))?;
    note(&format!("Wrote {name}."));
    Ok(())
}
