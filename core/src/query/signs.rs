//! The signs in the text of a JSONPath that say what it does, names and literals aside.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    Opens,
    Parenthesis,
    /// Either.
    Closes,
    Comma,
    Filter,
    Descent,
    Root,
    Spread,
    /// A whole string, which ends before this place.
    Quote(usize),
}

/// The signs of a text outside its strings, with their places.
pub(super) fn signs(text: &str) -> Vec<(usize, Sign)> {
    let bytes = text.as_bytes();
    let mut signs = Vec::new();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let start = at;
        at += 1;
        let sign = match byte {
            b'\'' | b'"' => {
                while let Some(&inside) = bytes.get(at) {
                    at += if inside == b'\\' { 2 } else { 1 };
                    if inside == byte {
                        break;
                    }
                }
                Sign::Quote(at.min(bytes.len()))
            }
            b'[' => Sign::Opens,
            b'(' => Sign::Parenthesis,
            b']' | b')' => Sign::Closes,
            b',' => Sign::Comma,
            b'?' => Sign::Filter,
            b'.' if bytes.get(at) == Some(&b'.') => {
                at += 1;
                Sign::Descent
            }
            b'$' => Sign::Root,
            b'*' | b':' => Sign::Spread,
            _ => continue,
        };
        signs.push((start, sign));
    }
    signs
}

/// What a string in single or double quotes says.
fn literal(quoted: &str) -> Option<String> {
    let mut json = String::from("\"");
    let mut signs = quoted.get(1..quoted.len().checked_sub(1)?)?.chars();
    while let Some(sign) = signs.next() {
        match sign {
            '"' => json.push_str("\\\""),
            '\\' => match signs.next()? {
                '\'' => json.push('\''),
                escaped => json.extend(['\\', escaped]),
            },
            _ => json.push(sign),
        }
    }
    json.push('"');
    serde_json::from_str(&json).ok()
}

/// The second argument of a call whose signs follow, if it is a string.
pub(super) fn pattern(text: &str, signs: &[(usize, Sign)]) -> Option<String> {
    let mut depth = 0_usize;
    for (nth, &(at, sign)) in signs.iter().enumerate() {
        match sign {
            Sign::Opens | Sign::Parenthesis => depth += 1,
            Sign::Closes if depth == 0 => return None,
            Sign::Closes => depth -= 1,
            Sign::Comma if depth == 0 => {
                let &(start, Sign::Quote(end)) = signs.get(nth + 1)? else { return None };
                let alone = text[at + 1..start].trim().is_empty();
                return if alone { literal(&text[start..end]) } else { None };
            }
            _ => {}
        }
    }
    None
}
