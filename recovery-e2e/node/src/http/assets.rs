//! The client's files, embedded in the binary.

use axum::extract::Path;
use axum::http::{StatusCode, header};
use axum::response::{Html, IntoResponse as _, Response};
use include_dir::{Dir, include_dir};

use super::error::ApiError;

static WEB: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../web/static");

/// What a browser shows when it has no cookie. Plain: the policy allows no style of its own.
const LOGIN_NEEDED: &str = "<!doctype html>
<html lang=\"en\">
<meta charset=\"utf-8\">
<meta name=\"viewport\" content=\"width=device-width\">
<meta name=\"color-scheme\" content=\"light dark\">
<title>Login needed</title>
<h1>Login needed</h1>
<p>Open the login URL that the node printed when it started. This browser then stays logged in,
also when the node restarts.</p>
</html>
";

pub async fn index() -> Response {
    serve("index.html")
}

pub async fn workstream() -> Response {
    serve("ws.html")
}

pub async fn coordinator() -> Response {
    serve("coord.html")
}

pub async fn file(Path(path): Path<String>) -> Response {
    serve(&path)
}

pub fn login_needed() -> Response {
    (StatusCode::UNAUTHORIZED, Html(LOGIN_NEEDED)).into_response()
}

/// Serves the file whose path is exactly this text; any other spelling of it is no file.
fn serve(path: &str) -> Response {
    let found = WEB.get_file(path).filter(|file| file.path().to_str() == Some(path));
    match (found, content_type(path)) {
        (Some(file), Some(kind)) => {
            let headers = [(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, "no-cache")];
            (headers, file.contents()).into_response()
        }
        _ => ApiError::NoRoute.into_response(),
    }
}

/// Only what a page loads is served.
fn content_type(path: &str) -> Option<&'static str> {
    match path.rsplit_once('.')?.1 {
        "html" => Some("text/html; charset=utf-8"),
        "js" => Some("text/javascript; charset=utf-8"),
        "css" => Some("text/css; charset=utf-8"),
        "svg" => Some("image/svg+xml"),
        _ => None,
    }
}
