//! What the tests of the whole system share: a client, real clusters of processes, and faulty disks.

pub mod client;
pub mod count;
pub mod faulty_file;
pub mod peons;
pub mod process;
pub mod sim;
pub mod trace;
