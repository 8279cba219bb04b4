//! Windows into files.

use little_files::window::{
    ByteWindow, ByteWindowOptions, JsonItem, JsonWindow, JsonWindowOptions, LineWindow, LineWindowOptions,
};
use napi::Env;
use napi::bindgen_prelude::Object;
use napi_derive::napi;

use crate::cancel::flag_of;
use crate::options::whole;
use crate::results::number;
use crate::run::run;
use crate::session::{CancelArgument, NativeSession};

/// Which lines.
#[napi(object, object_to_js = false)]
pub struct NativeLineWindowOptions {
    /// From 1.
    pub offset: f64,
    /// The most lines.
    pub limit: f64,
    /// The most of a line, in code points.
    pub max_line_characters: f64,
    /// The most of the text.
    pub max_bytes: f64,
}

impl From<NativeLineWindowOptions> for LineWindowOptions {
    fn from(options: NativeLineWindowOptions) -> Self {
        Self {
            offset: whole(options.offset),
            limit: whole(options.limit),
            max_line_characters: whole(options.max_line_characters),
            max_bytes: size(options.max_bytes),
        }
    }
}

/// Lines of a text.
#[napi(object, object_from_js = false)]
pub(crate) struct NativeLineWindow {
    /// As on the disk.
    pub path: String,
    /// Opaque.
    pub version: String,
    /// Of the file.
    pub bytes: i64,
    /// Of an image or PDF.
    pub media: Option<String>,
    /// Joined by LF.
    pub text: String,
    /// From 1.
    pub first_line: i64,
    /// From 1.
    pub last_line: i64,
    /// Of the file.
    pub total_lines: i64,
    /// The bytes ended it.
    pub byte_capped: bool,
    /// Lines of which only the beginning is shown.
    pub cut_lines: Vec<NativeCutLine>,
    #[napi(ts_type = "'lf' | 'crlf' | 'cr' | 'mixed' | 'none'")]
    /// Of the file.
    pub line_ending: String,
    /// Of the file.
    pub final_newline: bool,
    /// Of the file.
    pub bom: bool,
}

/// A line of which only the beginning is shown.
#[napi(object, object_from_js = false)]
pub(crate) struct NativeCutLine {
    /// From 1.
    pub line: i64,
    /// Of the whole line.
    pub characters: i64,
    /// Of the first byte that is not shown.
    pub byte_offset: i64,
}

impl From<LineWindow> for NativeLineWindow {
    fn from(window: LineWindow) -> Self {
        let cut_lines = window.cut_lines.into_iter().map(|cut| NativeCutLine {
            line: number(cut.line),
            characters: number(cut.characters),
            byte_offset: number(cut.byte_offset),
        });
        Self {
            path: window.path,
            version: window.version.to_string(),
            bytes: number(window.bytes),
            media: window.media.map(str::to_owned),
            text: window.text,
            first_line: number(window.first_line),
            last_line: number(window.last_line),
            total_lines: number(window.total_lines),
            byte_capped: window.byte_capped,
            cut_lines: cut_lines.collect(),
            line_ending: window.line_ending.as_str().to_owned(),
            final_newline: window.final_newline,
            bom: window.bom,
        }
    }
}

/// Which bytes.
#[napi(object, object_to_js = false)]
pub struct NativeByteWindowOptions {
    /// From 0.
    pub offset: f64,
    /// The most.
    pub limit: f64,
}

/// A piece of a text.
#[napi(object, object_from_js = false)]
pub(crate) struct NativeByteWindow {
    /// As on the disk.
    pub path: String,
    /// Opaque.
    pub version: String,
    /// Of the file.
    pub bytes: i64,
    /// Of an image or PDF.
    pub media: Option<String>,
    /// Whole characters.
    pub text: String,
    /// Of the first byte shown.
    pub start: i64,
    /// Of the byte after the last one.
    pub end: i64,
}

impl From<ByteWindow> for NativeByteWindow {
    fn from(window: ByteWindow) -> Self {
        Self {
            path: window.path,
            version: window.version.to_string(),
            bytes: number(window.bytes),
            media: window.media.map(str::to_owned),
            text: window.text,
            start: number(window.start),
            end: number(window.end),
        }
    }
}

/// What is read of a JSON file.
#[napi(object, object_to_js = false)]
pub struct NativeJsonWindowOptions {
    /// RFC 6901.
    pub pointer: String,
    /// From 0.
    pub offset: f64,
    /// The most items or characters.
    pub limit: f64,
    /// The most of keys and values.
    pub max_bytes: f64,
}

