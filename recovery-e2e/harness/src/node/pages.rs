//! The pages of the harness, served at the proxy's origin: they mount the client under test.

use hyper::body::Bytes;

use crate::proxy::LocalPage;

/// The harness's own pages, served at the proxy's origin.
pub fn own_pages() -> Vec<LocalPage> {
    const PAGE: &str = "text/html; charset=utf-8";
    const SCRIPT: &str = "text/javascript; charset=utf-8";
    [
        ("/recovery", PAGE, include_str!("../../pages/recovery.html")),
        ("/recovery.js", SCRIPT, include_str!("../../pages/recovery.js")),
        ("/coord-recovery", PAGE, include_str!("../../pages/coord_recovery.html")),
        ("/coord_recovery.js", SCRIPT, include_str!("../../pages/coord_recovery.js")),
        ("/dashboard.js", SCRIPT, include_str!("../../pages/dashboard.js")),
        ("/driver.js", SCRIPT, include_str!("../../pages/driver.js")),
    ]
    .map(|(path, content_type, body)| LocalPage {
        path: path.to_owned(),
        content_type: content_type.to_owned(),
        body: Bytes::from_static(body.as_bytes()),
    })
    .into()
}
