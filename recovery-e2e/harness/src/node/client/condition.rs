//! What a scenario waits for and reads in a page, as values that the page driver evaluates.

use std::fmt::{self, Display, Formatter};

use serde::Serialize;

/// A number that can be read in the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Quantity<'a> {
    /// User rows that are painted.
    Rows,
    /// Batches of calls that are shown as running.
    Running,
    /// Rows whose text is being streamed (interactive pane only).
    LiveRefs,
    /// Rows of tool calls outside every agent's card.
    ToolsOnTop,
    /// Agents' cards with steps in them.
    AgentCards,
    /// Rows of tool calls within a card.
    ToolsInCards,
    /// Steps of an agent outside every card.
    EscapedSteps,
    /// How often a text is in the transcript.
    Text(&'a str),
    /// Frames of a type that the page's streams have brought.
    Frames(&'a str),
    /// Frames of a type that its newest stream has brought.
    FramesOfNewest(&'a str),
    /// Events with an id that its streams have brought.
    CursorMoves,
    /// Event sources that the page has made.
    EventSources,
    /// Workstreams in the dashboard's model.
    RosterModel,
    /// Rows of the dashboard's rail.
    RosterRail,
}

/// A state of the page that holds or does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Flag {
    /// A turn runs, or a message was sent whose turn has not been seen.
    Busy,
    /// The pane is in the document.
    Attached,
    /// Its event source is open.
    Open,
    /// It has no event source.
    Offline,
    /// It knows of nothing that it lacks, and shows that it is live.
    Current,
    /// Its rows are known to be out of date.
    Latched,
    /// A refetch has failed, and will be tried again.
    RefetchFailed,
    /// It keeps events back until a refetch ends.
    Queueing,
    /// It shows that there are no rows.
    Empty,
    /// A person is offered to try again.
    Asks,
    /// The browser has given up the page's newest event source.
    GivenUp,
}

/// A condition on the page; its [`Display`] is the name of a wait for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Condition<'a> {
    /// The quantity is this number.
    Equals(Quantity<'a>, u64),
    /// The quantity is this number or more.
    AtLeast(Quantity<'a>, u64),
    /// The state holds.
    Is(Flag),
    /// The state does not hold.
    Not(Flag),
    /// All of these hold at the same time.
    All(&'a [Condition<'a>]),
    /// It holds in both panes of the page.
    InBoth(&'a Condition<'a>),
    /// The output of a call that runs shows a text.
    Output {
        /// The call's id.
        call: &'a str,
        /// The text.
        text: &'a str,
    },
    /// The pane's cursor is in this epoch, at this number or later.
    CursorAt {
        /// The epoch.
        epoch: &'a str,
        /// The number.
        number: u64,
    },
    /// The page has made so many event sources, and each has brought frames of a type.
    EachStream {
        /// Event sources.
        streams: u64,
        /// The type of the frames.
        frames: &'a str,
        /// Frames of each, at least.
        count: u64,
    },
}

impl<'a> Condition<'a> {
    /// The text is in the transcript.
    pub const fn painted(text: &'a str) -> Condition<'a> {
        Condition::AtLeast(Quantity::Text(text), 1)
    }

    /// The page's streams have brought so many frames of a type.
    pub const fn frames(kind: &'a str, count: u64) -> Condition<'a> {
        Condition::AtLeast(Quantity::Frames(kind), count)
    }

    /// So many user rows are painted.
    pub const fn rows(count: u64) -> Condition<'a> {
        Condition::Equals(Quantity::Rows, count)
    }

    /// The pane has seen the event `head`, the last that the node has published. Without one, the
    /// replay of its newest stream has ended.
    pub fn caught_up(head: Option<&'a str>) -> Option<Condition<'a>> {
        const REPLAYED: &[Condition<'static>] = &[
            Condition::Is(Flag::Open),
            Condition::AtLeast(Quantity::FramesOfNewest("replay_complete"), 1),
        ];
        let Some(head) = head else { return Some(Condition::All(REPLAYED)) };
        let (epoch, number) = head.split_once('-')?;
        Some(Condition::CursorAt { epoch, number: number.parse().ok()? })
    }
}

impl Display for Quantity<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Quantity::Rows => f.write_str("painted user rows"),
            Quantity::Running => f.write_str("batches shown as running"),
            Quantity::LiveRefs => f.write_str("rows being streamed"),
            Quantity::ToolsOnTop => f.write_str("tool rows outside cards"),
            Quantity::AgentCards => f.write_str("agents' cards"),
            Quantity::ToolsInCards => f.write_str("tool rows within cards"),
            Quantity::EscapedSteps => f.write_str("agents' steps outside cards"),
            Quantity::Text(text) => write!(f, "occurrences of {text:?}"),
            Quantity::Frames(kind) => write!(f, "frames {kind}"),
            Quantity::FramesOfNewest(kind) => write!(f, "frames {kind} of the newest stream"),
            Quantity::CursorMoves => f.write_str("events with an id"),
            Quantity::EventSources => f.write_str("event sources"),
            Quantity::RosterModel => f.write_str("workstreams in the dashboard's model"),
            Quantity::RosterRail => f.write_str("rows of the dashboard's rail"),
        }
    }
}

impl Display for Flag {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Flag::Busy => "busy",
            Flag::Attached => "in the document",
            Flag::Open => "connected",
            Flag::Offline => "without a connection",
            Flag::Current => "current",
            Flag::Latched => "out of date",
            Flag::RefetchFailed => "waiting to retry a failed refetch",
            Flag::Queueing => "keeping events back",
            Flag::Empty => "empty",
            Flag::Asks => "offering a retry",
            Flag::GivenUp => "given up by the browser",
        })
    }
}

