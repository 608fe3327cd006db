//! Index definitions as text: the `index ATTR[,ATTR] TYPES` lines of slapd.conf, and the defaults.

use super::keys::supported;
use bindery_model::schema::Schema;
use std::fmt;

/// Which indexes an attribute has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct IndexTypes(u8);

impl IndexTypes {
    /// `(attr=*)`.
    pub const PRESENCE: IndexTypes = IndexTypes(1);
    /// `(attr=value)`.
    pub const EQUALITY: IndexTypes = IndexTypes(2);
    /// `(attr=a*b*c)`.
    pub const SUBSTRING: IndexTypes = IndexTypes(4);
    /// `(attr~=value)`.
    pub const APPROX: IndexTypes = IndexTypes(8);
    /// `(attr>=value)` and `(attr<=value)`.
    pub const ORDERING: IndexTypes = IndexTypes(16);

    /// Every type with its name in definitions.
    pub const ALL: [(IndexTypes, &'static str); 5] = [
        (IndexTypes::PRESENCE, "pres"),
        (IndexTypes::EQUALITY, "eq"),
        (IndexTypes::SUBSTRING, "sub"),
        (IndexTypes::APPROX, "approx"),
        (IndexTypes::ORDERING, "ordering"),
    ];

    /// Types of either.
    pub const fn or(self, other: IndexTypes) -> IndexTypes {
        IndexTypes(self.0 | other.0)
    }

    /// Types of this set that are not in `other`.
    pub const fn without(self, other: IndexTypes) -> IndexTypes {
        IndexTypes(self.0 & !other.0)
    }

    /// Whether all types of `other` are in this set.
    pub const fn has(self, other: IndexTypes) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether no type is set.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The form kept in stored settings.
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// Reads the stored form; `None` for bits without a meaning.
    pub const fn from_bits(bits: u8) -> Option<IndexTypes> {
        if bits < 32 { Some(IndexTypes(bits)) } else { None }
    }

    /// Reads `pres,eq,sub,approx` and slapd's further words. The parts of a substring index
    /// (`subinitial`, `subany`, `subfinal`) are one here, and `nolang` and `nosubtypes` narrow an index that is
    /// re-tested anyway: both are accepted.
    pub fn parse(text: &str) -> Result<IndexTypes, String> {
        let mut types = IndexTypes::default();
        for word in text.split(',').map(str::trim).filter(|word| !word.is_empty()) {
            types = types.or(match word.to_ascii_lowercase().as_str() {
                "pres" | "presence" => IndexTypes::PRESENCE,
                "eq" | "equality" => IndexTypes::EQUALITY,
                "sub" | "substr" | "substring" | "subinitial" | "subany" | "subfinal" => IndexTypes::SUBSTRING,
                "approx" | "approximate" => IndexTypes::APPROX,
                "ord" | "ordering" => IndexTypes::ORDERING,
                "lang" | "nolang" | "subtypes" | "nosubtypes" => IndexTypes::default(),
                _ => return Err(word.to_owned()),
            });
        }
        Ok(types)
    }
}

impl fmt::Display for IndexTypes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut comma = "";
        for (kind, name) in IndexTypes::ALL {
            if self.has(kind) {
                write!(f, "{comma}{name}")?;
                comma = ",";
            }
        }
        Ok(())
    }
}

/// One attribute of an index line. The attribute is not yet looked up in a schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexLine {
    /// Where it stands, counted from 1.
    pub line: usize,
    /// Attribute type, as written.
    pub attribute: String,
    /// What to index.
    pub types: IndexTypes,
}

/// Why an index file was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IndexFileError {
    /// A line that is neither empty, a comment nor an index line.
    #[error("line {line}: expected `index ATTR[,ATTR] TYPES`, found `{found}`")]
    NotIndex {
        /// Line number.
        line: usize,
        /// The first word.
        found: String,
    },
    /// No attribute, or more words than attributes and types.
    #[error("line {line}: an index line has attributes and types, nothing else")]
    Shape {
        /// Line number.
        line: usize,
    },
    /// An unknown index type.
    #[error("line {line}: unknown index type `{word}`; known are pres, eq, sub, approx, ordering")]
    Type {
        /// Line number.
        line: usize,
        /// The word.
        word: String,
    },
    /// No types, and no `index default TYPES` before.
    #[error("line {line}: no index types, and no `index default` line before")]
    NoTypes {
        /// Line number.
        line: usize,
    },
}

