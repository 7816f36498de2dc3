//! Processor time for every flag and argument of every verb, as the help lists them.

use std::{fmt::Write as _, time::Duration};

use serde_json::Value;

use crate::measure::{Folder, TIMES, shortest};

/// The sizes of an argument in bytes, the second close to the longest that Linux accepts.
const SIZES: [usize; 2] = [30_000, 120_000];

/// A fixed allowance in addition to the proportional one. Child times are counted in hundredths of
/// a second, and the command-line parser takes about a microsecond for each entry of a list, of
/// which an argument holds at most 65,536.
const FIXED: Duration = Duration::from_millis(120);

/// The most output for an input, as a multiple of its length.
const TIMES_PRINTED: usize = 4;

fn verbs(folder: &Folder) -> Vec<String> {
    let help = String::from_utf8(folder.ax().arg("--help").output().unwrap().stdout).unwrap();
    let lines = help.lines().take_while(|line| *line != "Options:");
    let entries = lines.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names = entries.filter_map(|line| line.split_whitespace().next());
    names.filter(|it| *it != "help").map(str::to_owned).collect()
}

/// The flags of a verb that take a value.
fn flags(folder: &Folder, verb: &str) -> Vec<String> {
    let help = String::from_utf8(folder.ax().args([verb, "--help"]).output().unwrap().stdout).unwrap();
    let lines = help.lines().map(str::trim).filter(|line| line.starts_with('-') && line.contains('<'));
    let longs = lines.filter_map(|line| line.split([' ', ',']).find(|it| it.starts_with("--")));
    longs.map(str::to_owned).collect()
}

fn values(size: usize) -> [String; 4] {
    let pairs = (0..size / 12).fold(String::new(), |mut text, it| {
        write!(text, "n{it:05}=r{it:03},").unwrap();
        text
    });
    let names = (0..size / 7).fold(String::new(), |mut text, it| {
        write!(text, "n{it:05},").unwrap();
        text
    });
    ["a".repeat(size), "a,".repeat(size / 2), names, pairs]
}

#[test]
#[cfg_attr(debug_assertions, ignore = "times of release builds are measured: cargo xtask bounds")]
fn the_work_for_every_flag_is_in_proportion_to_its_size() {
    let folder = Folder::new();
    let mut commands: Vec<Vec<String>> = vec![vec!["--nothing".to_owned()]];
    for verb in verbs(&folder) {
        let start = match verb.as_str() {
            "discuss" => vec![verb.clone(), "x?".to_owned(), "--offline".to_owned(), "--dry-run".to_owned()],
            _ => vec![verb.clone()],
        };
        for flag in flags(&folder, &verb) {
            commands.push(start.iter().cloned().chain([flag]).collect());
        }
        commands.push(vec![verb, "--".to_owned()]);
    }
    let mut wrong = Vec::new();
    for command in &commands {
        for kind in 0..values(0).len() {
            let mut least = Duration::MAX;
            for size in SIZES {
                let value = &values(size)[kind];
                let args: Vec<&str> = command.iter().map(String::as_str).chain([value.as_str()]).collect();
                let (spent, printed) = folder.run(&args);
                least = least.min(spent);
                let text = Value::from(value.as_str()).to_string();
                let parsing = shortest(|| drop(serde_json::from_str::<Value>(&text).unwrap()));
                if least + parsing * TIMES + FIXED < spent || size * TIMES_PRINTED < printed {
                    let command = command.join(" ");
                    wrong.push(format!("ax {command} with {size} bytes ({kind}): {spent:?}, after {least:?}; printed {printed}"));
                }
            }
        }
    }
    println!("{} flags and arguments measured", commands.len());
    assert!(commands.len() > 60, "{commands:?}");
    assert_eq!(wrong, Vec::<String>::new());
}
