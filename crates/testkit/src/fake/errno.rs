//! What the operating system says when it refuses, by number.

use std::io;

/// A Linux error number; only those that the fake disk or an injected fault can give.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Errno(i32);

impl Errno {
    /// Operation not permitted.
    pub const EPERM: Self = Self(1);
    /// Input/output error: the disk is failing.
    pub const EIO: Self = Self(5);
    /// No such file or directory.
    pub const ENOENT: Self = Self(2);
    /// Permission denied.
    pub const EACCES: Self = Self(13);
    /// File exists.
    pub const EEXIST: Self = Self(17);
    /// Not a directory.
    pub const ENOTDIR: Self = Self(20);
    /// Is a directory.
    pub const EISDIR: Self = Self(21);
    /// Invalid argument.
    pub const EINVAL: Self = Self(22);
    /// No space left on device.
    pub const ENOSPC: Self = Self(28);
    /// File name too long.
    pub const ENAMETOOLONG: Self = Self(36);
    /// Directory not empty.
    pub const ENOTEMPTY: Self = Self(39);
    /// Too many levels of symbolic links.
    pub const ELOOP: Self = Self(40);

    /// Returns it as the standard library would.
    pub fn error(self) -> io::Error {
        io::Error::from_raw_os_error(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_linux() {
        use io::ErrorKind;
        for (errno, kind) in [
            (Errno::ENOENT, ErrorKind::NotFound),
            (Errno::EACCES, ErrorKind::PermissionDenied),
            (Errno::EEXIST, ErrorKind::AlreadyExists),
            (Errno::ENOTDIR, ErrorKind::NotADirectory),
            (Errno::EISDIR, ErrorKind::IsADirectory),
            (Errno::EINVAL, ErrorKind::InvalidInput),
            (Errno::ENOSPC, ErrorKind::StorageFull),
            (Errno::ENAMETOOLONG, ErrorKind::InvalidFilename),
            (Errno::ENOTEMPTY, ErrorKind::DirectoryNotEmpty),
        ] {
            assert_eq!(errno.error().kind(), kind, "{errno:?}");
        }
        assert_eq!(Errno::ELOOP.error().raw_os_error(), Some(40));
        assert_eq!(Errno::EIO.error().raw_os_error(), Some(5));
    }
}
