//! Which words of a command name a file of data.

/// How such names end. No ending of code, of a build or of settings is among them: what decides what is done comes with the
/// load. Nor is one that is a domain's.
const ENDINGS: &[&str] = &[
    "aac", "avi", "avif", "avro", "bib", "bmp", "bz2", "csv", "dat", "db", "docx", "eml", "epub",
    "feather", "flac", "geojson", "gif", "gpx", "gz", "heic", "htm", "html", "ics", "jpeg", "jpg",
    "json", "jsonl", "kml", "log", "m4a", "md", "mkv", "mov", "mp3", "mp4", "mpeg", "mpg",
    "ndjson", "ods", "odt", "ogg", "opus", "orc", "otf", "parquet", "pcap", "pdf", "png", "pptx",
    "rst", "rtf", "shp", "sqlite", "srt", "svg", "tar", "tgz", "tif", "tiff", "tsv", "ttf", "txt",
    "vtt", "wav", "webm", "webp", "xlsx",
];

/// Whether it is a relative name, without `..`, with such an ending.
pub(super) fn is_one(word: &str) -> bool {
    let is_character = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '/');
    let is_part = |part: &str| !part.is_empty() && !part.starts_with(['.', '-']);
    let ending = word
        .rsplit_once('.')
        .map(|(_, ending)| ending.to_ascii_lowercase());
    word.len() <= 200
        && word.chars().all(is_character)
        && word.split('/').all(is_part)
        && ending.is_some_and(|ending| ENDINGS.binary_search(&ending.as_str()).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_data_and_no_others() {
        assert!(ENDINGS.is_sorted());
        for name in ["input.mp4", "a/b-c/Bericht.PDF", "x.tar.gz", "größe.txt"] {
            assert!(is_one(name), "{name}");
        }
        for word in [
            "",
            "txt",
            ".txt",
            "a/.txt",
            "../a.txt",
            "a/../b.txt",
            "/etc/a.txt",
            "-o.txt",
            "a//b.txt",
            "example.com",
            "1.5",
            "a.py",
            "a.sh",
            "a.js",
            "a.txt.sh",
            "https://a.example/x.txt",
            "a b.txt",
            "k=a.txt",
            "a.txt\n",
            "Makefile",
            "lib.so",
        ] {
            assert!(!is_one(word), "{word:?}");
        }
    }
}
