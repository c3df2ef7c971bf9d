//! The kinds of requests.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

/// A kind of request, by its name; counters are kept and faults are armed per class.
///
/// Every application has these three; its others are constants beside its table of
/// [`Route`](crate::proxy::Route)s.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Class(Cow<'static, str>);

impl Class {
    /// A marker that the page sends after what it marks.
    pub const FENCE: Class = Class::new("fence");
    /// A document, of the application or of the proxy itself.
    pub const PAGE: Class = Class::new("page");
    /// Everything that no route matches.
    pub const OTHER: Class = Class::new("other");

    /// The class with this name.
    pub const fn new(name: &'static str) -> Class {
        Class(Cow::Borrowed(name))
    }

    /// The name in traces and receipts.
    pub fn name(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
