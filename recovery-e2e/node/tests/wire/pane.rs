//! One connection to an event stream.

use reqwest::{RequestBuilder, Response, StatusCode};
use serde_json::Value;

use crate::within;

/// A frame with its id if it carried one.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    pub id: Option<String>,
    pub data: Value,
}

impl Frame {
    pub fn kind(&self) -> &str {
        self.data["type"].as_str().unwrap()
    }
}

pub struct Pane {
    response: Response,
    buffer: String,
    pub retry: u32,
}

impl Pane {
    pub async fn open(request: RequestBuilder) -> Self {
        let response = within("an open stream", request.send()).await.unwrap();
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        let mut pane = Self { response, buffer: String::new(), retry: 0 };
        let first = pane.block().await.expect("a retry time");
        pane.retry = first.strip_prefix("retry: ").expect("retry comes first").parse().unwrap();
        pane
    }

    /// The next block of lines, or none at the end of the stream.
    async fn block(&mut self) -> Option<String> {
        loop {
            if let Some((block, rest)) = self.buffer.split_once("\n\n") {
                let block = block.to_owned();
                self.buffer = rest.to_owned();
                return Some(block);
            }
            // A node that was killed breaks the stream; it has ended all the same.
            let chunk = within("more of a stream", self.response.chunk()).await.ok().flatten()?;
            self.buffer.push_str(std::str::from_utf8(&chunk).unwrap());
        }
    }

    /// The next frame that is no ping, or none at the end of the stream.
    pub async fn next(&mut self) -> Option<Frame> {
        loop {
            let block = self.block().await?;
            let line = |field| block.lines().find_map(|line| line.strip_prefix(field));
            if let Some(data) = line("data: ") {
                let data = serde_json::from_str(data).unwrap();
                return Some(Frame { id: line("id: ").map(str::to_owned), data });
            }
            assert_eq!(block, ": ping");
        }
    }

    pub async fn take(&mut self) -> Frame {
        self.next().await.expect("the stream ended")
    }

    /// Everything up to and including the first frame that is `last`.
    pub async fn until(&mut self, last: impl Fn(&Frame) -> bool) -> Vec<Frame> {
        let mut frames = Vec::new();
        loop {
            let frame = self.take().await;
            frames.push(frame.clone());
            if last(&frame) {
                return frames;
            }
        }
    }

    /// The frames of the connect itself and of its slice.
    pub async fn past(&mut self) -> Vec<Frame> {
        self.until(|frame| frame.kind() == "replay_complete").await
    }

    /// Everything up to the first frame of a type.
    pub async fn until_kind(&mut self, kind: &str) -> Vec<Frame> {
        self.until(|frame| frame.kind() == kind).await
    }

    /// Everything up to the end of a turn.
    pub async fn until_idle(&mut self) -> Vec<Frame> {
        self.until(|frame| frame.id.is_some() && frame.data["state"] == "idle").await
    }

    /// Everything up to the end of the stream.
    pub async fn rest(mut self) -> Vec<Frame> {
        let mut frames = Vec::new();
        while let Some(frame) = self.next().await {
            frames.push(frame);
        }
        frames
    }
}

pub fn kinds(frames: &[Frame]) -> Vec<&str> {
    frames.iter().map(Frame::kind).collect()
}

/// The text that content events bring, in order.
pub fn content(frames: &[Frame]) -> String {
    frames
        .iter()
        .filter(|frame| frame.kind() == "content")
        .map(|frame| frame.data["text"].as_str().unwrap())
        .collect()
}
