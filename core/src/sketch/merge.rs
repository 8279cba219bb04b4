//! Samples of an array, merged into one sketch.

use super::{Shape, Sketch};

/// `before`: of the samples so far. What is missing in one of them is optional; a merged object still shows at most
/// `max_keys` keys.
pub(super) fn samples(before: Option<Sketch>, next: Sketch, max_keys: usize) -> Sketch {
    let Some(before) = before else { return next };
    let optional = before.optional || next.optional;
    let shape = match (before.shape, next.shape) {
        (
            Shape::Array { length: a, items: first, truncated: cut_a },
            Shape::Array { length: b, items: second, truncated: cut_b },
        ) => {
            let items = match (first, second) {
                (Some(first), Some(second)) => Some(Box::new(samples(Some(*first), *second, max_keys))),
                (first, second) => first.or(second),
            };
            Shape::Array { length: a.max(b), items, truncated: cut_a || cut_b }
        }
        (
            Shape::Object { keys: first, truncated_keys: a, truncated: cut_a },
            Shape::Object { keys: second, truncated_keys: b, truncated: cut_b },
        ) => {
            let mut keys = union_keys(first, second, max_keys, a > 0, b > 0);
            let more = keys.len().saturating_sub(max_keys);
            keys.truncate(max_keys);
            Shape::Object { keys, truncated_keys: a.max(b) + more as u64, truncated: cut_a || cut_b }
        }
        (first, second) if first == second => first,
        (first, second) => union(first, second, max_keys),
    };
    Sketch { shape, optional }
}

/// Keys in the order in which they were first seen. Where a side's keys were cut off, one that is not among them may
/// still be there.
fn union_keys(
    first: Vec<(String, Sketch)>,
    second: Vec<(String, Sketch)>,
    max_keys: usize,
    first_cut: bool,
    second_cut: bool,
) -> Vec<(String, Sketch)> {
    let mut second: Vec<Option<(String, Sketch)>> = second.into_iter().map(Some).collect();
    let mut keys: Vec<(String, Sketch)> = Vec::new();
    for (key, sketch) in first {
        let same =
            second.iter_mut().find(|other| other.as_ref().is_some_and(|(name, _)| *name == key)).and_then(Option::take);
        let merged = match same {
            Some((_, other)) => samples(Some(sketch), other, max_keys),
            None => Sketch { optional: sketch.optional || !second_cut, ..sketch },
        };
        keys.push((key, merged));
    }
    for (key, sketch) in second.into_iter().flatten() {
        keys.push((key, Sketch { optional: sketch.optional || !first_cut, ..sketch }));
    }
    keys
}

/// Shapes of different kinds, each kind once.
fn union(first: Shape, second: Shape, max_keys: usize) -> Shape {
    let list = |shape| match shape {
        Shape::Union(variants) => variants,
        other => vec![other.into()],
    };
    let mut variants: Vec<Sketch> = list(first);
    for next in list(second) {
        match variants.iter().position(|known| same_kind(&known.shape, &next.shape)) {
            Some(at) => {
                let known = variants.remove(at);
                variants.insert(at, samples(Some(known), next, max_keys));
            }
            None => variants.push(next),
        }
    }
    Shape::Union(variants)
}

fn same_kind(a: &Shape, b: &Shape) -> bool {
    match (a, b) {
        (Shape::Scalar(a), Shape::Scalar(b)) => a == b,
        (Shape::Array { .. }, Shape::Array { .. }) | (Shape::Object { .. }, Shape::Object { .. }) => true,
        _ => false,
    }
}
