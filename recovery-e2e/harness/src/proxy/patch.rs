//! A defect put into the served text of one asset: how a negative control gets into the client.

/// One exact text of an asset, and what replaces it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// Must be in the asset exactly once.
    pub find: String,
    /// What is served instead.
    pub replace: String,
}

/// Edits to one asset, applied together each time it is served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patch {
    /// The path of the asset, without a query.
    pub asset: String,
    /// Each is looked for in the original text; the texts found may not overlap.
    pub edits: Vec<Edit>,
}

/// Why a patch does not apply (any more) to the text it was made for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Misfit {
    #[error("it has no edits, so it would change nothing; name what the control changes")]
    NoEdits,
    #[error("{find:?} occurs {found} times in it, not once; update the control")]
    NotOnce { find: String, found: usize },
    #[error("{first:?} and {second:?} overlap in it; make them one edit")]
    Overlap { first: String, second: String },
    #[error("the answer is {status}, not what is to be changed; name something that is served")]
    NotServed { status: u16 },
    #[error(
        "the answer is not plain UTF-8 text; only text that is served unencoded can be changed"
    )]
    NotText,
    #[error("the answer is no history with a handoff token, so there is none to take out")]
    NoToken,
}

impl Patch {
    /// These edits, each to the asset beside it: one patch for each asset.
    pub fn group(edits: impl IntoIterator<Item = (String, Edit)>) -> Vec<Patch> {
        let mut patches: Vec<Patch> = Vec::new();
        for (asset, edit) in edits {
            match patches.iter_mut().find(|patch| patch.asset == asset) {
                Some(patch) => patch.edits.push(edit),
                None => patches.push(Patch { asset, edits: vec![edit] }),
            }
        }
        patches
    }

    /// The patched text. All edits apply, or none.
    pub(super) fn apply(&self, text: &str) -> Result<String, Misfit> {
        let mut places = Vec::with_capacity(self.edits.len());
        for edit in &self.edits {
            places.push((only_place(text, &edit.find)?, edit));
        }
        if places.is_empty() {
            return Err(Misfit::NoEdits);
        }
        places.sort_by_key(|(at, _)| *at);
        let mut patched = String::with_capacity(text.len());
        let mut done = 0;
        let mut before = "";
        for (at, edit) in places {
            if at < done {
                let (first, second) = (before.to_owned(), edit.find.clone());
                return Err(Misfit::Overlap { first, second });
            }
            patched.push_str(&text[done..at]);
            patched.push_str(&edit.replace);
            done = at + edit.find.len();
            before = &edit.find;
        }
        patched.push_str(&text[done..]);
        Ok(patched)
    }
}

/// Where `find` is in `text`, if that is one place; occurrences that overlap count each.
fn only_place(text: &str, find: &str) -> Result<usize, Misfit> {
    let places: Vec<usize> =
        text.char_indices().map(|(at, _)| at).filter(|at| text[*at..].starts_with(find)).collect();
    match (places.as_slice(), find.is_empty()) {
        ([place], false) => Ok(*place),
        _ => Err(Misfit::NotOnce { find: find.to_owned(), found: places.len() }),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn patch(edits: &[(&str, &str)]) -> Patch {
        let edit = |(find, replace): &(&str, &str)| Edit {
            find: (*find).to_owned(),
            replace: (*replace).to_owned(),
        };
        Patch { asset: "/static/gate.js".to_owned(), edits: edits.iter().map(edit).collect() }
    }

    #[test]
    fn a_patch_applies_only_when_each_text_is_found_exactly_once() {
        let text = "return busy || latch; // busy";
        let not_once = |find: &str, found| Misfit::NotOnce { find: find.to_owned(), found };
        let table = [
            (patch(&[("busy || latch", "busy")]), Ok("return busy; // busy".to_owned())),
            (
                patch(&[("// busy", "//"), ("return ", "return !")]),
                Ok("return !busy || latch; //".to_owned()),
            ),
            (patch(&[("quiesce", "busy")]), Err(not_once("quiesce", 0))),
            (patch(&[("busy", "x")]), Err(not_once("busy", 2))),
            (patch(&[("latch", "x"), ("gone", "x")]), Err(not_once("gone", 0))),
            (patch(&[]), Err(Misfit::NoEdits)),
            (
                patch(&[("busy || l", "x"), ("latch", "y")]),
                Err(Misfit::Overlap { first: "busy || l".to_owned(), second: "latch".to_owned() }),
            ),
        ];
        for (patch, expected) in table {
            assert_eq!(patch.apply(text), expected, "{patch:?}");
        }
    }

    #[test]
    fn occurrences_that_overlap_each_other_count_each() {
        let misfit = patch(&[("aa", "b")]).apply("aaa").unwrap_err();
        assert_eq!(misfit, Misfit::NotOnce { find: "aa".to_owned(), found: 2 });
    }

    #[test]
    fn an_empty_text_is_never_found_once() {
        assert!(patch(&[("", "b")]).apply("").is_err());
        assert!(patch(&[("", "b")]).apply("a").is_err());
    }

    proptest! {
        #[test]
        fn what_surrounds_the_only_occurrence_is_kept(
            before in "[a-zä]{0,20}", after in "[a-zä]{0,20}", replace in "[a-zß]{0,9}",
        ) {
            let patched = patch(&[("<X>", &replace)]).apply(&format!("{before}<X>{after}"));
            prop_assert_eq!(patched, Ok(format!("{before}{replace}{after}")));
        }
    }
}
