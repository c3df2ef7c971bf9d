//! What goes wrong with the application under test.

use crate::browser::page::PageError;
use crate::node::control_socket::ControlError;
use crate::node::process::NodeError;
use crate::node::tool_gate::GateError;
use crate::node::wire::WireError;
use crate::wait::{Kind, WaitTimeout};

/// What begins an exception in the page that is a mistake of the page driver, not of the client.
const DRIVER_MISTAKE: &str = "HarnessError";

/// An action on the application under test, or a wait for it, that failed.
#[derive(Debug, thiserror::Error)]
pub enum AppError {
    /// A condition that was not met.
    #[error(transparent)]
    Wait(#[from] WaitTimeout),
    /// Its page.
    #[error(transparent)]
    Page(#[from] PageError),
    /// Its process.
    #[error(transparent)]
    Node(#[from] NodeError),
    /// Its wire.
    #[error(transparent)]
    Wire(#[from] WireError),
    /// Its control socket.
    #[error(transparent)]
    Control(#[from] ControlError),
    /// A gate for its tools.
    #[error(transparent)]
    Gate(#[from] GateError),
}

impl AppError {
    /// Whether everything works and an awaited condition was not met, and who had to bring it; an
    /// exception that the client causes in the page is a claim that is not met. None when something
    /// broke.
    pub fn missed(&self) -> Option<Kind> {
        match self {
            AppError::Page(PageError::Threw { thrown, .. }) => {
                (!thrown.starts_with(DRIVER_MISTAKE)).then_some(Kind::Claim)
            }
            AppError::Page(PageError::Browser(_)) => None,
            _ => self.wait().map(|missed| missed.kind),
        }
    }

    fn wait(&self) -> Option<&WaitTimeout> {
        match self {
            AppError::Wait(missed)
            | AppError::Page(PageError::Wait(missed))
            | AppError::Node(NodeError::Wait(missed))
            | AppError::Wire(WireError::Wait(missed))
            | AppError::Control(ControlError::Wait(missed))
            | AppError::Gate(GateError::Wait(missed)) => Some(missed),
            _ => None,
        }
    }

    /// The same condition, as one that the client has to bring.
    #[must_use]
    pub fn into_claim(self) -> AppError {
        self.of(Kind::Claim)
    }

    /// The same condition, as one that the node has to bring.
    #[must_use]
    pub fn into_need(self) -> AppError {
        self.of(Kind::Need)
    }

    fn of(self, kind: Kind) -> AppError {
        match self {
            AppError::Wait(missed)
            | AppError::Page(PageError::Wait(missed))
            | AppError::Node(NodeError::Wait(missed))
            | AppError::Wire(WireError::Wait(missed))
            | AppError::Control(ControlError::Wait(missed))
            | AppError::Gate(GateError::Wait(missed)) => {
                AppError::Wait(WaitTimeout { kind, ..missed })
            }
            broken => broken,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missed_condition_says_who_had_to_bring_it_wherever_it_shows() {
        let need = || WaitTimeout::need("counters", "others");
        for missed in [
            AppError::from(need()),
            PageError::from(need()).into(),
            NodeError::from(need()).into(),
            WireError::from(need()).into(),
            ControlError::from(need()).into(),
            GateError::from(need()).into(),
        ] {
            assert_eq!(missed.missed(), Some(Kind::Need), "{missed}");
            assert_eq!(missed.into_claim().missed(), Some(Kind::Claim));
        }
    }

    #[test]
    fn an_exception_in_the_page_is_a_claim_unless_the_page_driver_made_the_mistake() {
        let threw = |thrown: &str| {
            AppError::from(PageError::Threw { what: "a click".into(), thrown: thrown.into() })
        };
        assert_eq!(threw("Error: user row 1 has no rewind button").missed(), Some(Kind::Claim));
        assert_eq!(threw("HarnessError: there is no quantity row").missed(), None);
    }
}
