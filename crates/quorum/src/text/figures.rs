//! Numbers as people read them.

/// `0.3 s`, `12.0 s`, `2 min 5 s`.
#[must_use]
pub fn time(ms: u64) -> String {
    match ms {
        0..60_000 => format!("{:.1} s", ms as f64 / 1_000.0),
        _ => format!("{} min {} s", ms / 60_000, ms % 60_000 / 1_000),
    }
}

/// `1 call`, `12,345 calls`.
#[must_use]
pub fn count(number: u64, one: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {one}{plural}", grouped(number))
}

/// `12,345`
#[must_use]
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// The beginning of a text, on one line.
#[must_use]
pub fn line(text: &str, longest: usize) -> String {
    let one_line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if one_line.chars().count() <= longest {
        return one_line;
    }
    let cut: String = one_line.chars().take(longest - 1).collect();
    format!("{}…", cut.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_readable() {
        assert_eq!([time(0), time(340), time(125_999)], ["0.0 s", "0.3 s", "2 min 5 s"]);
        assert_eq!(count(1, "call"), "1 call");
        assert_eq!(count(1_234_567, "token"), "1,234,567 tokens");
        assert_eq!(line("two\n lines  of text", 9), "two line…");
    }
}
