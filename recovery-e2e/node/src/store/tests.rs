use super::*;
use crate::cursor::tests::epoch;

async fn store() -> (Store, tempfile::TempDir) {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(&dir.path().join("db")).unwrap();
    let ws =
        Stored { ws_id: "w".into(), name: "name".into(), model_url: Some("u".into()), turns: 0 };
    store.create(ws).await.unwrap();
    (store, dir)
}

fn row(n: u64, role: Role, send: Option<&str>) -> Row {
    Row {
        role,
        content: n.to_string(),
        row_id: RowId::new(epoch(1), n),
        client_send_ids: send.map(str::to_owned).into_iter().collect(),
    }
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
    let rows =
        [row(1, Role::User, Some("c-1")), row(2, Role::Assistant, None), row(3, Role::User, None)];
    for row in &rows {
        store.append("w", row.clone()).await.unwrap();
    }
    store.close();
    let store = Store::open(&dir.path().join("db")).unwrap();
    assert_eq!(store.rows("w", 500).await.unwrap(), rows);
    assert_eq!(store.rows("w", 2).await.unwrap(), rows[1..]);
    let found = store.find("w").await.unwrap().unwrap();
    assert_eq!((found.turns, found.model_url.as_deref()), (2, Some("u")));
    assert!(store.find("x").await.unwrap().is_none());
}

#[tokio::test]
async fn a_row_that_is_refused_leaves_nothing_behind() {
    let (store, _dir) = store().await;
    store.append("w", row(1, Role::User, Some("c-1"))).await.unwrap();
    // The same row name, then the same send, then no such workstream.
    assert!(store.append("w", row(1, Role::User, Some("c-2"))).await.is_err());
    assert!(store.append("w", row(2, Role::User, Some("c-1"))).await.is_err());
    assert!(store.append("x", row(3, Role::User, None)).await.is_err());
    assert!(!store.knows_send("w", "c-2").await.unwrap());
    assert_eq!(store.rows("w", 500).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_database_of_another_version_is_refused_and_left_alone() {
    let (store, dir) = store().await;
    store.close();
    let path = dir.path().join("db");
    let conn = Connection::open(&path).unwrap();
    conn.pragma_update(None, "user_version", VERSION + 1).unwrap();
    assert!(matches!(Store::open(&path), Err(StoreError::Version(2))));
    let rows = conn.query_row("SELECT count(*) FROM workstreams", [], |row| row.get::<_, i64>(0));
    assert_eq!(rows.unwrap(), 1);
}

#[tokio::test]
async fn a_closed_store_does_nothing() {
    let (store, _dir) = store().await;
    store.close();
    assert!(matches!(store.all().await, Err(StoreError::Closed)));
}
