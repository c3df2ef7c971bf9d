//! Reads times and sizes from text, with their units.

use std::ops::RangeInclusive;
use std::time::Duration;

/// Reads `500ms`, `30s`, `10m` or `2h`; a number alone is in milliseconds. Never zero.
///
/// # Errors
/// A sentence that says how to write it.
pub fn duration(text: &str) -> Result<Duration, String> {
    let millis = number(text, &[("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("", 1)]);
    match millis {
        Some(millis @ 1..) => Ok(Duration::from_millis(millis)),
        _ => {
            Err("not a time above zero; write a number with a unit, such as 500ms, 30s, 10m or 2h"
                .to_owned())
        }
    }
}

/// As [`duration`], or `0` for no time at all.
///
/// # Errors
/// A sentence that says how to write it.
pub fn duration_or_zero(text: &str) -> Result<Duration, String> {
    if text == "0" {
        return Ok(Duration::ZERO);
    }
    duration(text).map_err(|_| {
        "not a time; write 0, or a number with a unit, such as 500ms, 30s, 10m or 2h".to_owned()
    })
}

/// Reads a range of times, `A..B`, A no greater than B; in milliseconds.
///
/// # Errors
/// A sentence that says how to write it.
pub fn millis_range(text: &str) -> Result<RangeInclusive<u32>, String> {
    let end = |text| duration(text).ok().and_then(|time| u32::try_from(time.as_millis()).ok());
    let ends = text.split_once("..").and_then(|(a, b)| Some(end(a)?..=end(b)?));
    match ends {
        Some(range) if !range.is_empty() => Ok(range),
        _ => Err("not a range of times; write A..B with A no greater than B, such as 50ms..2s"
            .to_owned()),
    }
}

/// Reads `4096`, `64KiB`, `10MiB` or `2GiB`; a number alone is in bytes.
///
/// # Errors
/// A sentence that says how to write it.
pub fn bytes(text: &str) -> Result<usize, String> {
    number(text, &[("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("", 1)])
        .and_then(|bytes| usize::try_from(bytes).ok())
        .ok_or_else(|| {
            "not a size; write bytes or a number with a unit, such as 4096, 64KiB, 10MiB or 2GiB"
                .to_owned()
        })
}

/// Digits and one of the units; the first unit that the text ends with counts.
fn number(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let (digits, factor) =
        units.iter().find_map(|(unit, factor)| Some((text.strip_suffix(unit)?, factor)))?;
    let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| digits.parse::<u64>().ok())??.checked_mul(*factor)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_time_has_a_unit_or_is_in_milliseconds() {
        for (text, millis) in
            [("1", 1), ("500ms", 500), ("30s", 30_000), ("10m", 600_000), ("2h", 7_200_000)]
        {
            assert_eq!(duration(text), Ok(Duration::from_millis(millis)), "{text}");
        }
        for text in ["", "0", "0s", "s", "-1s", "+1s", "1.5s", "1 s", "1d", "99999999999999999999"]
        {
            assert!(duration(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn no_time_at_all_is_a_time_only_where_it_makes_sense() {
        assert_eq!(duration_or_zero("0"), Ok(Duration::ZERO));
        assert_eq!(duration_or_zero("1s"), duration("1s"));
        assert!(duration_or_zero("").is_err());
    }

    #[test]
    fn a_range_of_times_reads_low_to_high() {
        assert_eq!(millis_range("50..100"), Ok(50..=100));
        assert_eq!(millis_range("7..7"), Ok(7..=7));
        assert_eq!(millis_range("50ms..2s"), Ok(50..=2000));
        for text in ["", "5", "5..", "..5", "9..5", "a..b", "-1..5", "1..2000h"] {
            assert!(millis_range(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn a_size_is_in_bytes_or_in_powers_of_1024() {
        for (text, size) in [("0", 0), ("4096", 4096), ("64KiB", 65_536), ("2MiB", 2_097_152)] {
            assert_eq!(bytes(text), Ok(size), "{text}");
        }
        for text in ["", "KiB", "1kb", "1MB", "-1", "1.5MiB", "99999999999999999999"] {
            assert!(bytes(text).is_err(), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "\\PC{0,12}") {
            let _ = (duration(&text), bytes(&text), millis_range(&text));
        }

        #[test]
        fn any_number_of_seconds_is_that_many_seconds(seconds in 1..=u64::MAX / 1000) {
            prop_assert_eq!(duration(&format!("{seconds}s")), Ok(Duration::from_secs(seconds)));
        }
    }
}
