//! A Rust file as the checks see it: its tokens, its functions, and the lines that are test code.
//!
//! Works on tokens instead of text, so that comments and strings never count as code, and instead
//! of a syntax tree, so that the contents of macros such as `proptest!` are included.

use proc_macro2::{Delimiter, Group, Ident, Punct, Span, TokenStream, TokenTree};
use std::ops::RangeInclusive;

pub(super) struct Scan {
    pub(super) tokens: Vec<Token>,
    pub(super) functions: Vec<Function>,
    test_lines: Vec<RangeInclusive<usize>>,
}

/// A word, a literal, a punctuation character, or an opening or closing bracket.
pub(super) struct Token {
    pub(super) text: String,
    pub(super) line: usize,
}

/// A function with a body; its lines are counted from the word `fn` to the closing brace.
pub(super) struct Function {
    pub(super) name: String,
    pub(super) lines: RangeInclusive<usize>,
    /// Whether it carries `#[test]`, `#[tokio::test]` or the like itself.
    pub(super) is_test: bool,
}

impl Scan {
    pub(super) fn of(text: &str) -> Result<Self, String> {
        let stream: TokenStream = text.parse().map_err(|error| format!("{error}"))?;
        let mut scan = Self { tokens: Vec::new(), functions: Vec::new(), test_lines: Vec::new() };
        scan.walk(stream);
        Ok(scan)
    }

    /// Scans a file that consists of test code only.
    pub(super) fn of_test_file(text: &str) -> Result<Self, String> {
        Ok(Self { test_lines: vec![1..=usize::MAX], ..Self::of(text)? })
    }

    pub(super) fn is_test_line(&self, line: usize) -> bool {
        self.test_lines.iter().any(|lines| lines.contains(&line))
    }

    /// The lines on which these tokens follow one another.
    pub(super) fn lines_with<'a>(&'a self, sequence: &'a [&'a str]) -> impl Iterator<Item = usize> + 'a {
        let windows = self.tokens.windows(sequence.len());
        windows
            .filter(move |window| window.iter().map(|token| &token.text).eq(sequence))
            .map(|window| window[0].line)
    }

    /// The lines that call a function by its name alone: without a path, and not as a method.
    pub(super) fn imported_calls<'a>(&'a self, name: &'a str) -> impl Iterator<Item = usize> + 'a {
        let is_call = move |window: &&[Token]| {
            let [before, called, open] = window else { return false };
            called.text == name && open.text == "(" && ![":", ".", "fn"].contains(&before.text.as_str())
        };
        self.tokens.windows(3).filter(is_call).map(|window| window[1].line)
    }

    fn walk(&mut self, stream: TokenStream) {
        let mut item = Item::default();
        for tree in stream {
            match tree {
                TokenTree::Ident(ident) => self.word(&ident, &mut item),
                TokenTree::Punct(punct) => self.punct(&punct, &mut item),
                TokenTree::Literal(literal) => self.push(literal.to_string(), literal.span()),
                TokenTree::Group(group) => self.group(&group, &mut item),
            }
        }
    }

    fn word(&mut self, ident: &Ident, item: &mut Item) {
        self.push(ident.to_string(), ident.span());
        if std::mem::take(&mut item.after_fn) {
            item.function = Some((ident.to_string(), line(ident.span())));
        }
        item.after_fn = ident == "fn";
    }

    fn punct(&mut self, punct: &Punct, item: &mut Item) {
        self.push(punct.as_char().to_string(), punct.span());
        item.after_fn = false;
        match punct.as_char() {
            '#' => item.attribute = Some(line(punct.span())),
            ';' => *item = Item::default(),
            // The `!` of an inner attribute stands between `#` and `[`.
            '!' => {}
            _ => item.attribute = None,
        }
    }

    fn group(&mut self, group: &Group, item: &mut Item) {
        item.after_fn = false;
        let attribute = item.attribute.take();
        let (open, close) = brackets(group.delimiter());
        self.push(open.to_owned(), group.span_open());
        self.walk(group.stream());
        self.push(close.to_owned(), group.span_close());
        match (group.delimiter(), attribute) {
            (Delimiter::Bracket, Some(line)) => item.take_attribute(&group.stream(), line),
            (Delimiter::Brace, _) => self.close(std::mem::take(item), line(group.span_close())),
            _ => {}
        }
    }

    /// Ends an item at the closing brace of its body.
    fn close(&mut self, item: Item, last: usize) {
        if let Some((name, first)) = item.function {
            self.functions.push(Function { name, lines: first..=last, is_test: item.is_test_function });
        }
        if let Some(first) = item.test_since {
            self.test_lines.push(first..=last);
        }
    }

    fn push(&mut self, text: String, span: Span) {
        self.tokens.push(Token { text, line: line(span) });
    }
}

/// The state of the item that is being read.
#[derive(Default)]
struct Item {
    /// The line of a hash that may begin an attribute.
    attribute: Option<usize>,
    after_fn: bool,
    function: Option<(String, usize)>,
    is_test_function: bool,
    test_since: Option<usize>,
}

