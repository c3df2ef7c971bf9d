//! Many subscribers that only count, so that what is measured is the server.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use crate::within;

/// Occurs once in every published event, and nowhere else on a stream.
pub const MARK: u8 = b'~';

pub struct Crowd {
    streams: Vec<TcpStream>,
}

impl Crowd {
    /// Connects this many, one after the other, each past its first frames.
    pub async fn connect(address: &str, request: &str, size: usize) -> Self {
        let mut streams = Vec::new();
        for _ in 0..size {
            let mut stream = TcpStream::connect(address).await.unwrap();
            stream.write_all(request.as_bytes()).await.unwrap();
            let mut text = Vec::new();
            while !String::from_utf8_lossy(&text).contains("replay_complete") {
                let mut chunk = [0; 4096];
                let count = within("a first frame", stream.read(&mut chunk)).await.unwrap();
                assert!(count > 0, "refused: {}", String::from_utf8_lossy(&text));
                text.extend(&chunk[..count]);
            }
            streams.push(stream);
        }
        Self { streams }
    }

    /// Until each has this many events.
    pub async fn receive(&mut self, events: usize) {
        let mut tasks = JoinSet::new();
        for stream in self.streams.drain(..) {
            tasks.spawn(receive(stream, events));
        }
        while let Some(stream) = within("all events at all subscribers", tasks.join_next()).await {
            self.streams.push(stream.unwrap());
        }
    }
}

async fn receive(mut stream: TcpStream, events: usize) -> TcpStream {
    let mut chunk = vec![0; 1 << 16];
    let mut seen = 0;
    while seen < events {
        let count = stream.read(&mut chunk).await.unwrap();
        assert!(count > 0, "the stream ended after {seen} events");
        seen += chunk[..count].iter().filter(|byte| **byte == MARK).count();
    }
    stream
}
