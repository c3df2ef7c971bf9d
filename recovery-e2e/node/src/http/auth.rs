//! The secrets of a data folder, and the check of what a request presents.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;

use axum::http::{HeaderMap, header};
use camino::{Utf8Path, Utf8PathBuf};
use subtle::ConstantTimeEq as _;

/// The name of the login cookie.
const COOKIE: &str = "recovery_node";

/// How long a browser keeps the login: 30 days, in seconds.
const COOKIE_MAX_AGE: u32 = 30 * 24 * 60 * 60;

/// Minimum length of a secret in characters. Those that the node creates have 64: 256 bits.
const MIN_LEN: usize = 32;

/// A secret could not be read or created.
#[derive(Debug, thiserror::Error)]
pub enum SecretError {
    /// The file cannot be read or created.
    #[error("cannot read or create the secret {path}: {source}; check the folder's permissions")]
    File {
        /// The secret's file.
        path: Utf8PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file contains no usable secret.
    #[error(
        "{0} contains no usable secret; write one line of at least {MIN_LEN} letters, digits, '-' or \
         '_', or delete the file so that the node creates one"
    )]
    Unusable(Utf8PathBuf),
}

/// The credentials of the node: the token that it prints, and the cookie that a login sets.
pub struct Secrets {
    token: String,
    // Not derived from the token, so that a leaked cookie never gives the token away.
    cookie: String,
}

impl Secrets {
    /// Reads the secrets of a data folder, making those that are missing.
    ///
    /// # Errors
    /// When a file cannot be read or made, or holds no usable secret.
    pub fn load(data_dir: &Utf8Path, token_file: Option<&Utf8Path>) -> Result<Self, SecretError> {
        let token = token_file.map_or_else(|| data_dir.join("token"), Utf8Path::to_owned);
        Ok(Self { token: read_or_make(&token)?, cookie: read_or_make(&data_dir.join("cookie"))? })
    }

    /// The token, for the login URL.
    pub fn token(&self) -> &str {
        &self.token
    }

    /// Whether this is the token.
    pub fn is_token(&self, presented: &str) -> bool {
        self.token.as_bytes().ct_eq(presented.as_bytes()).into()
    }

    /// Whether a request carries the token or the cookie.
    pub fn admit(&self, headers: &HeaderMap) -> bool {
        let texts = |name| headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
        let bearer = texts(header::AUTHORIZATION).filter_map(|value| value.split_once(' ')).any(
            |(scheme, token)| scheme.eq_ignore_ascii_case("bearer") && self.is_token(token.trim()),
        );
        let cookie = texts(header::COOKIE)
            .flat_map(|value| value.split(';'))
            .filter_map(|pair| pair.trim().split_once('='))
            .any(|(name, value)| {
                name == COOKIE && bool::from(self.cookie.as_bytes().ct_eq(value.as_bytes()))
            });
        bearer || cookie
    }

    /// The `Set-Cookie` of a login.
    pub fn set_cookie(&self) -> String {
        format!(
            "{COOKIE}={}; HttpOnly; SameSite=Strict; Path=/; Max-Age={COOKIE_MAX_AGE}",
            self.cookie
        )
    }
}

/// Whether a login may redirect here: a path of this very origin, however a browser reads it.
pub fn is_local_path(next: &str) -> bool {
    next.starts_with('/')
        && !next.starts_with("//")
        && !next.contains('\\')
        && !next.chars().any(char::is_control)
}

pub fn read_or_make(path: &Utf8Path) -> Result<String, SecretError> {
    let failed = |source| SecretError::File { path: path.to_owned(), source };
    let text = match fs::read_to_string(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => make(path).map_err(failed)?,
        read => read.map_err(failed)?,
    };
    let secret = text.trim();
    let usable = secret.len() >= MIN_LEN
        && secret.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b));
    if usable { Ok(secret.to_owned()) } else { Err(SecretError::Unusable(path.to_owned())) }
}

/// Writes 256 random bits in hex, for the owner's eyes, whole or not at all.
fn make(path: &Utf8Path) -> io::Result<String> {
    let mut random = [0; 32];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    let secret: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
    let unfinished = Utf8PathBuf::from(format!("{path}.new"));
    let mut options = OpenOptions::new();
    let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(&unfinished)?;
    writeln!(file, "{secret}")?;
    file.sync_all()?;
    fs::rename(&unfinished, path)?;
    Ok(secret)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_path_of_this_origin_is_a_place_to_go_after_login() {
        for next in ["/", "/ws/abc", "/ws/a?b=c#d", "/a//b"] {
            assert!(is_local_path(next), "{next:?}");
        }
        for next in
            ["", "ws", "//evil.test", "/\\evil.test", "https://evil.test", "/a\r\nb", "/\t/e.test"]
        {
            assert!(!is_local_path(next), "{next:?}");
        }
    }

    fn headers(name: header::HeaderName, value: &str) -> HeaderMap {
        HeaderMap::from_iter([(name, value.parse().unwrap())])
    }

    #[test]
    fn the_token_and_the_cookie_each_open_the_door_in_their_own_place() {
        let secrets = Secrets { token: "t".repeat(64), cookie: "c".repeat(64) };
        let (t, c) = (secrets.token.clone(), secrets.cookie.clone());
        assert!(secrets.admit(&headers(header::AUTHORIZATION, &format!("Bearer {t}"))));
        assert!(secrets.admit(&headers(header::COOKIE, &format!("a=b; {COOKIE}={c}"))));
        assert!(!secrets.admit(&headers(header::AUTHORIZATION, &format!("Bearer {c}"))));
        assert!(!secrets.admit(&headers(header::AUTHORIZATION, &t)));
        assert!(!secrets.admit(&headers(header::COOKIE, &format!("{COOKIE}={t}"))));
        assert!(!secrets.admit(&headers(header::COOKIE, &format!("x{COOKIE}={c}"))));
        assert!(!secrets.admit(&HeaderMap::new()));
    }

    #[test]
    fn secrets_are_made_once_for_the_owner_only_and_stay() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        let dir = Utf8Path::from_path(dir.path()).unwrap();
        let first = Secrets::load(dir, None).unwrap();
        let second = Secrets::load(dir, None).unwrap();
        assert!(second.is_token(first.token()));
        assert_eq!(first.set_cookie(), second.set_cookie());
        assert_eq!(first.token().len(), 64);
        let mode = fs::metadata(dir.join("token")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn a_token_file_elsewhere_is_used_in_place_of_one_in_the_data_folder() {
        let dir = tempfile::tempdir().unwrap();
        let dir = Utf8Path::from_path(dir.path()).unwrap();
        let (file, token) = (dir.join("given"), "t".repeat(MIN_LEN));
        fs::write(&file, format!("{token}\n")).unwrap();
        assert!(Secrets::load(dir, Some(&file)).unwrap().is_token(&token));
        assert!(!dir.join("token").exists());
    }

    #[test]
    fn a_file_that_holds_no_secret_is_refused_and_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let dir = Utf8Path::from_path(dir.path()).unwrap();
        fs::write(dir.join("token"), "").unwrap();
        assert!(matches!(Secrets::load(dir, None), Err(SecretError::Unusable(_))));
        assert_eq!(fs::read_to_string(dir.join("token")).unwrap(), "");
    }
}
