//! Sanitizes participants' text for our documents: no HTML, no images, no unsafe links.

use pulldown_cmark::{
    CodeBlockKind, CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd, html::push_html,
};

/// The schemes a link may have.
const SCHEMES: &[&str] = &["https://", "http://", "mailto:"];

/// The maximum number of passes. Escaping markup may reveal more markup. A text with markup left
/// after the last pass hides it on purpose; it is then escaped wherever it might be markup.
const MOST_PASSES: usize = 10;

/// Plain text as Markdown: one line in which no character is markup.
pub(super) fn plain(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut plain = String::with_capacity(line.len());
    for next in line.chars() {
        if "\\`*_[]<>|~&#".contains(next) {
            plain.push('\\');
        }
        plain.push(next);
    }
    plain
}

/// Participants' Markdown on one line: bold and code stay, but the line can't begin or end a block.
pub(super) fn inline(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let marks = line.trim_start_matches(|it: char| it.is_ascii_digit());
    let begins_block = marks.starts_with(['#', '>', '+', '-', '=', '~', '|', '.', ')']);
    let begins_block = begins_block || line.starts_with("* ") || line.starts_with("```") || is_rule(&line);
    if begins_block { plain(&line) } else { line }
}

fn is_rule(line: &str) -> bool {
    line.chars().all(|it| "*_ ".contains(it))
}

/// The same in a cell of a table.
pub(super) fn cell(text: &str) -> String {
    // Parsers differ on what a backslash before a bar means.
    if text.contains(['|', '\\']) { plain(text) } else { inline(text) }
}

/// The same as HTML.
pub(super) fn inline_html(text: &str) -> String {
    let line = inline(text);
    let is_paragraph =
        |event: &Event<'_>| matches!(event, Event::Start(Tag::Paragraph) | Event::End(TagEnd::Paragraph));
    let mut html = String::new();
    let events = Parser::new_ext(&line, options()).filter(|it| !is_paragraph(it));
    push_html(&mut html, events.map(sanitized));
    html.trim_end().to_owned()
}

/// Plain text as HTML.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for next in text.chars() {
        match next {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            _ => escaped.push(next),
        }
    }
    escaped
}

/// Escapes all HTML, images, unsafe links and link definitions in Markdown, so that they become
/// plain text. Takes a whole document, because parts that are harmless alone may become markup when
/// joined.
pub(super) fn neutralize(document: &str) -> String {
    let mut document = document.to_owned();
    for _ in 0..MOST_PASSES {
        let mut active_markup = active_markup(&document);
        if active_markup.is_empty() {
            return document;
        }
        active_markup.sort_unstable();
        active_markup.dedup();
        active_markup.iter().rev().for_each(|place| document.insert(*place, '\\'));
    }
    document.replace('<', "&lt;").replace("![", "!\\[").replace("]:", "]\\:").replace("](", "]\\(")
}

/// The positions at which a backslash escapes markup.
fn active_markup(document: &str) -> Vec<usize> {
    let parser = Parser::new_ext(document, options() | Options::ENABLE_FOOTNOTES);
    let mut places: Vec<usize> =
        parser.reference_definitions().iter().map(|(_, definition)| definition.span.start).collect();
    for (event, range) in parser.into_offset_iter() {
        match event {
            Event::Html(_) | Event::InlineHtml(_) => {
                let brackets = document[range.clone()].match_indices('<');
                places.extend(brackets.map(|(at, _)| range.start + at));
            }
            Event::Start(Tag::Image { .. } | Tag::FootnoteDefinition(_)) => places.push(range.start),
            Event::Start(Tag::Link { dest_url, .. }) if !is_safe_link(&dest_url) => places.push(range.start),
            _ => {}
        }
    }
    places
}

/// Converts Markdown to HTML in which every tag is ours: HTML becomes text, images become their
/// description, and unsafe links lose their target, which leaves only the tags that [`push_html`]
/// writes for Markdown.
pub(super) fn html(markdown: &str) -> String {
    let mut html = String::new();
    push_html(&mut html, Parser::new_ext(markdown, options()).map(sanitized));
    html
}

fn options() -> Options {
    Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH
}

fn sanitized(event: Event<'_>) -> Event<'_> {
    match event {
        Event::Html(text) | Event::InlineHtml(text) => Event::Text(text),
        Event::Start(Tag::HtmlBlock) => Event::Start(Tag::Paragraph),
        Event::End(TagEnd::HtmlBlock) => Event::End(TagEnd::Paragraph),
        Event::Start(Tag::Image { .. }) => Event::Html("[picture: ".into()),
        Event::End(TagEnd::Image) => Event::Html("]".into()),
        Event::Start(Tag::Link { dest_url, .. }) => link_tag(&dest_url),
        Event::End(TagEnd::Link) => Event::Html("</a>".into()),
        // Below our own headings, and without the author's id or class.
        Event::Start(Tag::Heading { level, .. }) => Event::Start(Tag::Heading {
            level: one_level_down(level),
            id: None,
            classes: vec![],
            attrs: vec![],
        }),
        Event::End(TagEnd::Heading(level)) => Event::End(TagEnd::Heading(one_level_down(level))),
        // Alignment would become a style chosen by the author.
        Event::Start(Tag::Table(_)) => Event::Start(Tag::Table(vec![])),
        // The language of a code block would become a class chosen by the author.
        Event::Start(Tag::CodeBlock(_)) => Event::Start(Tag::CodeBlock(CodeBlockKind::Indented)),
        other => other,
    }
}

fn link_tag<'e>(dest: &str) -> Event<'e> {
    let tag = if is_safe_link(dest) {
        format!("<a href=\"{}\" rel=\"noreferrer nofollow\">", escape(dest))
    } else {
        "<a>".to_owned()
    };
    Event::Html(CowStr::from(tag))
}

fn is_safe_link(dest: &str) -> bool {
    let dest = dest.to_ascii_lowercase();
    SCHEMES.iter().any(|scheme| dest.starts_with(scheme)) && !dest.contains(char::is_whitespace)
}

fn one_level_down(level: HeadingLevel) -> HeadingLevel {
    match level {
        HeadingLevel::H1 => HeadingLevel::H4,
        HeadingLevel::H2 => HeadingLevel::H5,
        HeadingLevel::H3 | HeadingLevel::H4 | HeadingLevel::H5 | HeadingLevel::H6 => HeadingLevel::H6,
    }
}
