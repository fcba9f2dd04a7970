//! hydrant's own files: no call reads or changes them, whatever a policy says and whatever is mounted.
//!
//! Where they lie is told when a host is made; they need not be there yet. What is opened for a call is compared with them
//! by device and inode, so that a link, a hard link, a bind mount and another spelling lead to a refusal as the plain path
//! does. An own directory holds all that is below it, which the directories above the opened file tell. All that lies in
//! own directories is looked through only where that could miss something: for a file with several names, and where
//! another file system or a bind mount was entered on the way.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ffi::OsString;
use std::fs::{FileType, Metadata};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::fs::FsError;
use hydrant_policy::MountHandle;

/// How long it is believed which files the places are: one that is made meanwhile is known by its path.
const PLACES_AGE: Duration = Duration::from_secs(1);

/// How long it is believed what lies in own directories.
const CONTENTS_AGE: Duration = Duration::from_secs(10);

/// How much older than that a file must be, in seconds: more than the clock of any file system is coarse.
const SETTLED: i64 = 2;

/// Device and inode.
type Identity = (u64, u64);

/// Where the files of hydrant lie that no call may reach.
#[derive(Debug, Default)]
pub struct OwnFiles {
    /// Real paths of files and directories, and of each link on the way to one: who can replace a link, can replace what it
    /// leads to.
    places: BTreeSet<PathBuf>,
    known: Mutex<Option<Arc<Known>>>,
    contents: Mutex<Option<Arc<Contents>>>,
}

/// Which files the places are.
#[derive(Debug)]
struct Known {
    at: Instant,
    places: HashSet<Identity>,
    devices: HashSet<u64>,
    /// The directories above them that lie in none.
    above: HashSet<Identity>,
    /// The name of each in its directory; of one that is not there the name of what has to be made first.
    names: HashSet<(Identity, OsString)>,
    /// How directories of mounts lie to the places.
    relations: Mutex<HashMap<Identity, Relation>>,
}

/// How a directory lies to hydrant's own files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Relation {
    Apart,
    /// It holds some.
    Above,
    /// It is one, or lies in one.
    Within,
}

/// All own files and directories.
#[derive(Debug)]
struct Contents {
    at: Instant,
    /// The same since 1970.
    seconds: i64,
    files: HashSet<Identity>,
    /// Files among them that have several names.
    linked: HashSet<Identity>,
}

/// What is opened beneath one directory, or anywhere.
pub(super) struct Opened<'own> {
    own: &'own OwnFiles,
    known: Arc<Known>,
    top: Option<Node>,
    relation: Relation,
    /// Whether the directory was named for this very call: then it may lie in an own directory.
    granted: bool,
}

/// A file or directory.
#[derive(Debug, Clone, Copy)]
struct Node {
    identity: Identity,
    /// Which mount it was reached by; none where the system does not say (Linux before 5.8).
    mount: Option<u64>,
    /// When a file with several names last got one, or was changed otherwise, in seconds since 1970; none for other files.
    linked: Option<i64>,
}

