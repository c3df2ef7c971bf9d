//! What a scenario declares: the numbers of its stamp, and what it rests on.

use super::{Scenario, StageFuture};
use crate::node::client::{Condition, Quantity};
use crate::proxy::Class;
use crate::record::stamp::Stamp;
use crate::scenario::stage::Stage;
use crate::wait::Kind;

/// One number of a scenario's stamp.
#[derive(Clone, Copy)]
pub struct Field {
    /// Its name in the stamp.
    pub name: &'static str,
    /// The value that it must have.
    pub expected: u64,
    /// How it is read. A story reads it at the moment that counts, or it is read at the end.
    pub read: Read,
    /// What the number is of, in words.
    pub means: &'static str,
    /// How a failure looks that this field alone decides, before all others.
    pub alone: Option<Alone>,
}

/// How a stamp names a failure that one field alone decides.
#[derive(Clone, Copy)]
pub enum Alone {
    /// By a code of its own, in place of the scenario's, and the number.
    Code(&'static str),
    /// By the scenario's code, and the number under this name.
    Name(&'static str),
}

/// How a field is read, at any moment at which there is something to read.
#[derive(Clone, Copy)]
pub enum Read {
    /// Requests of this class that have reached the proxy.
    Arrived(Class),
    /// Those since the last [`Stage::mark`].
    Since(Class),
    /// Whether there were any since the last [`Stage::mark`].
    AnySince(Class),
    /// A number that the page shows.
    Page(Quantity<'static>),
    /// Whether a condition holds in the page.
    Holds(Condition<'static>),
    /// By a function of the scenario.
    By(for<'a> fn(&'a Stage) -> StageFuture<'a, u64>),
    /// By the story, in the middle of it; this, where the story does not come so far.
    InStory(u64),
}

/// What a success shows of a field.
#[derive(Clone, Copy)]
pub enum Show {
    /// Its name and its number: `-posts1`.
    Field(&'static str),
    /// Its number: `-5`.
    Number(&'static str),
    /// Both, with a dash between them: `-nested-2`.
    Apart(&'static str),
}

/// Something that a story checks, and whose it is to bring.
#[derive(Clone, Copy, Debug)]
pub struct Check {
    /// A need or a claim.
    pub kind: Kind,
    /// What must be so.
    pub what: &'static str,
}

/// A field that must have the value `expected`.
pub const fn field(name: &'static str, expected: u64, read: Read, means: &'static str) -> Field {
    Field { name, expected, read, means, alone: None }
}

impl Field {
    /// The same; a wrong value of it is the whole stamp, under a name of its own.
    #[must_use]
    pub const fn alone(self, alone: Alone) -> Field {
        Field { alone: Some(alone), ..self }
    }
}

/// Something that harness, node, model or machine must bring: otherwise nothing is proven.
pub const fn need(what: &'static str) -> Check {
    Check { kind: Kind::Need, what }
}

/// Something that the client must do: otherwise it has failed.
pub const fn claim(what: &'static str) -> Check {
    Check { kind: Kind::Claim, what }
}

impl Show {
    /// The field's name.
    pub fn name(self) -> &'static str {
        let (Show::Field(name) | Show::Number(name) | Show::Apart(name)) = self;
        name
    }
}

/// The stamp of a success with these values.
pub(super) fn ready(scenario: &Scenario, values: &[(&Field, u64)]) -> Stamp {
    let value = |name| values.iter().find(|(field, _)| field.name == name).map(|(_, value)| *value);
    let stamp = Stamp::ready(scenario.code);
    scenario.ready_shows.iter().fold(stamp, |stamp, show| match (show, value(show.name())) {
        (_, None) => stamp,
        (Show::Field(name), Some(value)) => stamp.field(name, value),
        (Show::Number(_), Some(value)) => stamp.number(value),
        (Show::Apart(name), Some(value)) => stamp.field_apart(name, value),
    })
}

/// The stamp of a failure with these values: of each field that could be read.
pub(super) fn failed(scenario: &Scenario, values: &[(&Field, u64)]) -> Stamp {
    let alone = values.iter().find_map(|(field, value)| {
        let alone = field.alone.filter(|_| *value != field.expected)?;
        Some(match alone {
            Alone::Code(code) => Stamp::failed(code).number(*value),
            Alone::Name(name) => Stamp::failed(scenario.code).field(name, *value),
        })
    });
    alone.unwrap_or_else(|| {
        let stamp = Stamp::failed(scenario.code);
        values.iter().fold(stamp, |stamp, (field, value)| stamp.field(field.name, *value))
    })
}
