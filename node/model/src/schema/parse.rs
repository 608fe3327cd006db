//! One definition in RFC 4512's form, by recursive descent; and back to text.
//!
//! What other servers write is read too: quoted names where bare ones belong, lists without parentheses round one
//! element, OIDs given by a macro (`myOIDs:1.2`) or by a name ending in `-oid`, extensions with lists.

use std::fmt::Write as _;

use super::lookup::MAX_NAME_BYTES;
use super::{ObjectClassKind, Usage};
use crate::syntax::{is_descr, is_numeric_oid};

/// Elements of one list (names, attributes) at most.
const MAX_LIST: usize = 1_024;

/// An attribute type as written, names not yet looked up.
#[derive(Debug, Clone, Default)]
pub(super) struct AttributeDef {
    pub oid: String,
    pub names: Vec<String>,
    pub description: String,
    pub obsolete: bool,
    pub superior: Option<String>,
    pub equality: Option<String>,
    pub ordering: Option<String>,
    pub substring: Option<String>,
    pub syntax: Option<String>,
    pub syntax_bound: Option<u32>,
    pub single_value: bool,
    pub collective: bool,
    pub no_user_modification: bool,
    pub usage: Option<Usage>,
    pub extensions: Vec<(String, Vec<String>)>,
}

/// An object class as written, names not yet looked up.
#[derive(Debug, Clone)]
pub(super) struct ClassDef {
    pub oid: String,
    pub names: Vec<String>,
    pub description: String,
    pub obsolete: bool,
    pub superiors: Vec<String>,
    pub kind: ObjectClassKind,
    pub must: Vec<String>,
    pub may: Vec<String>,
    pub extensions: Vec<(String, Vec<String>)>,
}

/// A syntax description, of which only a substitution is used.
#[derive(Debug, Clone)]
pub(super) struct SyntaxDef {
    pub oid: String,
    pub substitute: Option<String>,
}

pub(super) type Problem = String;

/// Reads an attribute type description (RFC 4512, 4.1.2).
pub(super) fn attribute_type(text: &str) -> Result<AttributeDef, Problem> {
    let mut reader = Reader::new(text);
    reader.open()?;
    let mut def = AttributeDef { oid: reader.identifier()?, ..AttributeDef::default() };
    while let Some(keyword) = reader.keyword()? {
        match keyword.to_ascii_uppercase().as_str() {
            "NAME" => def.names = reader.quoted_list()?,
            "DESC" => def.description = reader.quoted_string()?,
            "OBSOLETE" => def.obsolete = true,
            "SUP" => def.superior = Some(reader.identifier()?),
            "EQUALITY" => def.equality = Some(reader.identifier()?),
            "ORDERING" => def.ordering = Some(reader.identifier()?),
            "SUBSTR" | "SUBSTRINGS" => def.substring = Some(reader.identifier()?),
            "SYNTAX" => (def.syntax, def.syntax_bound) = reader.syntax()?,
            "SINGLE-VALUE" => def.single_value = true,
            "COLLECTIVE" => def.collective = true,
            "NO-USER-MODIFICATION" => def.no_user_modification = true,
            "USAGE" => def.usage = Some(reader.usage()?),
            extension if extension.starts_with("X-") => def.extensions.push((keyword, reader.quoted_list()?)),
            _ => return Err(format!("unexpected word {keyword:?} in an attribute type")),
        }
    }
    check_names(&def.names)?;
    Ok(def)
}

