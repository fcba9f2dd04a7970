//! Writes archives: the same files give the same bytes, on every run and every machine.

use hydrant_base::write_replacing;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

use zstd::stream::write::Encoder;

use super::{ArchiveError, Package, PackageFile, WINDOW_LOG};

/// The level of compression, which decides the bytes of an archive.
const LEVEL: i32 = 19;

/// An archive is for handing on, and holds no secret.
const MODE: u32 = 0o644;

/// The archive of these files.
///
/// # Errors
/// [`ArchiveError::Compress`] if the compressor cannot be set up.
pub fn archive(package: &Package) -> Result<Vec<u8>, ArchiveError> {
    compress(package).map_err(ArchiveError::Compress)
}

/// Checks a bundle directory and writes its archive, making the directories that lead to it.
///
/// # Errors
/// [`ArchiveError`] names what is wrong with the bundle, or why nothing was written.
pub fn write_archive(bundle: &Path, output: &Path) -> Result<(), ArchiveError> {
    let bytes = archive(&Package::read_directory(bundle)?)?;
    let directory = output.parent().unwrap_or(Path::new(""));
    if !directory.as_os_str().is_empty() {
        fs::create_dir_all(directory).map_err(|source| ArchiveError::Directory {
            path: directory.to_owned(),
            source,
        })?;
    }
    Ok(write_replacing(output, &bytes, MODE)?)
}

fn compress(package: &Package) -> io::Result<Vec<u8>> {
    // The window is what level 19 has for a stream of unknown size; it is named so that no other libzstd can have another
    // opinion.
    let mut encoder = Encoder::new(Vec::new(), LEVEL)?;
    encoder.window_log(WINDOW_LOG)?;
    encoder.include_contentsize(false)?;
    encoder.include_checksum(false)?;
    encoder.include_dictid(false)?;
    let mut encoder = write_tar(package, encoder)?;
    // Without this flush the last block would hold data; with it the stream ends with an empty one.
    encoder.flush()?;
    encoder.finish()
}

