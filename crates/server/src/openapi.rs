//! The parts of the OpenAPI document beyond each route's own description: general information, and
//! errors of all routes.

use quorum::{ProviderEntry, Registry};
use serde_json::{Value, json};
use utoipa::{
    PartialSchema,
    openapi::{
        Components, Content, Info, License, OpenApi, OpenApiBuilder, Ref, RefOr, Response, ResponseBuilder,
        link::Link,
        path::{Operation, PathItem},
        security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme},
    },
};

use crate::{
    problem::{Document, Field},
    seeds,
    wire::{
        answers, bounds, defaults, enums, order,
        panel_model::{self, VendorError, VendorErrorBody},
        spending::CapState,
    },
};

/// Statuses every route can answer with.
const ANYWHERE: &[(&str, &str)] = &[
    ("400", "The request is not acceptable"),
    ("401", "The token is missing or wrong"),
    ("403", "Pages of another origin may not do this"),
    ("421", "Unknown host name"),
    ("429", "Too many requests, or the spending cap is reached"),
    ("500", "Internal error"),
    ("503", "Discussions can't be stored at the moment, or too many are running"),
];

/// Statuses of routes that take a body.
const WITH_BODY: &[(&str, &str)] = &[
    ("408", "The body did not arrive in time"),
    ("413", "The body is too large"),
    ("415", "The body must be JSON"),
];

/// Statuses of routes about one discussion.
const WITH_ID: &[(&str, &str)] = &[("404", "There is no such discussion")];

/// Statuses of routes about one session.
const WITH_SESSION: &[(&str, &str)] =
    &[("404", "There is no such session"), ("409", "The session has discussions")];

/// Statuses of routes that act on a discussion.
const DOING: &[(&str, &str)] =
    &[("409", "The discussion's state does not allow this"), ("422", "The key belongs to another request")];

/// Statuses of questions to the panel as a model.
const ASKING: &[(&str, &str)] = &[("502", "No answer satisfies the schema")];

pub(crate) fn about() -> OpenApi {
    let mut info = Info::new("Quorum", env!("CARGO_PKG_VERSION"));
    info.description = Some("Several models discuss one question.".to_owned());
    info.license = Some(License::new("MIT OR Apache-2.0"));
    OpenApiBuilder::new().info(info).build()
}

/// Completes the document with all statuses that can occur.
pub(crate) fn completed(mut document: OpenApi) -> OpenApi {
    let components = document.components.get_or_insert_with(Components::default);
    components.schemas.insert("Problem".to_owned(), Document::schema());
    components.schemas.insert("Field".to_owned(), Field::schema());
    components.schemas.insert("CapState".to_owned(), CapState::schema());
    components.schemas.insert("VendorError".to_owned(), VendorError::schema());
    components.schemas.insert("VendorErrorBody".to_owned(), VendorErrorBody::schema());
    for (name, scheme) in [("bearer", HttpAuthScheme::Bearer), ("basic", HttpAuthScheme::Basic)] {
        let scheme = SecurityScheme::Http(HttpBuilder::new().scheme(scheme).build());
        components.security_schemes.insert(name.to_owned(), scheme.into());
    }
    let nobody = SecurityRequirement::default();
    let token = |name: &str| SecurityRequirement::new(name, [""; 0]);
    document.security = Some(vec![nobody, token("bearer"), token("basic")]);
    // The router's mark for a parameter with slashes, which the document has no notation for.
    let paths = std::mem::take(&mut document.paths.paths).into_iter();
    document.paths.paths = paths.map(|(path, item)| (path.replace("{*", "{"), item)).collect();
    document.paths.paths.iter_mut().for_each(|(path, item)| complete(path, item));
    link(&mut document);
    document
}

/// The document as sent, with the fields of an order that this registry declares, and the available
/// providers.
pub(crate) fn with_fields(document: OpenApi, registry: &Registry, providers: &[ProviderEntry]) -> Value {
    let mut document = serde_json::to_value(document).unwrap_or_default();
    for (name, schema) in order::schemas(registry) {
        document["components"]["schemas"][&*name] = schema;
    }
    for (name, schema) in panel_model::schemas(registry) {
        document["components"]["schemas"][&*name] = schema;
    }
    for (name, schema) in answers::schemas() {
        document["components"]["schemas"][&*name] = schema;
    }
    let data = &mut document["components"]["schemas"]["StreamedEvent"]["properties"]["data"];
    data["contentSchema"] = json!({ "$ref": "#/components/schemas/EventData" });
    bounds::declare(&mut document);
    seeds::name_providers(&mut document, providers);
    never_null(&mut document);
    enums::declare_once(&mut document);
    defaults::describe(&mut document);
    document
}

