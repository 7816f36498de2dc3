//! Processor time for every kind of file that the program reads, and for standard input.

use std::{fmt::Write as _, time::Duration};

use serde_json::Value;

use crate::measure::{Folder, QUICK, TIMES, shortest};

/// The sizes of a file in bytes, the second four times the first. A configuration may have a MiB.
const SIZES: [usize; 2] = [200_000, 800_000];

/// A fixed allowance beside the proportional one: child times are counted in hundredths of a
/// second.
const FIXED: Duration = Duration::from_millis(40);

/// Repeats a numbered entry up to this many bytes.
fn filled(size: usize, entry: impl Fn(usize) -> String) -> String {
    let mut text = String::new();
    let mut count = 0;
    while text.len() < size {
        text.push_str(&entry(count));
        count += 1;
    }
    text
}

/// Checks a file of two sizes, each made by `text`: the program may take three times as long as
/// `parse`.
fn check(name: &str, args: &[&str], text: impl Fn(usize) -> String, parse: impl Fn(&str)) -> Option<String> {
    let folder = Folder::new();
    let least = folder.run(args).0;
    SIZES.into_iter().find_map(|size| {
        let text = text(size);
        folder.write(name, &text);
        let parsing = shortest(|| parse(&text));
        let (spent, printed) = folder.run(args);
        let most = least + parsing * TIMES + FIXED;
        let what: String = text.chars().take(60).collect();
        (most < spent || size < printed).then(|| {
            format!("{name}, {what:?} with {size} bytes: {spent:?}, {most:?} is the most; printed {printed}")
        })
    })
}

fn as_toml(text: &str) {
    let _ = text.parse::<toml::Table>();
}

fn as_json(text: &str) {
    let _ = serde_json::from_str::<Value>(text);
}

#[test]
#[cfg_attr(debug_assertions, ignore = "times of release builds are measured: cargo xtask bounds")]
fn the_work_for_every_configuration_is_in_proportion_to_its_size() {
    let config = |text: fn(usize) -> String| check("config.toml", &["config", "check"], text, as_toml);
    let wrong = [
        config(|size| filled(size, |it| format!("[s{it}]\n"))),
        config(|size| filled(size, |it| format!("[presets.p{it}]\nrounds = 3\n"))),
        config(|size| format!("[defaults]\n{}", filled(size, |it| format!("k{it} = 1\n")))),
        config(|size| format!("[defaults]\ncontext = \"{}\"\n", "a".repeat(size))),
        config(|size| format!("[defaults]\nproviders = [{}]\n", "\"a\",".repeat(size / 4))),
        config(|size| format!("[defaults]\nroles = \"{}\"\n", filled(size, |it| format!("n{it}=r{it},")))),
        config(|size| filled(size, |it| format!("[providers.p{it}]\nmodel = \"m\"\n"))),
        config(|size| format!("[providers.own]\n{}", filled(size, |it| format!("k{it} = 1\n")))),
        config(|size| {
            let token = |it| format!("{{ name = \"n{it}\", token = \"0123456789abcdef\" }},");
            format!("[server]\ntokens = [{}]\n", filled(size, token))
        }),
        config(|size| format!("[server]\norigins = [{}]\n", filled(size, |it| format!("\"http://h{it}\",")))),
        config(|size| format!("{} = 1\n", "k".repeat(size))),
        config(|size| format!("{QUICK}{}", "# a line\n".repeat(size / 9))),
    ];
    assert_eq!(wrong.into_iter().flatten().collect::<Vec<_>>(), Vec::<String>::new());
}

#[test]
#[cfg_attr(debug_assertions, ignore = "times of release builds are measured: cargo xtask bounds")]
fn the_work_for_every_other_file_is_in_proportion_to_its_size() {
    let discuss = |flag| ["discuss", "x?", "--offline", "--dry-run", "--pattern", "debate", flag, "in.file"];
    let rows = |size| {
        let row = |it| format!("{{\"participant\":\"n{it}\",\"position\":\"p{it}\"}},");
        format!("[{}{{}}]", filled(size, row))
    };
    let price = |it| format!("\"m{it}\":{{\"input_cost_per_token\":1e-6,\"output_cost_per_token\":1e-6}},");
    let wrong = [
        check("in.file", &discuss("--positions"), rows, as_json),
        check("in.file", &discuss("--positions"), |size| format!("[\"{}\"]", "a".repeat(size)), as_json),
        check("in.file", &discuss("--positions"), |size| format!("[{}0]", "0,".repeat(size / 2)), as_json),
        check(
            "in.file",
            &discuss("--file"),
            |size| "word ".repeat(size / 5),
            |text| {
                as_json(&Value::from(text).to_string());
            },
        ),
        check(
            "in.file",
            &["prices", "import", "in.file"],
            |size| format!("{{{}\"m\":{{}}}}", filled(size, price)),
            as_json,
        ),
        check("keys.toml", &["keys", "list"], |size| filled(size, |it| format!("K{it} = \"v\"\n")), as_toml),
    ];
    assert_eq!(wrong.into_iter().flatten().collect::<Vec<_>>(), Vec::<String>::new());
}

#[test]
#[cfg_attr(debug_assertions, ignore = "times of release builds are measured: cargo xtask bounds")]
fn a_file_that_grows_is_not_read_to_its_end() {
    let folder = Folder::new();
    let endless = |args: &[&str]| folder.run(args).0;
    let (mut small, mut large) = (String::new(), String::new());
    write!(small, "{}", folder.write("small", &"a".repeat(600_000))).unwrap();
    write!(large, "{}", folder.write("large", &"a".repeat(60_000_000))).unwrap();
    for flag in ["--file", "--positions"] {
        let args = |file| ["discuss", "x?", "--offline", "--dry-run", "--pattern", "debate", flag, file];
        let (least, spent) = (endless(&args(&small)), endless(&args(&large)));
        assert!(spent <= least + FIXED, "{flag}: {spent:?} after {least:?}");
    }
}