/// Writes the tar stream inside an archive: of each entry only name, size and mode are its own.
pub(super) fn write_tar<W: Write>(package: &Package, output: W) -> io::Result<W> {
    let mut tar = tar::Builder::new(output);
    for (file, bytes) in package.files() {
        let mut header = tar::Header::new_ustar();
        header.set_size(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
        header.set_mode(match file {
            PackageFile::Wasm => 0o755,
            _ => 0o644,
        });
        header.set_uid(0);
        header.set_gid(0);
        header.set_mtime(0);
        tar.append_data(&mut header, file.name(), bytes)?;
    }
    tar.into_inner()
}

#[cfg(test)]
mod tests {
    use super::super::testing::{package, signed_package, tar_of};
    use super::super::{PackageFile, read_archive};
    use super::*;
    use hydrant_base::Digest;

    /// All five files, of sizes below, at and above a block.
    fn golden() -> Package {
        package(&[
            (PackageFile::Manifest, b"{\"name\":\"golden\"}\n".as_slice()),
            (PackageFile::Wasm, &[0x61; 1025]),
            (PackageFile::Sbom, b""),
            (PackageFile::Sigstore, &[0x0a; 512]),
            (PackageFile::Signatures, b"{}"),
        ])
    }

    /// Frozen; computed by another program.
    #[test]
    fn the_tar_bytes_of_a_fixed_bundle_are_frozen() {
        let tar = tar_of(&golden());
        assert_eq!(tar.len(), 5 * 512 + 512 + 1536 + 512 + 512 + 1024);
        assert_eq!(Digest::of(&tar).as_str(), GOLDEN_TAR);
        let end = tar.len() - 1024;
        assert!(tar[end..].iter().all(|byte| *byte == 0));
        assert_ne!(tar[end - 512], 0, "no further padding");
    }

    const GOLDEN_TAR: &str =
        "sha256:712bd4f5178104753a8816025b647505bdd31265aac8188d68fd410ae922b81e";

    /// Of libzstd 1.5.7, which Cargo.lock pins. A change of these bytes alone, with the
    /// tar bytes above as they were, is another libzstd; it changes what `archive` prints and stores.
    #[test]
    fn the_archive_bytes_of_a_fixed_bundle_are_frozen() {
        let archive = archive(&golden()).unwrap();
        assert_eq!(Digest::of(&archive).as_str(), GOLDEN_ARCHIVE);
    }

    const GOLDEN_ARCHIVE: &str =
        "sha256:67cc630c241314c7c03a0be7b76b33a4e843eff42f5d9c64e38a601c2b69d9c7";

    #[test]
    fn the_frame_has_an_8_mib_window_and_neither_size_nor_checksum_nor_dictionary() {
        let archive = archive(&signed_package()).unwrap();
        assert_eq!(archive[..4], [0x28, 0xb5, 0x2f, 0xfd], "the magic number");
        assert_eq!(
            archive[4], 0,
            "no size, no single segment, no checksum, no dictionary"
        );
        assert_eq!(archive[5], (23 - 10) << 3, "8 MiB");
        assert!(
            archive.ends_with(&[1, 0, 0]),
            "an empty raw last block: {archive:?}"
        );
    }

    #[test]
    fn two_runs_give_the_same_bytes_and_reading_gives_the_files_back() {
        for package in [golden(), signed_package()] {
            let first = archive(&package).unwrap();
            assert_eq!(first, archive(&package).unwrap());
            let read = read_archive(&first).unwrap();
            assert_eq!(read, package);
            assert_eq!(archive(&read).unwrap(), first);
        }
    }

    #[test]
    fn entries_come_in_order_and_files_that_are_missing_are_left_out() {
        let tar = tar_of(&package(&[
            (PackageFile::Signatures, b"s".as_slice()),
            (PackageFile::Wasm, b"w"),
            (PackageFile::Manifest, b"m"),
        ]));
        let names: Vec<_> = tar.chunks(1024).map(|entry| entry[..13].to_vec()).collect();
        assert_eq!(names[0], b"manifest.json");
        assert_eq!(names[1], b"skill.wasm\0\0\0");
        assert_eq!(names[2], b"signatures.js");
        assert_eq!(names.len(), 4);
    }

    #[test]
    fn a_directory_gives_its_raw_files_and_nothing_else() {
        let directory = tempfile::tempdir().unwrap();
        let bundle = directory.path().join("bundle");
        fs::create_dir(&bundle).unwrap();
        let package = signed_package();
        for (file, bytes) in package.files() {
            fs::write(bundle.join(file.name()), bytes).unwrap();
        }
        fs::write(bundle.join("bundle-meta.json"), "{}").unwrap();
        fs::write(bundle.join("provenance.json"), "{}").unwrap();
        let output = directory.path().join("made/for/it/skill.tar.zst");
        write_archive(&bundle, &output).unwrap();
        assert_eq!(fs::read(&output).unwrap(), archive(&package).unwrap());
        // A second time in its own place.
        write_archive(&bundle, &output).unwrap();
    }

    #[test]
    fn a_bundle_whose_files_do_not_belong_together_is_not_archived() {
        let wasm = (PackageFile::Wasm, b"other".as_slice());
        let cases = [
            (wasm.0, wasm.1.to_vec(), "digest mismatch: expected sha256:"),
            (
                PackageFile::Signatures,
                replaced(PackageFile::Signatures, "\"artifact\":\"sha256:", 8),
                "manifest.artifact must equal signatures.artifact",
            ),
            (
                PackageFile::Signatures,
                replaced(PackageFile::Signatures, "\"manifest_hash\":\"sha256:", 8),
                "signatures.manifest_hash must equal canonical manifest hash",
            ),
            (
                PackageFile::Manifest,
                b"{}".to_vec(),
                "invalid manifest JSON",
            ),
            (
                PackageFile::Signatures,
                b"{}".to_vec(),
                "invalid signatures JSON",
            ),
            (
                PackageFile::Wasm,
                Vec::new(),
                "artifact missing required file skill.wasm",
            ),
        ];
        for (file, bytes, expected) in cases {
            let directory = tempfile::tempdir().unwrap();
            for (name, good) in signed_package().files() {
                let content = if name == file { &bytes } else { good };
                fs::write(directory.path().join(name.name()), content).unwrap();
            }
            let output = directory.path().join("out.tar.zst");
            let refused = write_archive(directory.path(), &output).unwrap_err();
            assert!(refused.to_string().contains(expected), "{refused}");
            assert!(!output.exists());
        }
    }

    /// The file of the signed package with `width` digits behind `before` made zeros.
    fn replaced(file: PackageFile, before: &str, width: usize) -> Vec<u8> {
        let package = signed_package();
        let text = str::from_utf8(package.get(file).unwrap()).unwrap();
        let (start, rest) = text.split_once(before).unwrap();
        let rest = rest.get(width..).unwrap();
        let changed = format!("{start}{before}{}{rest}", "0".repeat(width));
        assert_ne!(changed, text);
        changed.into_bytes()
    }

    #[test]
    fn an_archive_is_not_written_through_a_link() {
        let directory = tempfile::tempdir().unwrap();
        for (file, bytes) in signed_package().files() {
            fs::write(directory.path().join(file.name()), bytes).unwrap();
        }
        let victim = directory.path().join("victim");
        fs::write(&victim, "precious").unwrap();
        let output = directory.path().join("link");
        std::os::unix::fs::symlink(&victim, &output).unwrap();
        let refused = write_archive(directory.path(), &output).unwrap_err();
        assert!(
            refused
                .to_string()
                .contains("refusing to write through symlink"),
            "{refused}"
        );
        assert_eq!(fs::read(&victim).unwrap(), b"precious");
    }
}
