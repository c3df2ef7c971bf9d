//! Publishes many events by the control socket, many requests to a write.

use std::path::Path;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;

use crate::within;

/// Requests that are written before their answers are read.
const PIPELINE: usize = 50;

pub struct Emitter {
    stream: BufReader<UnixStream>,
    request: String,
}

impl Emitter {
    /// Publishes results with this output on the workstream of this path.
    pub async fn connect(socket: &Path, ws: &str, output: &str) -> Self {
        let ws_id = ws.rsplit('/').next().unwrap();
        let order = json!({
            "ws_id": ws_id, "event": "tool_result", "call_id": "c", "name": "n", "output": output,
        });
        let body = order.to_string();
        let length = body.len();
        let request =
            format!("POST /emit HTTP/1.1\r\nHost: node\r\nContent-Length: {length}\r\n\r\n{body}");
        let stream = UnixStream::connect(socket).await.unwrap();
        Self { stream: BufReader::new(stream), request }
    }

    /// Publishes this many; answers the id of the last.
    pub async fn publish(&mut self, count: usize) -> String {
        let mut id = Value::Null;
        let mut left = count;
        while left > 0 {
            let batch = left.min(PIPELINE);
            self.stream.write_all(self.request.repeat(batch).as_bytes()).await.unwrap();
            for _ in 0..batch {
                id = within("an emitted event", self.answer()).await["id"].take();
            }
            left -= batch;
        }
        id.as_str().unwrap().to_owned()
    }

    async fn answer(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            self.stream.read_line(&mut line).await.unwrap();
            if let Some(value) = line.strip_prefix("content-length: ") {
                length = value.trim().parse().unwrap();
            }
            if line.trim().is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).await.unwrap();
        serde_json::from_slice(&body).unwrap()
    }
}
