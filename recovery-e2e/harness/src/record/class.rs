//! The kinds of requests.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Mutex;

use serde::{Deserialize, Deserializer, Serialize};

/// A kind of request, by its name; counters are kept and faults are armed per class.
///
/// Every application has these three; its others are constants beside its table of
/// [`Route`](crate::proxy::Route)s.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Class(&'static str);

/// The names that were read and are no constant, each kept once for the life of the process.
static READ: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

impl Class {
    /// A marker that the page sends after what it marks.
    pub const FENCE: Class = Class::new("fence");
    /// A document, of the application or of the proxy itself.
    pub const PAGE: Class = Class::new("page");
    /// Everything that no route matches.
    pub const OTHER: Class = Class::new("other");

    /// The class with this name.
    pub const fn new(name: &'static str) -> Class {
        Class(name)
    }

    /// The name in traces and receipts.
    pub fn name(self) -> &'static str {
        self.0
    }
}

impl From<String> for Class {
    fn from(name: String) -> Class {
        let mut read = READ.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let known = read.get(name.as_str()).copied();
        Class(known.unwrap_or_else(|| {
            let name: &'static str = name.leak();
            read.insert(name);
            name
        }))
    }
}

impl<'de> Deserialize<'de> for Class {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Class, D::Error> {
        String::deserialize(deserializer).map(Class::from)
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
