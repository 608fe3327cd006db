//! The command line: what there is to type, and how each command ends.

use std::io::IsTerminal;
use std::process::ExitCode;

use bindery_ctl::{AdminCommand, EXIT_DONE, EXIT_REFUSED};
use clap::{CommandFactory, Parser, Subcommand};

use crate::bench::{self, BenchArgs};
use crate::demo::{self, DemoArgs};
use crate::serve::{self, ServeArgs};

/// A replicated LDAP directory: every node holds everything, and every node takes every operation
#[derive(Debug, Parser)]
#[command(
    name = "bindery",
    version,
    subcommand_required = true,
    arg_required_else_help = true,
    after_help = "Examples:\n  bindery demo                          three nodes on this machine, to try it\n  \
                  bindery serve --config bindery.toml   one node\n  bindery status                        the cluster at a glance\n\n\
                  Exit status: 0 done, 1 refused or failed, 2 wrong usage, 3 unreachable or outcome unknown"
)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
// Parsed once; the size of a variant does not matter.
#[allow(clippy::large_enum_variant)]
enum Command {
    Demo(DemoArgs),
    Serve(ServeArgs),
    Bench(BenchArgs),
    #[command(flatten)]
    Admin(AdminCommand),
    /// Print the completion script of a shell
    #[command(after_help = "Example:\n  bindery completions bash > /etc/bash_completion.d/bindery")]
    Completions {
        #[arg(value_enum)]
        shell: bindery_ctl::Shell,
    },
}

/// Runs a command to its end and gives its exit status.
pub fn main(cli: Cli) -> ExitCode {
    let status = match cli.command {
        Command::Serve(args) => serve::main(args),
        Command::Demo(args) => demo::main(args),
        Command::Bench(args) => bench::main(args),
        Command::Admin(command) => admin(command),
        Command::Completions { shell } => {
            bindery_ctl::completions(shell, &mut Cli::command());
            EXIT_DONE
        }
    };
    ExitCode::from(status)
}

/// Prints why a command failed. The first line carries the name, so that it stands out among others.
pub fn complain(text: &str) {
    use std::io::Write;
    let mut lines = text.lines();
    let first = lines.next().unwrap_or_default();
    let mut stderr = std::io::stderr().lock();
    let name = if stderr.is_terminal() { "\x1b[1;31mbindery:\x1b[0m" } else { "bindery:" };
    // Whoever closed the pipe does not want to know.
    let _ = writeln!(stderr, "{name} {first}");
    lines.for_each(|line| drop(writeln!(stderr, "  {line}")));
}

fn admin(command: AdminCommand) -> u8 {
    // One call at a time needs no threads.
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            complain(&format!("cannot start: {error}"));
            return EXIT_REFUSED;
        }
    };
    let status = match runtime.block_on(bindery_ctl::run(command)) {
        Ok(()) => EXIT_DONE,
        Err(error) => {
            complain(&error.to_string());
            error.exit_status()
        }
    };
    // A blocking read of standard input may still be waiting and must not hold the process.
    runtime.shutdown_background();
    status
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_command_has_an_example_in_its_help() {
        fn look(command: &clap::Command, path: &str) {
            let path = format!("{path} {}", command.get_name());
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(help.contains("Example") && help.contains("  bindery "), "{path} has no example");
            assert!(command.get_about().is_some() || command.get_long_about().is_some(), "{path} says nothing");
            command.get_subcommands().filter(|sub| sub.get_name() != "help").for_each(|sub| look(sub, &path));
        }
        look(&Cli::command(), "");
    }

    #[test]
    fn command_lines() {
        let good = [
            "serve --config /etc/bindery.toml",
            "serve --id a --memory 128MiB --ldap-listen ldap://127.0.0.1:1 --peers a=a:1,b=b:1 --expect 2",
            "demo --nodes 3 --dir /tmp/d --empty --indexes i.conf --port-base 20000 --schema a --schema b",
            "demo --ldif a.ldif --ldif b.ldif",
            "load - --dry-run --continue-on-error --existing replace --clear-passwords hash",
            "load f.ldif --endpoint a:1,b:2 --user cn=admin --password-file p -o json",
            "dump --base dc=x --filter (uid=a) -o f",
            "status --watch",
            "status -o json --data /d",
            "member list",
            "leader show",
            "leader transfer --to node2",
            "index add cn,sn eq,sub",
            "index add --file f",
            "index --endpoint a:1 list -o json",
            "index status --endpoint a:1",
            "schema add a.schema b.schema",
            "passwd uid=a,dc=x",
            "completions bash",
            "bench search --url 127.0.0.1:389 --connections 16 --outstanding 8 --seconds 2 --people 100 -o json",
        ];
        for line in good {
            let words = std::iter::once("bindery").chain(line.split(' '));
            if let Err(error) = Cli::try_parse_from(words) {
                panic!("{line}: {error}");
            }
        }
        let bad = [
            "",
            "load",
            "load a b",
            "load f --existing overwrite",
            "demo --empty --ldif f",
            "demo --nodes 0",
            "index add cn",
            "index add cn eq --file f",
            "index add",
            "schema add",
            "leader",
            "status --output xml",
            "status --timeout 0",
            "passwd",
            "frobnicate",
        ];
        for line in bad {
            let words = std::iter::once("bindery").chain(line.split(' ').filter(|word| !word.is_empty()));
            let error = Cli::try_parse_from(words).expect_err(line);
            assert_eq!(error.exit_code(), 2, "{line}");
        }
    }
}
