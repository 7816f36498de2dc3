//! Runs the provider conformance suite for every wire over HTTP.

#![expect(clippy::unwrap_used, reason = "a test that can't go on should stop")]

mod odd;
mod offer;
mod order;
mod raw;
mod stale;

use std::{collections::BTreeMap, sync::Arc};

use quorum_core::{
    call::lane::Width,
    model::participant::Participant,
    seams::{Voice, Voices},
};
use quorum_providers::{
    RealVoices,
    source::{Endpoint, ModelInfo, Source, Timeouts, Transport},
    wire::{Quirks, wire},
};
use quorum_testkit::{
    conformance::provider::{Lack, Seat, Subject, fixture::MODEL},
    spec::spec,
};

/// A provider on this wire; its base URL has this path.
fn voice(name: &str, path: &str, seat: &Seat<'_>) -> Voice {
    voice_at(endpoint(name, path, seat), seat, Quirks::default())
}

fn endpoint(name: &str, path: &str, seat: &Seat<'_>) -> Endpoint {
    Endpoint {
        base: format!("{}{path}", seat.url).parse().unwrap(),
        wire: wire(name).unwrap(),
        key: seat.key.map(Into::into),
        key_names: vec!["ALPHA_KEY".to_owned()],
        key_path: None,
    }
}

fn voice_at(endpoint: Endpoint, seat: &Seat<'_>, quirks: Quirks) -> Voice {
    let source = Source {
        name: "alpha".to_owned(),
        transport: Transport::Http(Arc::new(endpoint)),
        model: MODEL.to_owned(),
        usual: ModelInfo { window: 128_000, price: None, quirks },
        models: BTreeMap::new(),
        width: Width::at_once(100),
        timeouts: Timeouts { first_ms: seat.first_ms, idle_ms: seat.idle_ms },
    };
    RealVoices::of(vec![source]).voice(&spec("synthesis"), &Participant::of("alpha")).unwrap()
}

mod anthropic {
    use super::{Lack, Subject, voice};

    fn subject() -> Subject {
        Subject {
            wire: "anthropic",
            voice: |seat| voice("anthropic", "/v1", seat),
            lacks: &[(Lack::Reasoning, "Anthropic's servers of today don't count thoughts apart")],
        }
    }

    quorum_testkit::provider_conformance!(super::subject);
}

mod openai_chat {
    use super::{Subject, voice};

    fn subject() -> Subject {
        Subject { wire: "openai-chat", voice: |seat| voice("openai-chat", "/v1", seat), lacks: &[] }
    }

    quorum_testkit::provider_conformance!(super::subject);
}

mod openai_responses {
    use super::{Lack, Subject, voice};

    fn subject() -> Subject {
        Subject {
            wire: "openai-responses",
            voice: |seat| voice("openai-responses", "/v1", seat),
            lacks: &[(Lack::Stop, "Responses knows no stop sequences; they are enforced on what comes back")],
        }
    }

    quorum_testkit::provider_conformance!(super::subject);
}

mod gemini {
    use super::{Subject, voice};

    fn subject() -> Subject {
        Subject { wire: "gemini", voice: |seat| voice("gemini", "/v1beta", seat), lacks: &[] }
    }

    quorum_testkit::provider_conformance!(super::subject);
}

mod ollama {
    use super::{Lack, Subject, voice};

    fn subject() -> Subject {
        Subject {
            wire: "ollama",
            voice: |seat| voice("ollama", "", seat),
            lacks: &[
                (Lack::Cached, "Ollama doesn't say what it remembered"),
                (Lack::Reasoning, "Ollama doesn't count thoughts apart"),
                (Lack::Refused, "Ollama's models refuse in words alone"),
            ],
        }
    }

    quorum_testkit::provider_conformance!(super::subject);
}
