//! The LDAP front end: sockets in, answers out. Nothing here knows how entries are stored or replicated.

mod connection;
mod controls;
mod convert;
mod listener;
mod op;
mod respond;
mod server;
mod session;

pub use listener::{ListenError, listen, serve};
pub use server::{Server, ServerParts};
