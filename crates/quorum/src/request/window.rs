//! The context strategy for discussions that outgrow a model's window: from a request to its spec
//! and back.

use quorum_core::{
    model::spec::WindowSpec,
    registry::{OnOverflow, Registry},
};

use crate::request::Request;

/// The requested strategy; the registry checks whether it exists.
pub(super) fn window(request: &Request, registry: &Registry) -> WindowSpec {
    let usual = usual(registry);
    WindowSpec {
        strategy: request.window_strategy.clone().unwrap_or(usual.strategy),
        overflow: request.window_overflow.clone().unwrap_or(usual.overflow),
    }
}

/// The default: the first strategy, and the first that shrinks a request which is too long.
pub(crate) fn usual(registry: &Registry) -> WindowSpec {
    let strategies = registry.strategies();
    let shrinks = strategies.iter().find(|it| it.overflow == OnOverflow::Shrinks);
    WindowSpec {
        strategy: strategies.first().map_or("", |it| it.name).to_owned(),
        overflow: shrinks.map_or(WindowSpec::END, |it| it.name).to_owned(),
    }
}

/// Adds the strategy to a request; defaults are left out.
pub(super) fn with_window(request: Request, window: &WindowSpec, registry: &Registry) -> Request {
    let (usual, WindowSpec { strategy, overflow }) = (usual(registry), window);
    Request {
        window_strategy: (*strategy != usual.strategy).then(|| strategy.clone()),
        window_overflow: (*overflow != usual.overflow).then(|| overflow.clone()),
        ..request
    }
}
