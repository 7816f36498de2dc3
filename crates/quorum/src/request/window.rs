//! How a talk that outgrows a model's window is shown, from a request to its spec and back.

use quorum_core::{
    model::spec::WindowSpec,
    registry::{OnOverflow, Registry},
};

use crate::request::Request;

/// How it is shown; whether there is such a strategy is the registry's to say.
pub(super) fn window(request: &Request, registry: &Registry) -> WindowSpec {
    let usual = usual(registry);
    WindowSpec {
        strategy: request.window_strategy.clone().unwrap_or(usual.strategy),
        overflow: request.window_overflow.clone().unwrap_or(usual.overflow),
    }
}

/// The first strategy, and the first that shrinks a request which is too long.
pub(crate) fn usual(registry: &Registry) -> WindowSpec {
    let strategies = registry.strategies();
    let shrinks = strategies.iter().find(|it| it.overflow == OnOverflow::Shrinks);
    WindowSpec {
        strategy: strategies.first().map_or("", |it| it.name).to_owned(),
        overflow: shrinks.map_or(WindowSpec::END, |it| it.name).to_owned(),
    }
}

/// The request with this in it; what is usual is left out.
pub(super) fn with_window(request: Request, window: &WindowSpec, registry: &Registry) -> Request {
    let (usual, WindowSpec { strategy, overflow }) = (usual(registry), window);
    Request {
        window_strategy: (*strategy != usual.strategy).then(|| strategy.clone()),
        window_overflow: (*overflow != usual.overflow).then(|| overflow.clone()),
        ..request
    }
}
