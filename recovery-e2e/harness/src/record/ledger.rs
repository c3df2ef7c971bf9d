//! The resources that the processes of a case held, and what of them was left behind.

use serde::{Deserialize, Serialize};

/// Where shared memory has names.
pub const SHM: &str = "/dev/shm/";

/// What a case held of the machine, and what of it was left when its stage had closed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ledger {
    /// Just before the stage closed.
    pub held: Holding,
    /// After it had closed; empty, unless something leaked.
    pub left: Holding,
}

/// What a case's processes hold at one moment. What the harness holds on their behalf, its
/// proxy's port for one, ends with the harness and is not listed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holding {
    /// The processes: the id and the program of each.
    pub processes: Vec<String>,
    /// The TCP ports on which they listen.
    pub ports: Vec<u16>,
    /// The bytes in the case's temporary folder: the browser's profile and the node's data.
    pub temp_bytes: u64,
    /// The entries of `/dev/shm` that they have open.
    pub shm: Vec<String>,
}

impl Holding {
    /// A sentence that names everything in it; none when it is empty.
    pub fn describe(&self) -> Option<String> {
        let Self { processes, ports, temp_bytes, shm } = self;
        let mut left: Vec<_> =
            processes.iter().map(|process| format!("process {process} still runs")).collect();
        left.extend(ports.iter().map(|port| format!("port {port} is still listened on")));
        left.extend(shm.iter().map(|name| format!("{SHM}{name} is still there")));
        if *temp_bytes > 0 {
            left.push(format!("its temporary folder still has {temp_bytes} bytes"));
        }
        (!left.is_empty()).then(|| left.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_that_was_left_is_named() {
        let left = Holding {
            processes: vec!["7 sleep".to_owned()],
            ports: vec![8080],
            temp_bytes: 3,
            shm: vec!["x".to_owned()],
        };
        assert_eq!(
            left.describe().unwrap(),
            "process 7 sleep still runs; port 8080 is still listened on; /dev/shm/x is still \
             there; its temporary folder still has 3 bytes"
        );
    }
}
