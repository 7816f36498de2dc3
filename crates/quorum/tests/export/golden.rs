//! Golden files of a small discussion in every format. After an intended change: `GOLDEN=write
//! cargo test -p quorum-panel`.

use std::{fs, path::Path};

use quorum::export::{FORMATS, ending, named};

use crate::talk::Talk;

const SMALL: Talk<'_> = Talk {
    topic: "Tabs or spaces?",
    words: "**Tabs**, because `\\t` is one key.\n\n- fewer bytes\n- *your* width",
};

#[test]
fn d15_a_small_discussion_in_every_format() {
    for format in FORMATS {
        let file = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/export/golden/small")
            .with_extension(format.ending);
        let text = SMALL.export(format.name);
        if std::env::var_os("GOLDEN").is_some() {
            fs::write(&file, &text).unwrap();
        }
        assert_eq!(text, fs::read_to_string(&file).unwrap(), "{}", format.name);
    }
}

#[test]
fn formats_are_found_by_name_and_by_ending() {
    for format in FORMATS {
        assert_eq!(named(format.name).unwrap().name, format.name);
        assert_eq!(ending(&format.ending.to_uppercase()).unwrap().name, format.name);
    }
    assert!(named("pdf").is_none() && ending("pdf").is_none());
}

#[test]
fn json_lines_are_json_and_numbered_upwards() {
    let text = SMALL.export("jsonl");
    let mut lines = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    assert_eq!(lines.next().unwrap(), serde_json::json!({ "schema": "quorum.events", "version": 1 }));
    let numbers: Vec<u64> = lines.map(|line| line["seq"].as_u64().unwrap()).collect();
    assert!(numbers.len() > 4 && numbers.is_sorted(), "{numbers:?}");
}
