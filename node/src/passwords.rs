//! Password work: cheap schemes at once, slow ones on threads of their own behind a bounded number of slots,
//! so that a storm of logins takes neither all memory nor the threads that serve connections.

use std::sync::Arc;

use bindery_model::password::{self, Scheme, Verdict};
use bindery_raft::Randomness;
use tokio::sync::Semaphore;

/// Bounded password hashing and verification. Cheap to clone.
#[derive(Clone)]
pub struct Passwords {
    slots: Arc<Semaphore>,
    randomness: Arc<dyn Randomness>,
}

/// The work could not be done at all: the process is stopping.
#[derive(Debug, thiserror::Error)]
#[error("password work was cut off: the node is stopping")]
pub struct PasswordsStopped;

/// Random bytes a new hash needs: the longest salt of any scheme.
const SALT_BYTES: usize = 16;

impl Passwords {
    /// At most `slots` slow hashes run at once (each argon2id takes about 19 MiB of the memory budget).
    pub fn new(slots: usize, randomness: Arc<dyn Randomness>) -> Passwords {
        Passwords { slots: Arc::new(Semaphore::new(slots.max(1))), randomness }
    }

    /// Whether `clear` matches any of the stored values. Takes the same path whether or not there are any.
    pub async fn verify(&self, stored: Vec<Vec<u8>>, clear: &[u8]) -> Result<bool, PasswordsStopped> {
        if !stored.iter().any(|value| password::is_slow(value)) {
            return Ok(any_matches(&stored, clear));
        }
        let clear = clear.to_vec();
        self.run(move || any_matches(&stored, &clear)).await
    }

    /// Hashes a clear password with `scheme`.
    pub async fn hash(&self, scheme: Scheme, clear: Vec<u8>) -> Result<Vec<u8>, PasswordsStopped> {
        let mut random = [0; SALT_BYTES];
        self.randomness.fill(&mut random);
        self.run(move || scheme.hash(&clear, random)).await
    }

    /// A password for a person to type once: 80 bits, without letters that look alike.
    pub fn generate(&self) -> String {
        const ALPHABET: &[u8; 32] = b"abcdefghjkmnpqrstuvwxyz23456789+";
        let mut random = [0; 16];
        self.randomness.fill(&mut random);
        random.iter().map(|byte| char::from(ALPHABET[usize::from(byte % 32)])).collect()
    }

    async fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T, PasswordsStopped> {
        let _slot = self.slots.acquire().await.map_err(|_| PasswordsStopped)?;
        tokio::task::spawn_blocking(work).await.map_err(|_| PasswordsStopped)
    }
}

fn any_matches(stored: &[Vec<u8>], clear: &[u8]) -> bool {
    // Every value is looked at, so that the time does not tell which one matched.
    stored.iter().fold(false, |found, value| (password::verify(value, clear) == Verdict::Match) | found)
}