impl Item {
    fn take_attribute(&mut self, content: &TokenStream, line: usize) {
        self.is_test_function |= marks_test_function(content);
        if marks_test_function(content) || marks_test_configuration(content) {
            self.test_since.get_or_insert(line);
        }
    }
}

/// Whether the attribute marks a test: `test`, `tokio::test`, `tokio::test(start_paused = true)`,
/// `rstest`.
fn marks_test_function(attribute: &TokenStream) -> bool {
    let is_path = |tree: &TokenTree| match tree {
        TokenTree::Ident(_) => true,
        TokenTree::Punct(punct) => punct.as_char() == ':',
        TokenTree::Group(_) | TokenTree::Literal(_) => false,
    };
    match attribute.clone().into_iter().take_while(is_path).last() {
        Some(TokenTree::Ident(name)) => name == "test" || name == "rstest",
        _ => false,
    }
}

/// Whether the attribute limits code to tests: `cfg(test)`, `cfg(all(test, unix))`, but nothing
/// with `not`.
fn marks_test_configuration(attribute: &TokenStream) -> bool {
    let mut words = Vec::new();
    words_of(attribute.clone(), &mut words);
    let has = |word: &str| words.iter().any(|found| found == word);
    words.first().is_some_and(|word| word == "cfg") && has("test") && !has("not")
}

fn words_of(stream: TokenStream, words: &mut Vec<String>) {
    for tree in stream {
        match tree {
            TokenTree::Ident(ident) => words.push(ident.to_string()),
            TokenTree::Group(group) => words_of(group.stream(), words),
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

fn brackets(delimiter: Delimiter) -> (&'static str, &'static str) {
    match delimiter {
        Delimiter::Parenthesis => ("(", ")"),
        Delimiter::Brace => ("{", "}"),
        Delimiter::Bracket => ("[", "]"),
        Delimiter::None => ("", ""),
    }
}

fn line(span: Span) -> usize {
    span.start().line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_functions(text: &str, expected: &[(&str, RangeInclusive<usize>, bool)]) {
        let scan = Scan::of(text).unwrap();
        let found: Vec<_> = scan
            .functions
            .iter()
            .map(|found| (found.name.as_str(), found.lines.clone(), found.is_test))
            .collect();
        assert_eq!(found, expected);
    }

    #[track_caller]
    fn check_test_lines(text: &str, expected: &[usize]) {
        let scan = Scan::of(text).unwrap();
        let found: Vec<_> = (1..=text.lines().count()).filter(|line| scan.is_test_line(*line)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn functions_are_measured_from_their_name_to_their_last_brace() {
        check_functions("fn a() {}\n", &[("a", 1..=1, false)]);
        check_functions(
            "/// Doc.\npub async fn a<T>(\n  t: T,\n) -> [u8; 2]\nwhere T: Copy {\n  x\n}\n",
            &[("a", 2..=7, false)],
        );
        check_functions("trait T {\n fn a();\n fn b() {\n }\n}\n", &[("b", 3..=4, false)]);
        check_functions(
            "fn a() -> fn(u8) -> u8 {\n fn b() {}\n b\n}\n",
            &[("b", 2..=2, false), ("a", 1..=4, false)],
        );
        check_functions("struct S { run: fn(u8) -> u8 }\n", &[]);
    }

    #[test]
    fn test_functions_are_known_by_their_attribute() {
        check_functions("#[test]\nfn a() {}\nfn b() {}\n", &[("a", 2..=2, true), ("b", 3..=3, false)]);
        check_functions("#[tokio::test(start_paused = true)]\nasync fn a() {}\n", &[("a", 2..=2, true)]);
        check_functions("proptest! {\n #[test]\n fn a(x in 0..9) {}\n}\n", &[("a", 3..=3, true)]);
        check_functions("#[cfg(test)]\nfn a() {}\n", &[("a", 2..=2, false)]);
    }

    #[test]
    fn test_code_is_known_by_its_attribute() {
        check_test_lines("fn a() {}\n\n#[cfg(test)]\nmod tests {\n  // note\n}\nfn b() {}\n", &[3, 4, 5, 6]);
        check_test_lines("#[test]\nfn a() {\n}\n", &[1, 2, 3]);
        check_test_lines("#[cfg(all(test, unix))]\nmod tests {}\n", &[1, 2]);
        check_test_lines("#[cfg(not(test))]\nmod real {}\n", &[]);
        check_test_lines("#[cfg(test)]\nmod tests;\nfn a() {}\n", &[]);
        check_test_lines("#[cfg_attr(test, derive(Debug))]\nstruct A {}\n", &[]);
    }

    #[test]
    fn comments_and_strings_are_not_code() {
        let scan = Scan::of("// a!(1)\nconst A: &str = \"a!(2)\";\nfn f() {\n  a!(3);\n}\n").unwrap();
        assert_eq!(scan.lines_with(&["a", "!", "("]).collect::<Vec<_>>(), [4]);
    }
}
