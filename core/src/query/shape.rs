//! What in a query makes work, by the signs of its text.

use super::signs::{Sign, pattern};
use super::tree::Tree;

/// Filters within filters: the parser takes twice as long with each.
const MAX_BRACKETS: usize = 6;
/// Parentheses within parentheses.
const MAX_PARENTHESES: usize = 32;

/// The signs that count.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Shape {
    /// `..` outside filters, and in them.
    pub(super) descents: u32,
    pub(super) filter_descents: u32,
    /// Product of the numbers of selectors in a bracket.
    pub(super) selectors: u64,
    pub(super) filters: u32,
    pub(super) filter_depth: u32,
    /// `$` in filters.
    pub(super) absolutes: u32,
    /// `*`, `:` and several selectors in filters.
    pub(super) spreads: u32,
    /// Regular expressions; none: one that comes from the value.
    pub(super) patterns: Vec<Option<String>>,
}

#[expect(clippy::cast_precision_loss, reason = "a bound, not a count")]
impl Shape {
    /// Values that the filters are asked of.
    pub(super) fn candidates(&self, tree: &Tree) -> f64 {
        tree.nodes as f64 * self.times(tree)
    }

    /// How often a value is reached: once from each of those above it, by each way to write it down.
    pub(super) fn times(&self, tree: &Tree) -> f64 {
        let depth = tree.depth.max(2) as f64;
        let nested = f64::from(self.filter_depth.saturating_sub(1));
        self.selectors as f64
            * depth.powf(f64::from(self.descents.saturating_sub(1)) + nested)
            * f64::from(self.filters.max(1))
    }

    pub(super) fn steps(&self, tree: &Tree) -> f64 {
        let depth = tree.depth.max(2) as f64;
        if self.filters == 0 {
            return self.candidates(tree);
        }
        let below = depth.powf(f64::from(self.filter_descents) + if self.spreads > 0 { 1.0 } else { 0.0 });
        let anew = if self.filter_descents + self.spreads == 0 { 1.0 } else { tree.nodes as f64 * below };
        self.candidates(tree) * (1.0 + below + f64::from(self.absolutes) * anew)
    }

    pub(super) fn of(text: &str, signs: &[(usize, Sign)]) -> Self {
        let mut shape = Self { selectors: 1, ..Self::default() };
        // Of each open bracket: whether it is in a filter, and how many selectors it has.
        let mut open: Vec<Open> = Vec::new();
        for (nth, &(at, sign)) in signs.iter().enumerate() {
            let in_filter = open.iter().any(|open| open.filter);
            match sign {
                Sign::Opens => open.push(Open { bracket: true, filter: false, selectors: 1 }),
                Sign::Parenthesis => open.push(Open { bracket: false, filter: false, selectors: 1 }),
                Sign::Closes => {
                    if let Some(closed) = open.pop().filter(|closed| closed.bracket) {
                        let within = open.iter().any(|open| open.filter);
                        if within {
                            shape.spreads += u32::from(closed.selectors > 1);
                        } else {
                            shape.selectors = shape.selectors.saturating_mul(closed.selectors);
                        }
                    }
                }
                Sign::Comma => {
                    if let Some(open) = open.last_mut() {
                        open.selectors += 1;
                    }
                }
                Sign::Filter => {
                    shape.filters += 1;
                    if let Some(open) = open.last_mut() {
                        open.filter = true;
                    }
                    let depth = open.iter().filter(|open| open.filter).count();
                    shape.filter_depth = shape.filter_depth.max(u32::try_from(depth).unwrap_or(u32::MAX));
                }
                Sign::Descent if in_filter => shape.filter_descents += 1,
                Sign::Descent => shape.descents += 1,
                Sign::Root => shape.absolutes += u32::from(in_filter),
                Sign::Spread => shape.spreads += u32::from(in_filter),
                Sign::Quote(_) => {}
            }
            let called = text[..at].trim_end();
            if sign == Sign::Parenthesis && (called.ends_with("match") || called.ends_with("search")) {
                shape.patterns.push(pattern(text, &signs[nth + 1..]));
            }
        }
        shape
    }
}

struct Open {
    bracket: bool,
    filter: bool,
    selectors: u64,
}

pub(super) fn is_flat(signs: &[(usize, Sign)]) -> bool {
    let (mut brackets, mut depth) = (Vec::new(), 0);
    for (_, sign) in signs {
        match sign {
            Sign::Opens | Sign::Parenthesis => {
                brackets.push(*sign == Sign::Opens);
                depth += usize::from(*sign == Sign::Opens);
                if depth > MAX_BRACKETS || brackets.len() - depth > MAX_PARENTHESES {
                    return false;
                }
            }
            Sign::Closes => depth -= usize::from(brackets.pop() == Some(true)),
            _ => {}
        }
    }
    true
}
