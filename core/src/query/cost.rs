//! What a query could cost at most. The parser and the evaluation are a crate's, which tells nothing of its own tree, so
//! this reads the text of a query that the parser has accepted: names and literals aside, few signs in it make work.

use std::time::Duration;

use serde_json::Value;
use serde_json_path::JsonPath;

use super::constants::{Constants, longest_text};
use super::shape::{Shape, is_flat};
use super::signs::{Sign, signs};
use super::tree::Tree;
use crate::error::{Code, Error, Result};
use crate::path::HarnessPath;

/// Longest query, in bytes.
const MAX_BYTES: usize = 4_096;
/// About a second or two.
const MAX_STEPS: f64 = 5e7;
/// All uses of a regular expression on one value together.
const MAX_MATCHING: Duration = Duration::from_secs(5);
/// What the largest regular expression takes to compile, and what each byte of its text adds.
const SLOWEST_PATTERN: Duration = Duration::from_millis(20);
const PATTERN_BYTE: Duration = Duration::from_nanos(300);
/// Steps a byte, to compare or to measure a text; and to search it with a regular expression.
const COMPARED_BYTE: f64 = 1.0 / 32.0;
const SEARCHED_BYTE: f64 = 0.25;
/// On all lines of NDJSON.
const MAX_MATCHING_LINES: Duration = Duration::from_secs(30);

/// A query that was parsed, and what makes it work.
#[derive(Debug)]
pub(super) struct Expression {
    path: JsonPath,
    shape: Shape,
    /// One use of its regular expressions, each of which is compiled every time.
    matching: Option<Duration>,
    constants: Constants,
    /// Selects what the only filter is asked of.
    asked: Option<JsonPath>,
}

impl Expression {
    /// FS_INVALID_OPTION: not a JSONPath, or a longer or deeper one than is read.
    pub(super) fn parse(text: &str) -> Result<Self> {
        let invalid = |what: String| {
            Error::new(Code::InvalidOption, format!("{what}. JSONPath is as in RFC 9535, like $.rows[?@.id > 3].name"))
        };
        if text.len() > MAX_BYTES {
            return Err(invalid(format!("The JSONPath has {} bytes; at most {MAX_BYTES} are read", text.len())));
        }
        let signs = signs(text);
        if !is_flat(&signs) {
            return Err(invalid("The JSONPath has too many brackets within brackets".to_owned()));
        }
        let path = JsonPath::parse(text)
            .map_err(|error| invalid(format!("Not a JSONPath: {} (at byte {})", error.message(), error.position())))?;
        let shape = Shape::of(text, &signs);
        let matching = shape.patterns.iter().map(|pattern| pattern.as_deref().map_or(SLOWEST_PATTERN, compiling)).max();
        let constants = Constants::of(text, &signs);
        let counted = matching.is_some() || !constants.is_empty();
        let asked = if counted { asked(text, &signs, &shape) } else { None };
        Ok(Self { path, shape, matching, constants, asked })
    }

    pub(super) fn path(&self) -> &JsonPath {
        &self.path
    }

    /// FS_INVALID_OPTION when it could take too long on such a value.
    pub(super) fn check(&self, tree: &Tree, path: &HarnessPath) -> Result<()> {
        if self.shape.steps(tree) <= MAX_STEPS { Ok(()) } else { Err(too_long(tree, path)) }
    }

    /// The same for the texts that it goes through: those that its filters take from the whole value each time, and all
    /// that its regular expressions search. `bytes`: of the JSON.
    #[expect(clippy::cast_precision_loss, reason = "a bound, not a count")]
    pub(super) fn check_texts(&self, value: &Value, tree: &Tree, bytes: usize, path: &HarnessPath) -> Result<()> {
        let searches = self.shape.patterns.len() as f64;
        let mut steps = searches * SEARCHED_BYTE * bytes as f64 * self.shape.times(tree);
        if !self.constants.is_empty() {
            let byte = if searches > 0.0 { SEARCHED_BYTE } else { COMPARED_BYTE };
            steps += self.candidates(value, tree) * self.constants.weight(value, byte);
        }
        if steps <= MAX_STEPS { Ok(()) } else { Err(too_long(tree, path)) }
    }

    /// Values that the filters are asked of: counted where they can be.
    #[expect(clippy::cast_precision_loss, reason = "a bound, not a count")]
    fn candidates(&self, value: &Value, tree: &Tree) -> f64 {
        let counted = self.asked.as_ref().map(|asked| asked.query(value).len() as f64);
        counted.unwrap_or_else(|| self.shape.candidates(tree))
    }

