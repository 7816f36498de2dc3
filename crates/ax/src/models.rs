//! `ax models` and `ax prices`: who there is, what they take in, and what they cost.

use quorum::{
    Config, Error, config,
    setup::{self, Facts, Machine, Provider, Setup, prices},
    text::count,
};
use serde_json::{Value, json};

use crate::{
    args::{Listed, PriceVerb, Prices},
    exit::Exit,
    render::{note, print, print_json},
};

/// How many entries are named that were not understood.
const NAMED: usize = 5;

/// `ax models`
pub(crate) fn models(listed: &Listed) -> anyhow::Result<Exit> {
    let setup = load()?;
    if listed.json {
        let documents = setup.providers.iter().map(|it| document(it, &it.listed));
        print_json(&documents.collect::<Vec<_>>())?;
    } else {
        print(&setup.providers.iter().map(paragraph).collect::<Vec<_>>().join("\n\n"))?;
    }
    Ok(Exit::Done)
}

/// `ax prices`
pub(crate) fn prices(args: &Prices) -> anyhow::Result<Exit> {
    if let Some(PriceVerb::Import { file }) = &args.verb {
        return import(file);
    }
    let setup = load()?;
    if args.listed.json {
        let documents = setup.providers.iter().map(|it| document(it, &priced(it)));
        print_json(&documents.collect::<Vec<_>>())?;
    } else {
        let rows =
            setup.providers.iter().flat_map(|it| priced(it).into_iter().map(move |model| row(it, &model)));
        print(&rows.collect::<Vec<_>>().join("\n"))?;
        note(
            "USD for a million tokens: read / written / remembered. config.toml comes before imported prices, and those before ours.",
        );
    }
    Ok(Exit::Done)
}

fn load() -> anyhow::Result<Setup> {
    Ok(setup::load(&Config::load()?, &Machine::this())?)
}

fn import(file: &std::path::Path) -> anyhow::Result<Exit> {
    let wrong = |error| Error::Config(config::Error::Prices(error));
    let import = prices::import(file).map_err(wrong)?;
    import.prices.save(&Config::load()?.prices_file()).map_err(wrong)?;
    note(&format!("Took over the prices of {}.", count(import.prices.len() as u64, "model")));
    if import.others > 0 {
        note(&format!("Left out what is not for conversations: {}.", import.others));
    }
    if !import.unread.is_empty() {
        let named = import.unread.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
        let more = import.unread.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        note(&format!("Not understood, and left out: {named}{more}."));
    }
    Ok(Exit::Done)
}

/// The models that are known, and then those that were imported.
fn priced(provider: &Provider) -> Vec<String> {
    let imported = provider.models.keys().filter(|it| !provider.listed.contains(it));
    provider.listed.iter().chain(imported).cloned().collect()
}

fn paragraph(provider: &Provider) -> String {
    let state = provider.lacks().unwrap_or_else(|| "available".to_owned());
    let heading = format!("{}  ({state})", provider.name);
    let models = provider.listed.iter().map(|model| format!("  {}", row(provider, model)));
    std::iter::once(heading).chain(models).collect::<Vec<_>>().join("\n")
}

fn row(provider: &Provider, model: &str) -> String {
    let Facts { window, price, .. } = provider.facts(model);
    let name = format!("{}/{model}", provider.name);
    format!(
        "{name:<36} {:>6} tokens  {}",
        short(window),
        price.map_or_else(|| "unpriced".to_owned(), dollars)
    )
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
        let Facts { window, price, .. } = provider.facts(name);
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
        "available": provider.way.is_ok(),
        "lacks": provider.lacks(),
        "model": provider.model,
        "models": models.iter().map(model).collect::<Vec<_>>(),
    })
}
