//! The controls that requests carry (RFC 4511 4.1.11): known ones understood, unknown critical ones refused.

use bindery_wire::control::Controls;
use bindery_wire::control::paged_results::PagedResults;
use bindery_wire::oid::control;
use bindery_wire::tag::RequestTag;

use super::respond::Answer;

/// Controls that this server honours, for the root DSE. What is listed works.
pub const SUPPORTED: &[&str] = &[control::PAGED_RESULTS, control::MANAGE_DSA_IT, control::DONT_USE_COPY];

/// What the controls of one request ask for.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct RequestControls {
    /// Paged results (RFC 2696).
    pub paged: Option<Paged>,
    /// Treat referral objects as entries (RFC 3296).
    pub manage_dsa_it: bool,
    /// The answer must not be older than the request (RFC 6171).
    pub dont_use_copy: bool,
}

/// The paged-results request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paged {
    /// Entries a page; 0 asks for none (RFC 2696 3: an estimate, or the end of the paged search).
    pub size: u32,
    /// What the last page gave, empty at first.
    pub cookie: Vec<u8>,
}

/// Whether the control means something on this operation.
fn fits(oid: &str, operation: RequestTag) -> bool {
    match oid {
        control::PAGED_RESULTS => operation == RequestTag::Search,
        control::DONT_USE_COPY => {
            matches!(operation, RequestTag::Search | RequestTag::Compare | RequestTag::Bind | RequestTag::Extended)
        }
        control::MANAGE_DSA_IT => {
            !matches!(operation, RequestTag::Bind | RequestTag::Unbind | RequestTag::Abandon | RequestTag::Extended)
        }
        _ => false,
    }
}

impl RequestControls {
    /// Understands the controls of a request.
    pub fn recognise(controls: &Controls<'_>, operation: RequestTag) -> Result<RequestControls, Answer> {
        let mut found = RequestControls::default();
        for control in controls.iter() {
            let oid = String::from_utf8_lossy(control.oid);
            if !fits(&oid, operation) {
                if control.critical {
                    return Err(Answer::unavailable_critical_extension(&oid));
                }
                continue;
            }
            let twice = match oid.as_ref() {
                control::PAGED_RESULTS => {
                    let value = control.value.unwrap_or_default();
                    let paged = PagedResults::decode(value)
                        .map_err(|error| Answer::protocol(format!("paged results control: {error}")))?;
                    let size = u32::try_from(paged.size)
                        .map_err(|_| Answer::protocol("paged results control: negative size"))?;
                    found.paged.replace(Paged { size, cookie: paged.cookie.to_vec() }).is_some()
                }
                control::MANAGE_DSA_IT => std::mem::replace(&mut found.manage_dsa_it, true),
                control::DONT_USE_COPY => std::mem::replace(&mut found.dont_use_copy, true),
                _ => false,
            };
            if twice {
                return Err(Answer::protocol(format!("control {oid} comes twice")));
            }
        }
        Ok(found)
    }
}