impl OwnFiles {
    /// Those with these names, which need not be there yet.
    #[must_use]
    pub fn new<'a>(named: impl IntoIterator<Item = &'a Path>) -> Self {
        let named: BTreeSet<&Path> = named.into_iter().collect();
        Self {
            places: named.into_iter().flat_map(places).collect(),
            ..Self::default()
        }
    }

    /// Their real paths, and each link on the way there.
    pub fn places(&self) -> impl Iterator<Item = &Path> {
        self.places.iter().map(PathBuf::as_path)
    }

    /// The real paths below a real directory that are further names (hard links) of own files.
    pub fn linked_in(&self, directory: &Path) -> Vec<PathBuf> {
        // Programs start seldom enough to look anew.
        let own = self.contents(Some(i64::MAX));
        let mut linked = Vec::new();
        let mut directories = Vec::new();
        if !own.linked.is_empty() {
            directories.push(directory.to_owned());
        }
        while let Some(directory) = directories.pop() {
            for entry in std::fs::read_dir(&directory)
                .into_iter()
                .flatten()
                .flatten()
            {
                let (path, kind) = (entry.path(), entry.file_type());
                if self.places.contains(&path) {
                    continue;
                }
                if kind.as_ref().is_ok_and(FileType::is_dir) {
                    directories.push(path);
                } else if kind.is_ok_and(|kind| kind.is_file())
                    && identity(&path).is_some_and(|found| own.linked.contains(&found))
                {
                    linked.push(path);
                }
            }
        }
        linked
    }

    /// Judges what is opened in a mount.
    ///
    /// # Errors
    /// What the system says of the mount's directory.
    pub(super) fn in_mount(&self, mount: &MountHandle) -> Result<Opened<'_>, FsError> {
        self.opened(mount.dir().as_fd(), mount.is_granted())
    }

    /// Judges what is opened beneath a directory.
    ///
    /// # Errors
    /// What the system says of the directory.
    pub(super) fn beneath(&self, directory: BorrowedFd<'_>) -> Result<Opened<'_>, FsError> {
        self.opened(directory, false)
    }

    /// Judges what is opened by a real path.
    pub(super) fn anywhere(&self) -> Opened<'_> {
        Opened {
            own: self,
            known: self.known(),
            top: None,
            relation: Relation::Above,
            granted: false,
        }
    }

    /// Whether a real path is one of theirs or lies below one, by its text.
    pub(super) fn hold(&self, real: &Path) -> bool {
        real.ancestors().any(|above| self.places.contains(above))
    }

    fn opened(&self, top: BorrowedFd<'_>, granted: bool) -> Result<Opened<'_>, FsError> {
        let known = self.known();
        let untold = |error: io::Error| {
            tracing::debug!(%error, "it cannot be told where a mount lies");
            FsError::Io
        };
        let node = Node::of(top).map_err(untold)?;
        let relation = self.relation(&known, node, top).map_err(untold)?;
        Ok(Opened {
            own: self,
            known,
            top: Some(node),
            relation,
            granted,
        })
    }

    fn relation(
        &self,
        known: &Known,
        top: Node,
        directory: BorrowedFd<'_>,
    ) -> io::Result<Relation> {
        if self.places.is_empty() {
            return Ok(Relation::Apart);
        }
        let mut relations = known
            .relations
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(relation) = relations.get(&top.identity) {
            return Ok(*relation);
        }
        let path = real_path(directory)?;
        let relation = if self.holds_above(known, &path, None) {
            Relation::Within
        } else if known.above.contains(&top.identity)
            || self.places.iter().any(|place| place.starts_with(&path))
        {
            Relation::Above
        } else {
            Relation::Apart
        };
        relations.insert(top.identity, relation);
        Ok(relation)
    }

    /// Whether `path` is a place or lies in one, up to the directory `end`.
    fn holds_above(&self, known: &Known, path: &Path, end: Option<Identity>) -> bool {
        let mut below: Option<Node> = None;
        for above in path.ancestors() {
            let node = Node::at(above).ok();
            if end.is_some() && end == node.map(|node| node.identity) {
                return false;
            }
            if self.places.contains(above)
                || node.is_some_and(|node| known.places.contains(&node.identity))
            {
                return true;
            }
            // What is mounted there may be a part of an own directory, which does not show from above.
            if let (Some(below), Some(node)) = (below, node)
                && below.mount != node.mount
                && self.contain(known, below)
            {
                return true;
            }
            below = node;
        }
        false
    }

    /// Whether a file or directory lies in a place, by whatever name.
    fn contain(&self, known: &Known, found: Node) -> bool {
        known.devices.contains(&found.identity.0)
            && !known.above.contains(&found.identity)
            && self.contents(found.linked).files.contains(&found.identity)
    }

    fn known(&self) -> Arc<Known> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        match &*known {
            Some(known) if known.at.elapsed() < PLACES_AGE => Arc::clone(known),
            _ => Arc::clone(known.insert(Arc::new(Known::now(&self.places)))),
        }
    }

    /// What lies in own directories, as of a time after this one.
    fn contents(&self, after: Option<i64>) -> Arc<Contents> {
        let mut contents = self.contents.lock().unwrap_or_else(PoisonError::into_inner);
        let is_new = |contents: &Contents| {
            contents.at.elapsed() < CONTENTS_AGE
                && after.is_none_or(|after| after.saturating_add(SETTLED) < contents.seconds)
        };
        match &*contents {
            Some(contents) if is_new(contents) => Arc::clone(contents),
            _ => Arc::clone(contents.insert(Arc::new(Contents::now(&self.places)))),
        }
    }
}

