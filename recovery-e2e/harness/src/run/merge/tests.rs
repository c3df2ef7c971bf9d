use super::*;
use crate::record::journal::tests::{case, journal_of, result, run_info};
use crate::record::journal::{PlanInfo, Stop};
use crate::record::settings::Clock;
use crate::record::verdict::Outcome;
use crate::report::{HTML_FILE, JUNIT_FILE, exit_code};
use crate::test_dir::test_dir;

/// The folder of a shard of three, with a case of its own and a file beside it.
fn shard(dir: &Utf8Path, shard: u32, change: impl FnOnce(&mut RunStarted)) -> Utf8PathBuf {
    let out = dir.join(format!("shard-{shard}"));
    let id = format!("case-{shard}");
    let mut case = case(&id, None);
    case.shard = shard;
    let plan = PlanInfo { shards: 3, cases: 3, ..run_info().plan };
    let run = RunInfo { part: Part::Shard(shard), plan, run_id: id.clone(), ..run_info() };
    let mut begin = RunStarted { run, cases: vec![case] };
    change(&mut begin);
    let folder = out.join(&begin.cases[0].dir);
    fs::create_dir_all(folder.join("attempt-2")).unwrap();
    fs::write(folder.join("end.png"), &id).unwrap();
    fs::write(folder.join("attempt-2/end.png"), "again").unwrap();
    let seconds = f64::from(shard);
    let ended = Event::Finished(result(&id, Outcome::Ready, None));
    let finished = Event::RunFinished(RunFinished { seconds, stopped: None, leaks: vec![] });
    journal_of(&out, begin, &[ended, finished]);
    out
}

fn shards(dir: &Utf8Path) -> Vec<Utf8PathBuf> {
    (1..=3).map(|n| shard(dir, n, |_| {})).collect()
}

#[test]
fn shards_are_joined_each_case_once_with_its_artifacts() {
    let (_dir, dir) = test_dir();
    let mut dirs = shards(&dir);
    dirs.reverse();
    let out = dir.join("whole");
    let summary = merge(&dirs, &out, false).unwrap();
    let ids: Vec<_> = summary.cases.iter().map(|seen| seen.case.id.as_str()).collect();
    assert_eq!(ids, ["case-1", "case-2", "case-3"]);
    assert_eq!(exit_code(&summary), 0);
    assert_eq!(summary.finished.as_ref().unwrap().seconds, 3.0);
    assert_eq!(summary.shards.len(), 3);
    assert_eq!(fs::read(out.join("scenarios/case-2/end.png")).unwrap(), b"case-2");
    assert_eq!(fs::read(out.join("scenarios/case-2/attempt-2/end.png")).unwrap(), b"again");
    let xml = fs::read_to_string(out.join(JUNIT_FILE)).unwrap();
    for seen in &summary.cases {
        let attached = format!("[[ATTACHMENT|{}]]", seen.result.artifacts[0]);
        assert!(xml.contains(&attached), "{attached}");
        assert!(seen.result.artifacts[0].starts_with(&out), "outside of a repository: in full");
    }
    let page = fs::read_to_string(out.join(HTML_FILE)).unwrap();
    for n in 1..=3 {
        let link = format!("scenarios/case-{n}/end.png");
        assert!(page.contains(&format!("src=\"{link}\"")), "{link}");
        assert!(out.join(&link).exists(), "{link} leads to a file of the merged run");
    }
    assert_eq!(report::write_all(&out).unwrap(), summary, "its journal contains all of it");
}

#[test]
fn a_shard_with_a_case_that_lies_elsewhere_is_refused_and_nothing_of_it_is_copied() {
    let (_dir, dir) = test_dir();
    let dirs = shards(&dir);
    let (secret, case) = (dir.join("secret"), dirs[1].join("scenarios/case-2"));
    fs::rename(&case, &secret).unwrap();
    std::os::unix::fs::symlink(&secret, &case).unwrap();
    let out = dir.join("whole");
    let refused = merge(&dirs, &out, false).unwrap_err().to_string();
    assert!(refused.contains("the folder of case-2 leads out of it"), "{refused}");
    assert!(!out.exists());
}

#[test]
fn a_missing_a_doubled_and_a_foreign_shard_are_refused_by_name_with_nothing_written() {
    let (_dir, dir) = test_dir();
    let dirs = shards(&dir);
    let twin = dir.join("twin");
    copy(&dirs[1], &twin).unwrap();
    let elsewhere =
        |name: &str, change: &dyn Fn(&mut RunStarted)| shard(&dir.join(name), 3, change);
    let [one, two, three] = &dirs[..] else { panic!("three shards") };
    let whole = dir.join("merged-before");
    merge(&dirs, &whole, false).unwrap();
    let plan = elsewhere("plan", &|begin| begin.run.plan.hash = "ffff".into());
    let browser = elsewhere("browser", &|begin| begin.run.browser.version = "Chromium 1".into());
    let harness = elsewhere("harness", &|begin| begin.run.harness_version = "9.9.9".into());
    let clock = elsewhere("clock", &|begin| begin.run.clock = Clock::Real);
    let count = elsewhere("count", &|begin| begin.run.plan.shards = 4);
    let outside = elsewhere("outside", &|begin| begin.cases[0].dir = "../mine".into());
    let stray = elsewhere("stray", &|begin| begin.cases[0].shard = 1);
    let gone = dir.join("gone");
    let out = dir.join("out");
    for (given, says) in [
        (vec![one, three], "shard 2/3 is missing".to_owned()),
        (vec![two], "shard 1/3, 3/3 are missing".to_owned()),
        (vec![], "there is no shard to merge".to_owned()),
        (vec![one, two, &gone], format!("cannot read the journal {gone}/journal.jsonl")),
        (vec![one, two, three, &twin], format!("shard 2/3 is given twice, in {two} and in {twin}")),
        (
            vec![one, two, &plan],
            format!("{plan} does not belong to this run: its plan is ffff, and that of {one}"),
        ),
        (
            vec![one, two, &browser],
            format!("{browser} does not belong to this run: its browser is Chromium 1"),
        ),
        (
            vec![one, two, &harness],
            format!("{harness} does not belong to this run: its harness is 9.9.9"),
        ),
        (
            vec![one, two, &clock],
            format!("{clock} does not belong to this run: its clock is wall time"),
        ),
        (
            vec![one, two, &count],
            format!("{count} does not belong to this run: its number of shards is 4"),
        ),
        (
            vec![one, two, &outside],
            format!("{outside} does not belong to this run: the folder of a case"),
        ),
        (
            vec![one, two, &stray],
            format!("{stray} does not belong to this run: it contains a case of another"),
        ),
        (vec![&whole], format!("{whole} does not belong to this run: it is a merged run already")),
    ] {
        let given: Vec<_> = given.into_iter().cloned().collect();
        let refused = merge(&given, &out, false).unwrap_err();
        assert!(!refused.is_environment(), "{refused}");
        let refused = refused.to_string();
        assert!(refused.contains(&says), "{refused}");
        assert!(!out.exists(), "{refused}");
    }
}

