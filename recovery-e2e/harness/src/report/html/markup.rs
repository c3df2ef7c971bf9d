//! Writing markup that is well-formed as HTML and as XML, whatever text is put into it.

use crate::report::text;

/// Names and values of attributes.
pub type Attributes<'a> = &'a [(&'static str, &'a str)];

/// A piece of a page. An element is closed where it was opened, and text is only text.
#[derive(Default)]
pub struct Markup(String);

impl Markup {
    /// An element around what `content` adds.
    pub fn element(
        &mut self,
        tag: &'static str,
        attributes: Attributes<'_>,
        content: impl FnOnce(&mut Markup),
    ) {
        self.open(tag, attributes);
        self.0.push('>');
        content(self);
        self.0.push_str("</");
        self.0.push_str(tag);
        self.0.push('>');
    }

    /// An element around `text`.
    pub fn leaf(&mut self, tag: &'static str, attributes: Attributes<'_>, text: &str) {
        self.element(tag, attributes, |markup| markup.text(text));
    }

    /// An element that has no content: one that HTML knows as void, or one of SVG.
    pub fn void(&mut self, tag: &'static str, attributes: Attributes<'_>) {
        self.open(tag, attributes);
        self.0.push_str("/>");
    }

    /// `text`, in which nothing is markup.
    pub fn text(&mut self, text: &str) {
        for c in text::plain(text).chars() {
            match c {
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '&' => self.0.push_str("&amp;"),
                '"' => self.0.push_str("&quot;"),
                _ => self.0.push(c),
            }
        }
    }

    /// What is written into the program and is markup, style or script itself.
    pub fn own(&mut self, source: &'static str) {
        self.0.push_str(source);
    }

    /// A finished piece.
    pub fn append(&mut self, piece: &Markup) {
        self.0.push_str(&piece.0);
    }

    /// How long it is so far, in bytes.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The piece as a whole page.
    pub fn into_page(self) -> String {
        format!("<!DOCTYPE html>\n{}\n", self.0)
    }

    fn open(&mut self, tag: &'static str, attributes: Attributes<'_>) {
        self.0.push('<');
        self.0.push_str(tag);
        for (name, value) in attributes {
            self.0.push(' ');
            self.0.push_str(name);
            self.0.push_str("=\"");
            self.text(value);
            self.0.push('"');
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_strict_reader_finds_every_text_as_it_was_cleaned(
            words in prop::collection::vec(
                prop_oneof![
                    any::<String>(),
                    prop::sample::select(vec![
                        "<b>", "]]>", "&amp;", "\"", "'", "\u{fffe}", "\0", "\u{1b}[1m",
                    ])
                    .prop_map(String::from),
                ],
                0..6,
            ),
        ) {
            let text = words.concat();
            let mut markup = Markup::default();
            markup.element("p", &[("title", &text)], |p| {
                p.text(&text);
                p.void("br", &[]);
            });
            let xml = markup.into_page();
            let xml = xml.strip_prefix("<!DOCTYPE html>").unwrap();
            let read = roxmltree::Document::parse(xml).unwrap();
            let plain = text::plain(&text);
            prop_assert_eq!(read.root_element().text().unwrap_or_default(), &plain);
            // What XML makes of white space in an attribute.
            let title = read.root_element().attribute("title").unwrap();
            prop_assert_eq!(title, plain.replace(['\n', '\t'], " "));
        }
    }
}
