//! Whatever happens between a node and a pane, and in whatever order, the pane ends with the rows
//! that are stored: the lane as it is, and a pane that keeps the client's rules.

#[path = "../../tests/stress/rules.rs"]
mod rules;

use std::collections::{HashMap, HashSet, VecDeque};

use bytes::Bytes;
use futures_util::FutureExt as _;
use proptest::prelude::*;
use serde_json::Value;

use self::rules::{Pane, Read, Snapshot, Want};
use super::tests::lane;
use super::*;

/// Cases of the property; `PROPTEST_CASES` can ask for more.
const CASES: u32 = 1_000;

/// Far more rounds than any pane needs to come to rest.
const ROUNDS: usize = 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    User,
    Assistant,
}

#[derive(Clone, Debug)]
enum Step {
    // Of the node.
    Begin,
    Text,
    End,
    Fail,
    Lose,
    Rewind(u32),
    Kill,
    // Of the wire.
    Take(usize),
    TakeAll,
    Serve(usize),
    Answer(usize),
    Refuse(usize),
    Break,
    Redial,
    // Of the page.
    Reopen,
    Reload,
    Timers,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => Just(Step::Begin),
        8 => Just(Step::Text),
        4 => Just(Step::End),
        1 => Just(Step::Fail),
        1 => Just(Step::Lose),
        3 => (1..4u32).prop_map(Step::Rewind),
        1 => Just(Step::Kill),
        6 => (1..6usize).prop_map(Step::Take),
        4 => Just(Step::TakeAll),
        5 => (0..3usize).prop_map(Step::Serve),
        5 => (0..3usize).prop_map(Step::Answer),
        2 => (0..3usize).prop_map(Step::Refuse),
        2 => Just(Step::Break),
        3 => Just(Step::Redial),
        1 => Just(Step::Reopen),
        1 => Just(Step::Reload),
        2 => Just(Step::Timers),
    ]
}

fn limits() -> impl Strategy<Value = Limits> {
    let bounds = |events| Bounds { events, bytes: usize::MAX };
    (0..30usize, 1..20usize)
        .prop_map(move |(ring, queue)| Limits { ring: bounds(ring), listener: bounds(queue) })
}

/// What an `EventSource` keeps over its redials.
#[derive(Default)]
struct Source {
    cursor: Option<String>,
    token: Option<String>,
    last_id: Option<String>,
    connection: Option<(VecDeque<Bytes>, Option<Listener>)>,
}

struct World {
    limits: Limits,
    lane: Lane,
    stored: Vec<rules::Row>,
    roles: Vec<Role>,
    /// All that was ever published of a row.
    published: HashMap<String, String>,
    pane: Pane,
    source: Option<Source>,
    /// Requests under way, and what the node has read for them.
    reads: Vec<(Read, Option<Snapshot>)>,
    words: u32,
}

impl World {
    fn new(limits: Limits) -> Self {
        let mut world = Self {
            limits,
            lane: lane(0, limits),
            stored: Vec::new(),
            roles: Vec::new(),
            published: HashMap::new(),
            pane: Pane::default(),
            source: None,
            reads: Vec::new(),
            words: 0,
        };
        world.step(&Step::Reload);
        world
    }

    fn step(&mut self, step: &Step) {
        let busy = self.lane.activity() != Activity::Idle;
        match step {
            Step::Begin if !busy => self.begin(),
            Step::Text if busy => {
                let word = self.word();
                self.lane.append_text(&word);
                let row = self.lane.live().unwrap().row_id;
                self.published.entry(row.as_str().to_owned()).or_default().push_str(&word);
            }
            Step::End if busy => self.end(&Ending::Stored),
            Step::Fail if busy => self.end(&Ending::Failed("no answer")),
            Step::Lose if busy => self.end(&Ending::Lost),
            Step::Rewind(turns) if !busy => self.rewind(*turns),
            Step::Kill => self.kill(),
            Step::Take(count) => {
                for _ in 0..*count {
                    self.take();
                }
            }
            Step::TakeAll => self.take_all(),
            Step::Serve(n) => self.serve(*n),
            Step::Answer(n) => self.answer(*n, true),
            Step::Refuse(n) => self.answer(*n, false),
            Step::Break => self.disconnect(),
            Step::Redial => self.redial(),
            Step::Reopen if self.source.is_some() => {
                self.pane.closed();
                self.open();
            }
            Step::Reload => {
                let want = self.pane.load();
                self.carry_out(Some(want));
            }
            Step::Timers => {
                let want = self.pane.due();
                self.carry_out(want);
            }
            _ => {}
        }
    }

    fn word(&mut self) -> String {
        self.words += 1;
        format!("{} ", self.words)
    }

    fn begin(&mut self) {
        let row = Row::user(self.word(), self.lane.name_row(), None);
        self.store(Role::User, row.row_id.as_str(), &row.content);
        self.published.insert(row.row_id.as_str().to_owned(), row.content.clone());
        self.lane.begin_turn(&row);
    }

    fn end(&mut self, ending: &Ending<'_>) {
        if let (Some(live), Ending::Stored | Ending::Failed(_)) = (self.lane.live(), ending) {
            self.store(Role::Assistant, live.row_id.as_str(), &live.text);
        }
        self.lane.end_turn(ending);
    }

    fn store(&mut self, role: Role, row_id: &str, text: &str) {
        self.stored.push(rules::Row { row_id: row_id.to_owned(), text: text.to_owned() });
        self.roles.push(role);
    }

