//! How a talk that outgrows a model's window is shown, from a request to its spec and back.

use quorum_core::model::spec::{Overflow, WindowSpec};

use crate::request::{Request, bounds::Complaints};

/// How it is shown; whether the strategy exists is the engine's to say.
pub(super) fn window(request: &Request, wrong: &mut Complaints) -> WindowSpec {
    let usual = WindowSpec::default();
    let overflow = request.window_overflow.as_deref();
    WindowSpec {
        strategy: request.window_strategy.clone().unwrap_or(usual.strategy),
        summaries: request.window_summaries.unwrap_or(usual.summaries),
        overflow: overflow.map_or(usual.overflow, |given| {
            Overflow::ALL.into_iter().find(|it| it.name() == given).unwrap_or_else(|| {
                let names = Overflow::ALL.map(Overflow::name).join(", ");
                wrong.add("windowOverflow", format!("there is no {given:?}; there are {names}"));
                usual.overflow
            })
        }),
    }
}

/// The request with this in it; what is usual is left out.
pub(super) fn with_window(request: Request, window: &WindowSpec) -> Request {
    let (usual, WindowSpec { strategy, summaries, overflow }) = (WindowSpec::default(), window);
    Request {
        window_strategy: (*strategy != usual.strategy).then(|| strategy.clone()),
        window_summaries: summaries.then_some(true),
        window_overflow: (*overflow != usual.overflow).then(|| overflow.name().to_owned()),
        ..request
    }
}
