//! The control socket: HTTP on a Unix socket, for what the public API does not offer.

use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;

use axum::body::Bytes;
use axum::extract::State;
use axum::extract::rejection::BytesRejection;
use axum::routing::{get, post};
use axum::{Json, Router};
use camino::{Utf8Path, Utf8PathBuf};
use clap::{Parser, Subcommand};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::net::UnixListener;

use crate::cli;
use crate::http::{ApiError, BadRequest, read};
use crate::record::EventId;
use crate::serve::{self, Inner, ServeError};
use crate::settings::{self, Settings};

mod emit;

/// A small streaming agent node, with a control socket.
#[derive(Parser)]
#[command(name = "recovery-node-control", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Serve workstreams until SIGTERM or SIGINT. Prints one line of JSON when it listens.
    #[command(after_help = settings::FORMATS)]
    Serve {
        #[command(flatten)]
        settings: Box<Settings>,
        /// Unix socket for control requests (HTTP); created with access for the owner only.
        #[arg(long, value_name = "PATH")]
        control_socket: Utf8PathBuf,
    },
}

/// Runs `recovery-node-control` with the arguments of this process.
pub fn main() -> ExitCode {
    let Command::Serve { settings, control_socket } = match cli::read::<Cli>() {
        Ok(cli) => cli.command,
        Err(code) => return code,
    };
    cli::run(&settings.clone(), async {
        let running = serve::start(*settings).await?;
        let socket = Socket::open(control_socket, running.inner.clone())?;
        running.announce()?;
        let ended = running.until_stopped().await;
        drop(socket);
        ended
    })
}

/// The socket's file, which is removed when the node ends.
struct Socket(Utf8PathBuf);

impl Socket {
    fn open(path: Utf8PathBuf, inner: Inner) -> Result<Self, ServeError> {
        let listener =
            bind(&path).map_err(|source| ServeError::Control { path: path.clone(), source })?;
        let router = Router::new()
            .route("/counters", get(counters))
            .route("/hold/load", post(hold_load))
            .route("/release/load", post(release_load))
            .route("/defect", post(defect))
            .route("/emit", post(emit::emit))
            .route("/processes", get(processes))
            .with_state(inner);
        tokio::spawn(axum::serve(listener, router).into_future());
        Ok(Self(path))
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        // It may have been deleted together with its folder.
        let _ = fs::remove_file(&self.0);
    }
}

/// Binds the socket with access for the owner only. Replaces one that a killed node left behind.
fn bind(path: &Utf8Path) -> io::Result<UnixListener> {
    let left_behind = fs::symlink_metadata(path).is_ok_and(|file| file.file_type().is_socket())
        && UnixStream::connect(path).is_err();
    if left_behind {
        fs::remove_file(path)?;
    }
    let listener = UnixListener::bind(path)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
    Ok(listener)
}

async fn hold_load(State(inner): State<Inner>) -> Json<Value> {
    inner.shared.faults.hold();
    Json(json!({ "status": "ok" }))
}

async fn release_load(State(inner): State<Inner>) -> Json<Value> {
    inner.shared.faults.release();
    Json(json!({ "status": "ok" }))
}

#[derive(Deserialize)]
struct Defect {
    name: String,
}

async fn defect(
    State(inner): State<Inner>,
    body: Result<Bytes, BytesRejection>,
) -> Result<Json<Value>, ApiError> {
    let Defect { name } = read(body)?;
    if !inner.shared.faults.turn_on(&name) {
        return Err(BadRequest::Defect.into());
    }
    Ok(Json(json!({ "status": "ok" })))
}

async fn processes(State(inner): State<Inner>) -> Json<Value> {
    Json(json!({ "processes": inner.turns.tools.processes() }))
}

async fn counters(State(inner): State<Inner>) -> Result<Json<Value>, ApiError> {
    let mut lanes = Map::new();
    let mut busy = 0;
    for ws in inner.registry.loaded().await {
        let (span, listeners) = ws.lane.span();
        let text = |id: Option<EventId>| id.map(|id| id.to_string());
        let lane = json!({
            "head": text(span.head_id()),
            "first": text(span.first_id()),
            "listeners": listeners,
        });
        lanes.insert(ws.ws_id.clone(), lane);
        busy += usize::from(ws.is_busy().await?);
    }
    Ok(Json(json!({
        "load_calls": inner.shared.metrics.history_loads.get(),
        "load_joins": inner.shared.metrics.history_joins.get(),
        "parked_loads": inner.shared.faults.parked(),
        "model_calls": inner.turns.model.calls(),
        "busy": busy,
        "lanes": lanes,
    })))
}
