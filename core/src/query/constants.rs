//! What the filters of a query take from the whole value: `$` stands for the same each time, but is compared, measured or
//! searched anew for each value that a filter is asked of, in full.

use serde_json::Value;
use serde_json_path::JsonPath;

use super::signs::{Sign, signs};

/// The queries that start with `$` in filters.
#[derive(Debug, Default)]
pub(super) struct Constants(Vec<Constant>);

#[derive(Debug)]
struct Constant {
    path: JsonPath,
    /// With a filter of its own, which is asked of more than the query gives.
    filters: bool,
}

impl Constants {
    /// Of a query that the parser has accepted. Only the first sign of all is no constant.
    pub(super) fn of(text: &str, signs: &[(usize, Sign)]) -> Self {
        let roots = signs.iter().skip(1).filter(|(_, sign)| *sign == Sign::Root);
        let constant = |(at, _): &(usize, Sign)| {
            let query = query_at(&text[*at..]);
            let filters = self::signs(query).iter().any(|(_, sign)| *sign == Sign::Filter);
            let path = JsonPath::parse(query).or_else(|_| JsonPath::parse("$")).ok()?;
            Some(Constant { path, filters })
        };
        Self(roots.filter_map(constant).collect())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Steps to go through all of them once.
    pub(super) fn weight(&self, value: &Value, steps_per_byte: f64) -> f64 {
        let one = |constant: &Constant| -> f64 {
            if constant.filters {
                return weight(value, steps_per_byte);
            }
            constant.path.query(value).iter().map(|node| weight(node, steps_per_byte)).sum()
        };
        self.0.iter().map(one).sum()
    }
}

/// The query that a text starts with: `$` and its segments.
fn query_at(text: &str) -> &str {
    let bytes = text.as_bytes();
    let mut end = 1;
    loop {
        let rest = &text[end..];
        let at = end + rest.len() - rest.trim_start().len();
        let after = match bytes.get(at) {
            Some(b'[') => at + bracket(&text[at..]),
            Some(b'.') => {
                let name = at + 1 + usize::from(bytes.get(at + 1) == Some(&b'.'));
                let name = name + text[name..].len() - text[name..].trim_start().len();
                match bytes.get(name) {
                    Some(b'[') => name + bracket(&text[name..]),
                    Some(b'*') => name + 1,
                    _ => name + text[name..].find(|c: char| c.is_ascii() && !is_name(c)).unwrap_or(text.len() - name),
                }
            }
            _ => return &text[..end],
        };
        end = after;
    }
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// How long a bracket with all in it is.
fn bracket(text: &str) -> usize {
    let mut depth = 0_usize;
    for (at, sign) in signs(text) {
        match sign {
            Sign::Opens | Sign::Parenthesis => depth += 1,
            Sign::Closes if depth <= 1 => return at + 1,
            Sign::Closes => depth -= 1,
            _ => {}
        }
    }
    text.len()
}

#[expect(clippy::cast_precision_loss, reason = "a bound, not a count")]
fn weight(value: &Value, steps_per_byte: f64) -> f64 {
    let of_text = |text: &str| text.len() as f64 * steps_per_byte;
    1.0 + match value {
        Value::String(text) => of_text(text),
        Value::Array(items) => items.iter().map(|item| weight(item, steps_per_byte)).sum(),
        Value::Object(members) => members.iter().map(|(key, value)| of_text(key) + weight(value, steps_per_byte)).sum(),
        _ => 0.0,
    }
}

/// The longest text in a value, which could be a regular expression, in bytes.
pub(super) fn longest_text(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(longest_text).max().unwrap_or(0),
        Value::Object(members) => members.values().map(longest_text).max().unwrap_or(0),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_in_filters_are_found_whole() {
        let texts = [
            ("$.a[?@.b == $.c['x]'].d && @.e]", vec!["$.c['x]'].d"]),
            ("$[?$ == $ .a ['b'] || $..c[?@.d == $.e] , 1]", vec!["$", "$ .a ['b']", "$..c[?@.d == $.e]", "$.e"]),
            ("$[?length($.größe.*)>1]", vec!["$.größe.*"]),
            ("$[?search(@.a, $..['p'])]", vec!["$..['p']"]),
            ("$.a['$.b']", vec![]),
        ];
        for (text, queries) in texts {
            let signs = signs(text);
            let roots = signs.iter().skip(1).filter(|(_, sign)| *sign == Sign::Root);
            let found: Vec<&str> = roots.map(|(at, _)| query_at(&text[*at..])).collect();
            assert_eq!(found, queries, "{text}");
        }
    }

    #[test]
    fn weighed_by_values_and_text() {
        let value = serde_json::json!({ "a": ["xxxx", { "kk": 1 }], "b": "yyyyyy", "c": [1, 2, 3] });
        let weight = |text| Constants::of(text, &signs(text)).weight(&value, 0.5);
        assert!((weight("$[?$.a == $.b]") - (5.0 + 12.0 * 0.5)).abs() < 1e-9);
        assert!((weight("$[?$.c[?@ == 9]]") - (10.0 + 15.0 * 0.5)).abs() < 1e-9);
        assert_eq!(longest_text(&value), 6);
    }
}
