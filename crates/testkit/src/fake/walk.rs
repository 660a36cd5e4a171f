//! Walking a path on the fake disk: links stay inside the root, as with `RESOLVE_IN_ROOT`.

use super::disk::{Disk, ROOT};
use super::errno::Errno;
use super::inode::{Ino, Kind};

/// How many links Linux follows on one path.
const MOST_LINKS: usize = 40;

/// Why a path leads nowhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LostWay {
    /// A link after the fortieth.
    TooManyLinks,
    /// Something on the way is no folder.
    Refused(Errno),
}

impl From<Errno> for LostWay {
    fn from(errno: Errno) -> Self {
        Self::Refused(errno)
    }
}

impl Disk {
    /// Finds what a path refers to, following links on the way and at its end.
    ///
    /// None if a part is missing. `..` in a link's target ends at the root.
    pub(crate) fn walk(&self, path: &str) -> Result<Option<Ino>, LostWay> {
        let mut trail = vec![ROOT];
        // The parts still to go, the next one last.
        let mut parts: Vec<String> = reversed(path);
        let mut links = 0;
        while let Some(part) = parts.pop() {
            let here = *trail.last().unwrap_or(&ROOT);
            match part.as_str() {
                "." => {}
                ".." => {
                    trail.pop();
                }
                name => {
                    let Some(ino) = self.lookup(here, name)? else {
                        return Ok(None);
                    };
                    if let Kind::Link(target) = &self.inode(ino)?.kind {
                        links += 1;
                        if links > MOST_LINKS {
                            return Err(LostWay::TooManyLinks);
                        }
                        if target.starts_with('/') {
                            trail.clear();
                        }
                        parts.extend(reversed(target));
                    } else {
                        trail.push(ino);
                    }
                }
            }
            let here = *trail.last().unwrap_or(&ROOT);
            if !parts.is_empty() {
                self.names(here)?;
            }
            if trail.is_empty() {
                trail.push(ROOT);
            }
        }
        Ok(trail.last().copied())
    }
}

fn reversed(path: &str) -> Vec<String> {
    path.split('/')
        .rev()
        .filter(|part| !part.is_empty())
        .map(ToOwned::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use bootlace_model::node::Owner;

    use super::super::inode::Meta;
    use super::*;

    #[test]
    fn links_stay_inside_the_root() {
        let owner = Owner { uid: 0, gid: 0 };
        let mut disk = Disk::new(owner);
        let meta = || Meta::new(0o755, owner);
        let a = disk.create_dir(ROOT, "a", meta()).unwrap();
        let b = disk.create_dir(a, "b", meta()).unwrap();
        let file = disk.create_file(b, "file", meta()).unwrap();
        for (name, target) in [
            ("absolute", "/a/b"),
            ("relative", "./b/../b"),
            ("out", "../../../../a"),
            ("loop", "loop"),
            ("dangling", "nowhere/at/all"),
            ("through-file", "b/file/x"),
            ("up", ".."),
        ] {
            disk.create_link(a, name, target, owner).unwrap();
        }
        let missing = Ok(None);
        let not_dir = Err(LostWay::Refused(Errno::ENOTDIR));
        for (path, expected) in [
            ("/", Ok(Some(ROOT))),
            ("/a/b", Ok(Some(b))),
            ("/a/absolute/file", Ok(Some(file))),
            ("/a/relative", Ok(Some(b))),
            ("/a/out/b", Ok(Some(b))),
            ("/a/up/a", Ok(Some(a))),
            ("/a/loop", Err(LostWay::TooManyLinks)),
            ("/a/dangling", missing),
            ("/x/y", missing),
            ("/a/through-file", not_dir),
            ("/a/b/file/x", not_dir),
        ] {
            assert_eq!(disk.walk(path), expected, "{path}");
        }
    }

    #[test]
    fn forty_links_are_followed_and_not_one_more() {
        let owner = Owner { uid: 0, gid: 0 };
        let mut disk = Disk::new(owner);
        let end = disk
            .create_dir(ROOT, "l0", Meta::new(0o755, owner))
            .unwrap();
        for n in 1..=41 {
            disk.create_link(ROOT, &format!("l{n}"), &format!("l{}", n - 1), owner)
                .unwrap();
        }
        assert_eq!(disk.walk("/l40"), Ok(Some(end)));
        assert_eq!(disk.walk("/l41"), Err(LostWay::TooManyLinks));
    }
}
