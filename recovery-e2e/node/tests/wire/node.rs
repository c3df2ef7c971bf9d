//! A node process and its data folder.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;

use reqwest::{Client, Method, RequestBuilder, StatusCode};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};

use crate::model::Model;
use crate::pane::Pane;
use crate::within;

pub const NODE: &str = env!("CARGO_BIN_EXE_recovery-node");

/// A folder that outlives the node processes on it.
#[derive(Clone)]
pub struct Folder(Arc<TempDir>);

impl Folder {
    pub fn new() -> Self {
        Self(Arc::new(tempfile::tempdir().unwrap()))
    }

    pub fn data(&self) -> PathBuf {
        self.0.path().join("data")
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Everything that the nodes of this folder have logged.
    pub fn log(&self) -> String {
        fs::read_to_string(self.file("log")).unwrap()
    }

    /// A command that serves this folder and logs into it.
    pub fn command(&self, binary: &str, args: &[&str]) -> Command {
        let log = File::options().append(true).create(true).open(self.file("log")).unwrap();
        let mut command = Command::new(binary);
        command
            .args(["serve", "--listen", "127.0.0.1:0", "--data-dir"])
            .arg(self.data())
            .args(args)
            .env_remove("RUST_LOG")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log)
            .kill_on_drop(true);
        command
    }

    pub async fn start(&self, args: &[&str]) -> Node {
        Node::run(self.command(NODE, args)).await
    }

    /// Runs a node that is expected not to start.
    pub async fn refused(&self, args: &[&str]) -> (Option<i32>, String) {
        let output = self.command(NODE, args).stderr(Stdio::piped()).output();
        let output = within("a refusal", output).await.unwrap();
        assert_eq!(output.stdout, b"");
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    }
}

pub struct Node {
    child: Child,
    pub base: String,
    pub login_url: String,
    pub client: Client,
}

impl Node {
    pub async fn run(mut command: Command) -> Self {
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let line = within("the line of a started node", lines.next_line()).await.unwrap();
        let line: Value = serde_json::from_str(&line.expect("the node ended at once")).unwrap();
        Self {
            child,
            base: format!("http://{}", line["address"].as_str().unwrap()),
            login_url: line["login_url"].as_str().unwrap().to_owned(),
            client: client(),
        }
    }

    /// A node with a model, both new.
    pub async fn with_model(args: &[&str]) -> (Self, Model, Folder) {
        let (folder, model) = (Folder::new(), Model::start().await);
        let node = folder.start(&[&["--model-url", &model.url], args].concat()).await;
        (node, model, folder)
    }

    pub fn token(&self) -> &str {
        self.login_url.split_once("token=").unwrap().1
    }

    /// A request with nothing that opens the node.
    pub fn bare(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, format!("{}{path}", self.base))
    }

    /// A request of a logged-in user.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.bare(method, path).bearer_auth(self.token())
    }

    pub async fn get(&self, path: &str) -> (StatusCode, Value) {
        answer(self.request(Method::GET, path)).await
    }

    pub async fn delete(&self, path: &str) -> (StatusCode, Value) {
        answer(self.request(Method::DELETE, path)).await
    }

    pub async fn post(&self, path: &str, body: Value) -> (StatusCode, Value) {
        answer(self.request(Method::POST, path).json(&body)).await
    }

    /// A new workstream; answers its path.
    pub async fn create(&self, name: &str) -> String {
        let (status, made) = self.post("/v1/api/workstreams", json!({ "name": name })).await;
        assert_eq!(status, StatusCode::CREATED, "{made}");
        assert_eq!(made["name"], name);
        format!("/v1/api/workstreams/{}", made["ws_id"].as_str().unwrap())
    }

    pub async fn send(&self, ws: &str, message: &str) {
        let answer = self.post(&format!("{ws}/send"), json!({ "message": message })).await;
        assert_eq!(answer, (StatusCode::OK, json!({ "status": "ok" })));
    }

    /// A whole turn, watched through `pane`.
    pub async fn turn(&self, ws: &str, model: &mut Model, pane: &mut Pane, text: &str) {
        self.send(ws, text).await;
        model.answer(&format!("re: {text}")).await;
        pane.until_idle().await;
    }

    pub async fn history(&self, ws: &str) -> Value {
        let (status, history) = self.get(&format!("{ws}/history")).await;
        assert_eq!(status, StatusCode::OK, "{history}");
        history
    }

    /// What every row of the history says.
    pub async fn texts(&self, ws: &str) -> Vec<String> {
        texts(&self.history(ws).await)
    }

    pub async fn pane(&self, ws: &str, query: &str) -> Pane {
        Pane::open(self.request(Method::GET, &format!("{ws}/events?{query}"))).await
    }

    /// A connection to the global stream.
    pub async fn roster(&self, query: &str) -> Pane {
        Pane::open(self.request(Method::GET, &format!("/v1/api/events/global?{query}"))).await
    }

    /// A pane that a browser redials by itself.
    pub async fn redial(&self, ws: &str, query: &str, header: &str) -> Pane {
        let request = self.request(Method::GET, &format!("{ws}/events?{query}"));
        Pane::open(request.header("Last-Event-ID", header)).await
    }

    /// A sample of the node's metrics.
    pub async fn metric(&self, name: &str) -> u64 {
        let response = within("the metrics", self.bare(Method::GET, "/metrics").send()).await;
        let text = within("the metrics", response.unwrap().text()).await.unwrap();
        let sample = format!("recovery_node_{name} ");
        let value = text.lines().find_map(|line| line.strip_prefix(&sample));
        value.unwrap_or_else(|| panic!("no {name} in {text}")).parse().unwrap()
    }

    /// A connection on which the test writes what it likes.
    pub async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.base.strip_prefix("http://").unwrap()).await.unwrap()
    }

    /// The status line for a path that no URL library touches.
    pub async fn status_of(&self, path: &str) -> String {
        let address = self.base.strip_prefix("http://").unwrap();
        let mut stream = TcpStream::connect(address).await.unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut lines = BufReader::new(stream).lines();
        within("a status line", lines.next_line()).await.unwrap().unwrap()
    }

    pub async fn kill(mut self) {
        within("the death of a killed node", self.child.kill()).await.unwrap();
    }

    /// Asks the node to stop, and waits until it has.
    pub async fn stop(self) -> ExitStatus {
        self.signal(Signal::TERM);
        self.ended().await
    }

    pub async fn ended(mut self) -> ExitStatus {
        within("the end of a node", self.child.wait()).await.unwrap()
    }

    pub fn pid(&self) -> u32 {
        self.child.id().expect("the node has ended")
    }

    pub fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(self.pid().cast_signed()).unwrap();
        kill_process(pid, signal).unwrap();
    }
}

pub fn client() -> Client {
    Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none()).build().unwrap()
}

pub async fn answer(request: RequestBuilder) -> (StatusCode, Value) {
    let response = within("an answer", request.send()).await.unwrap();
    let status = response.status();
    let text = within("a body", response.text()).await.unwrap();
    (status, serde_json::from_str(&text).unwrap_or_else(|_| panic!("not JSON: {text}")))
}

pub fn texts(history: &Value) -> Vec<String> {
    let messages = history["messages"].as_array().unwrap();
    messages.iter().map(|row| row["content"].as_str().unwrap().to_owned()).collect()
}

/// Whether anyone but the owner can read a file.
pub fn is_private(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    fs::metadata(path).unwrap().permissions().mode() & 0o077 == 0
}
