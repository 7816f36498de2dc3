//! The context strategy for discussions that outgrow a model's window: from a request to its spec
//! and back.

use quorum_core::{
    model::spec::WindowSpec,
    registry::{OnOverflow, Registry},
};

use crate::request::Request;

/// The requested strategy; the registry checks whether it exists.
pub(super) fn window(request: &Request, registry: &Registry) -> WindowSpec {
    let default = default_window(registry);
    WindowSpec {
        strategy: request.window_strategy.clone().unwrap_or(default.strategy),
        overflow: request.window_overflow.clone().unwrap_or(default.overflow),
    }
}

/// The default: the first strategy, and the first that shrinks a request which is too long.
pub(crate) fn default_window(registry: &Registry) -> WindowSpec {
    let strategies = registry.strategies();
    let shrinks = strategies.iter().find(|it| it.overflow == OnOverflow::Shrinks);
    WindowSpec {
        strategy: strategies.first().map_or("", |it| it.name).to_owned(),
        overflow: shrinks.map_or(WindowSpec::END, |it| it.name).to_owned(),
    }
}

/// Adds the strategy to a request; defaults are left out.
pub(super) fn with_window(request: Request, window: &WindowSpec, registry: &Registry) -> Request {
    let (default, WindowSpec { strategy, overflow }) = (default_window(registry), window);
    Request {
        window_strategy: (*strategy != default.strategy).then(|| strategy.clone()),
        window_overflow: (*overflow != default.overflow).then(|| overflow.clone()),
        ..request
    }
}