/// Reads an object class description (RFC 4512, 4.1.1).
pub(super) fn object_class(text: &str) -> Result<ClassDef, Problem> {
    let mut reader = Reader::new(text);
    reader.open()?;
    let mut def = ClassDef {
        oid: reader.identifier()?,
        names: Vec::new(),
        description: String::new(),
        obsolete: false,
        superiors: Vec::new(),
        kind: ObjectClassKind::Structural,
        must: Vec::new(),
        may: Vec::new(),
        extensions: Vec::new(),
    };
    while let Some(keyword) = reader.keyword()? {
        match keyword.to_ascii_uppercase().as_str() {
            "NAME" => def.names = reader.quoted_list()?,
            "DESC" => def.description = reader.quoted_string()?,
            "OBSOLETE" => def.obsolete = true,
            "SUP" => def.superiors = reader.identifier_list()?,
            "ABSTRACT" => def.kind = ObjectClassKind::Abstract,
            "STRUCTURAL" => def.kind = ObjectClassKind::Structural,
            "AUXILIARY" => def.kind = ObjectClassKind::Auxiliary,
            "MUST" => def.must = reader.identifier_list()?,
            "MAY" => def.may = reader.identifier_list()?,
            extension if extension.starts_with("X-") => def.extensions.push((keyword, reader.quoted_list()?)),
            _ => return Err(format!("unexpected word {keyword:?} in an object class")),
        }
    }
    check_names(&def.names)?;
    Ok(def)
}

/// Reads an LDAP syntax description (RFC 4512, 4.1.5).
pub(super) fn ldap_syntax(text: &str) -> Result<SyntaxDef, Problem> {
    let mut reader = Reader::new(text);
    reader.open()?;
    let mut def = SyntaxDef { oid: reader.identifier()?, substitute: None };
    while let Some(keyword) = reader.keyword()? {
        match keyword.to_ascii_uppercase().as_str() {
            "NAME" | "DESC" => drop(reader.quoted_list()?),
            "X-SUBST" => def.substitute = reader.quoted_list()?.pop(),
            extension if extension.starts_with("X-") => drop(reader.quoted_list()?),
            _ => return Err(format!("unexpected word {keyword:?} in a syntax")),
        }
    }
    Ok(def)
}

fn check_names(names: &[String]) -> Result<(), Problem> {
    for name in names {
        if name.len() > MAX_NAME_BYTES || !is_descr(name.as_bytes()) || name.contains(';') {
            return Err(format!(
                "{name:?} is not a name: use a letter, then letters, digits and hyphens, at most {MAX_NAME_BYTES}"
            ));
        }
    }
    Ok(())
}

#[derive(Debug, PartialEq, Eq)]
enum Token<'a> {
    Open,
    Close,
    Dollar,
    Word(&'a str),
    Quoted(String),
}