impl Display for Condition<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Condition::Equals(quantity, n) => write!(f, "{n} {quantity}"),
            Condition::AtLeast(Quantity::Text(text), 1) => {
                write!(f, "the text {text:?} is painted")
            }
            Condition::AtLeast(quantity, n) => write!(f, "{n} or more {quantity}"),
            Condition::Is(Flag::GivenUp) => f.write_str("the stream is given up by the browser"),
            Condition::Is(flag) => write!(f, "the pane is {flag}"),
            Condition::Not(flag) => write!(f, "the pane is not {flag}"),
            Condition::All(all) => {
                let all: Vec<_> = all.iter().map(Condition::to_string).collect();
                f.write_str(&all.join(", and "))
            }
            Condition::InBoth(one) => write!(f, "in both panes: {one}"),
            Condition::Output { call, text } => write!(f, "the output of {call} shows {text:?}"),
            Condition::CursorAt { epoch, number } => {
                write!(f, "the pane has seen event {epoch}-{number}")
            }
            Condition::EachStream { streams, frames, count } => {
                write!(f, "{count} or more frames {frames} on each of {streams} streams")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One of each, and nothing else: a new variant has to be added here to compile.
    fn all() -> (Vec<Quantity<'static>>, Vec<Flag>, Vec<Condition<'static>>) {
        use Condition::*;
        use Flag::*;
        use Quantity::*;
        let quantities = vec![
            Rows,
            Running,
            LiveRefs,
            ToolsOnTop,
            AgentCards,
            ToolsInCards,
            EscapedSteps,
            Text("a"),
            Frames("a"),
            FramesOfNewest("a"),
            CursorMoves,
            EventSources,
            RosterModel,
            RosterRail,
        ];
        let flags = vec![
            Busy,
            Attached,
            Open,
            Offline,
            Current,
            Latched,
            RefetchFailed,
            Queueing,
            Empty,
            Asks,
            GivenUp,
        ];
        const ONE: Condition<'static> = Condition::rows(1);
        let conditions = vec![
            Equals(Rows, 1),
            AtLeast(Rows, 1),
            Is(Busy),
            Not(Busy),
            All(&[ONE]),
            InBoth(&ONE),
            Output { call: "c", text: "t" },
            CursorAt { epoch: "e", number: 1 },
            EachStream { streams: 2, frames: "f", count: 1 },
        ];
        for quantity in &quantities {
            match quantity {
                Rows | Running | LiveRefs | ToolsOnTop | AgentCards | ToolsInCards
                | EscapedSteps | Text(_) | Frames(_) | FramesOfNewest(_) | CursorMoves
                | EventSources | RosterModel | RosterRail => {}
            }
        }
        for flag in &flags {
            match flag {
                Busy | Attached | Open | Offline | Current | Latched | RefetchFailed | Queueing
                | Empty | Asks | GivenUp => {}
            }
        }
        for condition in &conditions {
            match condition {
                Equals(..)
                | AtLeast(..)
                | Is(_)
                | Not(_)
                | All(_)
                | InBoth(_)
                | Output { .. }
                | CursorAt { .. }
                | EachStream { .. } => {}
            }
        }
        (quantities, flags, conditions)
    }

    fn name(value: &impl Serialize) -> String {
        match serde_json::to_value(value).unwrap() {
            serde_json::Value::String(name) => name,
            value => value.as_object().unwrap().keys().next().unwrap().clone(),
        }
    }

    #[test]
    fn the_page_driver_knows_every_condition_quantity_and_flag() {
        let pages = concat!(env!("CARGO_MANIFEST_DIR"), "/pages");
        let read = |file: &str| std::fs::read_to_string(format!("{pages}/{file}")).unwrap();
        let driver = read("driver.js");
        let states = [read("recovery.js"), read("coord_recovery.js")];
        let (quantities, flags, conditions) = all();
        let names = quantities.iter().map(name).chain(conditions.iter().map(name));
        for name in names {
            assert!(driver.contains(&format!("\n    {name}: (")), "driver.js lacks {name}");
        }
        for flag in flags.iter().map(name) {
            let in_driver = driver.contains(&format!("\n    {flag}: ("));
            let in_state = |state: &String| {
                state.contains(&format!("\n    {flag}:"))
                    || state.contains(&format!("\n    {flag},"))
            };
            assert!(in_driver || states.iter().all(in_state), "a page lacks {flag}");
        }
    }

    #[test]
    fn a_condition_reads_as_the_name_of_a_wait() {
        for (condition, text) in [
            (Condition::rows(3), "3 painted user rows"),
            (Condition::painted("Aye."), "the text \"Aye.\" is painted"),
            (Condition::frames("clear_ui", 2), "2 or more frames clear_ui"),
            (Condition::Is(Flag::RefetchFailed), "the pane is waiting to retry a failed refetch"),
            (
                Condition::caught_up(None).unwrap(),
                "the pane is connected, and 1 or more frames replay_complete of the newest stream",
            ),
            (Condition::caught_up(Some("00ab-4")).unwrap(), "the pane has seen event 00ab-4"),
        ] {
            assert_eq!(condition.to_string(), text);
        }
    }

    #[test]
    fn a_head_of_an_unknown_form_is_no_condition() {
        for head in ["", "7", "00ab-", "00ab-x"] {
            assert_eq!(Condition::caught_up(Some(head)), None, "{head:?}");
        }
    }
}
