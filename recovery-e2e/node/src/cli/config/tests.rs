use clap::{CommandFactory as _, Parser};

use super::*;

#[derive(Debug, Parser)]
struct Cli {
    #[command(subcommand)]
    command: Sub,
}

#[derive(Debug, clap::Subcommand)]
enum Sub {
    Serve(Serve),
}

#[derive(Debug, clap::Args)]
struct Serve {
    #[arg(long)]
    config: Option<Utf8PathBuf>,
    /// Where.
    #[arg(long)]
    place: String,
    /// How many.
    #[arg(long, default_value_t = 7)]
    count: u32,
    /// Names; may be repeated.
    #[arg(long = "name")]
    names: Vec<String>,
}

/// What is read from a file of this text and these flags.
fn outcome(text: &str, flags: &[&str]) -> Result<ArgMatches, ConfigError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("node.toml");
    fs::write(&path, text).unwrap();
    let args = ["node", "serve", "--config", path.to_str().unwrap()];
    let args = args.iter().chain(flags).map(OsString::from).collect();
    read(&Cli::command(), args)
}

fn matched(text: &str, flags: &[&str]) -> (String, u32, Vec<String>) {
    let matched = outcome(text, flags).unwrap();
    let (_, matched) = matched.subcommand().unwrap();
    let names = matched.get_many::<String>("names").into_iter().flatten().cloned().collect();
    (matched.get_one::<String>("place").unwrap().clone(), *matched.get_one("count").unwrap(), names)
}

#[test]
fn a_flag_beats_the_file_and_the_file_beats_the_default() {
    for (file, flags, count) in [
        ("", &["--place", "x"][..], 7),
        ("place = 'x'\ncount = 8", &[], 8),
        ("place = 'x'\ncount = '8'", &[], 8),
        ("place = 'y'\ncount = 8", &["--count=9", "--place=x"], 9),
        ("place = 'x'\ncount = 8", &["--count=7"], 7),
    ] {
        assert_eq!(matched(file, flags), ("x".to_owned(), count, Vec::new()), "{file:?} {flags:?}");
    }
}

#[test]
fn a_list_of_the_command_line_replaces_that_of_the_file() {
    let file = "place = '--x'\nname = ['a', 'b']";
    assert_eq!(matched(file, &[]).2, ["a", "b"]);
    assert_eq!(matched(file, &["--name", "c"]).2, ["c"]);
    assert_eq!(matched(file, &[]).0, "--x");
}

#[test]
fn an_error_in_the_file_is_reported_with_the_name_of_the_file() {
    for (file, said) in [
        ("place = ", "as TOML"),
        ("place = 'x'\nplase = 'y'", "unknown setting \"plase\""),
        ("config = 'x'", "unknown setting \"config\""),
        ("help = 'x'", "unknown setting \"help\""),
        ("place = true", "wrong type of place"),
        ("place = ['x']", "wrong type of place"),
        ("place = { a = 1 }", "wrong type of place"),
        ("name = [['x']]", "wrong type of name"),
        ("place = 'x'\ncount = -1", "--count"),
        ("place = 'x'\ncount = 'many'", "--count"),
    ] {
        let error = outcome(file, &[]).unwrap_err().to_string();
        assert!(error.contains("node.toml") && error.contains(said), "{file:?}: {error}");
    }
}

#[test]
fn an_error_of_the_command_line_is_not_reported_as_one_of_the_file() {
    for (file, flags) in [("", &[][..]), ("place = 'x'", &["--count=x"]), ("", &["--nonsense"])] {
        let error = outcome(file, flags).unwrap_err();
        assert!(matches!(error, ConfigError::CommandLine(_)), "{error}");
    }
    let args = ["node", "serve", "--config", "/no/such/file"].map(OsString::from).into();
    let error = read(&Cli::command(), args).unwrap_err();
    assert!(matches!(error, ConfigError::File { .. }), "{error}");
}

#[test]
fn what_is_shown_is_a_file_that_gives_the_same_settings() {
    let command = Cli::command();
    let serve = command.find_subcommand("serve").unwrap();
    let file = "place = 'a \"b\" \\ c'\nname = ['1', 'ü']";
    let shown = show(serve, outcome(file, &[]).unwrap().subcommand().unwrap().1);
    assert_eq!(matched(&shown, &[]), matched(file, &[]));
    assert!(shown.contains("# How many\n# Default: 7.\ncount = 7\n"), "{shown}");
    assert_eq!(show(serve, outcome(&shown, &[]).unwrap().subcommand().unwrap().1), shown);
    let none = outcome("place = 'x'", &[]).unwrap();
    assert!(show(serve, none.subcommand().unwrap().1).contains("# Default: none.\n# name =\n"));
}