impl Opened<'_> {
    /// Refuses what is hydrant's own.
    ///
    /// # Errors
    /// [`FsError::Denied`], or what the system says.
    pub(super) fn check(&self, opened: impl AsFd) -> Result<(), FsError> {
        self.judge(opened.as_fd(), true)
    }

    /// As [`Opened::check`], of what lies in a directory that was checked.
    ///
    /// # Errors
    /// As [`Opened::check`].
    pub(super) fn check_child(&self, opened: impl AsFd) -> Result<(), FsError> {
        self.judge(opened.as_fd(), false)
    }

    /// Refuses to give a directory, which was checked, this name, or to take it away.
    ///
    /// # Errors
    /// As [`Opened::check`].
    pub(super) fn check_name(&self, directory: impl AsFd, name: &str) -> Result<(), FsError> {
        if self.own.places.is_empty() {
            return Ok(());
        }
        let directory = directory.as_fd();
        let held = Node::of(directory).map_err(|_| FsError::Io)?.identity;
        let is_place = |stat: rustix::fs::Stat| self.known.places.contains(&by_stat(&stat));
        let no_link = rustix::fs::AtFlags::SYMLINK_NOFOLLOW;
        if self.known.names.contains(&(held, name.into()))
            || rustix::fs::statat(directory, name, no_link).is_ok_and(is_place)
        {
            return Err(FsError::Denied);
        }
        Ok(())
    }

    fn judge(&self, opened: BorrowedFd<'_>, with_those_above: bool) -> Result<(), FsError> {
        match self.is_own(opened, with_those_above) {
            Ok(false) => Ok(()),
            Ok(true) => Err(FsError::Denied),
            Err(error) => {
                tracing::debug!(%error, "it cannot be told whether a file is hydrant's own");
                Err(FsError::Io)
            }
        }
    }

    fn is_own(&self, opened: BorrowedFd<'_>, with_those_above: bool) -> io::Result<bool> {
        if self.own.places.is_empty() {
            return Ok(false);
        }
        let node = Node::of(opened)?;
        if self.known.places.contains(&node.identity) {
            return Ok(true);
        }
        let crossed = self.top.is_none_or(|top| node.mount != top.mount);
        if self.relation == Relation::Within && !self.granted
            || (crossed || node.linked.is_some()) && self.own.contain(&self.known, node)
        {
            return Ok(true);
        }
        if !with_those_above || !(crossed || self.relation == Relation::Above) {
            return Ok(false);
        }
        let end = self.top.filter(|_| self.granted).map(|top| top.identity);
        let path = real_path(opened)?;
        Ok(!path.is_absolute() || self.own.holds_above(&self.known, &path, end))
    }
}

impl Known {
    fn now(places: &BTreeSet<PathBuf>) -> Self {
        let mut known = Self {
            at: Instant::now(),
            places: HashSet::new(),
            devices: HashSet::new(),
            above: HashSet::new(),
            names: HashSet::new(),
            relations: Mutex::default(),
        };
        let mut seen: HashMap<&Path, Option<Identity>> = HashMap::new();
        for place in places {
            known.places.extend(identity(place));
            let mut below = place.as_path();
            let mut named = false;
            for above in place.ancestors().skip(1) {
                if let Some(found) = *seen.entry(above).or_insert_with(|| identity(above)) {
                    if !above.ancestors().any(|above| places.contains(above)) {
                        known.above.insert(found);
                    }
                    known.devices.insert(found.0);
                    if let (false, Some(name)) = (named, below.file_name()) {
                        known.names.insert((found, name.to_owned()));
                        named = true;
                    }
                }
                below = above;
            }
        }
        known
            .devices
            .extend(known.places.iter().map(|place| place.0));
        known
    }
}

impl Contents {
    fn now(places: &BTreeSet<PathBuf>) -> Self {
        let (at, now) = (Instant::now(), SystemTime::now().duration_since(UNIX_EPOCH));
        let seconds = i64::try_from(now.unwrap_or_default().as_secs()).unwrap_or(i64::MAX);
        let (mut files, mut linked) = (HashSet::new(), HashSet::new());
        let mut paths: Vec<PathBuf> = places.iter().cloned().collect();
        while let Some(path) = paths.pop() {
            let Ok(metadata) = path.symlink_metadata() else {
                continue;
            };
            let is_new = files.insert(by_metadata(&metadata));
            if metadata.is_dir() && is_new {
                let names = std::fs::read_dir(&path).into_iter().flatten().flatten();
                paths.extend(names.map(|entry| entry.path()));
            } else if metadata.is_file() && metadata.nlink() > 1 {
                linked.insert(by_metadata(&metadata));
            }
        }
        Self {
            at,
            seconds,
            files,
            linked,
        }
    }
}

