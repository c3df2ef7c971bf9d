//! Keeps secrets out of everything that is written down.

use std::sync::{Arc, RwLock};

/// The shortest text that is taken for a secret: replacing shorter ones would garble a report.
const MIN_SECRET_LEN: usize = 8;

/// What replaces a secret.
const MASK: &str = "[redacted]";

/// The secrets of one run, and their removal from text.
///
/// Clones share one list: what any part of a run learns, every writer removes from then on.
#[derive(Clone, Debug, Default)]
pub struct Redactor {
    secrets: Arc<RwLock<Vec<String>>>,
}

impl Redactor {
    /// From now on `secret` is removed from every text that passes [`Redactor::clean`].
    ///
    /// Texts shorter than eight characters are ignored.
    pub fn learn(&self, secret: &str) {
        let mut secrets = self.secrets.write().unwrap_or_else(|poisoned| poisoned.into_inner());
        if secret.len() >= MIN_SECRET_LEN && !secrets.iter().any(|known| known == secret) {
            secrets.push(secret.to_owned());
            // The longest first: a secret that contains another goes as a whole.
            secrets.sort_by_key(|known| std::cmp::Reverse(known.len()));
        }
    }

    /// `text` without any secret learned so far.
    pub fn clean(&self, text: &str) -> String {
        let secrets = self.secrets.read().unwrap_or_else(|poisoned| poisoned.into_inner());
        secrets.iter().fold(text.to_owned(), |text, secret| text.replace(secret, MASK))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_learned_secret_is_removed_wherever_it_stands() {
        let redactor = Redactor::default();
        redactor.clone().learn("0123456789abcdef");
        assert_eq!(
            redactor.clean("GET /login?token=0123456789abcdef&x=0123456789abcdef"),
            "GET /login?token=[redacted]&x=[redacted]"
        );
    }

    #[test]
    fn a_secret_inside_a_longer_one_leaves_nothing_of_the_longer_one() {
        let redactor = Redactor::default();
        redactor.learn("abcdefgh");
        redactor.learn("abcdefgh-12345678");
        assert_eq!(redactor.clean("x abcdefgh-12345678 y"), "x [redacted] y");
    }

    #[test]
    fn a_text_too_short_to_be_a_secret_is_left_alone() {
        let redactor = Redactor::default();
        redactor.learn("idle");
        assert_eq!(redactor.clean("state idle"), "state idle");
    }
}