impl From<NativeJsonWindowOptions> for JsonWindowOptions {
    fn from(options: NativeJsonWindowOptions) -> Self {
        Self {
            pointer: options.pointer,
            offset: whole(options.offset),
            limit: whole(options.limit),
            max_bytes: size(options.max_bytes),
        }
    }
}

/// What a pointer names.
#[napi(object, object_from_js = false)]
pub(crate) struct NativeJsonWindow {
    /// As on the disk.
    pub path: String,
    /// Opaque.
    pub version: String,
    /// Of the file.
    pub bytes: i64,
    #[napi(ts_type = "'json' | 'ndjson'")]
    /// Of the file.
    pub format: String,
    #[napi(js_name = "type")]
    /// Of what is named.
    pub kind: String,
    /// Items or characters.
    pub total: i64,
    /// Those shown.
    pub items: Vec<NativeJsonItem>,
    /// Of a scalar.
    pub text: Option<String>,
    /// Where to go on.
    pub next_offset: Option<i64>,
}

/// An item of a JSON value.
#[napi(object, object_from_js = false)]
pub(crate) struct NativeJsonItem {
    /// A member's name.
    pub key: Option<String>,
    /// Of the item.
    pub pointer: String,
    #[napi(js_name = "type")]
    /// What it is.
    pub kind: String,
    /// Items, or bytes between quotes.
    pub size: Option<i64>,
    /// Compact.
    pub json: Option<String>,
    /// Of the compact JSON.
    pub bytes: i64,
}

impl From<JsonItem> for NativeJsonItem {
    fn from(item: JsonItem) -> Self {
        let JsonItem { key, pointer, kind, size, json, bytes } = item;
        Self { key, pointer, kind: kind.as_str().to_owned(), size: size.map(number), json, bytes: number(bytes) }
    }
}

/// The name that TypeScript sees.
pub(crate) fn format(ndjson: bool) -> String {
    if ndjson { "ndjson" } else { "json" }.to_owned()
}

impl From<JsonWindow> for NativeJsonWindow {
    fn from(window: JsonWindow) -> Self {
        Self {
            path: window.path,
            version: window.version.to_string(),
            bytes: number(window.bytes),
            format: format(window.ndjson),
            kind: window.kind.as_str().to_owned(),
            total: number(window.total),
            items: window.items.into_iter().map(Into::into).collect(),
            text: window.text,
            next_offset: window.next_offset.map(number),
        }
    }
}

#[napi]
impl NativeSession {
    /// What a pointer names in a JSON or NDJSON file.
    #[napi(ts_return_type = "Promise<NativeJsonWindow | Failure>")]
    pub fn json_window<'env>(
        &self,
        env: &'env Env,
        path: String,
        options: NativeJsonWindowOptions,
        cancel: CancelArgument<'_>,
    ) -> napi::Result<Object<'env>> {
        let (session, flag) = (self.session(), flag_of(cancel.as_deref()));
        let options = options.into();
        run(env, move || session.clone()?.json_window(&path, &options, &flag).map(NativeJsonWindow::from))
    }

    /// Lines of a text file.
    #[napi(ts_return_type = "Promise<NativeLineWindow | Failure>")]
    pub fn line_window<'env>(
        &self,
        env: &'env Env,
        path: String,
        options: NativeLineWindowOptions,
        cancel: CancelArgument<'_>,
    ) -> napi::Result<Object<'env>> {
        let (session, flag, options) = (self.session(), flag_of(cancel.as_deref()), options.into());
        run(env, move || session.clone()?.line_window(&path, &options, &flag).map(NativeLineWindow::from))
    }

    /// Bytes of a text file, in whole characters.
    #[napi(ts_return_type = "Promise<NativeByteWindow | Failure>")]
    pub fn byte_window<'env>(
        &self,
        env: &'env Env,
        path: String,
        options: NativeByteWindowOptions,
        cancel: CancelArgument<'_>,
    ) -> napi::Result<Object<'env>> {
        let (session, flag) = (self.session(), flag_of(cancel.as_deref()));
        let options = ByteWindowOptions { offset: whole(options.offset), limit: whole(options.limit) };
        run(env, move || session.clone()?.byte_window(&path, &options, &flag).map(NativeByteWindow::from))
    }
}

pub(crate) fn size(number: f64) -> usize {
    usize::try_from(whole(number)).unwrap_or(usize::MAX)
}
