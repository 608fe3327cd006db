//! Search (RFC 4511 4.5), in slices, with paged results (RFC 2696).

use std::ops::ControlFlow;
use std::time::Instant;

use bindery_directory::search::{Scope, SearchItem, SearchOutcome, SearchRequest, Search};
use bindery_directory::{Identity, ReadView};
use bindery_wire::control::Control;
use bindery_wire::control::paged_results::PagedResults;
use bindery_wire::oid::control;
use bindery_wire::request::{Scope as WireScope, SearchRequest as WireRequest};
use bindery_wire::response;
use bindery_wire::tag::ResponseTag;
use bindery_wire::{List, entry};
use xxhash_rust::xxh3::Xxh3;

use super::super::connection::Connection;
use super::super::controls::RequestControls;
use super::super::convert;
use super::super::respond::{self, Answer};
use super::dn_text;
use crate::limits;
