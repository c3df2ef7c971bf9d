use super::*;
use crate::record::tests::{calls, epoch, result};
use crate::record::{Part, Row, RowId};

fn stored(ws_id: &str, parent: Option<&str>) -> Stored {
    Stored {
        ws_id: ws_id.into(),
        name: format!("name of {ws_id}"),
        model_url: Some("u".into()),
        kind: Kind::Coordinator,
        parent_ws_id: parent.map(str::to_owned),
        turns: 0,
    }
}

async fn store() -> (Store, tempfile::TempDir) {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(&dir.path().join("db")).unwrap();
    store.create(stored("w", None)).await.unwrap();
    (store, dir)
}

fn name(n: u64) -> RowId {
    RowId::new(epoch(1), n)
}

fn user(n: u64, send: Option<&str>) -> Row {
    Row::user(n.to_string(), name(n), send.map(str::to_owned))
}

fn row(n: u64, part: Part) -> Row {
    Row { content: n.to_string(), row_id: name(n), part }
}

#[tokio::test]
async fn a_commit_is_on_the_disk_when_it_is_answered() {
    let (store, _dir) = store().await;
    let locked = store.0.lock().unwrap();
    let conn = locked.as_ref().unwrap();
    let text = |name| conn.pragma_query_value(None, name, |row| row.get::<_, String>(0)).unwrap();
    let number = |name| conn.pragma_query_value(None, name, |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(text("journal_mode"), "wal");
    // 2 is FULL.
    assert_eq!((number("synchronous"), number("foreign_keys")), (2, 1));
}

#[tokio::test]
async fn what_was_stored_is_found_again_in_order() {
    let (store, dir) = store().await;
    let rows = [
        user(1, Some("c-1")),
        row(2, calls(&["a"])),
        row(3, result("a")),
        row(4, calls(&[])),
        user(5, None),
    ];
    for row in &rows {
        store.append("w", row.clone()).await.unwrap();
    }
    store.close();
    let store = Store::open(&dir.path().join("db")).unwrap();
    assert_eq!(store.rows("w", 500).await.unwrap(), rows);
    assert_eq!(store.rows("w", 2).await.unwrap(), rows[3..]);
    let found = store.find("w").await.unwrap().unwrap();
    assert_eq!((found.turns, found.model_url.as_deref()), (2, Some("u")));
    assert!(store.find("x").await.unwrap().is_none());
}

#[tokio::test]
async fn a_row_that_is_stored_again_changes_nothing_and_one_that_only_has_its_name_is_refused() {
    let (store, _dir) = store().await;
    let rows = [user(1, Some("c-1")), row(2, calls(&["a"])), row(3, result("a"))];
    for _ in 0..2 {
        for row in &rows {
            store.append("w", row.clone()).await.unwrap();
        }
    }
    assert_eq!(store.rows("w", 500).await.unwrap(), rows);
    let other_text = Row { content: "x".into(), ..rows[2].clone() };
    let other_part = Row { part: calls(&["b"]), ..rows[1].clone() };
    for other in [other_text, other_part] {
        assert!(matches!(store.append("w", other).await, Err(StoreError::RowTaken)));
    }
    assert_eq!(store.rows("w", 500).await.unwrap(), rows);
}

#[tokio::test]
async fn a_row_that_is_refused_leaves_nothing_behind() {
    let (store, _dir) = store().await;
    store.append("w", user(1, Some("c-1"))).await.unwrap();
    // The same row name, then the same send, then no such workstream.
    assert!(store.append("w", user(1, Some("c-2"))).await.is_err());
    assert!(store.append("w", user(2, Some("c-1"))).await.is_err());
    assert!(matches!(store.append("x", user(3, None)).await, Err(StoreError::Gone)));
    let new = Arrival::New { behind_others: false };
    assert_eq!(store.arrival("w", Some("c-2")).await.unwrap(), new);
    assert_eq!(store.rows("w", 500).await.unwrap().len(), 1);
}

#[tokio::test]
async fn what_waits_becomes_a_row_in_the_order_it_came() {
    let (store, _dir) = store().await;
    for (n, send) in [(1, Some("c-1")), (2, None), (3, Some("c-3"))] {
        store.enqueue("w", n.to_string(), send.map(str::to_owned)).await.unwrap();
    }
    assert!(store.enqueue("w", "again".into(), Some("c-1".into())).await.is_err());
    assert_eq!(store.arrival("w", Some("c-3")).await.unwrap(), Arrival::Waiting);
    let new = Arrival::New { behind_others: true };
    assert_eq!(store.arrival("w", None).await.unwrap(), new);
    let rows = [user(1, Some("c-1")), user(2, None), user(3, Some("c-3"))];
    for (n, row) in (1..).zip(&rows) {
        assert_eq!(store.take_up("w", name(n)).await.unwrap().as_ref(), Some(row));
    }
    assert_eq!(store.take_up("w", name(4)).await.unwrap(), None);
    assert_eq!(store.rows("w", 500).await.unwrap(), rows);
    assert_eq!(store.arrival("w", Some("c-3")).await.unwrap(), Arrival::Taken);
    assert!(!store.waits("w").await.unwrap());
}

#[tokio::test]
async fn a_rewind_of_one_cuts_a_turn_with_open_calls_back_to_its_user_row_and_others_in_full() {
    for (turns, left, cut) in [
        (1, 3, Cut { turns: 1, user_rows: 0 }),
        (2, 0, Cut { turns: 2, user_rows: 2 }),
        (9, 0, Cut { turns: 2, user_rows: 2 }),
    ] {
        let (store, _dir) = store().await;
        let parts = [calls(&[]), calls(&["a", "b"]), result("a")].into_iter().zip([2, 4, 5]);
        store.append("w", user(1, None)).await.unwrap();
        for (part, n) in parts {
            store.append("w", row(n, part)).await.unwrap();
            if n == 2 {
                store.append("w", user(3, None)).await.unwrap();
            }
        }
        let open = store.unanswered("w").await.unwrap();
        assert_eq!(open.iter().map(|call| call.id.as_str()).collect::<Vec<_>>(), ["b"]);
        let request = Some("r-1".to_owned());
        assert_eq!(store.rewind("w", turns, request).await.unwrap(), cut, "{turns}");
        assert_eq!(store.rewound("w", "r-1").await.unwrap(), Some(cut.turns));
        assert_eq!(store.rows("w", 500).await.unwrap().len(), left);
        assert_eq!(store.unanswered("w").await.unwrap(), []);
    }
}

#[tokio::test]
async fn a_deleted_workstream_leaves_nothing_and_takes_nothing() {
    let (store, _dir) = store().await;
    store.append("w", user(1, Some("c-1"))).await.unwrap();
    store.enqueue("w", "2".into(), Some("c-2".into())).await.unwrap();
    store.rewind("w", 1, Some("r-1".into())).await.unwrap();
    store.append("w", user(3, None)).await.unwrap();
    assert!(store.delete("w").await.unwrap());
    assert!(!store.delete("w").await.unwrap());
    assert!(store.find("w").await.unwrap().is_none());
    assert!(matches!(store.append("w", user(4, None)).await, Err(StoreError::Gone)));
    assert!(matches!(store.enqueue("w", "5".into(), None).await, Err(StoreError::Gone)));
    assert_eq!(store.take_up("w", name(6)).await.unwrap(), None);
    let locked = store.0.lock().unwrap();
    for table in ["rows", "queue", "sends", "rewinds"] {
        let count = format!("SELECT count(*) FROM {table}");
        let count = locked.as_ref().unwrap().query_row(&count, [], |row| row.get::<_, i64>(0));
        assert_eq!(count.unwrap(), 0, "{table}");
    }
}

#[tokio::test]
async fn a_database_of_another_version_is_refused_and_left_alone() {
    let (store, dir) = store().await;
    store.close();
    let path = dir.path().join("db");
    let conn = Connection::open(&path).unwrap();
    conn.pragma_update(None, "user_version", VERSION + 1).unwrap();
    assert!(matches!(Store::open(&path), Err(StoreError::Version(found)) if found == VERSION + 1));
    let rows = conn.query_row("SELECT count(*) FROM workstreams", [], |row| row.get::<_, i64>(0));
    assert_eq!(rows.unwrap(), 1);
}

#[tokio::test]
async fn a_closed_store_does_nothing() {
    let (store, _dir) = store().await;
    store.close();
    assert!(matches!(store.all().await, Err(StoreError::Closed)));
}
