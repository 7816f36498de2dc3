//! Holds a discussion.

use crate::mcp::{
    Surface, order, request, schema,
    tools::{CAPS, Effect, Form, Tool, about_money},
};

pub(crate) const TOOL: Tool = Tool {
    name: "discuss",
    title: "Hold a discussion",
    description,
    effect: Effect::Spends,
    form: Form::Json,
    input: schema::order,
    output: schema::described_discussion,
    run: |call, mistakes| {
        Box::pin(async move {
            let request = request::read(call, call.arguments.clone(), mistakes)?;
            order::held(call, &request).await
        })
    },
};

fn description(surface: &Surface<'_>) -> String {
    let patterns: Vec<&str> = surface.registry.patterns().iter().map(|it| it.name).collect();
    format!(
        "Puts a question to several models, lets them discuss it in one of these patterns ({}), and \
         returns their considered answer with dissent, votes and cost. {}",
        patterns.join(", "),
        about_money(surface, CAPS)
    )
}
