//! Tables with a header, as RFC 4180 describes them: quoted cells may hold separators, quotes and
//! line breaks.

use serde_json::{Map, Value};

use super::{
    Mistake,
    records::{Record, Records},
};

/// The most columns that are read.
const MOST_COLUMNS: usize = 1_000;

/// The header of MMLU's own files, which have none.
const MMLU: [&str; 6] = ["question", "A", "B", "C", "D", "answer"];

/// A row and the line where it begins.
type Row = (usize, Vec<String>);

pub(super) fn records(text: &str, separator: char) -> Result<Records, Mistake> {
    let mut rows = rows(text, separator)?.into_iter().peekable();
    let Some((line, first)) = rows.peek().cloned() else { return Ok((Vec::new(), Vec::new())) };
    let header = if is_headless(&first) {
        MMLU.map(str::to_owned).to_vec()
    } else {
        rows.next();
        first.iter().map(|it| it.trim().to_owned()).collect()
    };
    if let Some(twice) = duplicate(&header) {
        return Err(Mistake::new(line, &twice, "two columns have this name"));
    }
    let (mut records, mut mistakes) = (Vec::new(), Vec::new());
    for (line, cells) in rows {
        if cells.len() > header.len() {
            let message =
                format!("there are {} cells, and {} columns in the header", cells.len(), header.len());
            mistakes.push(Mistake::new(line, "", message));
            continue;
        }
        let filled = header.iter().zip(cells).filter(|(_, cell)| !cell.trim().is_empty());
        let fields: Map<String, Value> =
            filled.map(|(name, cell)| (name.clone(), Value::String(cell))).collect();
        records.push(Record { line, fields });
    }
    Ok((records, mistakes))
}

/// Whether the first row is already a question of MMLU: four options and a letter.
fn is_headless(first: &[String]) -> bool {
    first.len() == MMLU.len() && first.last().is_some_and(|it| ["A", "B", "C", "D"].contains(&it.trim()))
}

fn duplicate(header: &[String]) -> Option<String> {
    let named = |place: &usize| !header[*place].is_empty() && header[..*place].contains(&header[*place]);
    (0..header.len()).find(named).map(|it| header[it].clone())
}

/// The rows that are not empty.
fn rows(text: &str, separator: char) -> Result<Vec<Row>, Mistake> {
    let mut rows: Vec<Row> = Vec::new();
    let (mut cells, mut cell) = (Vec::new(), String::new());
    let (mut line, mut began) = (1, 1);
    let mut letters = text.chars().peekable();
    let mut quoted: Option<usize> = None;
    while let Some(letter) = letters.next() {
        line += usize::from(letter == '\n');
        match letter {
            '"' if quoted.is_some() && letters.peek() == Some(&'"') => {
                letters.next();
                cell.push('"');
            }
            '"' if quoted.is_some() => quoted = None,
            it if quoted.is_some() => cell.push(it),
            '"' if cell.trim().is_empty() => {
                cell.clear();
                quoted = Some(line);
            }
            it if it == separator => {
                cells.push(std::mem::take(&mut cell));
                if cells.len() > MOST_COLUMNS {
                    return Err(Mistake::new(began, "", format!("there are more than {MOST_COLUMNS} cells")));
                }
            }
            '\r' if letters.peek() == Some(&'\n') => {}
            '\n' => {
                end_row(&mut rows, began, &mut cells, &mut cell);
                began = line;
            }
            it => cell.push(it),
        }
    }
    if let Some(opened) = quoted {
        return Err(Mistake::new(opened, "", "a quotation mark is never closed"));
    }
    end_row(&mut rows, began, &mut cells, &mut cell);
    Ok(rows)
}

fn end_row(rows: &mut Vec<Row>, began: usize, cells: &mut Vec<String>, cell: &mut String) {
    cells.push(std::mem::take(cell));
    let row = std::mem::take(cells);
    if row.iter().any(|it| !it.trim().is_empty()) {
        rows.push((began, row));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[(usize, &[&str])]) {
        let found = rows(text, ',').unwrap();
        let found: Vec<(usize, Vec<&str>)> =
            found.iter().map(|it| (it.0, it.1.iter().map(String::as_str).collect())).collect();
        let expected: Vec<(usize, Vec<&str>)> = expected.iter().map(|it| (it.0, it.1.to_vec())).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn cells_may_hold_separators_quotes_and_line_breaks() {
        check(
            "a,b\r\n\"x, \"\"y\"\"\n z\",2\n\n,3\n",
            &[(1, &["a", "b"]), (2, &["x, \"y\"\n z", "2"]), (5, &["", "3"])],
        );
        check("", &[]);
        check("5\" pipe,x", &[(1, &["5\" pipe", "x"])]);
    }

    #[test]
    fn an_open_quotation_names_its_line() {
        assert_eq!(rows("a,b\n1,\"x\ny", ','), Err(Mistake::new(2, "", "a quotation mark is never closed")));
    }
}
