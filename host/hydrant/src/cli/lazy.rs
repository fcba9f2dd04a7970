//! Subcommands whose flags are defined when they are needed. To define those of all forty commands takes longer than a small
//! skill, and a command line uses one.

use clap::{ArgMatches, Args, Command, Error, FromArgMatches};

/// The arguments `A` of a subcommand. clap defines them when the subcommand is parsed, or when the whole command is built.
pub(super) struct Lazy<A>(pub(super) A);

impl<A: Args> Args for Lazy<A> {
    fn augment_args(command: Command) -> Command {
        command.defer(A::augment_args)
    }

    fn augment_args_for_update(command: Command) -> Command {
        command.defer(A::augment_args_for_update)
    }
}

impl<A: FromArgMatches> FromArgMatches for Lazy<A> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        A::from_arg_matches(matches).map(Self)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        self.0.update_from_arg_matches(matches)
    }
}