    fn rewind(&mut self, turns: u32) {
        let mut removed = 0;
        while removed < turns && self.roles.contains(&Role::User) {
            self.stored.pop();
            removed += u32::from(self.roles.pop() == Some(Role::User));
        }
        self.lane.cut(removed);
    }

    /// A hard end and a new process on the same store.
    fn kill(&mut self) {
        self.disconnect();
        let turns = self.roles.iter().filter(|role| **role == Role::User).count();
        let turns = u32::try_from(turns).unwrap();
        self.lane = lane(turns, self.limits);
        for _ in 0..self.reads.len() {
            self.answer(0, false);
        }
    }

    fn serve(&mut self, n: usize) {
        let token = self.lane.token().to_string();
        if let Some((_, read)) = self.reads.get_mut(n)
            && read.is_none()
        {
            *read = Some(Snapshot { rows: self.stored.clone(), token });
        }
    }

    fn answer(&mut self, n: usize, well: bool) {
        if n < self.reads.len() && (!well || self.reads[n].1.is_some()) {
            let (read, snapshot) = self.reads.remove(n);
            let want = self.pane.answered(read, snapshot.filter(|_| well));
            self.carry_out(want);
        }
    }

    fn carry_out(&mut self, want: Option<Want>) {
        match want {
            None => {}
            Some(Want::Refetch(read)) => self.reads.push((read, None)),
            Some(Want::Load(read)) => {
                self.source = None;
                self.reads.push((read, None));
            }
            Some(Want::Open) => self.open(),
        }
    }

    fn open(&mut self) {
        let (cursor, token) = self.pane.present();
        self.source = Some(Source { cursor, token, ..Source::default() });
        self.redial();
    }

    fn redial(&mut self) {
        let Some(source) = &mut self.source else { return };
        if source.connection.is_none() {
            let connection = self.lane.connect(&Presented {
                header: Cursor::read(source.last_id.as_deref()),
                query: Cursor::read(source.cursor.as_deref()),
                token: source.token.as_deref(),
            });
            source.connection = Some((connection.past.into(), connection.live));
            self.pane.opened();
        }
    }

    fn disconnect(&mut self) {
        if let Some(source) = &mut self.source
            && source.connection.take().is_some()
        {
            self.pane.broke();
        }
    }

    /// Hands one frame to the pane; says whether there was one.
    fn take(&mut self) -> bool {
        let Some(source) = &mut self.source else { return false };
        let Some((past, live)) = &mut source.connection else { return false };
        let next = match (past.pop_front(), live) {
            (Some(frame), _) => Some(Next::Frame(frame)),
            (None, Some(live)) => live.next().now_or_never(),
            (None, None) => Some(Next::Overflow),
        };
        match next {
            None => return false,
            Some(Next::Overflow) => self.disconnect(),
            Some(Next::Frame(frame)) => {
                let (id, frame) = parse(&frame);
                source.last_id = id.clone().or(source.last_id.take());
                let want = self.pane.frame(id.as_deref(), &frame);
                self.carry_out(want);
            }
        }
        true
    }

    fn take_all(&mut self) {
        while self.take() {}
        let connected = self.source.as_ref().is_some_and(|source| source.connection.is_some());
        if connected && self.pane.is_true() {
            assert_eq!(self.pane.rows(), self.truth(), "caught up and not true");
        }
    }

    /// What a replay of everything would show.
    fn truth(&self) -> Vec<rules::Row> {
        let live = self.lane.live();
        let live = live.map(|l| rules::Row { row_id: l.row_id.as_str().to_owned(), text: l.text });
        self.stored.iter().cloned().chain(live).collect()
    }

    /// Lets everything come to its end that was begun.
    fn settle(&mut self) {
        for round in 0..ROUNDS {
            self.step(&Step::End);
            self.redial();
            self.take_all();
            while !self.reads.is_empty() {
                self.serve(0);
                self.answer(0, true);
                self.take_all();
            }
            self.step(&Step::Timers);
            if self.reads.is_empty() && self.pane.is_true() && !self.take() {
                assert_eq!(self.pane.rows(), self.stored);
                return;
            }
            // A pane whose refetch and retry have both failed heals at the end of a turn.
            if round % 2 == 1 {
                self.step(&Step::Begin);
            }
        }
        panic!("the pane never came to rest: {:#?}", self.pane);
    }

    fn check(&self) {
        let mut seen = HashSet::new();
        for row in self.pane.rows() {
            assert!(seen.insert(&row.row_id), "painted twice: {row:?}");
            let published = &self.published[&row.row_id];
            assert!(published.starts_with(&row.text), "{row:?} was never said: {published:?}");
        }
    }
}

fn parse(frame: &[u8]) -> (Option<String>, Value) {
    let text = std::str::from_utf8(frame).unwrap();
    let line = |field| text.lines().find_map(|line| line.strip_prefix(field));
    (line("id: ").map(str::to_owned), serde_json::from_str(line("data: ").unwrap()).unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: ProptestConfig::default().cases.max(CASES),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_pane_shows_what_a_replay_of_everything_would_whatever_happened_in_between(
        limits in limits(),
        steps in prop::collection::vec(step(), 0..120),
    ) {
        let mut world = World::new(limits);
        for step in &steps {
            world.step(step);
            world.check();
        }
        world.settle();
    }
}
