//! Takes screenshots of every view of the page, in light and dark, on a desktop and on a phone, for
//! people to look at.

use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::{Verb, browser, cargo};

pub(crate) const VERB: Verb = Verb {
    name: "screenshots",
    arguments: "[--docs]",
    summary: "Take pictures of every view of the page; --docs updates those of the README",
    run: screenshots,
};

/// The pictures of the documents, and the screenshots they are.
const IN_DOCUMENTS: [(&str, &str); 2] =
    [("live.png", "live-wide-light.png"), ("over.png", "over-wide-dark.png")];

fn screenshots(arguments: &[String]) -> Result<()> {
    let for_documents = match arguments {
        [] => false,
        [only] if only == "--docs" => true,
        [unknown, ..] => bail!("unknown argument `{unknown}`; there is --docs"),
    };
    browser::prepare()?;
    cargo::run(&mut cargo::command(&["build", "--package", "quorum-ax", "--bin", "ax"]))?;
    let (root, target) = (cargo::root(), browser::target());
    let (pictures, data) = (target.join("screenshots"), target.join("screenshots-data"));
    // A server of its own with nothing in it: the views show what the script starts.
    let _ = std::fs::remove_dir_all(&data);
    std::fs::create_dir_all(&data)?;
    let mut node = Command::new("node");
    node.arg(root.join("crates/ax/tests/browser/pictures.mjs"))
        .env("QUORUM_AX", target.join("debug/ax"))
        .env("QUORUM_DRIVER", browser::driver())
        .env("QUORUM_FOLDER", &data)
        .env("QUORUM_SCREENSHOTS", &pictures);
    cargo::run(&mut node)?;
    println!("The pictures are in {}.", pictures.display());
    for (name, picture) in IN_DOCUMENTS.iter().filter(|_| for_documents) {
        let to = root.join("docs/images").join(name);
        std::fs::copy(pictures.join(picture), &to)
            .with_context(|| format!("{} can't be written", to.display()))?;
        println!("{} is updated.", to.display());
    }
    Ok(())
}
