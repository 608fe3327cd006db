//! Controls (RFC 4511 section 4.1.11). A message keeps them raw, known or not; the modules decode and
//! encode the values of those that have one.

pub mod deref;
pub mod matched_values;
pub mod paged_results;
pub mod password_policy;
pub mod persistent_search;
pub mod proxied_authorization;
pub mod read_entry;
pub mod session_tracking;
pub mod sort;
pub mod subentries;
pub mod sync;
pub mod virtual_list_view;

use std::fmt;

use crate::ber::{BOOLEAN, OCTET_STRING, Reader, SEQUENCE, write};
use crate::error::{DecodeError, DecodeErrorKind};
use crate::list::{Element, List};

/// One control, its value raw.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Control<'a> {
    /// OID, see [`crate::oid::control`].
    pub oid: &'a [u8],
    /// Whether the operation must fail when the control cannot be honoured.
    pub critical: bool,
    /// The value; absent and empty differ.
    pub value: Option<&'a [u8]>,
}

/// The controls of one message.
pub type Controls<'a> = List<'a, Control<'a>>;

impl<'a> Control<'a> {
    /// A control that is not critical, without a value.
    pub fn new(oid: &'a str) -> Self {
        Control { oid: oid.as_bytes(), critical: false, value: None }
    }

    /// The same, critical.
    pub fn critical(self) -> Self {
        Control { critical: true, ..self }
    }

    /// The same with a value.
    pub fn with_value(self, value: &'a [u8]) -> Self {
        Control { value: Some(value), ..self }
    }

    /// The value of a control that must have one.
    pub fn required_value(&self) -> Result<&'a [u8], DecodeError> {
        self.value.ok_or(DecodeError { what: "controlValue", offset: 0, kind: DecodeErrorKind::Missing })
    }

    /// Checks that a control that has no value comes without one; an empty one passes, as some clients
    /// send it.
    pub fn expect_no_value(&self) -> Result<(), DecodeError> {
        match self.value {
            Some([_, ..]) => {
                Err(DecodeError { what: "controlValue", offset: 0, kind: DecodeErrorKind::Invalid("takes no value") })
            }
            _ => Ok(()),
        }
    }

    fn content_size(&self) -> usize {
        write::tlv_size(self.oid.len())
            + if self.critical { 3 } else { 0 }
            + self.value.map_or(0, |value| write::tlv_size(value.len()))
    }

    /// Bytes that the control takes when encoded.
    pub(crate) fn size(&self) -> usize {
        write::tlv_size(self.content_size())
    }
}

impl<'a> Element<'a> for Control<'a> {
    #[inline]
    fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let mut control = reader.sequence("control")?;
        let oid = control.octets("controlType")?;
        let critical = match control.optional(BOOLEAN, "criticality")? {
            Some(tlv) => tlv.boolean("criticality")?,
            None => false,
        };
        let value = control.optional_octets(OCTET_STRING, "controlValue")?;
        control.skip_unknown("control")?;
        Ok(Control { oid, critical, value })
    }

    fn write(&self, out: &mut Vec<u8>) {
        write::put_header(out, SEQUENCE, self.content_size());
        write::put_octets(out, self.oid);
        if self.critical {
            write::put_boolean(out, true);
        }
        write::put_optional(out, OCTET_STRING, self.value);
    }
}

/// Values may be secrets, so that only their length is shown.
impl fmt::Debug for Control<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.critical { "!" } else { "" };
        write!(f, "{sign}{} (value of {:?} bytes)", self.oid.escape_ascii(), self.value.map(<[u8]>::len))
    }
}
