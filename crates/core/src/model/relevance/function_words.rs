//! Function words: words that say nothing about the subject of a question. The lists are in
//! `function_words/`, one file for each language.

use std::{collections::BTreeSet, sync::LazyLock};

use super::fold;

/// The function words of one language.
struct List {
    /// Words that count as such in any text.
    always: BTreeSet<String>,
    /// Words that mean something in another language. They count only in a text with a word that
    /// is in this list alone.
    if_spoken: BTreeSet<String>,
}

static LISTS: LazyLock<Vec<List>> = LazyLock::new(|| {
    let files = [
        include_str!("function_words/en.txt"),
        include_str!("function_words/de.txt"),
        include_str!("function_words/fr.txt"),
        include_str!("function_words/es.txt"),
    ];
    files.map(List::read).into()
});

impl List {
    fn read(file: &str) -> List {
        let lines = || file.lines().filter(|line| !line.starts_with('#'));
        let (always, if_spoken): (Vec<&str>, Vec<&str>) = lines().partition(|line| !line.starts_with('?'));
        let words = |lines: Vec<&str>| lines.iter().flat_map(|line| fold::words(line)).collect();
        List { always: words(always), if_spoken: words(if_spoken) }
    }
}

/// Recognises the function words of this text.
pub(super) fn of(text: &[String]) -> impl Fn(&str) -> bool {
    let holders = |word: &str| LISTS.iter().filter(|it| it.always.contains(word)).count();
    let is_spoken = |list: &List| text.iter().any(|word| list.always.contains(word) && holders(word) == 1);
    let spoken: Vec<bool> = LISTS.iter().map(is_spoken).collect();
    move |word| {
        let in_list = |(list, spoken): (&List, &bool)| {
            list.always.contains(word) || (*spoken && list.if_spoken.contains(word))
        };
        LISTS.iter().zip(&spoken).any(in_list)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_list_is_read() {
        for list in LISTS.iter() {
            assert!(list.always.len() > 120 && !list.if_spoken.is_empty());
        }
    }
}
