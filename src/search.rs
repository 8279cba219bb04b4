//! Searching and paging.

use little_files::grep::{Grep, GrepFile, GrepLine, GrepOptions};
use little_files::page::{Page, PageOptions};
use little_files::query::{Query, QueryMatch, QueryOptions};
use napi::Env;
use napi::bindgen_prelude::Object;
use napi_derive::napi;

use crate::cancel::flag_of;
use crate::options::whole;
use crate::results::{NativeEntry, number};
use crate::run::run;
use crate::session::{CancelArgument, NativeSession};
use crate::window::{format, size};

/// What is looked for.
#[napi(object, object_to_js = false)]
pub struct NativeGrepOptions {
    /// Regular expression.
    pub pattern: String,
    /// Whatever the case.
    pub ignore_case: bool,
    /// Only such files.
    pub glob: Option<String>,
    /// Lines around a match.
    pub context: f64,
    /// The most matching lines.
    pub limit: f64,
    /// The most of a line.
    pub max_line_characters: f64,
    /// The most of all.
    pub max_bytes: f64,
}

impl From<NativeGrepOptions> for GrepOptions {
    fn from(options: NativeGrepOptions) -> Self {
        Self {
            pattern: options.pattern,
            ignore_case: options.ignore_case,
            glob: options.glob,
            context: size(options.context),
            limit: whole(options.limit),
            max_line_characters: size(options.max_line_characters),
            max_bytes: size(options.max_bytes),
        }
    }
}

/// What was found.
#[napi(object, object_from_js = false)]
pub(crate) struct NativeGrepResult {
    /// With shown lines.
    pub files: Vec<NativeGrepFile>,
    /// Of all files.
    pub total_matches: i64,
    /// With any.
    pub total_files: i64,
    /// To their end.
    pub searched_files: i64,
    /// Left out.
    pub binary_files: i64,
    /// Left out.
    pub skipped_files: i64,
    /// Fewer are shown.
    pub truncated: bool,
    /// The totals are of all files.
    pub complete: bool,
}

/// A file with lines that match.
#[napi(object, object_from_js = false)]
pub(crate) struct NativeGrepFile {
    /// As on the disk.
    pub path: String,
    /// In their order.
    pub lines: Vec<NativeGrepLine>,
}

/// A line that is shown.
#[napi(object, object_from_js = false)]
pub(crate) struct NativeGrepLine {
    /// From 1.
    pub line: i64,
    /// Without its end.
    pub text: String,
    #[napi(js_name = "match")]
    /// Else context.
    pub is_match: bool,
    /// It is longer.
    pub cut: bool,
    /// Of the first byte shown.
    pub byte_offset: i64,
}

impl From<GrepLine> for NativeGrepLine {
    fn from(line: GrepLine) -> Self {
        let GrepLine { line, text, is_match, cut, byte_offset } = line;
        Self { line: number(line), text, is_match, cut, byte_offset: number(byte_offset) }
    }
}

impl From<GrepFile> for NativeGrepFile {
    fn from(file: GrepFile) -> Self {
        Self { path: file.path, lines: file.lines.into_iter().map(Into::into).collect() }
    }
}

impl From<Grep> for NativeGrepResult {
    fn from(found: Grep) -> Self {
        Self {
            files: found.files.into_iter().map(Into::into).collect(),
            total_matches: number(found.total_matches),
            total_files: number(found.total_files),
            searched_files: number(found.searched_files),
            binary_files: number(found.binary_files),
            skipped_files: number(found.skipped_files),
            truncated: found.truncated,
            complete: found.complete,
        }
    }
}

/// Which entries.
#[napi(object, object_to_js = false)]
pub struct NativePageOptions {
    /// The whole tree.
    pub recursive: bool,
    /// Glob.
    pub pattern: Option<String>,
    /// Left out at the beginning.
    pub offset: f64,
    /// The most.
    pub limit: f64,
}

/// A part of a listing.
#[napi(object, object_from_js = false)]
pub(crate) struct NativePage {
    /// The folder.
    pub path: String,
    /// In order.
    pub entries: Vec<NativeEntry>,
    /// Of all pages.
    pub total: i64,
}

