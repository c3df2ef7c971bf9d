use super::*;

fn parsed(text: &str) -> Result<Shard, ShardError> {
    text.parse::<ShardArg>().and_then(|arg| arg.resolve(|_| None))
}

#[test]
fn a_shard_is_read_as_it_is_rendered_and_counts_from_one() {
    for text in ["1/1", "2/4", "4/4", "1000/1000"] {
        assert_eq!(parsed(text).unwrap().to_string(), text);
    }
    for text in ["0/4", "5/4", "1/0", "1/1001", "1/4294967297"] {
        assert!(matches!(parsed(text), Err(ShardError::OutOfRange { .. })), "{text}");
    }
    for text in ["", "2", "2/", "/4", "a/4", "-1/4", "2/4/1", "Auto"] {
        assert!(matches!(parsed(text), Err(ShardError::NotAShard { .. })), "{text}");
    }
}

#[test]
fn the_variables_of_each_ci_name_the_shard_as_that_ci_counts() {
    let auto = |set: &[(&str, &str)]| {
        let value = |name: &str| {
            set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        };
        ShardArg::Auto.resolve(value).map(|shard| shard.to_string())
    };
    for (set, shard) in [
        (&[("CI_NODE_INDEX", "1"), ("CI_NODE_TOTAL", "4")][..], "1/4"),
        (&[("CI_NODE_INDEX", "4"), ("CI_NODE_TOTAL", "4")], "4/4"),
        (&[("CI_NODE_TOTAL", "1")], "1/1"),
        (&[("BUILDKITE_PARALLEL_JOB", "0"), ("BUILDKITE_PARALLEL_JOB_COUNT", "4")], "1/4"),
        (&[("CIRCLE_NODE_INDEX", "3"), ("CIRCLE_NODE_TOTAL", "4")], "4/4"),
    ] {
        assert_eq!(auto(set).unwrap(), shard, "{set:?}");
    }
    let nothing = auto(&[]).unwrap_err();
    assert_eq!(nothing, ShardError::NoCi);
    assert!(nothing.to_string().contains("CIRCLE_NODE_INDEX/CIRCLE_NODE_TOTAL"), "{nothing}");
    let half = auto(&[("CIRCLE_NODE_INDEX", "3")]).unwrap_err();
    assert_eq!(
        half,
        ShardError::HalfSet { set: "CIRCLE_NODE_INDEX", missing: "CIRCLE_NODE_TOTAL" }
    );
    let word = auto(&[("CI_NODE_INDEX", "one"), ("CI_NODE_TOTAL", "4")]).unwrap_err();
    assert_eq!(word, ShardError::NotANumber { name: "CI_NODE_INDEX", value: "one".to_owned() });
    for (index, total) in [("0", "4"), ("5", "4"), ("18446744073709551615", "4")] {
        let beyond = auto(&[("CI_NODE_INDEX", index), ("CI_NODE_TOTAL", total)]);
        assert!(matches!(beyond, Err(ShardError::OutOfRange { .. })), "{index}/{total}");
    }
}
