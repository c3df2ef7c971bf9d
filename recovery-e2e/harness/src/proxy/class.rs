//! What kind of request it is, by a table of routes.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Mutex;

use hyper::Method;
use serde::{Deserialize, Deserializer, Serialize};

/// A kind of request, by its name; counters are kept and faults are armed per class.
///
/// The proxy has three of its own. Those of an application are constants beside its [`Route`]s.
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

    /// The class of a request, by its method and its path (without the query): that of the first
    /// of `routes` that matches, after the proxy's own.
    pub fn of(routes: &[Route], method: &Method, path: &str) -> Class {
        let mut all = [&FENCE].into_iter().chain(routes);
        let route = all.find(|route| route.matches(method, path));
        route.map_or(Class::OTHER, |route| route.class)
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

/// One row of the table that says which request has which class.
#[derive(Clone, Debug)]
pub struct Route {
    /// The methods that count; none stands for every method.
    pub methods: &'static [&'static str],
    /// The path without its query. `{name}` matches one segment that is not empty, and `{*name}`
    /// at the end matches one or more segments.
    pub path: &'static str,
    /// The class of what matches.
    pub class: Class,
}

/// The proxy's own route.
static FENCE: Route = Route { methods: &[], path: "/__fence/{id}", class: Class::FENCE };

impl Route {
    fn matches(&self, method: &Method, path: &str) -> bool {
        let method_counts = self.methods.is_empty() || self.methods.contains(&method.as_str());
        method_counts && matches(self.path, path)
    }
}

fn matches(pattern: &str, path: &str) -> bool {
    let mut segments = path.split('/');
    for wanted in pattern.split('/') {
        let Some(segment) = segments.next() else { return false };
        if wanted.starts_with("{*") {
            return true;
        }
        let fits = if wanted.starts_with('{') { !segment.is_empty() } else { segment == wanted };
        if !fits {
            return false;
        }
    }
    segments.next().is_none()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_pattern_matches_whole_paths_segment_by_segment() {
        let table = [
            ("/", "/", true),
            ("/", "", false),
            ("/", "/a", false),
            ("/a/{id}/b", "/a/1/b", true),
            ("/a/{id}/b", "/a//b", false),
            ("/a/{id}/b", "/a/1/b/", false),
            ("/a/{id}/b", "/a/1", false),
            ("/a/{id}/b", "/a/1/2/b", false),
            ("/s/{*path}", "/s/a.js", true),
            ("/s/{*path}", "/s/a/b.js", true),
            ("/s/{*path}", "/s", false),
        ];
        for (pattern, path, expected) in table {
            assert_eq!(matches(pattern, path), expected, "{pattern} {path}");
        }
    }

    #[test]
    fn the_first_route_that_matches_method_and_path_decides_and_a_fence_comes_before_all() {
        let get = |path, name| Route { methods: &["GET"], path, class: Class::new(name) };
        let routes = [get("/a/{id}", "one"), get("/{*all}", "all")];
        let table = [
            (Method::GET, "/a/1", Class::new("one")),
            (Method::GET, "/b", Class::new("all")),
            (Method::POST, "/a/1", Class::OTHER),
            (Method::GET, "/__fence/a1", Class::FENCE),
            (Method::POST, "/__fence/a1", Class::FENCE),
            (Method::POST, "/__fence/", Class::OTHER),
        ];
        for (method, path, class) in table {
            assert_eq!(Class::of(&routes, &method, path), class, "{method} {path}");
        }
    }

    proptest! {
        #[test]
        fn no_id_changes_the_class_of_its_path(id in "[^/?#]{1,40}") {
            let path = ["/a/", &id, "/b"].concat();
            let pattern = "/a/{id}/b";
            prop_assert!(matches(pattern, &path));
        }
    }
}