struct Reader<'a> {
    rest: &'a str,
    peeked: Option<Token<'a>>,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str) -> Self {
        Self { rest: text, peeked: None }
    }

    fn next(&mut self) -> Result<Token<'a>, Problem> {
        if let Some(token) = self.peeked.take() {
            return Ok(token);
        }
        self.rest = self.rest.trim_start();
        let Some(first) = self.rest.chars().next() else {
            return Err("the definition ends too early: a closing parenthesis is missing".to_owned());
        };
        let (token, length) = match first {
            '(' => (Token::Open, 1),
            ')' => (Token::Close, 1),
            '$' => (Token::Dollar, 1),
            '\'' => {
                let Some(end) = self.rest[1..].find('\'') else {
                    return Err("a closing quotation mark is missing".to_owned());
                };
                (Token::Quoted(unescape(&self.rest[1..=end])), end + 2)
            }
            _ => {
                let end = self
                    .rest
                    .find(|character: char| character.is_whitespace() || "()$'".contains(character))
                    .unwrap_or(self.rest.len());
                (Token::Word(&self.rest[..end]), end)
            }
        };
        self.rest = &self.rest[length..];
        Ok(token)
    }

    fn peek(&mut self) -> Result<&Token<'a>, Problem> {
        let token = self.next()?;
        Ok(self.peeked.insert(token))
    }

    fn open(&mut self) -> Result<(), Problem> {
        match self.next()? {
            Token::Open => Ok(()),
            _ => Err("a definition begins with '('".to_owned()),
        }
    }

    /// The next keyword; `None` at the closing parenthesis, behind which nothing may follow.
    fn keyword(&mut self) -> Result<Option<String>, Problem> {
        match self.next()? {
            Token::Close if self.rest.trim().is_empty() => Ok(None),
            Token::Close => Err(format!("{:?} follows the closing parenthesis", self.rest.trim())),
            Token::Word(word) => Ok(Some(word.to_owned())),
            token => Err(format!("expected a keyword, found {token:?}")),
        }
    }

    /// A name or OID, quoted or not, also as a list of one.
    fn identifier(&mut self) -> Result<String, Problem> {
        let mut list = self.identifier_list()?;
        match (list.pop(), list.is_empty()) {
            (Some(identifier), true) => Ok(identifier),
            _ => Err("expected exactly one name or OID".to_owned()),
        }
    }

    /// `oids` of RFC 4512, 4.1: one, or several joined by `$` in parentheses.
    fn identifier_list(&mut self) -> Result<Vec<String>, Problem> {
        let one = |token| match token {
            Token::Word(word) => Ok(word.to_owned()),
            Token::Quoted(text) => Ok(text.trim().to_owned()),
            token => Err(format!("expected a name or OID, found {token:?}")),
        };
        let mut list = Vec::new();
        if *self.peek()? != Token::Open {
            list.push(one(self.next()?)?);
        } else {
            self.next()?;
            loop {
                match self.next()? {
                    Token::Close => break,
                    Token::Dollar => {}
                    token => list.push(one(token)?),
                }
                if list.len() > MAX_LIST {
                    return Err(format!("a list has more than {MAX_LIST} elements"));
                }
            }
        }
        for identifier in &list {
            if !is_identifier(identifier) {
                return Err(format!("{identifier:?} is neither a name nor an OID"));
            }
        }
        Ok(list)
    }

    /// `qdescrs` or `qdstrings`: one quoted string, or several in parentheses.
    fn quoted_list(&mut self) -> Result<Vec<String>, Problem> {
        if *self.peek()? != Token::Open {
            return Ok(vec![self.quoted_string()?]);
        }
        self.next()?;
        let mut list = Vec::new();
        loop {
            match self.next()? {
                Token::Close => return Ok(list),
                Token::Quoted(text) => list.push(text),
                Token::Word(word) => list.push(word.to_owned()),
                token => return Err(format!("expected a quoted string, found {token:?}")),
            }
            if list.len() > MAX_LIST {
                return Err(format!("a list has more than {MAX_LIST} elements"));
            }
        }
    }

    fn quoted_string(&mut self) -> Result<String, Problem> {
        match self.next()? {
            Token::Quoted(text) => Ok(text),
            Token::Word(word) => Ok(word.to_owned()),
            token => Err(format!("expected a quoted string, found {token:?}")),
        }
    }

    /// `noidlen`: an OID and an upper bound in braces.
    fn syntax(&mut self) -> Result<(Option<String>, Option<u32>), Problem> {
        let text = self.quoted_string()?;
        let Some((oid, bound)) = text.split_once('{') else { return Ok((Some(text), None)) };
        match bound.strip_suffix('}').and_then(|bound| bound.parse().ok()) {
            Some(bound) => Ok((Some(oid.to_owned()), Some(bound))),
            None => Err(format!("{text:?} is not a syntax: its bound must be a number in braces")),
        }
    }

    fn usage(&mut self) -> Result<Usage, Problem> {
        let word = self.quoted_string()?;
        [Usage::UserApplications, Usage::DirectoryOperation, Usage::DistributedOperation, Usage::DsaOperation]
            .into_iter()
            .find(|usage| usage_text(*usage).eq_ignore_ascii_case(&word))
            .ok_or_else(|| {
                format!(
                    "usage {word:?} is unknown: use userApplications, directoryOperation, distributedOperation or \
                     dSAOperation"
                )
            })
    }
}

/// A name, a numeric OID, or a macro with what follows it.
fn is_identifier(text: &str) -> bool {
    if text.len() > MAX_NAME_BYTES {
        return false;
    }
    match text.split_once(':') {
        Some((name, suffix)) => is_descr(name.as_bytes()) && is_numeric_oid(suffix.as_bytes()),
        None => is_numeric_oid(text.as_bytes()) || is_descr(text.as_bytes()),
    }
}

