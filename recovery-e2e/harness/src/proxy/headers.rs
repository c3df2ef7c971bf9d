//! Which headers pass, and which belong to one connection or to the original text.

use hyper::HeaderMap;
use hyper::header::{
    self, ACCEPT_ENCODING, CACHE_CONTROL, CONNECTION, CONTENT_LENGTH, ETAG, EXPECT, EXPIRES,
    HeaderName, HeaderValue, IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_RANGE, LAST_MODIFIED, RANGE, TE,
    TRAILER, TRANSFER_ENCODING, UPGRADE,
};

/// What concerns one connection only (RFC 9110 section 7.6.1), with the older names for it, and
/// `Expect`: the proxy has the whole body before it forwards, so there is nothing to wait for.
const HOP_BY_HOP: [HeaderName; 9] = [
    CONNECTION,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
    header::PROXY_AUTHORIZATION,
    TE,
    TRAILER,
    TRANSFER_ENCODING,
    UPGRADE,
    EXPECT,
];

/// Takes out what must not pass on to the next connection, `Connection`'s own list included.
pub(super) fn strip_hop_by_hop(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    for name in HOP_BY_HOP.iter().chain(&named) {
        headers.remove(name);
    }
}

/// Makes a request ask for the whole, unencoded text: no part of it, and no 304 that would leave
/// the browser with an unpatched copy.
pub(super) fn ask_for_whole_text(headers: &mut HeaderMap) {
    for name in [IF_NONE_MATCH, IF_MODIFIED_SINCE, IF_RANGE, RANGE] {
        headers.remove(name);
    }
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
}

/// Takes out what was true of the original text only, and keeps the new one out of every cache.
pub(super) fn for_changed_text(headers: &mut HeaderMap) {
    let digests = ["digest", "content-digest", "repr-digest", "content-md5"];
    for name in digests.map(HeaderName::from_static) {
        headers.remove(name);
    }
    for name in [CONTENT_LENGTH, ETAG, LAST_MODIFIED, EXPIRES] {
        headers.remove(name);
    }
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let pair = |(name, value): &(&'static str, &'static str)| {
            (HeaderName::from_static(name), HeaderValue::from_static(value))
        };
        pairs.iter().map(pair).collect()
    }

    fn names(headers: &HeaderMap) -> Vec<&str> {
        let mut names: Vec<&str> = headers.keys().map(HeaderName::as_str).collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn what_concerns_one_connection_does_not_pass_and_all_else_does() {
        let mut seen = headers(&[
            ("connection", "close, X-Private"),
            ("x-private", "1"),
            ("keep-alive", "timeout=5"),
            ("transfer-encoding", "chunked"),
            ("upgrade", "h2c"),
            ("expect", "100-continue"),
            ("host", "127.0.0.1:1"),
            ("origin", "http://127.0.0.1:1"),
            ("cookie", "a=b"),
            ("last-event-id", "a-1"),
        ]);
        strip_hop_by_hop(&mut seen);
        assert_eq!(names(&seen), ["cookie", "host", "last-event-id", "origin"]);
    }

    #[test]
    fn a_request_for_a_patched_text_cannot_be_answered_with_304_a_part_or_an_encoding() {
        let mut seen = headers(&[
            ("if-none-match", "\"v1\""),
            ("if-modified-since", "yesterday"),
            ("range", "bytes=0-1"),
            ("accept-encoding", "gzip, br"),
            ("accept", "*/*"),
        ]);
        ask_for_whole_text(&mut seen);
        assert_eq!(names(&seen), ["accept", "accept-encoding"]);
        assert_eq!(seen[ACCEPT_ENCODING], "identity");
    }

    #[test]
    fn a_changed_text_claims_nothing_of_the_original_and_is_not_cached() {
        let mut seen = headers(&[
            ("etag", "\"v1\""),
            ("content-length", "9"),
            ("last-modified", "yesterday"),
            ("cache-control", "max-age=31536000, immutable"),
            ("content-type", "text/javascript"),
        ]);
        for_changed_text(&mut seen);
        assert_eq!(names(&seen), ["cache-control", "content-type"]);
        assert_eq!(seen[CACHE_CONTROL], "no-store");
    }
}
