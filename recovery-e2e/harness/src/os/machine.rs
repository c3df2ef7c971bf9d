//! How much of itself the machine has to give, and whether that is enough for one more case.

use std::fmt;
use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use sysinfo::{MemoryRefreshKind, System};

/// From this share of the time on in which something waited for a core, cores are short.
const MAX_PRESSURE: f64 = 0.8;

/// From so many threads a core that run or wait to, each gets too little. Where the kernel reports
/// the pressure too, both have to say so: alone, the load describes the past, and the pressure says
/// nothing of how many wait.
///
/// Measured on two cores: a run of two cases a core has a load of 4 by itself and is none the slower for
/// it. At 5, beside ten busy threads of others, cases take three times as long, and no wait comes near
/// its deadline.
const MAX_LOAD: f64 = 5.0;

/// The memory that one more case is given room for, in bytes: a browser, its helpers and a node take
/// about 150 MiB at their height, measured with the shell and with the full browser.
const CASE_MEMORY: u64 = 512 << 20;

/// The shortest time over which the pressure is measured; before, the kernel's own mean of the
/// last ten seconds is taken.
const MIN_TIME: Duration = Duration::from_secs(1);

/// What a machine lacked over some time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Strain {
    /// The share of the time in which something that could have run waited for a core, where the
    /// kernel reports it (`/proc/pressure/cpu`).
    pub pressure: Option<f64>,
    /// How many processes ran or waited to, as a mean over the last minute.
    pub load: f64,
    /// The cores that this process may use.
    pub cores: u32,
    /// The memory that is free or can be made so, in bytes, where that is known.
    pub free: Option<u64>,
}

impl Strain {
    /// Whether what runs on the machine gets too little of it.
    pub fn is_starved(&self) -> bool {
        self.is_short_of_cores() || self.free.is_some_and(|free| free < CASE_MEMORY)
    }

    /// Whether one more case may begin beside `under_way` others. Where there is none, it
    /// may: what is slow is slow, and no run waits for ever.
    pub fn admits(&self, under_way: u32) -> bool {
        under_way == 0 || !self.is_starved()
    }

    fn is_short_of_cores(&self) -> bool {
        let is_pressed = self.pressure.is_none_or(|pressure| pressure >= MAX_PRESSURE);
        is_pressed && self.load >= MAX_LOAD * f64::from(self.cores)
    }
}

impl fmt::Display for Strain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { pressure, load, cores, free } = self;
        if let Some(pressure) = pressure {
            write!(f, "CPU pressure {:.0} %, ", pressure * 100.0)?;
        }
        write!(f, "load {load:.1} on {cores} cores")?;
        match free {
            Some(free) => write!(f, ", {} MiB of memory free", free >> 20),
            None => Ok(()),
        }
    }
}

/// A look at the machine, from which its strain is measured.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    at: Instant,
    /// How long something has waited for a core since the start of the machine.
    stalled: Option<Duration>,
}

impl Look {
    /// The machine now.
    pub fn now() -> Look {
        Look { at: Instant::now(), stalled: pressure().map(|(_, stalled)| stalled) }
    }

    /// The strain since then.
    pub fn strain(&self) -> Strain {
        let time = self.at.elapsed();
        let pressure = pressure().map(|(mean, stalled)| match self.stalled {
            Some(before) if time >= MIN_TIME => {
                stalled.saturating_sub(before).as_secs_f64() / time.as_secs_f64()
            }
            _ => mean,
        });
        Strain { pressure, load: System::load_average().one, cores: cores(), free: free() }
    }
}

/// How many cases are run at a time by default: half as many again as there are cores,
/// since each case waits now and then, for a browser to start or a timer of the node.
///
/// Measured on two cores: 3 at a time take 7 % less than 2, and 4 no less than 3.
pub fn workers() -> u32 {
    cores() + cores().div_ceil(2)
}

/// The cores that this process may use: its affinity and the quota of its cgroup are accounted for.
pub fn cores() -> u32 {
    thread::available_parallelism()
        .map_or(1, |cores| u32::try_from(cores.get()).unwrap_or(u32::MAX))
}

/// The share of the last ten seconds in which something waited for a core, and the whole time.
fn pressure() -> Option<(f64, Duration)> {
    some_of(&fs::read_to_string("/proc/pressure/cpu").ok()?)
}

