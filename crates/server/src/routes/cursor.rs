//! Cursors of lists that are read in pages, as clients get and send them.

use axum::http::{HeaderName, header};
use uuid::Uuid;

use crate::problem::Problem;

/// A place in a list: a time or a number, and an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PageCursor {
    pub(super) at: i64,
    pub(super) id: Uuid,
}

impl PageCursor {
    /// The cursor that a client has sent, if any.
    pub(super) fn read(given: Option<&str>) -> Result<Option<Self>, Problem> {
        let Some(given) = given else { return Ok(None) };
        let wrong = || Problem::parameter("cursor", "is not one that this list has given".to_owned());
        let (at, id) = given.split_once('-').ok_or_else(wrong)?;
        let place = PageCursor { at: at.parse().map_err(|_| wrong())?, id: id.parse().map_err(|_| wrong())? };
        // Other spellings of the same are none that was given.
        (place.written() == given).then_some(Some(place)).ok_or_else(wrong)
    }

    /// The `Link` header with the page that begins after this place.
    pub(super) fn link(self, list: &str) -> [(HeaderName, String); 1] {
        [(header::LINK, format!("<{list}?cursor={}>; rel=\"next\"", self.written()))]
    }

    fn written(self) -> String {
        format!("{}-{}", self.at, self.id)
    }
}
