//! Media types by a path's extension. A hint for hosts, never a reason to trust content.

use crate::path::HarnessPath;

/// What the extension says, if anything.
pub(crate) fn guess(path: &HarnessPath) -> Option<String> {
    let name = path.segments.last()?;
    let (stem, extension) = name.rsplit_once('.')?;
    if stem.is_empty() {
        return None; // .gitignore has no extension
    }
    // What agents write most, where the table has older or other answers.
    let known = match extension.to_ascii_lowercase().as_str() {
        "md" | "markdown" => Some("text/markdown"),
        "ts" | "mts" | "cts" | "tsx" => Some("text/typescript"),
        "js" | "mjs" | "cjs" => Some("text/javascript"),
        "ndjson" | "jsonl" => Some("application/x-ndjson"),
        "yaml" | "yml" => Some("application/yaml"),
        "toml" => Some("application/toml"),
        _ => None,
    };
    known.map(str::to_owned).or_else(|| mime_guess::from_ext(extension).first_raw().map(str::to_owned))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::Use;

    #[test]
    fn by_extension() {
        let table = [
            ("a.json", Some("application/json")),
            ("a.MD", Some("text/markdown")),
            ("a.ts", Some("text/typescript")),
            ("a.pdf", Some("application/pdf")),
            ("a.csv", Some("text/csv")),
            ("archive.tar.gz", Some("application/gzip")),
            ("Makefile", None),
            (".gitignore", None),
            ("a.qqq", None),
        ];
        for (name, expected) in table {
            let path = HarnessPath::parse(&format!("/session/{name}"), Use::Write).expect("path");
            assert_eq!(guess(&path).as_deref(), expected, "{name}");
        }
    }
}
