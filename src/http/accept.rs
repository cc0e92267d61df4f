//! In which form an answer is given (RFC 9110, section 12.5.1).
//!
//! `application/graphql-response+json` only for those who name it: its status codes tell refused from executed. Everyone
//! else who takes JSON gets `application/json`, also those who say nothing. Events only for those who name
//! `text/event-stream`: a subscription always, anything else when they would rather have them than JSON.

use axum::http::HeaderMap;
use axum::http::header::ACCEPT;

/// The media types of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Media {
    /// `application/graphql-response+json`
    GraphqlResponse,
    /// `application/json`
    Json,
    /// `text/event-stream`
    Events,
}

impl Media {
    /// The value of Content-Type. What refuses a request before events could begin is JSON.
    #[must_use]
    pub const fn content_type(self) -> &'static str {
        match self {
            Self::GraphqlResponse => "application/graphql-response+json; charset=utf-8",
            Self::Json | Self::Events => "application/json; charset=utf-8",
        }
    }
}

/// What a client takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Accepted {
    /// The form of a query's answer, and of a mutation's.
    pub media: Media,
    /// Whether a subscription's may be events.
    pub events: bool,
}

/// How much a type is wanted, and whether it was named rather than matched by a wildcard.
#[derive(Clone, Copy)]
struct Wanted {
    quality: f32,
    by_name: bool,
}

/// The forms to answer in; none when we have none that is acceptable.
#[must_use]
pub fn negotiate(headers: &HeaderMap) -> Option<Accepted> {
    if !headers.contains_key(ACCEPT) {
        return Some(Accepted { media: Media::Json, events: false });
    }
    let values = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let ranges: Vec<_> = values.flat_map(|value| value.split(',')).filter_map(range).collect();
    let response = wanted(&ranges, "application/graphql-response+json");
    let json = wanted(&ranges, "application/json");
    let whole = match (response, json) {
        (Some(response), Some(json)) if response.by_name && response.quality >= json.quality => {
            Some((Media::GraphqlResponse, response))
        }
        (_, Some(json)) => Some((Media::Json, json)),
        (Some(response), None) => Some((Media::GraphqlResponse, response)),
        (None, None) => None,
    };
    let events = wanted(&ranges, "text/event-stream").filter(|events| events.by_name);
    let media = match (whole, events) {
        (Some((media, whole)), Some(events)) => {
            let rather = events.quality > whole.quality || events.quality >= whole.quality && !whole.by_name;
            if rather { Media::Events } else { media }
        }
        (Some((media, _)), None) => media,
        (None, Some(_)) => Media::Events,
        (None, None) => return None,
    };
    Some(Accepted { media, events: events.is_some() })
}

/// A media range and its quality.
fn range(item: &str) -> Option<(String, f32)> {
    let mut parts = item.split(';').map(str::trim);
    let media = parts.next().filter(|media| !media.is_empty())?.to_ascii_lowercase();
    let weight = parts.filter_map(|part| part.split_once('=')).find(|(name, _)| name.trim().eq_ignore_ascii_case("q"));
    let quality = weight.map_or(Ok(1.0), |(_, value)| value.trim().parse()).ok()?;
    Some((media, quality))
}

/// The most specific range that covers a type decides; a quality of zero refuses it.
fn wanted(ranges: &[(String, f32)], media: &str) -> Option<Wanted> {
    let covering = [media, "application/*", "*/*"];
    let found = covering.iter().find_map(|range| ranges.iter().find(|(given, _)| given == range));
    found
        .filter(|(_, quality)| *quality > 0.0)
        .map(|(given, quality)| Wanted { quality: *quality, by_name: given == media })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(accept: &str) -> Option<Media> {
        negotiate(&[(ACCEPT, accept.parse().unwrap())].into_iter().collect()).map(|accepted| accepted.media)
    }

    fn events(accept: &str) -> bool {
        negotiate(&[(ACCEPT, accept.parse().unwrap())].into_iter().collect()).is_some_and(|accepted| accepted.events)
    }

    #[test]
    fn t01_the_type_asked_for_is_the_type_answered() {
        assert_eq!(of("application/graphql-response+json"), Some(Media::GraphqlResponse));
        assert_eq!(of("application/json"), Some(Media::Json));
        assert_eq!(negotiate(&HeaderMap::new()), Some(Accepted { media: Media::Json, events: false }));
        assert_eq!(of("application/xml"), None);
        assert_eq!(of("application/json, application/graphql-response+json;q=0.1"), Some(Media::Json));
        assert_eq!(of("application/graphql-response+json, application/json;q=0.9"), Some(Media::GraphqlResponse));
        assert_eq!(of("Application/GraphQL-Response+JSON; charset=utf-8"), Some(Media::GraphqlResponse));
    }

    #[test]
    fn wildcards_mean_json_unless_it_is_refused() {
        assert_eq!(of("*/*"), Some(Media::Json));
        assert_eq!(of("application/*"), Some(Media::Json));
        assert_eq!(of("text/html, */*;q=0.8"), Some(Media::Json));
        assert_eq!(of("*/*, application/json;q=0"), Some(Media::GraphqlResponse));
        assert_eq!(of("*/*;q=0"), None);
        assert_eq!(of(""), None);
    }

    #[test]
    fn events_are_for_those_who_name_them() {
        for alone in ["text/event-stream", "text/event-stream, */*", "text/event-stream, application/json;q=0.9"] {
            assert_eq!(of(alone), Some(Media::Events), "{alone}");
            assert!(events(alone), "{alone}");
        }
        // As urql's and Apollo's clients ask: JSON for what is one answer, events for a subscription.
        let both = "application/graphql-response+json, application/json, text/event-stream, multipart/mixed";
        assert_eq!(of(both), Some(Media::GraphqlResponse));
        assert!(events(both));
        for none in ["*/*", "text/*", "application/json", "text/event-stream;q=0, */*"] {
            assert!(!events(none), "{none}");
        }
        assert_eq!(of("text/event-stream;q=0"), None);
    }
}