    /// The same for its regular expressions, which need the value itself to tell how often they are used. `before`: seconds
    /// that those of the lines before took; gives those with this one.
    pub(super) fn check_matching(&self, value: &Value, tree: &Tree, path: &HarnessPath, before: f64) -> Result<f64> {
        let Some(mut one) = self.matching else { return Ok(before) };
        if self.shape.patterns.contains(&None) {
            let bytes = u32::try_from(longest_text(value)).unwrap_or(u32::MAX);
            one = one.max(SLOWEST_PATTERN) + PATTERN_BYTE * bytes;
        }
        let uses = f64::from(u32::try_from(self.shape.patterns.len()).unwrap_or(u32::MAX));
        let affordable = MAX_MATCHING.as_secs_f64() / one.as_secs_f64() / uses;
        let candidates = self.candidates(value, tree);
        if candidates > affordable {
            return Err(too_long(tree, path));
        }
        let all = before + candidates * uses * one.as_secs_f64();
        if all <= MAX_MATCHING_LINES.as_secs_f64() { Ok(all) } else { Err(too_many_lines(path)) }
    }
}

fn too_many_lines(path: &HarnessPath) -> Error {
    let text = format!(
        "The regular expressions of the JSONPath could take too long on all the lines of {path}. Compare with == instead, or \
         look for the lines with a search of the text."
    );
    Error::at(Code::InvalidOption, path, text)
}

fn too_long(tree: &Tree, path: &HarnessPath) -> Error {
    let text = format!(
        "The JSONPath could take too long on {path}, which has {} values nested {} deep. Say more of the way to what you \
         look for, use fewer of .. * [?] and the functions, or read it with a pointer.",
        tree.nodes, tree.depth
    );
    Error::at(Code::InvalidOption, path, text)
}

/// How long one use of a pattern takes, about: the evaluation compiles it every time, and that goes with its size. By
/// size and not by the clock, so that a query is refused always or never. One that is no regular expression matches
/// nothing, says the RFC, but that has to be found out as well.
fn compiling(pattern: &str) -> Duration {
    const KIB: usize = 1024;
    let fits = |limit| regex::RegexBuilder::new(&format!("^({pattern})$")).size_limit(limit).build().is_ok();
    let classes = [(16 * KIB, 30), (64 * KIB, 100), (512 * KIB, 1_000)];
    let micros = classes.into_iter().find(|(limit, _)| fits(*limit)).map_or(20_000, |(_, micros)| micros);
    Duration::from_micros(micros)
}

