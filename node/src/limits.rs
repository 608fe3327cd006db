//! Every bound of the LDAP front end and the request paths, with its reason.

use std::time::Duration;

/// Largest message before a connection has authenticated. Anyone who can connect can send this much.
pub const MESSAGE_BYTES_ANONYMOUS: usize = 256 << 10;
/// Largest message after authentication: a photograph or a certificate list in one value.
pub const MESSAGE_BYTES_BOUND: usize = 16 << 20;

/// Connections at once. Each costs a task, a socket and its buffers (at rest [`READ_BUFFER_BYTES`]).
pub const CONNECTIONS: usize = 4096;
/// Read buffer at rest; it grows with a message and shrinks again.
pub const READ_BUFFER_BYTES: usize = 4 << 10;
/// Answers gathered before they are written out: large enough that a write costs little beside filling it.
pub const WRITE_BUFFER_BYTES: usize = 64 << 10;
/// A client that reads nothing for this long while answers wait is cut off.
pub const WRITE_STALL: Duration = Duration::from_secs(120);
/// An anonymous clear connection without a request for this long is closed.
pub const IDLE_ANONYMOUS: Duration = Duration::from_secs(15 * 60);
/// A bound connection without a request for this long is closed; connection pools rest for hours.
pub const IDLE_BOUND: Duration = Duration::from_secs(4 * 3600);

/// A search lets other work of its thread run after this long.
pub const SEARCH_SLICE: Duration = Duration::from_millis(4);
/// Answers of a search gathered before they are written out. Each slice plans again, so it is worth some.
pub const SEARCH_SLICE_BYTES: usize = 256 << 10;
/// A search gives its version up after this long, so that a slow client keeps no disk blocks from reuse.
pub const VIEW_HELD: Duration = Duration::from_secs(5);
/// Entries an anonymous search may return.
pub const ANONYMOUS_SIZE_LIMIT: u32 = 500;
/// Seconds an anonymous search may take.
pub const ANONYMOUS_TIME_LIMIT: Duration = Duration::from_secs(60);
/// Seconds a bound search may take.
pub const BOUND_TIME_LIMIT: Duration = Duration::from_secs(3600);

/// A write waits this long for its outcome before it answers that the outcome is unknown.
pub const WRITE_DEADLINE: Duration = Duration::from_secs(15);
/// A strict read waits this long for the barrier.
pub const STRICT_BARRIER: Duration = Duration::from_secs(5);
/// A `prefer` read waits this long once, when the quorum is lost, and then reads what is here.
pub const PREFER_BARRIER: Duration = Duration::from_millis(200);
/// While the quorum is lost, the barrier is tried again this often.
pub const BARRIER_RETRY: Duration = Duration::from_millis(500);

/// A part of the node that does not stop within this is left behind.
pub const STOP_PATIENCE: Duration = Duration::from_secs(5);

/// Longest clear password that is hashed or verified: hashing time grows with it.
pub const PASSWORD_BYTES: usize = 4096;

const _: () = assert!(MESSAGE_BYTES_ANONYMOUS <= MESSAGE_BYTES_BOUND);
const _: () = assert!(PREFER_BARRIER.as_millis() < STRICT_BARRIER.as_millis());