/// Removes null from the types of parameters: a parameter is left out, never sent as null.
fn never_null(document: &mut Value) {
    let paths = document["paths"].as_object_mut().into_iter().flatten();
    let operations = paths.filter_map(|(_, methods)| methods.as_object_mut()).flatten();
    let parameters = operations.filter_map(|(_, it)| it.get_mut("parameters")?.as_array_mut()).flatten();
    for kinds in parameters.filter_map(|it| it.get_mut("schema")?.get_mut("type")) {
        if let Some(kind) = kinds.as_array().and_then(|all| all.iter().find(|it| *it != "null")).cloned() {
            *kinds = kind;
        }
    }
}

/// Links the route that starts a discussion to those that read and control it.
fn link(document: &mut OpenApi) {
    let about_one = document.paths.paths.iter().filter(|(path, _)| path.contains("{id}"));
    let operations = about_one.flat_map(|(_, item)| [&item.get, &item.post, &item.delete]).flatten();
    let ids: Vec<String> = operations.filter_map(|it| it.operation_id.clone()).collect();
    for item in document.paths.paths.values_mut() {
        let accepted = item.post.as_mut().and_then(|it| it.responses.responses.get_mut("202"));
        let Some(RefOr::T(accepted)) = accepted else { continue };
        for id in &ids {
            let link =
                Link::builder().operation_id(id.as_str()).parameter("id", "$response.body#/discussionId");
            accepted.links.insert(id.clone(), link.build().into());
        }
    }
}

fn complete(path: &str, item: &mut PathItem) {
    let has_id = path.contains("{id}");
    let error = if path.starts_with("/v1/") { vendor_error } else { problem };
    let add = |operation: &mut Operation, statuses: &[(&str, &str)]| add(operation, statuses, error);
    for (operation, does) in [(&mut item.get, false), (&mut item.post, true), (&mut item.delete, true)] {
        let Some(operation) = operation else { continue };
        let takes = operation.request_body.is_some() || path.contains("{id}/");
        add(operation, ANYWHERE);
        add(operation, if does && takes { WITH_BODY } else { &[] });
        add(operation, if does && !takes { &WITH_BODY[2..] } else { &[] });
        add(operation, if has_id { WITH_ID } else { &[] });
        add(operation, if path.contains("{session}") { WITH_SESSION } else { &[] });
        add(operation, if does { DOING } else { &[] });
        add(operation, if does && path.starts_with("/v1/") { ASKING } else { &[] });
    }
}

fn add(operation: &mut Operation, statuses: &[(&str, &str)], error: fn(&str) -> Response) {
    for (status, description) in statuses {
        let response = || error(description).into();
        operation.responses.responses.entry((*status).to_owned()).or_insert_with(response);
    }
}

fn problem(description: &str) -> Response {
    let content = Content::new(Some(Ref::from_schema_name("Problem")));
    ResponseBuilder::new().description(description).content("application/problem+json", content).build()
}

/// An error in the format of the vendor that the path belongs to.
fn vendor_error(description: &str) -> Response {
    let content = Content::new(Some(Ref::from_schema_name("VendorError")));
    ResponseBuilder::new().description(description).content("application/json", content).build()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use crate::problem::STATUSES;

    #[test]
    fn every_status_that_can_occur_is_described() {
        let document = crate::routes::document();
        let operations =
            document.paths.paths.values().flat_map(|it| [&it.get, &it.post, &it.delete]).flatten();
        let described: BTreeSet<&String> = operations.flat_map(|it| it.responses.responses.keys()).collect();
        // A 405 belongs to no operation, so none describes it.
        let possible = STATUSES.iter().map(|it| it.as_str().to_owned()).filter(|it| it != "405");
        let missing: Vec<String> = possible.filter(|it| !described.contains(it)).collect();
        assert_eq!(missing, Vec::<String>::new());
    }
}
