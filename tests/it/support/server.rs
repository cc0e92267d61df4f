//! The real server in a process of its own, started, killed, stopped and started again by a test. Never a server inside
//! the test's process; every wait has a deadline and tells the server's own messages when it passes.

use super::faketime::SteppedClock;
use std::{
    fs::{self, File, OpenOptions},
    io::{BufRead, BufReader, Write},
    path::PathBuf,
    process::{Child, ChildStdout, Command, ExitStatus, Stdio},
    thread,
    time::Duration,
};
use tempfile::TempDir;
use tokio::{
    sync::oneshot,
    time::{sleep, timeout},
};

const READY_WITHIN: Duration = Duration::from_mins(1);
const STOPPED_WITHIN: Duration = Duration::from_mins(1);
const READY_LINE: &str = "writewatch listening on ";

pub struct Server {
    database_url: String,
    environment: Vec<(String, String)>,
    dir: TempDir,
    child: Child,
    url: String,
}

impl Server {
    pub async fn start(database_url: &str) -> Self {
        Self::start_in(database_url, Vec::new()).await
    }

    /// With settings of its own, as environment variables.
    pub async fn start_with(database_url: &str, settings: &[(&str, &str)]) -> Self {
        let settings = settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Self::start_in(database_url, settings.collect()).await
    }

    /// The host's clock is the given one.
    pub async fn start_under(clock: &SteppedClock, database_url: &str) -> Self {
        Self::start_in(database_url, clock.environment()).await
    }

    /// Where it listens, without a path: `http://127.0.0.1:PORT`. Another one after each restart.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// What the server has written so far, of all its lives.
    pub fn log(&self) -> String {
        fs::read_to_string(log_file(&self.dir)).expect("the server's log")
    }

    /// The memory that it holds.
    pub fn memory_kb(&self) -> i64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).expect("the server's status");
        let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).expect("its memory");
        line.split_whitespace().next().and_then(|kb| kb.parse().ok()).expect("a number of kB")
    }

    /// As a power cut would end it: no handler of the server runs.
    pub fn kill9(&mut self) {
        self.child.kill().expect("SIGKILL");
        self.child.wait().expect("the killed server's status");
    }

    /// Asks the server to stop, as an init system does, and waits until it has.
    pub async fn terminate(&mut self) -> ExitStatus {
        self.ask_to_stop();
        self.stopped().await
    }

    /// Asks the server to stop.
    pub fn ask_to_stop(&self) {
        let kill = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status();
        assert!(kill.expect("the kill command").success(), "the server is not there to stop");
    }

    /// Waits until the server has stopped.
    pub async fn stopped(&mut self) -> ExitStatus {
        let stopped = timeout(STOPPED_WITHIN, async {
            loop {
                if let Some(status) = self.child.try_wait().expect("the server's status") {
                    return status;
                }
                sleep(Duration::from_millis(5)).await;
            }
        });
        let stopped = stopped.await;
        stopped.unwrap_or_else(|_| panic!("the server did not stop within {STOPPED_WITHIN:?}:\n{}", self.log()))
    }

    /// Starts it once more on the same database, after `kill9` or `terminate`.
    pub async fn restart(&mut self) {
        assert!(self.child.try_wait().expect("the server's status").is_some(), "restarted while it runs");
        (self.child, self.url) = launch(&self.database_url, &self.environment, &self.dir).await;
    }

    async fn start_in(database_url: &str, environment: Vec<(String, String)>) -> Self {
        let dir = tempfile::tempdir().expect("a folder for the server's log");
        let (child, url) = launch(database_url, &environment, &dir).await;
        Self { database_url: database_url.to_owned(), environment, dir, child, url }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

async fn launch(database_url: &str, environment: &[(String, String)], dir: &TempDir) -> (Child, String) {
    let log = OpenOptions::new().create(true).append(true).open(log_file(dir)).expect("the server's log");
    let mut child = Command::new(env!("CARGO_BIN_EXE_writewatch"))
        .args(["serve", "--listen", "127.0.0.1:0", "--database-url", database_url])
        .envs(environment.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(log.try_clone().expect("the server's log"))
        .spawn()
        .expect("the server's binary");
    let stdout = child.stdout.take().expect("the server's output");
    match timeout(READY_WITHIN, ready_line(stdout, log)).await {
        Ok(Ok(url)) => (child, url),
        failed => {
            let _ = child.kill();
            let _ = child.wait();
            let what = if failed.is_ok() { "ended before it was ready" } else { "was not ready in time" };
            panic!("the server {what}:\n{}", fs::read_to_string(log_file(dir)).unwrap_or_default());
        }
    }
}

/// Reads the server's output to its end, so that it never waits for a reader; answers with the address it announced.
fn ready_line(stdout: ChildStdout, mut log: File) -> oneshot::Receiver<String> {
    let (announce, announced) = oneshot::channel();
    thread::spawn(move || {
        let mut announce = Some(announce);
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            let _ = writeln!(log, "{line}");
            if let Some(url) = line.strip_prefix(READY_LINE)
                && let Some(announce) = announce.take()
            {
                let _ = announce.send(url.to_owned());
            }
        }
    });
    announced
}

fn log_file(dir: &TempDir) -> PathBuf {
    dir.path().join("log")
}
