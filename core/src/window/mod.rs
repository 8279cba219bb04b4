//! Windows into files of any length, in constant memory (promises G4 and G5): by lines, by bytes, into JSON.

mod bytes;
mod ends;
mod json;
mod kind;
mod lines;
mod source;

pub use bytes::{ByteWindow, ByteWindowOptions};
pub use ends::LineEnding;
pub use json::{JsonItem, JsonType, JsonWindow, JsonWindowOptions};
pub use lines::{CutLine, LineWindow, LineWindowOptions};

pub(crate) use ends::Ends;
pub(crate) use json::escaped;
pub(crate) use kind::{Content, SNIFF_BYTES, not_text};
pub(crate) use lines::BOM;
pub(crate) use source::Source;
