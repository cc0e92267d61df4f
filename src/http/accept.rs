//! Which media type an answer is given in (RFC 9110, section 12.5.1).
//!
//! `application/graphql-response+json` only for those who name it: its status codes tell refused from executed. Everyone
//! else who takes JSON gets `application/json`, also those who say nothing.

use axum::http::HeaderMap;
use axum::http::header::ACCEPT;

/// The media types of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Media {
    /// `application/graphql-response+json`
    GraphqlResponse,
    /// `application/json`
    Json,
}

impl Media {
    /// The value of Content-Type.
    #[must_use]
    pub const fn content_type(self) -> &'static str {
        match self {
            Self::GraphqlResponse => "application/graphql-response+json; charset=utf-8",
            Self::Json => "application/json; charset=utf-8",
        }
    }
}

/// How much a type is wanted, and whether it was named rather than matched by a wildcard.
#[derive(Clone, Copy)]
struct Wanted {
    quality: f32,
    by_name: bool,
}

/// The media type to answer in; none when neither is acceptable.
#[must_use]
pub fn negotiate(headers: &HeaderMap) -> Option<Media> {
    let values: Vec<&str> = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok()).collect();
    if !headers.contains_key(ACCEPT) {
        return Some(Media::Json);
    }
    let ranges: Vec<_> = values.iter().flat_map(|value| value.split(',')).filter_map(range).collect();
    let response = wanted(&ranges, "application/graphql-response+json");
    let json = wanted(&ranges, "application/json");
    match (response, json) {
        (Some(response), Some(json)) if response.by_name && response.quality >= json.quality => {
            Some(Media::GraphqlResponse)
        }
        (_, Some(_)) => Some(Media::Json),
        (Some(_), None) => Some(Media::GraphqlResponse),
        (None, None) => None,
    }
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
        negotiate(&[(ACCEPT, accept.parse().unwrap())].into_iter().collect())
    }

    #[test]
    fn t01_the_type_asked_for_is_the_type_answered() {
        assert_eq!(of("application/graphql-response+json"), Some(Media::GraphqlResponse));
        assert_eq!(of("application/json"), Some(Media::Json));
        assert_eq!(negotiate(&HeaderMap::new()), Some(Media::Json));
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
        assert_eq!(of("text/event-stream"), None);
        assert_eq!(of(""), None);
    }
}
