use clap::CommandFactory;

use super::*;

/// The text of `--help`, of the command itself where no subcommand is given. Without the feature
/// `wrap_help` it does not depend on the width of the terminal.
fn help(subcommand: Option<&str>) -> String {
    let mut command = <Cli as CommandFactory>::command();
    command.build();
    let command = match subcommand {
        None => &mut command,
        Some(name) => command.find_subcommand_mut(name).unwrap(),
    };
    let help = command.render_long_help().to_string();
    let lines: Vec<_> = help.lines().map(str::trim_end).collect();
    lines.join("\n")
}

#[test]
fn the_help_of_the_command_is_as_reviewed() {
    insta::assert_snapshot!(help(None));
}

#[test]
fn the_help_of_each_subcommand_is_as_reviewed() {
    let command = <Cli as CommandFactory>::command();
    let names: Vec<_> = command.get_subcommands().map(clap::Command::get_name).collect();
    assert_eq!(names, ["run", "list", "plan", "report", "repeat", "serve", "merge"]);
    for name in names {
        insta::assert_snapshot!(name, help(Some(name)));
    }
}

#[test]
fn every_flag_has_a_heading_and_each_that_takes_a_value_has_a_default_or_is_required() {
    let command = <Cli as CommandFactory>::command();
    for command in [&command].into_iter().chain(command.get_subcommands()) {
        let visible =
            command.get_arguments().filter(|arg| !arg.is_positional() && !arg.is_hide_set());
        for arg in visible.filter(|arg| !["help", "version"].contains(&arg.get_id().as_str())) {
            let (command, id) = (command.get_name(), arg.get_id());
            assert!(arg.get_help_heading().is_some(), "{command}: {id} has no heading");
            let help = arg.get_help().unwrap().to_string();
            let has_default = !arg.get_default_values().is_empty() || help.contains("[default: ");
            let takes_none = !arg.get_action().takes_values();
            let is_fine = takes_none || arg.is_required_set() || has_default;
            assert!(is_fine, "{command}: {id} names no default");
        }
    }
}
