use std::sync::Arc;

use super::*;

/// Enough for connects to fall before, into and after publications.
const EVENTS: u64 = 1000;
const CONNECTS: usize = 100;

fn roomy() -> Lane {
    let bounds = Bounds { events: usize::MAX, bytes: usize::MAX };
    lane(0, Limits { ring: bounds, listener: bounds })
}

/// A lane on a roster of its own.
pub fn lane(turns: u32, limits: Limits) -> Lane {
    let roster = Arc::new(Roster::new("node".to_owned(), limits).unwrap());
    Lane::new("w", "name", turns, limits, roster).unwrap()
}

fn present(header: Cursor) -> Presented<'static> {
    Presented { header, query: Cursor::Absent, token: None }
}

/// The numbers that a frame's text consists of: `content` brings one, a snapshot many.
fn numbers(frame: &[u8]) -> Vec<u64> {
    let text = std::str::from_utf8(frame).unwrap();
    let data = text.lines().find_map(|line| line.strip_prefix("data: ")).unwrap();
    let data: serde_json::Value = serde_json::from_str(data).unwrap();
    let text = match data["type"].as_str() {
        Some("content") => &data["text"],
        Some("in_progress_snapshot") => &data["content"],
        _ => return Vec::new(),
    };
    text.as_str().unwrap().split_whitespace().map(|n| n.parse().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_connects_while_text_streams_gets_every_piece_once_and_in_order() {
    let lane = Arc::new(roomy());
    let publisher = lane.clone();
    let published = std::thread::spawn(move || {
        for n in 1..=EVENTS {
            publisher.append_text(&format!("{n} "));
        }
    });
    let mut connections = Vec::new();
    for _ in 0..CONNECTS {
        // A fresh connection starts from the beginning, a redial from what it has seen.
        let seen = lane.locked().state.feed.span().head_id();
        let header = seen.map_or(Cursor::Absent, Cursor::Of);
        connections.push((0, lane.connect(&present(Cursor::Absent))));
        connections.push((seen.map_or(0, |id| id.seq), lane.connect(&present(header))));
    }
    published.join().unwrap();
    for (seen, connection) in connections {
        let mut got: Vec<u64> = connection.past.iter().flat_map(|f| numbers(f)).collect();
        let live = connection.live.unwrap();
        while got.last().copied().unwrap_or(seen) < EVENTS {
            let Next::Frame(frame) = live.next().await else { panic!("overflow") };
            got.extend(numbers(&frame));
        }
        assert_eq!(got, (seen + 1..=EVENTS).collect::<Vec<_>>());
    }
}

#[test]
fn a_token_is_untrue_after_every_admission_and_every_cut() {
    let lane = roomy();
    let mut tokens = vec![lane.token()];
    let row = Row::user("x".into(), lane.name_row(), None);
    let steps: [&dyn Fn(); 3] = [
        &|| lane.begin_turn(&row),
        &|| {
            lane.append_text("y");
            lane.end_turn(&Ending::Stored);
        },
        &|| lane.cut(1),
    ];
    for step in steps {
        step();
        assert!(!tokens.contains(&lane.token()));
        tokens.push(lane.token());
    }
}

#[test]
fn a_turn_without_a_text_leaves_the_token_true() {
    let lane = roomy();
    let token = lane.token();
    lane.end_turn(&Ending::Failed("no answer"));
    assert_eq!(lane.token(), token);
}

#[test]
fn a_pane_that_shows_a_lost_text_and_saw_no_event_is_refused_when_it_redials() {
    let lane = roomy();
    lane.append_text("lost");
    let token = lane.token().to_string();
    let redial = Presented { token: Some(&token), ..present(Cursor::Absent) };
    assert!(lane.connect(&redial).live.is_some());
    lane.end_turn(&Ending::Lost);
    assert!(lane.connect(&redial).live.is_none());
}
