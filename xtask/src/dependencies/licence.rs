//! Evaluates SPDX licence expressions such as `(MIT OR Apache-2.0) AND Unicode-3.0`.

use anyhow::{Result, bail};

/// Whether the expression can be satisfied with the allowed licences alone. `/` is the old way to
/// write `OR`. A licence with an exception grants more than without it, so the exception is
/// skipped.
pub(super) fn is_satisfied(expression: &str, allowed: &[&str]) -> Result<bool> {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut parser = Parser { words: &words, allowed };
    let satisfied = parser.any()?;
    match parser.words.first() {
        None => Ok(satisfied),
        Some(word) => bail!("{word} is not expected there"),
    }
}

struct Parser<'a> {
    words: &'a [&'a str],
    allowed: &'a [&'a str],
}

impl<'a> Parser<'a> {
    fn any(&mut self) -> Result<bool> {
        let mut satisfied = self.all()?;
        while self.skip("OR") {
            satisfied |= self.all()?;
        }
        Ok(satisfied)
    }

    fn all(&mut self) -> Result<bool> {
        let mut satisfied = self.one()?;
        while self.skip("AND") {
            satisfied &= self.one()?;
        }
        Ok(satisfied)
    }

    fn one(&mut self) -> Result<bool> {
        if self.skip("(") {
            let satisfied = self.any()?;
            if !self.skip(")") {
                bail!("a parenthesis is not closed");
            }
            return Ok(satisfied);
        }
        let name = self.word()?;
        if self.skip("WITH") {
            self.word()?;
        }
        Ok(self.allowed.contains(&name))
    }

    fn word(&mut self) -> Result<&'a str> {
        let Some((word, rest)) = self.words.split_first() else { bail!("a name is missing at its end") };
        self.words = rest;
        Ok(word)
    }

    fn skip(&mut self, word: &str) -> bool {
        match self.words.split_first() {
            Some((first, rest)) if *first == word => {
                self.words = rest;
                true
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(expression: &str, expected: Option<bool>) {
        assert_eq!(is_satisfied(expression, &["MIT", "Zlib"]).ok(), expected, "{expression}");
    }

    #[test]
    fn expressions_are_evaluated() {
        check("MIT", Some(true));
        check("GPL-3.0", Some(false));
        check("GPL-3.0 OR MIT", Some(true));
        check("GPL-3.0/MIT", Some(true));
        check("GPL-3.0 AND MIT", Some(false));
        check("GPL-3.0 AND MIT OR Zlib", Some(true));
        check("(GPL-3.0 OR MIT) AND Zlib", Some(true));
        check("GPL-3.0 AND (MIT OR Zlib)", Some(false));
        check("MIT WITH some-exception", Some(true));
        check("GPL-3.0 WITH some-exception AND MIT", Some(false));
    }

    #[test]
    fn an_invalid_expression_is_an_error() {
        for broken in ["", "MIT OR", "(MIT", "MIT Zlib", "MIT)"] {
            check(broken, None);
        }
    }
}