#[test]
fn shards_of_two_builds_are_refused_by_name_and_one_build_at_two_commits_is_merged() {
    let (_dir, dir) = test_dir();
    let built = |n: u32, digest: &str, commit: Option<&str>| {
        let dir = dir.join(digest);
        shard(&dir, n, |begin| {
            begin.run.build.digest = digest.repeat(16);
            begin.run.build.commit = commit.map(|commit| commit.repeat(4));
            begin.run.build.dirty = commit.is_none();
        })
    };
    let dirs = [built(1, "0a1b", Some("c0ffee")), built(2, "2c3d", None), built(3, "0a1b", None)];
    let out = dir.join("whole");
    for partial in [false, true] {
        let refused = merge(&dirs, &out, partial).unwrap_err();
        assert!(!refused.is_environment());
        let [one, two, _] = &dirs;
        assert_eq!(
            refused.to_string(),
            format!(
                "shard 2/3 in {two} was made by another build (digest 2c3d2c3d2c3d2c3d, commit \
                 unknown, dirty) than shard 1/3 in {one} (digest 0a1b0a1b0a1b0a1b, commit \
                 c0ffeec0ffeec0ff); run every shard with a harness built from the same sources"
            )
        );
        assert!(!out.exists());
    }
    let [one, _, three] = dirs;
    let dirs = [one, built(2, "0a1b", Some("decade")), three];
    assert_eq!(merge(&dirs, &out, false).unwrap().cases.len(), 3);
}

#[test]
fn in_part_what_is_there_is_reported_and_each_missing_shard_is_an_error() {
    let (_dir, dir) = test_dir();
    let one = shard(&dir, 1, |_| {});
    let out = dir.join("whole");
    let gone = dir.join("shard-2");
    let summary = merge(&[one, gone.clone()], &out, true).unwrap();
    assert_eq!(exit_code(&summary), 1);
    let xml = fs::read_to_string(out.join(JUNIT_FILE)).unwrap();
    let read = roxmltree::Document::parse(&xml).unwrap();
    let cases = read.descendants().filter(|node| node.has_tag_name("testcase"));
    let names: Vec<_> = cases.filter_map(|node| node.attribute("name")).collect();
    assert_eq!(names, ["case-1", "shard 2/3", "shard 3/3"]);
    assert_eq!(read.descendants().filter(|node| node.has_tag_name("error")).count(), 2);
    assert!(matches!(merge(&[gone], &out, true), Err(MergeError::Nothing)));
}

#[test]
fn a_shard_that_did_not_come_to_its_end_is_an_error_of_the_whole() {
    let (_dir, dir) = test_dir();
    let dirs = shards(&dir);
    let path = dirs[1].join(journal::FILE_NAME);
    let text = fs::read_to_string(&path).unwrap();
    let cut = text.trim_end().rfind('\n').unwrap();
    for (tail, says) in [
        ("", "shard 2/3: it was cut off before its end"),
        (
            &*serde_json::to_string(&Event::RunFinished(RunFinished {
                seconds: 1.0,
                stopped: Some(Stop::Signal),
                leaks: vec![],
            }))
            .unwrap(),
            "shard 2/3: it was interrupted before its end",
        ),
    ] {
        fs::write(&path, format!("{}\n{tail}", &text[..cut])).unwrap();
        let summary = merge(&dirs, &dir.join("whole"), false).unwrap();
        let troubles = summary.troubles().into_iter();
        let reasons: Vec<_> =
            troubles.map(|trouble| format!("{}: {}", trouble.name, trouble.reason)).collect();
        assert_eq!(reasons, [says]);
        assert_eq!((summary.counts.ready, exit_code(&summary)), (3, 1));
    }
}

#[test]
fn a_folder_that_is_merged_is_never_written_over() {
    let (_dir, dir) = test_dir();
    let dirs = shards(&dir);
    for out in [&dirs[1], &dir, &dirs[0].join("scenarios")] {
        let refused = merge(&dirs, out, false).unwrap_err();
        assert!(matches!(refused, MergeError::Overlap { .. }), "{refused}");
        assert!(refused.is_environment());
    }
    assert_eq!(merge(&dirs, &dir.join("whole"), false).unwrap().cases.len(), 3);
}
