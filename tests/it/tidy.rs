//! House rules that a compiler does not check: short files that say what they own, drivers and clocks in their place.

use std::fs;
use std::path::{Path, PathBuf};

const MOST_LINES: usize = 400;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every Rust file below a folder of the project.
fn sources(folder: &str) -> Vec<(PathBuf, String)> {
    let mut found = vec![];
    let mut folders = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                found.push((path.strip_prefix(root()).unwrap().to_owned(), text));
            }
        }
    }
    found
}

fn everything() -> Vec<(PathBuf, String)> {
    let found: Vec<_> = ["src", "tests", "benches"]
        .iter()
        .filter(|folder| root().join(folder).exists())
        .flat_map(|folder| sources(folder))
        .collect();
    assert!(found.len() > 50, "only {} files are looked at", found.len());
    found
}

#[test]
fn every_file_opens_with_what_it_owns() {
    for (path, text) in everything() {
        assert!(text.starts_with("//! "), "{} does not say what it owns", path.display());
    }
}

#[test]
fn files_stay_short() {
    for (path, text) in everything() {
        let lines = text.lines().count();
        assert!(lines <= MOST_LINES, "{} has {lines} lines", path.display());
    }
    let mut lengths: Vec<usize> = sources("src").iter().map(|(_, text)| text.lines().count()).collect();
    lengths.sort_unstable();
    let median = lengths[lengths.len() / 2];
    assert!(median < 150, "the median file has {median} lines");
}

#[test]
fn each_layer_keeps_to_itself() {
    for (path, text) in sources("src") {
        let file = path.to_str().unwrap();
        let within = |folder: &str| file.starts_with(folder);
        let drivers = ["src/store/engine.rs", "src/store/row.rs", "src/store/pools.rs", "src/store/error.rs"];
        assert!(!text.contains("sqlx::") || drivers.contains(&file), "{file} names a driver");
        if within("src/domain") {
            for foreign in ["async fn", ".await", "crate::store", "crate::events", "crate::graphql", "crate::http"] {
                assert!(!text.contains(foreign), "{file} has {foreign}");
            }
        }
        if within("src/store") {
            for foreign in ["crate::events", "crate::graphql", "crate::http", "crate::app"] {
                assert!(!text.contains(foreign), "{file} has {foreign}");
            }
        }
        if within("src/events") {
            assert!(!text.contains("crate::graphql") && !text.contains("crate::http"), "{file} looks up");
        }
        if within("src/graphql") {
            assert!(!text.contains("crate::http"), "{file} looks up");
        }
        for unfinished in ["todo!(", "unimplemented!(", "FIXME", "#[ignore"] {
            assert!(!text.contains(unfinished), "{file} has {unfinished}");
        }
    }
}

#[test]
fn migrations_go_by_the_same_numbers_and_names_on_both_engines() {
    let names = |engine: &str| {
        let mut names: Vec<_> = fs::read_dir(root().join("migrations").join(engine))
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        names.sort();
        names
    };
    assert_eq!(names("sqlite"), names("postgres"));
    assert!(names("sqlite").len() >= 2);
}
