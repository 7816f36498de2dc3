//! `ax models` and `ax prices`: the providers and models, their windows, and their prices.

use quorum::{
    Error, config,
    setup::{self, Machine, ModelInfo, Provider, Setup, prices},
    text::count,
};
use serde_json::{Value, json};

use crate::{
    app::App,
    args::{Listed, PriceVerb, Prices},
    exit::{Exit, Usage},
    render::{line::width, note, print, print_json, room, wording},
};

/// What prices mean.
const UNITS: &str = "USD per million tokens: input / output / cached";

/// The mark before a provider's default model.
const DEFAULT: &str = "*";

/// The most entries named in the message about those that were not understood.
const NAMED: usize = 5;

/// `ax models`
pub(crate) fn models(app: &App, listed: &Listed) -> anyhow::Result<Exit> {
    let setup = load(app)?;
    if listed.json {
        let documents = setup.providers.iter().map(|it| document(it, &it.listed));
        print_json(&documents.collect::<Vec<_>>())?;
    } else {
        let form = Form::of(&setup, |it| it.listed.clone(), "  ", room());
        print(&setup.providers.iter().map(|it| paragraph(it, form)).collect::<Vec<_>>().join("\n\n"))?;
        note(&format!("{UNITS}. {DEFAULT} marks the model that is asked if none is named."));
    }
    Ok(Exit::Done)
}

/// `ax prices`
pub(crate) fn prices(app: &App, args: &Prices) -> anyhow::Result<Exit> {
    if let Some(PriceVerb::Import { file }) = &args.verb {
        return import(app, file);
    }
    let setup = load(app)?;
    if args.listed.json {
        let documents = setup.providers.iter().map(|it| document(it, &priced(it)));
        print_json(&documents.collect::<Vec<_>>())?;
    } else {
        let form = Form::of(&setup, priced, "", room());
        let rows = |it| priced(it).into_iter().map(move |model| row(it, &model, "", form));
        let rows = setup.providers.iter().flat_map(rows);
        print(&rows.collect::<Vec<_>>().join("\n"))?;
        let order = "config.toml overrides imported prices, and those override the built-in ones";
        note(&format!("{UNITS}. {order}."));
    }
    Ok(Exit::Done)
}

fn load(app: &App) -> anyhow::Result<Setup> {
    Ok(setup::load(&app.config()?, &Machine::this())?)
}

fn import(app: &App, file: &std::path::Path) -> anyhow::Result<Exit> {
    let import = prices::import(file).map_err(|error| Usage(error.to_string()))?;
    let unwritten = |error| Error::Config(config::Error::Prices(error));
    import.prices.save(&app.config()?.prices_file()).map_err(unwritten)?;
    note(&format!("Imported the prices of {}.", count(import.prices.len() as u64, "model")));
    if import.others > 0 {
        note(&format!("Skipped models that are not for chat: {}.", import.others));
    }
    if !import.unread.is_empty() {
        let named = import.unread.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
        let more = import.unread.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        note(&format!("Skipped entries that could not be read: {named}{more}."));
    }
    Ok(Exit::Done)
}

/// The built-in models, then the imported ones.
fn priced(provider: &Provider) -> Vec<String> {
    let imported = provider.models.keys().filter(|it| !provider.listed.contains(it));
    provider.listed.iter().chain(imported).cloned().collect()
}

/// The layout of a model in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// All on one line.
    Wide,
    /// Its details below its name.
    Narrow,
}

impl Form {
    /// The layout in which all of these fit.
    fn of(setup: &Setup, models: fn(&Provider) -> Vec<String>, margin: &str, columns: usize) -> Form {
        let fits = |provider: &Provider| {
            models(provider).iter().all(|model| width(&row(provider, model, margin, Form::Wide)) <= columns)
        };
        if setup.providers.iter().all(fits) { Form::Wide } else { Form::Narrow }
    }
}

/// What a provider is missing, and what to do about it; `None` if it is available.
fn lacking(provider: &Provider) -> Option<String> {
    provider.missing().map(|missing| wording::lacks(&provider.name, missing))
}

/// The program that answers, and what its cost means; `None` if it is no program.
fn program(provider: &Provider) -> Option<String> {
    provider.program().map(|program| wording::program(&program))
}

fn paragraph(provider: &Provider, form: Form) -> String {
    let available = || program(provider).unwrap_or_else(|| "available".to_owned());
    let heading = format!("{}  ({})", provider.name, lacking(provider).unwrap_or_else(available));
    let margin = |model: &str| if model == provider.model { format!("{DEFAULT} ") } else { "  ".to_owned() };
    let models = provider.listed.iter().map(|model| row(provider, model, &margin(model), form));
    std::iter::once(heading).chain(models).collect::<Vec<_>>().join("\n")
}

fn row(provider: &Provider, model: &str, margin: &str, form: Form) -> String {
    let ModelInfo { window, price, .. } = provider.model_info(model);
    let name = format!("{}/{model}", provider.name);
    let (window, price) = (short(window), price.map_or_else(|| "unpriced".to_owned(), dollars));
    match form {
        Form::Wide => format!("{margin}{name:<36} {window:>6} tokens  {price}"),
        Form::Narrow => {
            format!("{margin}{name}\n{:width$}  {window} tokens  {price}", "", width = margin.len())
        }
    }
}

fn dollars(price: quorum::model::money::Price) -> String {
    let cached = price.cached.map(|it| format!(" / ${}", it.dollars())).unwrap_or_default();
    format!("${} / ${}{cached}", price.input.dollars(), price.output.dollars())
}

fn short(tokens: u64) -> String {
    match tokens {
        1_000_000.. => format!("{}M", tokens / 1_000_000),
        1_000.. => format!("{}k", tokens / 1_000),
        few => few.to_string(),
    }
}

fn document(provider: &Provider, models: &[String]) -> Value {
    let model = |name: &String| {
        let ModelInfo { window, price, .. } = provider.model_info(name);
        let price = price.map(|it| {
            let cached = it.cached.map(|it| it.dollars());
            json!({ "input": it.input.dollars(), "output": it.output.dollars(), "cached": cached })
        });
        json!({ "name": name, "window": window, "price": price })
    };
    json!({
        "name": provider.name,
        "aliases": provider.aliases,
        "strengths": provider.strengths,
        "available": provider.transport.is_ok(),
        "lacks": lacking(provider),
        "program": program(provider),
        "model": provider.model,
        "models": models.iter().map(model).collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn on_a_narrow_terminal_a_models_figures_are_below_its_name() {
        let bare = Machine::bare();
        let setup = setup::load(&quorum::Config::unset(PathBuf::new(), PathBuf::new()), &bare).unwrap();
        let form = |columns| Form::of(&setup, priced, "", columns);
        assert_eq!((form(usize::MAX), form(40)), (Form::Wide, Form::Narrow));
        for provider in &setup.providers {
            let listed = paragraph(provider, Form::Narrow);
            let models = listed.lines().skip(1);
            models.for_each(|line| assert!(width(line) <= 40, "{line}"));
        }
    }
}
