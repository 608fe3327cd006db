//! The object identifiers that LDAP messages carry, as they are written on the wire.

/// Controls: `controlType`.
pub mod control {
    /// Paged results (RFC 2696).
    pub const PAGED_RESULTS: &str = "1.2.840.113556.1.4.319";
    /// Server-side sorting, request (RFC 2891).
    pub const SORT_REQUEST: &str = "1.2.840.113556.1.4.473";
    /// Server-side sorting, response (RFC 2891).
    pub const SORT_RESPONSE: &str = "1.2.840.113556.1.4.474";
    /// Virtual list view, request (draft-ietf-ldapext-ldapv3-vlv).
    pub const VLV_REQUEST: &str = "2.16.840.1.113730.3.4.9";
    /// Virtual list view, response.
    pub const VLV_RESPONSE: &str = "2.16.840.1.113730.3.4.10";
    /// ManageDsaIT (RFC 3296).
    pub const MANAGE_DSA_IT: &str = "2.16.840.1.113730.3.4.2";
    /// Subentries (RFC 3672).
    pub const SUBENTRIES: &str = "1.3.6.1.4.1.4203.1.10.1";
    /// Assertion (RFC 4528).
    pub const ASSERTION: &str = "1.3.6.1.1.12";
    /// Pre-read, request and response (RFC 4527).
    pub const PRE_READ: &str = "1.3.6.1.1.13.1";
    /// Post-read, request and response (RFC 4527).
    pub const POST_READ: &str = "1.3.6.1.1.13.2";
    /// Matched values (RFC 3876).
    pub const MATCHED_VALUES: &str = "1.2.826.0.1.3344810.2.3";
    /// Proxied authorization, version 2 (RFC 4370).
    pub const PROXIED_AUTHORIZATION: &str = "2.16.840.1.113730.3.4.18";
    /// Proxied authorization, version 1 (draft-weltman-ldapv3-proxy).
    pub const PROXIED_AUTHORIZATION_V1: &str = "2.16.840.1.113730.3.4.12";
    /// Authorization identity, request (RFC 3829).
    pub const AUTHZ_ID_REQUEST: &str = "2.16.840.1.113730.3.4.16";
    /// Authorization identity, response (RFC 3829).
    pub const AUTHZ_ID_RESPONSE: &str = "2.16.840.1.113730.3.4.15";
    /// Password policy, request and response (draft-behera-ldap-password-policy).
    pub const PASSWORD_POLICY: &str = "1.3.6.1.4.1.42.2.27.8.5.1";
    /// Password expired (draft-vchu-ldap-pwd-policy).
    pub const PASSWORD_EXPIRED: &str = "2.16.840.1.113730.3.4.4";
    /// Password expiring (draft-vchu-ldap-pwd-policy).
    pub const PASSWORD_EXPIRING: &str = "2.16.840.1.113730.3.4.5";
    /// Account usability, request and response (Sun).
    pub const ACCOUNT_USABILITY: &str = "1.3.6.1.4.1.42.2.27.9.5.8";
    /// Content synchronisation, request (RFC 4533).
    pub const SYNC_REQUEST: &str = "1.3.6.1.4.1.4203.1.9.1.1";
    /// Content synchronisation, state of an entry (RFC 4533).
    pub const SYNC_STATE: &str = "1.3.6.1.4.1.4203.1.9.1.2";
    /// Content synchronisation, done (RFC 4533).
    pub const SYNC_DONE: &str = "1.3.6.1.4.1.4203.1.9.1.3";
    /// Persistent search (draft-ietf-ldapext-psearch).
    pub const PERSISTENT_SEARCH: &str = "2.16.840.1.113730.3.4.3";
    /// Entry change notification (draft-ietf-ldapext-psearch).
    pub const ENTRY_CHANGE: &str = "2.16.840.1.113730.3.4.7";
    /// Tree delete (draft-armijo-ldap-treedelete).
    pub const TREE_DELETE: &str = "1.2.840.113556.1.4.805";
    /// Permissive modify (Microsoft).
    pub const PERMISSIVE_MODIFY: &str = "1.2.840.113556.1.4.1413";
    /// Relax rules (draft-zeilenga-ldap-relax).
    pub const RELAX_RULES: &str = "1.3.6.1.4.1.4203.666.5.12";
    /// Dereference (draft-masarati-ldap-deref).
    pub const DEREFERENCE: &str = "1.3.6.1.4.1.4203.666.5.16";
    /// Get effective rights (draft-ietf-ldapext-acl-model).
    pub const GET_EFFECTIVE_RIGHTS: &str = "1.3.6.1.4.1.42.2.27.9.5.2";
    /// Transaction specification (RFC 5805).
    pub const TRANSACTION: &str = "1.3.6.1.1.21.2";
    /// Don't Use Copy (RFC 6171).
    pub const DONT_USE_COPY: &str = "1.3.6.1.1.22";
    /// Session tracking (draft-wahl-ldap-session).
    pub const SESSION_TRACKING: &str = "1.3.6.1.4.1.21008.108.63.1";
}

