//! Which request has which class, by a table of routes.

use hyper::Method;

use crate::record::class::Class;

/// One row of the table that says which request has which class.
#[derive(Clone, Debug)]
pub struct Route {
    /// The methods that count; none means every method.
    pub methods: &'static [&'static str],
    /// The path without its query. `{name}` matches one segment that is not empty, and `{*name}`
    /// at the end matches one or more segments.
    pub path: &'static str,
    /// The class of what matches.
    pub class: Class,
}

/// The proxy's own route.
static FENCE: Route = Route { methods: &[], path: "/__fence/{id}", class: Class::FENCE };

impl Class {
    /// The class of a request, by its method and its path (without the query): that of the first
    /// of `routes` that matches, after the proxy's own.
    pub fn of(routes: &[Route], method: &Method, path: &str) -> Class {
        let mut all = [&FENCE].into_iter().chain(routes);
        let route = all.find(|route| route.matches(method, path));
        route.map_or(Class::OTHER, |route| route.class)
    }
}

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
