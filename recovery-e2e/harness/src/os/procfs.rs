//! Reading `/proc`. A process may end while it is looked at, and then has nothing any more: no
//! answer here is an error.

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;

use rustix::process::Pid;

/// A process as `/proc/<pid>/stat` has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stat {
    /// The name of its program, cut to 15 bytes by the kernel.
    pub name: String,
    /// Who started it, or inherited it; the first process has no parent.
    pub parent: Option<Pid>,
    /// When it started, in ticks of the kernel: distinguishes it from a later process of the same id.
    pub start: u64,
    /// Whether it has ended, and is only not reaped yet.
    pub has_ended: bool,
}

impl Stat {
    /// The name is in parentheses, and may itself hold spaces and parentheses.
    fn parse(line: &str) -> Option<Stat> {
        let (_, named) = line.split_once('(')?;
        let (name, rest) = named.rsplit_once(')')?;
        let fields: Vec<_> = rest.split_whitespace().collect();
        Some(Stat {
            name: name.to_owned(),
            parent: fields.get(1)?.parse().ok().and_then(Pid::from_raw),
            start: fields.get(19)?.parse().ok()?,
            has_ended: matches!(*fields.first()?, "Z" | "X"),
        })
    }
}

/// Every process there is.
pub fn processes() -> HashMap<Pid, Stat> {
    let Ok(entries) = fs::read_dir("/proc") else { return HashMap::new() };
    entries
        .filter_map(|entry| {
            let pid = entry.ok()?.file_name().to_str()?.parse().ok().and_then(Pid::from_raw)?;
            let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
            Some((pid, Stat::parse(&stat)?))
        })
        .collect()
}

/// The variables that a process was started with, as `NAME=VALUE`.
pub fn environment(pid: Pid) -> Vec<Vec<u8>> {
    let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    environment.split(|byte| *byte == 0).map(<[u8]>::to_vec).collect()
}

/// What a process has open: paths, and `pipe:[7]` or `socket:[7]` with an inode.
pub fn open_files(pid: Pid) -> Vec<String> {
    let entries = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| fs::read_link(entry.path()).ok()?.to_str().map(str::to_owned))
        .collect()
}

/// The file that a process runs.
pub fn program(pid: Pid) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{pid}/exe")).ok()
}

/// The inode in the name of an open pipe or socket.
pub fn inode(open: &str, kind: &str) -> Option<u64> {
    open.strip_prefix(kind)?.strip_prefix(":[")?.strip_suffix(']')?.parse().ok()
}

/// The ports on which a process listens, by the inode of the socket.
pub fn listening() -> HashMap<u64, u16> {
    let read = |table| fs::read_to_string(table).unwrap_or_default();
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"].map(read);
    tables.iter().flat_map(|table| table.lines()).filter_map(listener).collect()
}

/// The inode and the port in a line of a socket table, if it is one of a listener.
fn listener(line: &str) -> Option<(u64, u16)> {
    /// `TCP_LISTEN`.
    const LISTENS: &str = "0A";
    let fields: Vec<_> = line.split_whitespace().collect();
    let port = u16::from_str_radix(fields.get(1)?.rsplit_once(':')?.1, 16).ok()?;
    let inode = fields.get(9)?.parse().ok()?;
    (*fields.get(3)? == LISTENS).then_some((inode, port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_read_past_a_name_with_spaces_and_parentheses() {
        let numbers = (4..=22).map(|n| n.to_string()).collect::<Vec<_>>().join(" ");
        let line = |state: &str| format!("42 (a) b (c) {state} {numbers} 0 0");
        let stat = Stat::parse(&line("S")).unwrap();
        assert_eq!((stat.name.as_str(), stat.start), ("a) b (c", 22));
        assert_eq!(stat.parent, Pid::from_raw(4));
        assert!(!stat.has_ended && Stat::parse(&line("Z")).unwrap().has_ended);
        assert_eq!(Stat::parse("42 (cut of"), None);
    }

    #[test]
    fn this_process_is_there_with_what_it_has_open() {
        let socket = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let own = rustix::process::getpid();
        assert!(!processes()[&own].has_ended);
        let table = listening();
        let open = open_files(own);
        let ports: Vec<_> =
            open.iter().filter_map(|file| table.get(&inode(file, "socket")?)).collect();
        assert!(ports.contains(&&socket.local_addr().unwrap().port()), "{ports:?}");
    }

    #[test]
    fn only_listeners_of_a_socket_table_are_returned() {
        let line =
            |state| format!("1: 0100007F:1F90 00000000:0000 {state} 0:0 0:0 0 0 0 12345 1 0");
        assert_eq!(listener(&line("0A")), Some((12345, 8080)));
        assert_eq!(listener(&line("01")), None);
        assert_eq!(listener("sl  local_address rem_address   st tx_queue"), None);
    }
}