impl Node {
    fn of(opened: BorrowedFd<'_>) -> io::Result<Self> {
        Self::look(opened, Path::new(""))
    }

    fn at(path: &Path) -> io::Result<Self> {
        Self::look(rustix::fs::CWD, path)
    }

    #[cfg(target_os = "linux")]
    fn look(opened: BorrowedFd<'_>, path: &Path) -> io::Result<Self> {
        use rustix::fs::{AtFlags, StatxFlags, makedev, statx};

        let wanted = StatxFlags::BASIC_STATS | StatxFlags::MNT_ID;
        let flags = AtFlags::EMPTY_PATH | AtFlags::SYMLINK_NOFOLLOW;
        let stat = statx(opened, path, flags, wanted)?;
        let told = StatxFlags::from_bits_retain(stat.stx_mask);
        let kind = rustix::fs::FileType::from_raw_mode(stat.stx_mode.into());
        Ok(Self {
            identity: (
                makedev(stat.stx_dev_major, stat.stx_dev_minor),
                stat.stx_ino,
            ),
            mount: told.contains(StatxFlags::MNT_ID).then_some(stat.stx_mnt_id),
            linked: (!kind.is_dir() && stat.stx_nlink > 1).then_some(stat.stx_ctime.tv_sec),
        })
    }

    /// Elsewhere a mount is told by its device: there are no bind mounts.
    #[cfg(not(target_os = "linux"))]
    fn look(opened: BorrowedFd<'_>, path: &Path) -> io::Result<Self> {
        use rustix::fs::{AtFlags, fstat, statat};

        let stat = if path.as_os_str().is_empty() {
            fstat(opened)?
        } else {
            statat(opened, path, AtFlags::SYMLINK_NOFOLLOW)?
        };
        let kind = rustix::fs::FileType::from_raw_mode(stat.st_mode);
        let identity = by_stat(&stat);
        Ok(Self {
            identity,
            mount: Some(identity.0),
            linked: (!kind.is_dir() && stat.st_nlink > 1).then_some(stat.st_ctime),
        })
    }
}

#[allow(
    clippy::unnecessary_fallible_conversions,
    clippy::useless_conversion,
    reason = "the types differ between platforms"
)]
fn by_stat(stat: &rustix::fs::Stat) -> Identity {
    let device = u64::try_from(stat.st_dev).unwrap_or(u64::MAX);
    (device, stat.st_ino.into())
}

fn by_metadata(metadata: &Metadata) -> Identity {
    (metadata.dev(), metadata.ino())
}

/// Of what a path names itself.
fn identity(path: &Path) -> Option<Identity> {
    Some(by_metadata(&path.symlink_metadata().ok()?))
}

/// Where an opened file really lies.
#[cfg(target_os = "linux")]
fn real_path(opened: BorrowedFd<'_>) -> io::Result<PathBuf> {
    std::fs::read_link(super::fs::descriptor_path(opened))
}

/// As above.
#[cfg(not(target_os = "linux"))]
fn real_path(opened: BorrowedFd<'_>) -> io::Result<PathBuf> {
    use std::os::unix::ffi::OsStringExt;

    let path = rustix::fs::getpath(opened)?;
    Ok(PathBuf::from(OsString::from_vec(path.into_bytes())))
}

/// Where `path` really is, and where each link on the way there is.
fn places(path: &Path) -> Vec<PathBuf> {
    let mut places = vec![real(path)];
    let mut pending: Vec<PathBuf> = std::path::absolute(path).into_iter().collect();
    while let Some(path) = pending.pop() {
        for link in path.ancestors().filter(|there| there.is_symlink()) {
            let parent = link.parent().and_then(|parent| parent.canonicalize().ok());
            let (Some(parent), Some(name)) = (parent, link.file_name()) else {
                continue;
            };
            let place = parent.join(name);
            if places.contains(&place) {
                continue;
            }
            if let (Ok(target), Ok(rest)) = (link.read_link(), path.strip_prefix(link)) {
                pending.push(parent.join(target).join(rest));
            }
            places.push(place);
        }
    }
    places
}

/// Where `path` really is. Of one that is not there yet, as the home folder before it is first needed, the directories
/// that are there count, so that no link on the way hides it.
pub fn real(path: &Path) -> PathBuf {
    let named = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    for there in named.ancestors() {
        if let (Ok(real), Ok(rest)) = (there.canonicalize(), named.strip_prefix(there)) {
            return real.join(rest);
        }
    }
    named
}