fn some_of(pressure: &str) -> Option<(f64, Duration)> {
    let some = pressure.lines().find_map(|line| line.strip_prefix("some "))?;
    let field = |name| some.split_whitespace().find_map(|field| field.strip_prefix(name));
    let mean: f64 = field("avg10=")?.parse().ok()?;
    Some((mean / 100.0, Duration::from_micros(field("total=")?.parse().ok()?)))
}

/// What the machine has, or what a container's limit leaves of it; none where it cannot be read.
fn free() -> Option<u64> {
    let mut system = System::new();
    system.refresh_memory_specifics(MemoryRefreshKind::nothing().with_ram());
    let total = system.total_memory();
    let limits = (total > 0).then(|| system.cgroup_limits()).flatten();
    let left = limits.and_then(|group| left_of(total, group.total_memory, group.rss));
    (total > 0).then(|| system.available_memory()).into_iter().chain(left).min()
}

/// What a limit below the machine's memory leaves beside what processes hold. Files in memory do
/// not count: they give way.
fn left_of(total: u64, limit: u64, held: u64) -> Option<u64> {
    (limit < total).then(|| limit.saturating_sub(held))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const QUIET: Strain = Strain { pressure: Some(0.0), load: 0.0, cores: 2, free: Some(8 << 30) };

    #[test]
    fn one_more_case_begins_unless_cores_or_memory_are_short() {
        for (strain, admits) in [
            (QUIET, true),
            (Strain { pressure: Some(0.99), ..QUIET }, true),
            (Strain { load: 50.0, ..QUIET }, true),
            (Strain { pressure: Some(0.8), load: 10.0, ..QUIET }, false),
            (Strain { pressure: Some(0.8), load: 10.0, cores: 4, ..QUIET }, true),
            (Strain { pressure: None, load: 9.9, ..QUIET }, true),
            (Strain { pressure: None, load: 10.0, ..QUIET }, false),
            (Strain { free: Some(CASE_MEMORY - 1), ..QUIET }, false),
            (Strain { free: None, ..QUIET }, true),
        ] {
            assert_eq!(strain.admits(1), admits, "{strain}");
            assert!(strain.admits(0), "{strain}");
        }
    }

    #[test]
    fn the_strain_is_told_with_its_figures() {
        let strain = Strain { pressure: Some(0.934), load: 12.34, cores: 2, free: Some(210 << 20) };
        let expected = "CPU pressure 93 %, load 12.3 on 2 cores, 210 MiB of memory free";
        assert_eq!(strain.to_string(), expected);
        let unknown = Strain { pressure: None, free: None, ..strain };
        assert_eq!(unknown.to_string(), "load 12.3 on 2 cores");
    }

    #[test]
    fn what_the_kernel_tells_is_read() {
        let pressure = "some avg10=87.50 avg60=90.98 avg300=72.46 total=7563545187\n\
                        full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n";
        assert_eq!(some_of(pressure), Some((0.875, Duration::from_micros(7_563_545_187))));
        assert_eq!(some_of(""), None);
        let strain = Look::now().strain();
        assert!(strain.free.is_some_and(|free| free > 0) && strain.cores > 0, "{strain}");
    }

    #[test]
    fn a_limit_counts_only_where_it_is_below_what_the_machine_has() {
        assert_eq!(left_of(8 << 30, 2 << 30, 1 << 30), Some(1 << 30));
        assert_eq!(left_of(8 << 30, 2 << 30, 3 << 30), Some(0));
        assert_eq!(left_of(8 << 30, 8 << 30, 7 << 30), None, "none: sysinfo reports the machine's");
    }

    proptest! {
        #[test]
        fn a_machine_with_less_to_give_admits_no_more(
            pressure in 0.0..1.0f64, load in 0.0..20.0f64, free in 0u64..2 << 30,
            more in 0.0..1.0f64, under_way in 0u32..8,
        ) {
            let strain = Strain { pressure: Some(pressure), load, cores: 2, free: Some(free) };
            let worse = Strain {
                pressure: Some(pressure + more),
                load: load + more,
                free: Some(free / 2),
                ..strain
            };
            prop_assert!(strain.admits(under_way) || !worse.admits(under_way) || under_way == 0);
            prop_assert!(!strain.admits(under_way + 1) || strain.admits(under_way));
        }
    }
}
