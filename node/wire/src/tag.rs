//! The identifier octets of protocolOp (RFC 4511 section 4).

/// Identifier octets of the requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum RequestTag {
    /// `[APPLICATION 0]`, constructed.
    Bind = 0x60,
    /// `[APPLICATION 2]`, primitive.
    Unbind = 0x42,
    /// `[APPLICATION 3]`, constructed.
    Search = 0x63,
    /// `[APPLICATION 6]`, constructed.
    Modify = 0x66,
    /// `[APPLICATION 8]`, constructed.
    Add = 0x68,
    /// `[APPLICATION 10]`, primitive.
    Delete = 0x4A,
    /// `[APPLICATION 12]`, constructed.
    ModifyDn = 0x6C,
    /// `[APPLICATION 14]`, constructed.
    Compare = 0x6E,
    /// `[APPLICATION 16]`, primitive.
    Abandon = 0x50,
    /// `[APPLICATION 23]`, constructed.
    Extended = 0x77,
}

impl RequestTag {
    /// The request with this identifier octet.
    #[inline]
    pub fn from_octet(octet: u8) -> Option<Self> {
        Some(match octet {
            0x60 => Self::Bind,
            0x42 => Self::Unbind,
            0x63 => Self::Search,
            0x66 => Self::Modify,
            0x68 => Self::Add,
            0x4A => Self::Delete,
            0x6C => Self::ModifyDn,
            0x6E => Self::Compare,
            0x50 => Self::Abandon,
            0x77 => Self::Extended,
            _ => return None,
        })
    }

    /// The final response that this request asks for; unbind and abandon have none.
    pub fn response(self) -> Option<ResponseTag> {
        Some(match self {
            Self::Bind => ResponseTag::Bind,
            Self::Search => ResponseTag::SearchDone,
            Self::Modify => ResponseTag::Modify,
            Self::Add => ResponseTag::Add,
            Self::Delete => ResponseTag::Delete,
            Self::ModifyDn => ResponseTag::ModifyDn,
            Self::Compare => ResponseTag::Compare,
            Self::Extended => ResponseTag::Extended,
            Self::Unbind | Self::Abandon => return None,
        })
    }
}

/// Identifier octets of the responses that carry an LDAPResult.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum ResponseTag {
    /// `[APPLICATION 1]`.
    Bind = 0x61,
    /// `[APPLICATION 5]`.
    SearchDone = 0x65,
    /// `[APPLICATION 7]`.
    Modify = 0x67,
    /// `[APPLICATION 9]`.
    Add = 0x69,
    /// `[APPLICATION 11]`.
    Delete = 0x6B,
    /// `[APPLICATION 13]`.
    ModifyDn = 0x6D,
    /// `[APPLICATION 15]`.
    Compare = 0x6F,
    /// `[APPLICATION 24]`.
    Extended = 0x78,
}

impl ResponseTag {
    /// The response with this identifier octet.
    #[inline]
    pub fn from_octet(octet: u8) -> Option<Self> {
        Some(match octet {
            0x61 => Self::Bind,
            0x65 => Self::SearchDone,
            0x67 => Self::Modify,
            0x69 => Self::Add,
            0x6B => Self::Delete,
            0x6D => Self::ModifyDn,
            0x6F => Self::Compare,
            0x78 => Self::Extended,
            _ => return None,
        })
    }
}

/// SearchResultEntry, `[APPLICATION 4]`.
pub const SEARCH_ENTRY: u8 = 0x64;
/// SearchResultReference, `[APPLICATION 19]`.
pub const SEARCH_REFERENCE: u8 = 0x73;
/// IntermediateResponse, `[APPLICATION 25]`.
pub const INTERMEDIATE: u8 = 0x79;
/// Controls, `[0]` in LDAPMessage.
pub const CONTROLS: u8 = 0xA0;
/// Referral, `[3]` in LDAPResult.
pub const REFERRAL: u8 = 0xA3;