fn usage_text(usage: Usage) -> &'static str {
    match usage {
        Usage::UserApplications => "userApplications",
        Usage::DirectoryOperation => "directoryOperation",
        Usage::DistributedOperation => "distributedOperation",
        Usage::DsaOperation => "dSAOperation",
    }
}

/// Undoes `\27` and `\5C` (RFC 4512, 4.1: `qdstring`).
fn unescape(text: &str) -> String {
    text.replace("\\27", "'").replace("\\5C", "\\").replace("\\5c", "\\")
}

fn escape(text: &str) -> String {
    text.replace('\\', "\\5C").replace('\'', "\\27")
}

impl AttributeDef {
    /// The definition as text, in RFC 4512's order.
    pub(super) fn to_text(&self) -> String {
        let mut text = format!("( {}", self.oid);
        put_head(&mut text, &self.names, &self.description, self.obsolete);
        let pairs = [
            ("SUP", &self.superior),
            ("EQUALITY", &self.equality),
            ("ORDERING", &self.ordering),
            ("SUBSTR", &self.substring),
            ("SYNTAX", &self.syntax),
        ];
        for (keyword, value) in pairs {
            if let Some(value) = value {
                text.extend([" ", keyword, " ", value]);
            }
        }
        if let Some(bound) = self.syntax_bound.filter(|_| self.syntax.is_some()) {
            // Writing to a string cannot fail.
            let _ = write!(text, "{{{bound}}}");
        }
        for (set, keyword) in [
            (self.single_value, " SINGLE-VALUE"),
            (self.collective, " COLLECTIVE"),
            (self.no_user_modification, " NO-USER-MODIFICATION"),
        ] {
            if set {
                text.push_str(keyword);
            }
        }
        if let Some(usage) = self.usage.filter(|usage| *usage != Usage::UserApplications) {
            text.extend([" USAGE ", usage_text(usage)]);
        }
        put_extensions(&mut text, &self.extensions);
        text.push_str(" )");
        text
    }
}

impl ClassDef {
    /// The definition as text, in RFC 4512's order.
    pub(super) fn to_text(&self) -> String {
        let mut text = format!("( {}", self.oid);
        put_head(&mut text, &self.names, &self.description, self.obsolete);
        put_list(&mut text, "SUP", &self.superiors);
        text.push_str(match self.kind {
            ObjectClassKind::Abstract => " ABSTRACT",
            ObjectClassKind::Structural => " STRUCTURAL",
            ObjectClassKind::Auxiliary => " AUXILIARY",
        });
        put_list(&mut text, "MUST", &self.must);
        put_list(&mut text, "MAY", &self.may);
        put_extensions(&mut text, &self.extensions);
        text.push_str(" )");
        text
    }
}

fn put_head(text: &mut String, names: &[String], description: &str, obsolete: bool) {
    put_quoted(text, "NAME", names);
    if !description.is_empty() {
        text.extend([" DESC '", &escape(description), "'"]);
    }
    if obsolete {
        text.push_str(" OBSOLETE");
    }
}

fn put_quoted(text: &mut String, keyword: &str, strings: &[String]) {
    match strings {
        [] => {}
        [one] => text.extend([" ", keyword, " '", &escape(one), "'"]),
        several => {
            text.extend([" ", keyword, " ("]);
            for string in several {
                text.extend([" '", &escape(string), "'"]);
            }
            text.push_str(" )");
        }
    }
}

fn put_list(text: &mut String, keyword: &str, identifiers: &[String]) {
    match identifiers {
        [] => {}
        [one] => text.extend([" ", keyword, " ", one]),
        several => text.extend([" ", keyword, " ( ", &several.join(" $ "), " )"]),
    }
}

fn put_extensions(text: &mut String, extensions: &[(String, Vec<String>)]) {
    for (keyword, values) in extensions {
        put_quoted(text, keyword, values);
    }
}