impl From<Page> for NativePage {
    fn from(page: Page) -> Self {
        let entries = page.entries.into_iter().map(Into::into).collect();
        Self { path: page.path, entries, total: number(page.total) }
    }
}

/// What is asked.
#[napi(object, object_to_js = false)]
pub struct NativeQueryOptions {
    /// JSONPath.
    pub expression: String,
    /// The most matches.
    pub limit: f64,
    /// The most of paths and JSON.
    pub max_bytes: f64,
}

impl From<NativeQueryOptions> for QueryOptions {
    fn from(options: NativeQueryOptions) -> Self {
        Self { expression: options.expression, limit: whole(options.limit), max_bytes: size(options.max_bytes) }
    }
}

/// What a JSONPath selects.
#[napi(object, object_from_js = false)]
pub(crate) struct NativeQueryResult {
    /// As on the disk.
    pub path: String,
    /// Opaque.
    pub version: String,
    #[napi(ts_type = "'json' | 'ndjson'")]
    /// Of the file.
    pub format: String,
    /// All.
    pub total: i64,
    /// Those shown.
    pub matches: Vec<NativeQueryMatch>,
}

/// A value that is selected.
#[napi(object, object_from_js = false)]
pub(crate) struct NativeQueryMatch {
    /// Normalized.
    pub path: String,
    /// RFC 6901.
    pub pointer: String,
    /// Of NDJSON.
    pub line: Option<i64>,
    #[napi(js_name = "type")]
    /// What it is.
    pub kind: String,
    /// Compact.
    pub json: Option<String>,
    /// Of the compact JSON.
    pub bytes: i64,
}

impl From<QueryMatch> for NativeQueryMatch {
    fn from(found: QueryMatch) -> Self {
        let QueryMatch { path, pointer, line, kind, json, bytes } = found;
        let (line, kind) = (line.map(number), kind.as_str().to_owned());
        Self { path, pointer, line, kind, json, bytes: number(bytes) }
    }
}

impl From<Query> for NativeQueryResult {
    fn from(query: Query) -> Self {
        Self {
            path: query.path,
            version: query.version.to_string(),
            format: format(query.ndjson),
            total: number(query.total),
            matches: query.matches.into_iter().map(Into::into).collect(),
        }
    }
}

#[napi]
impl NativeSession {
    /// Values that a JSONPath selects.
    #[napi(ts_return_type = "Promise<NativeQueryResult | Failure>")]
    pub fn query<'env>(
        &self,
        env: &'env Env,
        path: String,
        options: NativeQueryOptions,
        cancel: CancelArgument<'_>,
    ) -> napi::Result<Object<'env>> {
        let (session, flag) = (self.session(), flag_of(cancel.as_deref()));
        let options = options.into();
        run(env, move || session.clone()?.query(&path, &options, &flag).map(NativeQueryResult::from))
    }

    /// Lines that match a regular expression.
    #[napi(ts_return_type = "Promise<NativeGrepResult | Failure>")]
    pub fn grep<'env>(
        &self,
        env: &'env Env,
        path: String,
        options: NativeGrepOptions,
        cancel: CancelArgument<'_>,
    ) -> napi::Result<Object<'env>> {
        let (session, flag) = (self.session(), flag_of(cancel.as_deref()));
        let options = options.into();
        run(env, move || session.clone()?.grep(&path, &options, &flag).map(NativeGrepResult::from))
    }

    /// A page of a listing.
    #[napi(ts_return_type = "Promise<NativePage | Failure>")]
    pub fn page<'env>(
        &self,
        env: &'env Env,
        path: String,
        options: NativePageOptions,
        cancel: CancelArgument<'_>,
    ) -> napi::Result<Object<'env>> {
        let (session, flag) = (self.session(), flag_of(cancel.as_deref()));
        let NativePageOptions { recursive, pattern, offset, limit } = options;
        let options = PageOptions { recursive, pattern, offset: whole(offset), limit: whole(limit) };
        run(env, move || session.clone()?.page(&path, &options, &flag).map(NativePage::from))
    }
}