/// Reads the `index` lines of slapd.conf: comments, continuation lines that begin with white space,
/// `index default TYPES`, several attributes in one line. Repeated attributes are merged, in the place of the
/// first. `index` and `olcDbIndex:` may both begin a line.
pub fn parse_index_file(text: &str) -> Result<Vec<IndexLine>, IndexFileError> {
    let mut logical: Vec<(usize, String)> = Vec::new();
    for (at, line) in text.lines().enumerate() {
        if line.starts_with('#') {
            continue;
        }
        match logical.last_mut() {
            Some((_, before)) if line.starts_with([' ', '\t']) && !line.trim().is_empty() => {
                before.push(' ');
                before.push_str(line.trim());
            }
            _ => logical.push((at + 1, line.trim().to_owned())),
        }
    }
    let mut default = IndexTypes::default();
    let mut out: Vec<IndexLine> = Vec::new();
    for (line, text) in logical {
        let text = text.split_once(" #").map_or(text.as_str(), |(before, _)| before);
        let mut words = text.split_whitespace();
        let Some(first) = words.next() else { continue };
        if !first.eq_ignore_ascii_case("index") && !first.eq_ignore_ascii_case("olcDbIndex:") {
            return Err(IndexFileError::NotIndex { line, found: first.to_owned() });
        }
        let attributes = words.next().ok_or(IndexFileError::Shape { line })?;
        // slapd takes one word of types; "eq, sub" is a common slip of the pen with one meaning.
        let types: String = words.collect();
        let types = IndexTypes::parse(&types).map_err(|word| IndexFileError::Type { line, word })?;
        if attributes.eq_ignore_ascii_case("default") {
            default = types;
            continue;
        }
        let types = if types.is_empty() { default } else { types };
        if types.is_empty() {
            return Err(IndexFileError::NoTypes { line });
        }
        for attribute in attributes.split(',') {
            if attribute.is_empty() {
                return Err(IndexFileError::Shape { line });
            }
            match out.iter_mut().find(|known| known.attribute.eq_ignore_ascii_case(attribute)) {
                Some(known) => known.types = known.types.or(types),
                None => out.push(IndexLine { line, attribute: attribute.to_owned(), types }),
            }
        }
    }
    Ok(out)
}

const EQ: IndexTypes = IndexTypes::EQUALITY;
const EQ_SUB: IndexTypes = IndexTypes::EQUALITY.or(IndexTypes::SUBSTRING);
const EQ_ORDERING: IndexTypes = IndexTypes::EQUALITY.or(IndexTypes::ORDERING);

/// Indexes of a new directory: what the programs of the field ask for. An attribute that the schema does not
/// have is left out.
pub const DEFAULT_INDEXES: [(&str, IndexTypes); 24] = [
    ("objectClass", EQ),
    ("uid", EQ_SUB),
    ("cn", EQ_SUB),
    ("sn", EQ_SUB),
    ("mail", EQ_SUB),
    ("givenName", EQ_SUB),
    ("uidNumber", EQ),
    ("gidNumber", EQ),
    ("memberUid", EQ),
    ("member", EQ),
    ("uniqueMember", EQ),
    ("memberOf", EQ),
    ("entryUUID", EQ),
    // SSSD and Keycloak poll for what changed since a time.
    ("createTimestamp", EQ_ORDERING),
    ("modifyTimestamp", EQ_ORDERING),
    ("sudoUser", EQ_SUB),
    ("automountKey", EQ),
    ("nisMapName", EQ),
    ("ou", EQ),
    // Postfix and Dovecot look a recipient up by its aliases.
    ("mailLocalAddress", EQ),
    ("ipHostNumber", EQ),
    ("nisNetgroupTriple", EQ),
    ("sambaSID", EQ),
    ("krbPrincipalName", EQ),
];

/// [`DEFAULT_INDEXES`] of the attributes that `schema` has, with the types that their rules allow: what a bootstrap
/// takes.
pub fn default_indexes(schema: &Schema) -> Vec<(String, IndexTypes)> {
    let known = DEFAULT_INDEXES.iter().filter_map(|(name, types)| {
        let attribute = schema.attribute(name)?;
        Some(((*name).to_owned(), supported(attribute, *types)))
    });
    known.filter(|(_, types)| !types.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_indexes_fit_the_shipped_schema() {
        let indexes = default_indexes(&Schema::shipped());
        for (name, types) in [("uid", EQ_SUB), ("cn", EQ_SUB), ("mail", EQ_SUB), ("member", EQ), ("entryUUID", EQ)] {
            assert!(indexes.contains(&(name.to_owned(), types)), "{name}");
        }
        assert!(indexes.contains(&("modifyTimestamp".to_owned(), EQ_ORDERING)));
    }

    #[test]
    fn slapd_conf_lines_are_read() {
        let text = "# peons\nindex objectClass eq\nindex uid,cn  pres,eq,subinitial\n\n\
                    INDEX sn\n\tEQ,sub,approx\nindex default pres,eq\nindex l\nindex cn approx # why\n\
                    olcDbIndex: entryUUID eq\nindex modifyTimestamp eq, ordering\n";
        let lines = parse_index_file(text).unwrap();
        let shown: Vec<String> =
            lines.iter().map(|line| format!("{} {} {}", line.line, line.attribute, line.types)).collect();
        assert_eq!(
            shown,
            [
                "2 objectClass eq",
                "3 uid pres,eq,sub",
                "3 cn pres,eq,sub,approx",
                "5 sn eq,sub,approx",
                "8 l pres,eq",
                "10 entryUUID eq",
                "11 modifyTimestamp eq,ordering",
            ]
        );
    }

    #[test]
    fn faults_name_their_line() {
        let fault = |text: &str| parse_index_file(text).unwrap_err().to_string();
        assert!(fault("\nindex cn eq,fuzzy").starts_with("line 2: unknown index type `fuzzy`"));
        assert!(fault("database mdb").starts_with("line 1: expected `index"));
        assert!(fault("index").starts_with("line 1: an index line"));
        assert!(fault("index cn").starts_with("line 1: no index types"));
        assert!(fault("index cn,,sn eq").starts_with("line 1: an index line"));
    }

    #[test]
    fn types_survive_their_stored_form() {
        for bits in 0..=255u8 {
            match IndexTypes::from_bits(bits) {
                Some(types) => {
                    assert_eq!(types.bits(), bits);
                    assert_eq!(IndexTypes::parse(&types.to_string()), Ok(types));
                }
                None => assert!(bits >= 32),
            }
        }
    }
}