/// The way to a filter with the filter away: what it is asked of, if it is the only one.
fn asked(text: &str, signs: &[(usize, Sign)], shape: &Shape) -> Option<JsonPath> {
    let nth = signs.iter().position(|(_, sign)| *sign == Sign::Filter).filter(|_| shape.filters == 1)?;
    let (bracket, Sign::Opens) = signs.get(nth.checked_sub(1)?)? else { return None };
    JsonPath::parse(&format!("{}[*]", &text[..*bracket])).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(text: &str) -> Shape {
        Expression::parse(text).expect(text).shape
    }

    #[test]
    fn signs_that_count() {
        let plain = Shape { selectors: 1, ..Shape::default() };
        assert_eq!(shape("$.a['..*?$', 'b'][0:2]..c"), Shape { selectors: 2, descents: 1, ..plain });
        let plain = Shape { selectors: 1, ..Shape::default() };
        let filter = Shape { filters: 2, filter_depth: 2, filter_descents: 1, absolutes: 1, spreads: 1, ..plain };
        assert_eq!(shape("$[?@..a && @[?@.b == $.c[0]] && @.*]"), filter);
        assert_eq!(
            shape("$[?search(@.a, 'x\\\\d') || match(@.b, \"y,(z\")]").patterns,
            [Some("x\\d".to_owned()), Some("y,(z".to_owned())]
        );
    }

    #[test]
    fn refused_before_anything_is_read() {
        let long = format!("$.{}", "a".repeat(5_000));
        let deep = format!("$[?{}@.a{}]", "@[?".repeat(20), "]".repeat(20));
        let open = "[(".repeat(2_000);
        for text in ["", "a", "$[", "$.a.", "$[?length(@.a)]", "$ ", &long, &deep, &open] {
            assert_eq!(Expression::parse(text).expect_err(text).code, Code::InvalidOption);
        }
    }

    #[test]
    fn what_could_take_too_long_is_refused() {
        let path = HarnessPath { root: crate::path::Root::Session, segments: Vec::new() };
        let check = |text: &str, nodes| {
            Expression::parse(text).expect(text).check(&Tree { nodes, depth: 8, ..Tree::default() }, &path).is_ok()
        };
        for text in ["$..a", "$.rows[*].id", "$..[?@.a > 3]", "$.rows[?@.id == $.last].name", "$[-1]", "$[?@.a && @.b]"]
        {
            assert!(check(text, 4_000_000), "{text}");
        }
        for text in
            ["$..*..*..*", "$[?@..a == 1 || count($..b) > 2]", "$..[?@..a]..[?@..b]", "$[0,0,0,0][*,*,*,*][*,*,*,*]"]
        {
            let parsed = Expression::parse(text).is_ok();
            assert!(!parsed || !check(text, 4_000_000), "{text}");
            assert!(!parsed || check(text, 500), "{text} on little");
        }
    }

    #[test]
    fn what_goes_through_much_text_is_refused() {
        let path = HarnessPath { root: crate::path::Root::Session, segments: Vec::new() };
        let rows: Vec<Value> = (0..20_000).map(|n| serde_json::json!({ "id": n, "tags": [n] })).collect();
        let text = "ab".repeat(200_000);
        let value = serde_json::json!({ "rows": rows, "last": 7, "tags": [1, 2], "text": text, "other": text });
        let tree = Tree { nodes: 80_000, depth: 4, ..Tree::default() };
        let check = |text: &str, bytes| Expression::parse(text).expect(text).check_texts(&value, &tree, bytes, &path);
        for text in ["$.rows[?@.id == $.last]", "$.rows[?@.tags == $.tags && @.id < $.last]", "$..[?@.id == $.last].id"]
        {
            assert!(check(text, 1_000_000).is_ok(), "{text}");
        }
        for text in [
            "$.rows[?$ == $]",
            "$.rows[?$.rows[?@.id == 1]]",
            "$.rows[?$.text == $.other]",
            "$.rows[?search($.text, '(a|b)*c')]",
        ] {
            assert!(check(text, 1_000_000).is_err(), "{text}");
        }
        assert!(check("$.rows[?search(@.id, 'x') || match(@.tags, 'y')]", 64 * 1024 * 1024).is_ok());
        assert!(check("$['rows','rows','rows','rows','rows'][?search(@.id, 'x')]", 64 * 1024 * 1024).is_err());
    }

    #[test]
    fn regular_expressions_are_counted_by_their_uses() {
        let path = HarnessPath { root: crate::path::Root::Session, segments: Vec::new() };
        let rows: Vec<Value> = (0..20_000).map(|n| serde_json::json!({ "a": n.to_string(), "b": [1, 2, 3] })).collect();
        let value = serde_json::json!({ "rows": rows });
        // More than there are, so that only what is counted can allow it.
        let tree = Tree { nodes: 100_000_000, depth: 4, ..Tree::default() };
        let spent =
            |text: &str, before| Expression::parse(text).expect(text).check_matching(&value, &tree, &path, before);
        let check = |text: &str| spent(text, 0.0).is_ok();
        assert!(check("$.rows[?search(@.a, '99')].b"));
        assert!(!check("$.rows[?search(@.a, '(([a-z]{1,50}){1,50}){1,9}')]"));
        assert!(!check(r"$.rows[?search(@.a, '\u0028[a-z]{1,50}\u0029{1,50}')]"));
        assert!(!check("$.rows[?search(@.a, '99')].b[?search(@, 'x')]"));
        // One that comes from the value may be any of its texts.
        assert!(!check("$.rows[?search(@.a, @.b)]"));
        assert!(check("$.rows[0:100][?search(@.a, @.b)]"));
        let once = spent("$.rows[?search(@.a, '99')].b", 0.0).expect("one line");
        let twice = spent("$.rows[?search(@.a, '99')].b", once).expect("the next");
        assert!(once > 0.1 && (twice - 2.0 * once).abs() < 1e-6);
        let error = spent("$.rows[?search(@.a, '99')].b", MAX_MATCHING_LINES.as_secs_f64()).expect_err("all the lines");
        assert_eq!(error.code, Code::InvalidOption);
        assert!((spent("$.rows[0]", 7.0).expect("no expression") - 7.0).abs() < 1e-6);
    }
}