/// Extended and intermediate operations: `requestName` and `responseName`.
pub mod extended {
    /// Notice of Disconnection (RFC 4511 section 4.4.1).
    pub const NOTICE_OF_DISCONNECTION: &str = "1.3.6.1.4.1.1466.20036";
    /// StartTLS (RFC 4511 section 4.14).
    pub const START_TLS: &str = "1.3.6.1.4.1.1466.20037";
    /// Who am I? (RFC 4532).
    pub const WHO_AM_I: &str = "1.3.6.1.4.1.4203.1.11.3";
    /// Password modify (RFC 3062).
    pub const PASSWORD_MODIFY: &str = "1.3.6.1.4.1.4203.1.11.1";
    /// Cancel (RFC 3909).
    pub const CANCEL: &str = "1.3.6.1.1.8";
    /// Start of a transaction (RFC 5805).
    pub const TRANSACTION_START: &str = "1.3.6.1.1.21.1";
    /// End of a transaction (RFC 5805).
    pub const TRANSACTION_END: &str = "1.3.6.1.1.21.3";
    /// Aborted transaction notice (RFC 5805).
    pub const TRANSACTION_ABORTED: &str = "1.3.6.1.1.21.4";
    /// Refresh of a dynamic entry (RFC 2589).
    pub const REFRESH: &str = "1.3.6.1.4.1.1466.101.119.1";
    /// Sync Info, an intermediate response (RFC 4533).
    pub const SYNC_INFO: &str = "1.3.6.1.4.1.4203.1.9.1.4";
}

/// Features: `supportedFeatures` of the root DSE (RFC 4512 section 5.1).
pub mod feature {
    /// `+` for all operational attributes (RFC 3673).
    pub const ALL_OPERATIONAL_ATTRIBUTES: &str = "1.3.6.1.4.1.4203.1.5.1";
    /// `@class` for the attributes of an object class (RFC 4529).
    pub const OBJECT_CLASS_ATTRIBUTES: &str = "1.3.6.1.4.1.4203.1.5.2";
    /// Absolute true and false filters (RFC 4526).
    pub const TRUE_FALSE_FILTERS: &str = "1.3.6.1.4.1.4203.1.5.3";
    /// Language tags (RFC 3866).
    pub const LANGUAGE_TAGS: &str = "1.3.6.1.4.1.4203.1.5.4";
    /// Language ranges (RFC 3866).
    pub const LANGUAGE_RANGES: &str = "1.3.6.1.4.1.4203.1.5.5";
    /// Modify-increment (RFC 4525).
    pub const MODIFY_INCREMENT: &str = "1.3.6.1.1.14";
}

/// In a search's attribute list: no attributes (RFC 4511 section 4.5.1.8).
pub const NO_ATTRIBUTES: &str = "1.1";
/// In a search's attribute list: all user attributes (RFC 4511 section 4.5.1.8).
pub const ALL_USER_ATTRIBUTES: &str = "*";
/// In a search's attribute list: all operational attributes (RFC 3673).
pub const ALL_OPERATIONAL_ATTRIBUTES: &str = "+";
