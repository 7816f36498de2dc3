//! Discussions as resources: the result, the transcript and the events of each.

use quorum::{Discussion, Scope, export, listing::Entry};
use rmcp::{
    ErrorData,
    model::{
        CacheScope, ListResourceTemplatesResult, ListResourcesResult, ReadResourceResult, Resource,
        ResourceContents, ResourceTemplate,
    },
};
use serde_json::json;

use crate::{mcp::handler::internal, wording};

/// How many discussions a page lists.
const PAGE: usize = 50;

/// How many discussions all pages list; older ones are found by the history tool.
const MOST: usize = 1_000;

/// A part of a discussion that can be read.
struct Part {
    name: &'static str,
    summary: &'static str,
    /// The export format that writes it.
    format: &'static str,
    kind: &'static str,
}

const PARTS: &[Part] = &[
    Part { name: "result", summary: "The whole result document", format: "json", kind: "application/json" },
    Part {
        name: "transcript",
        summary: "The discussion as Markdown",
        format: "markdown",
        kind: "text/markdown",
    },
    Part {
        name: "facts",
        summary: "Every event, one JSON object per line",
        format: "jsonl",
        kind: "application/jsonl",
    },
];

pub(crate) fn templates() -> ListResourceTemplatesResult {
    let template = |part: &Part| {
        ResourceTemplate::new(format!("discussion://{{id}}/{}", part.name), part.name)
            .with_description(part.summary)
            .with_mime_type(part.kind)
    };
    ListResourceTemplatesResult::with_all_items(PARTS.iter().map(template).collect())
}

/// One page of discussions, newest first.
pub(crate) async fn list(scope: &Scope, cursor: Option<&str>) -> Result<ListResourcesResult, ErrorData> {
    let from = match cursor.map(str::parse::<usize>) {
        None => 0,
        Some(Ok(from)) if from < MOST => from,
        Some(_) => return Err(ErrorData::invalid_params("there is no such page", None)),
    };
    let most = (from + PAGE + 1).min(MOST);
    let mut all = scope.list(most, None).await.map_err(|error| internal(&error))?;
    let mut found = all.split_off(from.min(all.len()));
    let is_more = found.len() > PAGE;
    found.truncate(PAGE);
    let mut page = ListResourcesResult::with_all_items(found.iter().map(resource).collect())
        .with_ttl_ms(0)
        .with_cache_scope(CacheScope::Private);
    page.next_cursor = is_more.then(|| (from + PAGE).to_string());
    Ok(page)
}

fn resource(entry: &Entry) -> Resource {
    let topic: String = entry.topic.chars().take(100).collect();
    Resource::new(format!("discussion://{}/result", entry.discussion_id), topic)
        .with_description(format!("{}, {}, started {}", entry.pattern, entry.status, entry.started_at))
        .with_mime_type(PARTS[0].kind)
}

/// Reads a part of a discussion.
pub(crate) async fn read(scope: &Scope, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let unknown = || ErrorData::resource_not_found("there is no such resource", Some(json!({ "uri": uri })));
    let (id, name) =
        uri.strip_prefix("discussion://").and_then(|it| it.split_once('/')).ok_or_else(unknown)?;
    let part = PARTS.iter().find(|it| it.name == name).ok_or_else(unknown)?;
    let id = id.parse().map_err(|_| unknown())?;
    let discussion = scope.discussion(id).await.map_err(|_| unknown())?;
    let text = written(&discussion, part).await.map_err(|error| internal(&error))?;
    let contents = ResourceContents::text(text, uri).with_mime_type(part.kind);
    let read = ReadResourceResult::new(vec![contents]);
    Ok(read.with_ttl_ms(0).with_cache_scope(CacheScope::Private))
}

async fn written(discussion: &Discussion, part: &Part) -> Result<String, quorum::Error> {
    match export::named(part.format) {
        Some(format) => discussion.export(format, &wording::to_see_it_again(discussion.id())).await,
        None => Ok(String::new()),
    }
}
