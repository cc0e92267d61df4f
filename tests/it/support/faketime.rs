//! A wall clock that a test can shift and step for single processes, by libfaketime; the machine's own clock is never
//! touched. Monotonic time stays real, so that timers go on as they would when an administrator sets a host's clock.

use std::{
    fs,
    path::{Path, PathBuf},
};
use tempfile::TempDir;

/// The offset that the processes started under it add to the real time. They look it up at every reading.
pub struct SteppedClock {
    dir: TempDir,
}

impl SteppedClock {
    pub fn new(offset_secs: i64) -> Self {
        let dir = tempfile::tempdir().expect("a folder for the clock's file");
        // A cluster may run as another user, which has to read the file.
        super::postgres::let_everyone_enter(dir.path());
        let clock = Self { dir };
        clock.step_to(offset_secs);
        clock
    }

    /// Sets the offset. The file is replaced in one step, so that no process reads half of it.
    pub fn step_to(&self, offset_secs: i64) {
        let next = self.dir.path().join("next");
        fs::write(&next, format!("{offset_secs:+}")).expect("the clock's next offset");
        fs::rename(next, self.file()).expect("the clock's offset put in place");
    }

    /// What a process must find in its environment to live by this clock.
    pub fn environment(&self) -> Vec<(String, String)> {
        [
            ("LD_PRELOAD", library().display().to_string()),
            ("FAKETIME_TIMESTAMP_FILE", self.file().display().to_string()),
            ("FAKETIME_NO_CACHE", "1".to_owned()),
            ("FAKETIME_DONT_FAKE_MONOTONIC", "1".to_owned()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into()
    }

    fn file(&self) -> PathBuf {
        self.dir.path().join("offset")
    }
}

/// Debian puts the library into a folder named after the processor.
fn library() -> PathBuf {
    fs::read_dir("/usr/lib")
        .expect("/usr/lib")
        .map(|entry| entry.expect("an entry of /usr/lib").path())
        .map(|dir: PathBuf| dir.join(Path::new("faketime/libfaketimeMT.so.1")))
        .find(|library| library.exists())
        .expect("libfaketime is not installed: `make test` installs Debian's package faketime")
}
