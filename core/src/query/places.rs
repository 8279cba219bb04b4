//! Where the values that a query has selected are.

use std::collections::HashMap;
use std::fmt::Write;

use serde_json::Value;

use crate::window::escaped;

/// The way to a value.
#[derive(Debug, Clone, Default)]
pub(super) struct Place<'a>(Vec<Step<'a>>);

#[derive(Debug, Clone, Copy)]
enum Step<'a> {
    Name(&'a str),
    Index(usize),
}

impl Place<'_> {
    /// As RFC 6901 has it.
    pub(super) fn pointer(&self) -> String {
        let mut out = String::new();
        for step in &self.0 {
            out.push('/');
            match step {
                Step::Name(name) => out.push_str(&escaped(name)),
                // Writing to a string does not fail.
                Step::Index(index) => drop(write!(out, "{index}")),
            }
        }
        out
    }

    /// As RFC 9535 has it (section 2.7).
    pub(super) fn normalized(&self) -> String {
        let mut out = "$".to_owned();
        for step in &self.0 {
            match step {
                Step::Index(index) => drop(write!(out, "[{index}]")),
                Step::Name(name) => {
                    out.push_str("['");
                    name.chars().for_each(|character| quote(character, &mut out));
                    out.push_str("']");
                }
            }
        }
        out
    }
}

fn quote(character: char, out: &mut String) {
    match character {
        '\u{8}' => out.push_str("\\b"),
        '\t' => out.push_str("\\t"),
        '\n' => out.push_str("\\n"),
        '\u{C}' => out.push_str("\\f"),
        '\r' => out.push_str("\\r"),
        '\'' => out.push_str("\\'"),
        '\\' => out.push_str("\\\\"),
        '\0'..='\u{1F}' => drop(write!(out, "\\u{:04x}", u32::from(character))),
        other => out.push(other),
    }
}

/// Of each of `nodes`, which are parts of `root`. A query gives no places, for keeping them for all matches would cost
/// more than finding again the few that are shown.
pub(super) fn of<'a>(root: &'a Value, nodes: &[&'a Value]) -> Vec<Place<'a>> {
    let mut wanted: HashMap<*const Value, Option<Place<'a>>> =
        nodes.iter().map(|node| (std::ptr::from_ref(*node), None)).collect();
    let mut left = wanted.len();
    let mut way = Vec::new();
    find(root, &mut way, &mut wanted, &mut left);
    nodes.iter().map(|node| wanted.get(&std::ptr::from_ref(*node)).cloned().flatten().unwrap_or_default()).collect()
}

/// As deep as the text was nested, which parsing has bounded.
fn find<'a>(
    value: &'a Value,
    way: &mut Vec<Step<'a>>,
    wanted: &mut HashMap<*const Value, Option<Place<'a>>>,
    left: &mut usize,
) {
    if let Some(place) = wanted.get_mut(&std::ptr::from_ref(value)) {
        *place = Some(Place(way.clone()));
        *left -= 1;
    }
    let mut enter = |step: Step<'a>, item: &'a Value| {
        if *left > 0 {
            way.push(step);
            find(item, way, wanted, left);
            way.pop();
        }
    };
    match value {
        Value::Array(items) => items.iter().enumerate().for_each(|(at, item)| enter(Step::Index(at), item)),
        Value::Object(members) => members.iter().for_each(|(name, item)| enter(Step::Name(name), item)),
        _ => {}
    }
}
