//! The files of the page, served as written. A browser revalidates each by its entity tag, so that
//! it gets the files of a new release at once and downloads nothing twice.

use std::sync::LazyLock;

use axum::{
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
};
use uuid::Uuid;

use crate::problem::{self, Problem};

const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";
const PICTURE: &str = "image/svg+xml";

/// A file: its name, type and contents.
struct File {
    name: &'static str,
    kind: &'static str,
    text: &'static str,
}

macro_rules! files {
    ($($name:literal $kind:ident;)*) => {
        &[$(File { name: $name, kind: $kind, text: include_str!(concat!("../../web/", $name)) }),*]
    };
}

const FILES: &[File] = files! {
    "page.css" STYLE;
    "icon.svg" PICTURE;
    "icon-turn.svg" PICTURE;
    "theme.js" SCRIPT;
    "main.js" SCRIPT;
    "api.js" SCRIPT;
    "calibration.js" SCRIPT;
    "chart.js" SCRIPT;
    "columns.js" SCRIPT;
    "compare.js" SCRIPT;
    "controls.js" SCRIPT;
    "copy.js" SCRIPT;
    "dom.js" SCRIPT;
    "earlier.js" SCRIPT;
    "fields.js" SCRIPT;
    "figures.js" SCRIPT;
    "fold.js" SCRIPT;
    "hidden.js" SCRIPT;
    "highlight.js" SCRIPT;
    "home.js" SCRIPT;
    "manage.js" SCRIPT;
    "markdown.js" SCRIPT;
    "next.js" SCRIPT;
    "order.js" SCRIPT;
    "panels.js" SCRIPT;
    "patterns.js" SCRIPT;
    "person.js" SCRIPT;
    "plan.js" SCRIPT;
    "reading.js" SCRIPT;
    "run.js" SCRIPT;
    "seats.js" SCRIPT;
    "sketch.js" SCRIPT;
    "sources.js" SCRIPT;
    "steps.js" SCRIPT;
    "tab.js" SCRIPT;
    "talk.js" SCRIPT;
    "timeline.js" SCRIPT;
    "views.js" SCRIPT;
    "vocabulary.js" SCRIPT;
    "watch.js" SCRIPT;
};

/// The style sheet of pages without scripts: that of exported pages.
const READING: File = File { name: "read.css", kind: STYLE, text: quorum::export::document::STYLE };

/// A file with its entity tag.
struct Tagged {
    file: &'static File,
    tag: String,
}

static TAGGED: LazyLock<Vec<Tagged>> = LazyLock::new(|| {
    let tagged = |file: &'static File| {
        let digest = Uuid::new_v5(&Uuid::NAMESPACE_OID, file.text.as_bytes()).simple();
        // Weak, because the same file is also sent compressed, as other bytes.
        Tagged { file, tag: format!("W/\"{digest}\"") }
    };
    FILES.iter().chain([&READING]).map(tagged).collect()
});

/// The modules, so that a browser can preload all of them.
pub(super) fn modules() -> impl Iterator<Item = &'static str> {
    FILES.iter().filter(|it| it.kind == SCRIPT && it.name != "theme.js").map(|it| it.name)
}

/// The file of that name, or 304 if the browser's copy is current.
pub(super) fn answer(name: &str, headers: &HeaderMap) -> Result<Response, Problem> {
    let found = TAGGED.iter().find(|it| it.file.name == name);
    let Tagged { file, tag } =
        found.ok_or_else(|| Problem::new(problem::NOT_FOUND, "the page has no such file"))?;
    let about = [(header::ETAG, tag.as_str()), (header::CACHE_CONTROL, "no-cache")];
    let known = headers.get_all(header::IF_NONE_MATCH).iter().filter_map(|it| it.to_str().ok());
    if known.flat_map(|it| it.split(',')).any(|it| opaque(it) == opaque(tag)) {
        return Ok((StatusCode::NOT_MODIFIED, about).into_response());
    }
    Ok((about, [(header::CONTENT_TYPE, file.kind)], file.text).into_response())
}

/// An entity tag without the weak prefix, which does not matter for this comparison.
fn opaque(tag: &str) -> &str {
    tag.trim().trim_start_matches("W/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s6_no_file_of_the_page_makes_markup_of_text_or_asks_elsewhere() {
        let banned = [
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "new Function",
            "setAttribute('on",
            "DOMParser",
            "srcdoc",
            "createContextualFragment",
            "import(",
        ];
        for file in FILES.iter().filter(|it| it.kind == SCRIPT) {
            for word in banned {
                assert!(!file.text.contains(word), "{word} in {}", file.name);
            }
            let elsewhere = file.text.replace("http://www.w3.org/2000/svg", "");
            assert!(!elsewhere.contains("http://") && !elsewhere.contains("https://"), "{}", file.name);
        }
        assert!(FILES.iter().all(|it| !it.text.contains("@import") && !it.text.contains("url(")));
    }
}
