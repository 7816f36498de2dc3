//! `ax config`: where the configuration is, the effective values, and whether they are valid.

use quorum::{
    Config, complaints,
    config::{EffectiveValue, Origin, Places},
};
use serde_json::json;

use crate::{
    app::App,
    args::{ConfigVerb, Listed, Place},
    exit::Exit,
    render::{note, note_always, print, print_json, wording},
};

/// `ax config`
pub(crate) fn config(app: &App, verb: &ConfigVerb) -> anyhow::Result<Exit> {
    match verb {
        ConfigVerb::Path { place } => path(*place),
        ConfigVerb::Show(listed) => show(&app.config()?, listed),
        ConfigVerb::Check => check(app),
    }
}

fn path(place: Place) -> anyhow::Result<Exit> {
    let places = Places::find()?;
    let path = match place {
        Place::Config => places.file,
        Place::Data => places.data_dir,
        Place::State => places.state_dir,
        Place::Cache => places.cache_dir,
    };
    print(&path.display().to_string())?;
    Ok(Exit::Done)
}

fn show(config: &Config, listed: &Listed) -> anyhow::Result<Exit> {
    let given = config.given();
    if listed.json {
        let value = |it: &EffectiveValue| {
            let from = match &it.origin {
                Origin::BuiltIn => "usual",
                Origin::File(_) => "file",
                Origin::Environment => "environment",
            };
            json!({ "section": it.section, "key": it.key, "value": it.value, "from": from })
        };
        let values: Vec<_> = given.iter().map(value).collect();
        print_json(&json!({ "file": config.file, "exists": config.file.exists(), "values": values }))?;
    } else {
        print(&text(config, &given))?;
    }
    Ok(Exit::Done)
}

/// The configuration as text that could be written to the file.
fn text(config: &Config, given: &[EffectiveValue]) -> String {
    let file = config.file.display();
    let mut lines = vec![match config.file.exists() {
        true => format!("# {file}"),
        false => format!("# {file} does not exist; these are the defaults"),
    }];
    for section in given.chunk_by(|one, other| one.section == other.section) {
        lines.push(format!("\n[{}]", section[0].section));
        lines.extend(section.iter().map(|it| {
            let from = match &it.origin {
                Origin::BuiltIn => "  # default",
                Origin::File(_) => "",
                Origin::Environment => "  # from AX_DATABASE_URL",
            };
            format!("{} = {}{from}", it.key, it.value)
        }));
    }
    lines.push(
        "\n# `ax discuss --help` lists the other defaults. Flags on the command line override all of them."
            .to_owned(),
    );
    lines.join("\n")
}

/// Reports syntax errors and invalid values together.
fn check(app: &App) -> anyhow::Result<Exit> {
    let (config, mistakes) = Config::survey(&app.registry)?;
    let file = config.file.display();
    let mistakes = mistakes.into_iter().chain(config.unset_tokens());
    let wrong = mistakes.map(|it| wording::mistake(&it)).chain(complaints(&config));
    let wrong: Vec<String> = wrong.collect();
    if wrong.is_empty() {
        note(&match config.file.exists() {
            true => format!("{file} is fine."),
            false => format!("{file} does not exist, which is fine: the defaults apply."),
        });
        return Ok(Exit::Done);
    }
    wrong.iter().for_each(|it| note_always(&format!("error: {file}: {}", it.trim_end())));
    Ok(Exit::Setup)
}
