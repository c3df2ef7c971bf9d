//! The page around its content.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use super::markup::Markup;

/// How the page looks.
const STYLE: &str = include_str!("page.css");

/// What the page does beyond what HTML does by itself.
const SCRIPT: &str = include_str!("page.js");

/// A page with this title. Its policy lets in pictures that lie beside it, its own style and its
/// own script, and nothing else, whatever is in `body`.
pub fn page(title: &str, body: impl FnOnce(&mut Markup)) -> String {
    let policy = format!(
        "default-src 'none'; img-src 'self' file: data:; style-src '{}'; script-src '{}'; \
         base-uri 'none'; form-action 'none'",
        hash(STYLE),
        hash(SCRIPT)
    );
    let mut page = Markup::default();
    page.element("html", &[("lang", "en")], |html| {
        html.element("head", &[], |head| {
            head.void("meta", &[("charset", "utf-8")]);
            let policy = [("http-equiv", "Content-Security-Policy"), ("content", &*policy)];
            head.void("meta", &policy);
            let view = [("name", "viewport"), ("content", "width=device-width, initial-scale=1")];
            head.void("meta", &view);
            head.void("meta", &[("name", "color-scheme"), ("content", "light dark")]);
            head.leaf("title", &[], title);
            // Without one, a browser asks the server for an icon.
            head.void("link", &[("rel", "icon"), ("href", "data:,")]);
            head.element("style", &[], |style| style.own(STYLE));
        });
        html.element("body", &[], |content| {
            body(content);
            content.element("script", &[], |script| script.own(SCRIPT));
        });
    });
    page.into_page()
}

/// The source of a policy that lets in this text.
fn hash(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn style_and_script_are_text_for_a_reader_of_xml_too() {
        for source in [STYLE, SCRIPT] {
            assert!(!source.contains(['<', '&', '\r']) && !source.contains("]]>"));
        }
    }
}
