//! Who is who: the audience that tokens are for, the roles of DIDs, and those that are revoked.
//!
//! Roles come from the settings and from a file that is read again when it changes; a version of it that cannot be read
//! leaves the last one standing, and a slip in one entry of it takes nothing from the others. What was found of a token is
//! kept for a while by its digest, never the token.

#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::config::Config;
use crate::domain::observations::Invalid;
use crate::domain::observations::did_key::DidKey;
use crate::domain::tokens::Token;
use crate::domain::viewer::Roles;
use crate::metrics::Metrics;

/// How often the file is looked at.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Bytes of the file (1 MiB).
const FILE_BYTES: u64 = 1_024 * 1_024;
/// Tokens that are known by their digest, so that a signature is verified once.
const KNOWN_TOKENS: usize = 4_096;

/// The access file's form.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Listed {
    services: BTreeSet<String>,
    operators: BTreeSet<String>,
    revoked: BTreeSet<String>,
}

/// What a version of the file says.
#[derive(Debug, PartialEq, Eq)]
struct Found {
    listed: Listed,
    /// An entry of it that names nobody.
    slip: Option<String>,
}

/// Who signs in, as settings and file have it. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Access {
    audience: Option<Arc<str>>,
    configured: Arc<[String]>,
    file: Option<Arc<Path>>,
    listed: watch::Sender<Arc<Listed>>,
    known: Arc<Mutex<HashMap<[u8; 32], Arc<Token>>>>,
}

/// What a DID is to us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It may not sign in.
    Revoked,
    /// It may, with these roles.
    Has(Roles),
}

impl Access {
    /// Reads the access file, if there is one.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(config: &Config) -> Result<Self, String> {
        let file = config.access_file.clone().map(PathBuf::into_boxed_path).map(Arc::from);
        let listed = match &file {
            Some(path) => match read(path) {
                Ok(Found { listed, slip: None }) => listed,
                Ok(Found { slip: Some(problem), .. }) | Err(problem) => {
                    return Err(format!("--access-file (WRITEWATCH_ACCESS_FILE): {problem}"));
                }
            },
            None => Listed::default(),
        };
        Ok(Self {
            audience: config.audience.as_deref().map(Arc::from),
            configured: config.service_dids.iter().cloned().collect(),
            file,
            listed: watch::Sender::new(Arc::new(listed)),
            known: Arc::default(),
        })
    }

    /// Who tokens have to be for; `None` with open access.
    #[must_use]
    pub fn audience(&self) -> Option<&str> {
        self.audience.as_deref()
    }

    /// What a DID is to us now.
    #[must_use]
    pub fn standing(&self, did: &str) -> Standing {
        let listed = self.listed.borrow();
        if listed.revoked.contains(did) {
            return Standing::Revoked;
        }
        let service = listed.services.contains(did) || self.configured.iter().any(|configured| configured == did);
        Standing::Has(Roles { service, operator: listed.operators.contains(did) })
    }

    /// Tells of every change of the file.
    #[must_use]
    pub fn changes(&self) -> Changes {
        Changes(self.listed.subscribe())
    }

    /// Every DID that may sign for other owners: none that is revoked.
    #[must_use]
    pub fn service_dids(&self) -> Arc<Vec<String>> {
        let listed = self.listed.borrow();
        let services = self.configured.iter().chain(&listed.services);
        Arc::new(services.filter(|did| !listed.revoked.contains(*did)).cloned().collect())
    }

    /// Opens a token that is meant for this audience, or finds it again.
    ///
    /// # Errors
    /// As `Token::open`.
    pub fn open(&self, token: &str, audience: &str) -> Result<Arc<Token>, Invalid> {
        let digest: [u8; 32] = Sha256::digest(token).into();
        if let Some(known) = self.known().get(&digest) {
            return Ok(Arc::clone(known));
        }
        let opened = Arc::new(Token::open(token, audience)?);
        let mut known = self.known();
        if known.len() >= KNOWN_TOKENS {
            known.clear();
        }
        known.insert(digest, Arc::clone(&opened));
        Ok(opened)
    }

    /// Whether this token was opened before.
    #[must_use]
    pub fn knows(&self, token: &str) -> bool {
        let digest: [u8; 32] = Sha256::digest(token).into();
        self.known().contains_key(&digest)
    }

    fn known(&self) -> std::sync::MutexGuard<'_, HashMap<[u8; 32], Arc<Token>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads the file again whenever it has changed, until the token is cancelled.
    pub async fn follow_file(self, metrics: Metrics, stop: CancellationToken) {
        let Some(path) = self.file.clone() else { return };
        let mut told = None;
        loop {
            tokio::select! {
                () = tokio::time::sleep(LOOK_EVERY) => {}
                () = stop.cancelled() => return,
            }
            let path = Arc::clone(&path);
            let Ok(found) = tokio::task::spawn_blocking(move || read(&path)).await else { continue };
            let problem = match found {
                Ok(Found { mut listed, slip }) => {
                    if slip.is_some() {
                        // What cannot be read may be one of these: nobody gets a right back by a slip.
                        listed.revoked.extend(self.listed.borrow().revoked.iter().cloned());
                    }
                    self.take(listed);
                    slip.map(|slip| format!("{slip}: the rest of the file holds"))
                }
                Err(problem) => Some(format!("{problem}: the last version of it stands")),
            };
            metrics.access_file_is_wrong(problem.is_some());
            if let Some(problem) = problem.as_ref().filter(|_| told != problem) {
                tracing::error!(%problem, "the access file is wrong");
            }
            told = problem;
        }
    }

    fn take(&self, listed: Listed) {
        let news = self.listed.send_if_modified(|stands| {
            let news = **stands != listed;
            if news {
                *stands = Arc::new(listed);
            }
            news
        });
        if news {
            tracing::info!("the access file was read again");
        }
    }
}

/// Changes of the access file.
#[derive(Debug)]
pub struct Changes(watch::Receiver<Arc<Listed>>);

impl Changes {
    /// Waits for the next one; for ever once there can be none.
    pub async fn next(&mut self) {
        if self.0.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

fn read(path: &Path) -> Result<Found, String> {
    use std::io::Read as _;
    let cannot = |error: std::io::Error| format!("{} cannot be read: {error}", path.display());
    let mut text = String::new();
    let file = std::fs::File::open(path).map_err(cannot)?;
    file.take(FILE_BYTES + 1).read_to_string(&mut text).map_err(cannot)?;
    if text.len() as u64 > FILE_BYTES {
        return Err(format!("{} is longer than {FILE_BYTES} bytes", path.display()));
    }
    let named = |problem| format!("{}: {problem}", path.display());
    let Found { listed, slip } = parse(&text).map_err(named)?;
    Ok(Found { listed, slip: slip.map(named) })
}

fn parse(text: &str) -> Result<Found, String> {
    let form = "must be {\"services\": [DID …], \"operators\": [DID …], \"revoked\": [DID …]}";
    // An object, where the library would take a list of the members too; each member once, which it sees to.
    if !text.trim_start().starts_with('{') {
        return Err(form.to_owned());
    }
    let listed: Listed = serde_json::from_str(text).map_err(|error| format!("{form}: {error}"))?;
    let lists = [("services", &listed.services), ("operators", &listed.operators), ("revoked", &listed.revoked)];
    // Nobody else can sign in: a DID with a slip in it stands for nobody.
    let slip = lists.into_iter().find_map(|(list, dids)| {
        let did = dids.iter().find(|did| DidKey::parse(did).is_err())?;
        Some(format!("{list}: {did} is not a did:key of an Ed25519 or a P-256 key"))
    });
    Ok(Found { listed, slip })
}
