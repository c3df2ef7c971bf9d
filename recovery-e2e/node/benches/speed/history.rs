//! How long a history takes when it is long, and a start.

use std::time::{Duration, Instant};

use rusqlite::{Connection, params};

use crate::node::{Folder, NODE, Node};

/// Rows that a workstream has.
const ROWS: [u32; 3] = [10, 1_000, 50_000];

/// Characters of a row.
const TEXT: usize = 200;

/// Number of samples, of which the median is reported.
const REQUESTS: usize = 51;
const STARTS: usize = 11;

pub async fn measure() {
    for rows in ROWS {
        let (node, mut model, folder) = Node::with_model(&[]).await;
        let ws = node.create("long").await;
        let mut pane = node.pane(&ws, "").await;
        node.turn(&ws, &mut model, &mut pane, &"x".repeat(TEXT)).await;
        assert!(node.stop().await.success());
        multiply(&folder, rows);

        let node = folder.start(&[]).await;
        let mut times = Vec::new();
        for _ in 0..REQUESTS {
            let began = Instant::now();
            let history = node.history(&ws).await;
            times.push(began.elapsed());
            assert_eq!(history["messages"].as_array().unwrap().len(), rows.min(100) as usize);
        }
        println!("history of {rows} rows, the newest 100: {:.1?}", middle(times));
    }
}

/// From the command to the first answer.
pub async fn start() -> Duration {
    let folder = Folder::new();
    let mut times = Vec::new();
    for _ in 0..STARTS {
        let began = Instant::now();
        let node = Node::run(folder.command(NODE, &[])).await;
        assert_eq!(node.get("/health").await.0, 200);
        times.push(began.elapsed());
        node.kill().await;
    }
    middle(times)
}

/// Repeats the first row until there are this many. Every other column is taken as it is, so that
/// this knows little of the node's schema.
fn multiply(folder: &Folder, rows: u32) {
    let mut database = Connection::open(folder.data().join("node.sqlite")).unwrap();
    let tx = database.transaction().unwrap();
    // Without those that SQLite computes.
    let query = "SELECT group_concat(name) FROM pragma_table_info('rows')";
    let columns: String = tx.query_row(query, [], |row| row.get(0)).unwrap();
    tx.execute_batch(&format!(
        "CREATE TEMP TABLE one AS SELECT {columns} FROM rows WHERE place = 1;
         DELETE FROM rows WHERE place > 1;"
    ))
    .unwrap();
    let insert = format!("INSERT INTO rows ({columns}) SELECT {columns} FROM one");
    for n in 2..=rows {
        tx.execute("UPDATE one SET place = ?1, row_id = ?2", params![n, format!("row.{n}")])
            .unwrap();
        tx.execute(&insert, []).unwrap();
    }
    tx.commit().unwrap();
}

fn middle(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}
