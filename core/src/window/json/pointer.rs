//! RFC 6901: the names of values inside a JSON text.

use std::borrow::Cow;

use crate::error::{Code, Error, Result};

/// Longer pointers name nothing that could be shown.
const MAX_BYTES: usize = 64 * 1024;

/// A pointer, token by token.
#[derive(Debug, Clone)]
pub(super) struct Pointer {
    pub(super) text: String,
    pub(super) tokens: Vec<Token>,
}

#[derive(Debug, Clone)]
pub(super) struct Token {
    /// As a member's name.
    pub(super) name: String,
    /// As an item's number, if it is one.
    pub(super) index: Option<u64>,
}

impl Pointer {
    pub(super) fn parse(text: &str) -> Result<Self> {
        let invalid = |what: &str| {
            Err(Error::new(Code::InvalidOption, format!("pointer {what}. A JSON pointer looks like /rows/0/id.")))
        };
        if text.len() > MAX_BYTES {
            return invalid("is too long");
        }
        if text.is_empty() {
            return Ok(Self { text: String::new(), tokens: Vec::new() });
        }
        let Some(rest) = text.strip_prefix('/') else { return invalid("starts with /, or is empty") };
        let mut tokens = Vec::new();
        for token in rest.split('/') {
            let plain = token.replace("~1", "").replace("~0", "");
            if plain.contains('~') {
                return invalid("has a ~ that is neither ~0 nor ~1");
            }
            let name = token.replace("~1", "/").replace("~0", "~");
            let leading_zero = name.len() > 1 && name.starts_with('0');
            let digits = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit()) && !leading_zero;
            let index = if digits { name.parse().ok() } else { None };
            tokens.push(Token { name, index });
        }
        Ok(Self { text: text.to_owned(), tokens })
    }

    /// Its first tokens, as text.
    pub(super) fn first(&self, count: usize) -> &str {
        let end = self.text.match_indices('/').nth(count).map_or(self.text.len(), |(at, _)| at);
        &self.text[..end]
    }
}

/// A member's name as a token.
pub(crate) fn escaped(name: &str) -> Cow<'_, str> {
    if name.contains(['~', '/']) { name.replace('~', "~0").replace('/', "~1").into() } else { name.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens() {
        let table: [(&str, &[&str]); 6] = [
            ("", &[]),
            ("/", &[""]),
            ("/a/0", &["a", "0"]),
            ("/a~1b/m~0n", &["a/b", "m~n"]),
            ("/~01", &["~1"]),
            ("/ /é//", &[" ", "é", "", ""]),
        ];
        for (text, names) in table {
            let pointer = Pointer::parse(text).expect(text);
            assert_eq!(pointer.tokens.iter().map(|token| token.name.as_str()).collect::<Vec<_>>(), names, "{text}");
            assert_eq!(pointer.first(names.len()), text);
            let again: String = names.iter().flat_map(|name| ["/".into(), escaped(name)]).collect();
            assert_eq!(again, text);
        }
        assert_eq!(Pointer::parse("/a/b/c").expect("parsed").first(1), "/a");
        let indexes: Vec<_> = Pointer::parse("/0/01/-/10").expect("parsed").tokens.iter().map(|t| t.index).collect();
        assert_eq!(indexes, [Some(0), None, None, Some(10)]);
        for text in ["a", "a/b", "/~", "/~2", "#/a"] {
            assert_eq!(Pointer::parse(text).expect_err(text).code, Code::InvalidOption);
        }
    }
}
