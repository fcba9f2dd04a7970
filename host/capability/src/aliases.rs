//! Second ways to a file: the same directory of the same file system mounted in several places (`mount --bind`). A path
//! that is kept read-only would be written by another one.
//!
//! What the system lists as mounted is compared: the device, and where in it a mount begins. Two file systems that show the
//! same files without saying so (an overlay and its lower directory, a network file system on its own server) are not
//! known from each other.

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// What is mounted, as this process sees it.
#[derive(Debug)]
pub struct Mounts(Vec<Mount>);

#[derive(Debug)]
struct Mount {
    /// `major:minor`.
    device: String,
    /// Where in that device it begins.
    root: PathBuf,
    /// Where it is mounted.
    point: PathBuf,
}

/// Where something lies on a device.
struct Place<'m> {
    device: &'m str,
    path: PathBuf,
}

impl Mounts {
    /// As it is now.
    ///
    /// # Errors
    /// The system does not say.
    #[cfg(target_os = "linux")]
    pub fn now() -> io::Result<Self> {
        Ok(Self::parse(&std::fs::read("/proc/self/mountinfo")?))
    }

    /// Elsewhere a directory is mounted in one place.
    #[cfg(not(target_os = "linux"))]
    pub fn now() -> io::Result<Self> {
        Ok(Self::parse(b""))
    }

    /// `proc_pid_mountinfo(5)`: number, parent, `major:minor`, root, mount point, and what is of no interest here.
    fn parse(mountinfo: &[u8]) -> Self {
        let mount = |line: &[u8]| {
            let mut fields = line.split(|byte| *byte == b' ').skip(2);
            Some(Mount {
                device: String::from_utf8(fields.next()?.to_vec()).ok()?,
                root: unescaped(fields.next()?),
                point: unescaped(fields.next()?),
            })
        };
        let lines = mountinfo.split(|byte| *byte == b'\n');
        Self(lines.filter_map(mount).collect())
    }

    /// The real paths, at or below the real path `directory`, that lead to `own` or into it; its own path may be one.
    pub(crate) fn leading_to(&self, own: &Path, directory: &Path) -> Vec<PathBuf> {
        let Some(target) = self.place(own) else {
            return Vec::new();
        };
        let leads = |(place, at): (Place<'_>, &Path)| {
            if place.device != target.device {
                return None;
            }
            match target.path.strip_prefix(&place.path) {
                // It lies in what is seen here.
                Ok(rest) => Some(at.join(rest).components().collect()),
                // What is seen here lies in it.
                Err(_) => place.path.starts_with(&target.path).then(|| at.to_owned()),
            }
        };
        let below = self
            .0
            .iter()
            .filter(|mount| mount.point.starts_with(directory));
        let below = below.map(|mount| (mount.place(), mount.point.as_path()));
        let whole = self.place(directory).map(|place| (place, directory));
        whole.into_iter().chain(below).filter_map(leads).collect()
    }

    /// Whether another real path than `own`, at or below the real path `directory`, leads to `own` or into it.
    pub fn lead_to(&self, own: &Path, directory: &Path) -> bool {
        let leading = self.leading_to(own, directory);
        leading.iter().any(|path| !path.starts_with(own))
    }

    /// Whether the real path `inner` lies in the real directory `outer`, also if that is another name of where it lies.
    pub fn hold(&self, outer: &Path, inner: &Path) -> bool {
        let same = |outer: Place<'_>, inner: Place<'_>| {
            outer.device == inner.device && inner.path.starts_with(&outer.path)
        };
        let places = self.place(outer).zip(self.place(inner));
        inner.starts_with(outer) || places.is_some_and(|(outer, inner)| same(outer, inner))
    }

    /// Where a real path lies.
    fn place(&self, real: &Path) -> Option<Place<'_>> {
        let holding = self.0.iter().filter(|mount| real.starts_with(&mount.point));
        // Of several in one place the last one covers the others, and is the one that `max_by_key` takes.
        let mount = holding.max_by_key(|mount| mount.point.components().count())?;
        let rest = real.strip_prefix(&mount.point).ok()?;
        Some(Place {
            device: &mount.device,
            path: mount.root.join(rest),
        })
    }
}

impl Mount {
    fn place(&self) -> Place<'_> {
        Place {
            device: &self.device,
            path: self.root.clone(),
        }
    }
}

/// A space, a tab, a line feed and a backslash are written as a backslash and three octal digits.
fn unescaped(field: &[u8]) -> PathBuf {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((first, after)) = rest.split_first() {
        let digits = after
            .get(..3)
            .and_then(|digits| std::str::from_utf8(digits).ok());
        let escaped = digits.and_then(|digits| u8::from_str_radix(digits, 8).ok());
        match escaped.filter(|_| *first == b'\\') {
            Some(byte) => {
                bytes.push(byte);
                rest = after.get(3..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    PathBuf::from(OsString::from_vec(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "\
21 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
22 21 0:20 / /proc rw - proc proc rw
30 21 254:0 /home/ann /srv/alias rw - ext4 /dev/vda rw
31 21 254:0 /home/ann/.hydrant/state /srv/work/in\\040side rw - ext4 /dev/vda rw
32 21 254:16 / /data rw - ext4 /dev/vdb rw
33 21 254:16 /home/ann /srv/other rw - ext4 /dev/vdb rw
";

    fn leads(directory: &str) -> bool {
        let own = Path::new("/home/ann/.hydrant");
        Mounts::parse(TABLE.as_bytes()).lead_to(own, Path::new(directory))
    }

    #[test]
    fn a_bind_mount_of_what_holds_hydrants_own_files_or_lies_in_them_is_found() {
        for alias in ["/srv/alias", "/srv", "/srv/work", "/srv/work/in side", "/"] {
            assert!(leads(alias), "{alias}");
        }
        assert!(leads("/srv/alias/.hydrant/state"));
    }

    #[test]
    fn the_place_itself_and_other_devices_are_no_second_way() {
        for other in ["/home/ann", "/home/ann/.hydrant", "/srv/alias/work"] {
            assert!(!leads(other), "{other}");
        }
        for other in ["/srv/other", "/data", "/proc"] {
            assert!(!leads(other), "{other}");
        }
    }

    #[test]
    fn what_lies_in_a_directory_lies_there_by_its_other_names_too() {
        let holds = |outer: &str, inner: &str| {
            Mounts::parse(TABLE.as_bytes()).hold(Path::new(outer), Path::new(inner))
        };
        for (outer, inner) in [
            ("/srv/alias", "/home/ann/x"),
            ("/home/ann", "/srv/alias/x"),
            ("/srv/alias/.hydrant/state", "/srv/work/in side/new"),
            ("/data/home/ann", "/srv/other/x"),
            ("/data", "/data"),
        ] {
            assert!(holds(outer, inner), "{outer} {inner}");
        }
        for (outer, inner) in [
            ("/srv/alias", "/home/bob"),
            ("/home/ann", "/srv/other/x"),
            ("/srv/alias/x", "/home/ann"),
        ] {
            assert!(!holds(outer, inner), "{outer} {inner}");
        }
    }

    #[test]
    fn a_field_is_unescaped() {
        assert_eq!(unescaped(b"/a\\040b\\134c\\"), Path::new("/a b\\c\\"));
    }
}
