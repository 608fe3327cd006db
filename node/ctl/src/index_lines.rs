//! Index definitions as text: the types of `bindery index add ATTR TYPES`, and files with lines
//! `index ATTR[,ATTR...] TYPES` as in slapd.conf(5).

use bindery_proto::admin::{IndexDefinition, IndexKind};

/// What is wrong with a definition.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum IndexLineError {
    #[error("{0:?} is no index type; pres, eq, sub, approx and ordering are known")]
    UnknownKind(String),
    #[error("no index type is given")]
    NoKind,
    #[error("{0:?} is no attribute type")]
    NotAnAttribute(String),
    #[error("line {line}: {problem}")]
    Line { line: usize, problem: String },
}

/// The name of a kind, as typed and as printed.
pub fn name(kind: IndexKind) -> &'static str {
    match kind {
        IndexKind::Presence => "pres",
        IndexKind::Equality => "eq",
        IndexKind::Substring => "sub",
        IndexKind::Approximate => "approx",
        IndexKind::Ordering => "ordering",
        IndexKind::Unspecified => "?",
    }
}

/// Reads `eq,sub,approx`. slapd's finer substring types all mean the one that serves them.
pub fn kinds(text: &str) -> Result<Vec<IndexKind>, IndexLineError> {
    let mut kinds = Vec::new();
    for word in text.split(',').map(str::trim).filter(|word| !word.is_empty()) {
        let kind = match word.to_ascii_lowercase().as_str() {
            "pres" => IndexKind::Presence,
            "eq" => IndexKind::Equality,
            "sub" | "subinitial" | "subany" | "subfinal" => IndexKind::Substring,
            "approx" => IndexKind::Approximate,
            "ordering" => IndexKind::Ordering,
            _ => return Err(IndexLineError::UnknownKind(word.to_owned())),
        };
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    if kinds.is_empty() { Err(IndexLineError::NoKind) } else { Ok(kinds) }
}

/// One definition for each attribute named in `attributes` (separated by commas).
pub fn definitions(attributes: &str, types: &str) -> Result<Vec<IndexDefinition>, IndexLineError> {
    let kinds: Vec<i32> = kinds(types)?.into_iter().map(i32::from).collect();
    let named = attributes.split(',').map(str::trim);
    named
        .map(|attribute| {
            let plausible = attribute.starts_with(|first: char| first.is_ascii_alphanumeric())
                && attribute
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b';' | b'_'));
            if plausible {
                Ok(IndexDefinition { attribute: attribute.to_owned(), kinds: kinds.clone() })
            } else {
                Err(IndexLineError::NotAnAttribute(attribute.to_owned()))
            }
        })
        .collect()
}

/// Reads a file. Blank lines and comments are passed over; the word `index` may be left out.
pub fn file(text: &str) -> Result<Vec<IndexDefinition>, IndexLineError> {
    let mut found = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let refuse = |problem: String| IndexLineError::Line { line: at + 1, problem };
        let mut words = line.split_whitespace().peekable();
        if words.peek().is_some_and(|word| word.eq_ignore_ascii_case("index")) {
            words.next();
        }
        let (Some(attributes), Some(types), None) = (words.next(), words.next(), words.next()) else {
            return Err(refuse(format!("\"index ATTRIBUTE TYPES\" is expected, not {line:?}")));
        };
        found.extend(definitions(attributes, types).map_err(|error| refuse(error.to_string()))?);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types() {
        assert_eq!(
            kinds("eq,sub,approx").unwrap(),
            [IndexKind::Equality, IndexKind::Substring, IndexKind::Approximate]
        );
        assert_eq!(kinds("subinitial,subany, PRES").unwrap(), [IndexKind::Substring, IndexKind::Presence]);
        assert_eq!(kinds("equality"), Err(IndexLineError::UnknownKind("equality".into())));
        assert_eq!(kinds(","), Err(IndexLineError::NoKind));
    }

    #[test]
    fn every_kind_has_a_name_that_is_read_back() {
        for kind in [
            IndexKind::Presence,
            IndexKind::Equality,
            IndexKind::Substring,
            IndexKind::Approximate,
            IndexKind::Ordering,
        ] {
            assert_eq!(kinds(name(kind)).unwrap(), [kind]);
        }
    }

    #[test]
    fn files() {
        let read = file("# comment\n\nindex objectClass eq\nindex cn,sn eq,sub\n  uid   eq\n").unwrap();
        let attributes: Vec<&str> = read.iter().map(|index| index.attribute.as_str()).collect();
        assert_eq!(attributes, ["objectClass", "cn", "sn", "uid"]);
        assert_eq!(read[2].kinds, [2, 3]);
        let wrong = [
            ("index cn", "line 1: \"index ATTRIBUTE TYPES\" is expected"),
            ("\nindex cn eq sub", "line 2: \"index ATTRIBUTE TYPES\" is expected"),
            ("index cn equal", "line 1: \"equal\" is no index type"),
            ("index cn, eq", "line 1: \"\" is no attribute type"),
        ];
        for (text, message) in wrong {
            let refused = file(text).unwrap_err().to_string();
            assert!(refused.starts_with(message), "{refused}");
        }
    }
}
