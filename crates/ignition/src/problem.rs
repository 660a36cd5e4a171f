//! Everything that can be wrong with a config, by the name that Ignition gives it.

use std::fmt;

/// What is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Problem {
    /// The text is no JSON.
    Syntax(String),
    /// A value is of another type than its field.
    WrongType {
        /// What its field holds.
        expected: &'static str,
        /// What was written.
        found: &'static str,
    },
    /// A key that no field has; it is passed over.
    UnusedKey(String),
    /// A data URL cannot be decoded, for this reason.
    BadDataUrl(&'static str),
    /// A unit or a drop-in cannot be read, for this reason.
    BadUnit(String),
    /// A unit is enabled and has no section that says for what.
    NoInstallSection {
        /// The unit.
        unit: String,
    },
    /// The template of an enabled instance has no section that says for what.
    NoInstallSectionInTemplate {
        /// The template.
        template: String,
        /// The instance.
        unit: String,
    },
    /// The config is empty.
    Empty,
    /// The text is a Butane config, which is translated to Ignition first.
    Butane,
    /// The version cannot be read.
    InvalidVersion,
    /// The version is not supported.
    UnknownVersion,
    /// The same entry is there twice.
    Duplicate,
    /// The compression is not known.
    CompressionInvalid,
    /// The path leads through a link of this config.
    FileUsedSymlink,
    /// The path leads through a link of this config.
    DirectoryUsedSymlink,
    /// The path leads through a link of this config.
    LinkUsedSymlink,
    /// The link has no target.
    LinkTargetRequired,
    /// The hard link points to a directory.
    HardLinkToDirectory,
    /// A hard link has no owner of its own.
    HardLinkSpecifiesOwner,
    /// The device is missing.
    DiskDeviceRequired,
    /// Two partitions have the same number.
    PartitionNumbersCollide,
    /// Two partitions overlap.
    PartitionsOverlap,
    /// A partition shall not exist while another has number 0.
    ZeroesWithShouldNotExist,
    /// Two partitions have the same label.
    DuplicateLabels,
    /// The file shall be overwritten and has no contents.
    OverwriteAndNilSource,
    /// There is a hash and no source.
    VerificationAndNilSource,
    /// The filesystem's format is not known.
    FilesystemInvalidFormat,
    /// There is a label and no format.
    LabelNeedsFormat,
    /// The filesystem has no format.
    FormatNilWithOthers,
    /// The label is longer than ext4 allows.
    Ext4LabelTooLong,
    /// The label is longer than btrfs allows.
    BtrfsLabelTooLong,
    /// The label is longer than xfs allows.
    XfsLabelTooLong,
    /// The label is longer than swap allows.
    SwapLabelTooLong,
    /// The label is longer than vfat allows.
    VfatLabelTooLong,
    /// The label is longer than LUKS allows.
    LuksLabelTooLong,
    /// The name contains a slash.
    LuksNameContainsSlash,
    /// The source of the key file is none.
    InvalidLuksKeyFile,
    /// The pin is missing.
    ClevisPinRequired,
    /// The pin is not known.
    UnknownClevisPin,
    /// The pin's config is missing.
    ClevisConfigRequired,
    /// A pin of its own cannot be combined with tpm2, tang or threshold.
    ClevisCustomWithOthers,
    /// The thumbprint is missing.
    TangThumbprintRequired,
    /// The advertisement is no JSON.
    InvalidTangAdvertisement,
    /// It is no mode of a file.
    FileIllegalMode,
    /// Setuid, setgid and sticky have no effect before 3.6.0.
    ModeSpecialBits,
    /// Both id and name are given.
    BothIdAndNameSet,
    /// The partition's label is too long.
    LabelTooLong,
    /// It is no GUID.
    DoesntMatchGuid,
    /// The partition's label contains a colon.
    LabelContainsColon,
    /// The path is missing.
    NoPath,
    /// The path does not begin with a slash.
    PathRelative,
    /// The path is not in its simplest form.
    DirtyPath,
    /// The filesystem overwrites a disk that is partitioned.
    PartitionsOverwritten,
    /// The disk's table is wiped, and the filesystem with it.
    FilesystemImplicitWipe,
    /// The level is missing.
    RaidLevelRequired,
    /// This level has no spares.
    SparesUnsupportedForLevel,
    /// The level is not known.
    UnrecognizedRaidLevel,
    /// There are no devices.
    RaidDevicesRequired,
    /// It shall not exist, and something is said about it.
    ShouldNotExistWithOthers,
    /// The partition has neither a number nor a label.
    NeedLabelOrNumber,
    /// The proxy is not reached over http or https.
    InvalidProxy,
    /// The proxy for https is reached without encryption.
    InsecureProxy,
    /// A unit or drop-in of this config has the same path.
    PathConflictsSystemd,
    /// Cex cannot be combined with clevis.
    CexWithClevis,
    /// Cex cannot be combined with a key file.
    CexWithKeyFile,
    /// The unit's name does not end as units do.
    InvalidSystemdExt,
    /// The drop-in's name does not end with .conf.
    InvalidSystemdDropinExt,
    /// The source is missing.
    SourceRequired,
    /// The URL's scheme is not known.
    InvalidScheme,
    /// The URL cannot be read.
    InvalidUrl,
    /// The header has an empty value.
    InvalidHttpHeader,
    /// The header has no name.
    EmptyHttpHeaderName,
    /// Headers are sent only over http and https.
    UnsupportedSchemeForHttpHeaders,
    /// The hash has no function in front.
    HashMalformed,
    /// The hash has not the length of its function.
    HashWrongSize,
    /// The hash's function is not known.
    HashUnrecognized,
    /// The ARN is not one of S3.
    InvalidS3Arn,
    /// The versionId is empty.
    InvalidS3ObjectVersionId,
}

impl Problem {
    /// Returns the name of the error in Ignition's sources, where it has one.
    pub fn name(&self) -> Option<&'static str> {
        Some(match self {
            Self::Syntax(_) | Self::WrongType { .. } => "ErrInvalid",
            Self::UnusedKey(_)
            | Self::BadDataUrl(_)
            | Self::BadUnit(_)
            | Self::NoInstallSection { .. }
            | Self::NoInstallSectionInTemplate { .. } => return None,
            other => other.row().0,
        })
    }

    /// Tells what to change.
    pub fn advice(&self) -> &'static str {
        match self {
            Self::Syntax(_) => "correct the text at that place",
            Self::WrongType { .. } => "write what the field holds",
            Self::UnusedKey(_) => "look for a misspelling, or whether this version has the key",
            Self::BadDataUrl(_) => "write it as data:,TEXT or data:;base64,BASE64",
            Self::BadUnit(_) => "correct the unit's text",
            Self::NoInstallSection { .. } | Self::NoInstallSectionInTemplate { .. } => {
                "add an [Install] section, or do not enable it"
            }
            other => other.row().2,
        }
    }

    /// Returns name, words and advice of the problems that have nothing of their own to say.
    #[expect(
        clippy::too_many_lines,
        reason = "a table: every problem is one row, and a row is easier to find in one place"
    )]
    fn row(&self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Syntax(_)
            | Self::WrongType { .. }
            | Self::UnusedKey(_)
            | Self::BadDataUrl(_)
            | Self::BadUnit(_)
            | Self::NoInstallSection { .. }
            | Self::NoInstallSectionInTemplate { .. } => ("", "", ""),
            Self::Butane => (
                "ErrInvalid",
                "this is a Butane config, and bootlace reads Ignition JSON",
                "translate it first: `butane --strict FILE > out.ign`",
            ),
            Self::Empty => (
                "ErrEmpty",
                "the config is empty",
                "write at least {\"ignition\": {\"version\": \"3.5.0\"}}",
            ),
            Self::InvalidVersion => (
                "ErrInvalidVersion",
                "the version cannot be read",
                "write it as three numbers, such as \"3.5.0\"",
            ),
            Self::UnknownVersion => (
                "ErrUnknownVersion",
                "the version is not supported",
                "use one of 3.0.0 to 3.6.0",
            ),
            Self::Duplicate => (
                "ErrDuplicate",
                "the same entry is there twice",
                "leave one of them out, or put both into one",
            ),
            Self::CompressionInvalid => (
                "ErrCompressionInvalid",
                "the compression is not known",
                "use \"gzip\", or leave it out",
            ),
            Self::FileUsedSymlink => (
                "ErrFileUsedSymlink",
                "the path leads through a link of this config",
                "write the path that the link points to",
            ),
            Self::DirectoryUsedSymlink => (
                "ErrDirectoryUsedSymlink",
                "the path leads through a link of this config",
                "write the path that the link points to",
            ),
            Self::LinkUsedSymlink => (
                "ErrLinkUsedSymlink",
                "the path leads through a link of this config",
                "write the path that the link points to",
            ),
            Self::LinkTargetRequired => (
                "ErrLinkTargetRequired",
                "the link has no target",
                "say with \"target\" what it points to",
            ),
            Self::HardLinkToDirectory => (
                "ErrHardLinkToDirectory",
                "the hard link points to a directory",
                "make it a symbolic link: leave \"hard\" out",
            ),
            Self::HardLinkSpecifiesOwner => (
                "ErrHardLinkSpecifiesOwner",
                "a hard link has no owner of its own",
                "set the owner of the file that it points to",
            ),
            Self::DiskDeviceRequired => (
                "ErrDiskDeviceRequired",
                "the device is missing",
                "say with \"device\" which one it is",
            ),
            Self::PartitionNumbersCollide => (
                "ErrPartitionNumbersCollide",
                "two partitions have the same number",
                "give each a number of its own, or 0 for the next free one",
            ),
            Self::PartitionsOverlap => (
                "ErrPartitionsOverlap",
                "two partitions overlap",
                "change \"startMiB\" or \"sizeMiB\" of one of them",
            ),
            Self::ZeroesWithShouldNotExist => (
                "ErrZeroesWithShouldNotExist",
                "a partition shall not exist while another has number 0",
                "give every partition of the disk a number",
            ),
            Self::DuplicateLabels => (
                "ErrDuplicateLabels",
                "two partitions have the same label",
                "give each a label of its own",
            ),
            Self::OverwriteAndNilSource => (
                "ErrOverwriteAndNilSource",
                "the file shall be overwritten and has no contents",
                "give it a \"contents.source\", or set \"overwrite\" to false",
            ),
            Self::VerificationAndNilSource => (
                "ErrVerificationAndNilSource",
                "there is a hash and no source",
                "say with \"source\" where the contents come from",
            ),
            Self::FilesystemInvalidFormat => (
                "ErrFilesystemInvalidFormat",
                "the filesystem's format is not known",
                "use ext4, btrfs, xfs, swap, vfat, or none since 3.3.0",
            ),
            Self::LabelNeedsFormat => (
                "ErrLabelNeedsFormat",
                "there is a label and no format",
                "say with \"format\" what the filesystem is",
            ),
            Self::FormatNilWithOthers => (
                "ErrFormatNilWithOthers",
                "the filesystem has no format",
                "say with \"format\" what it is",
            ),
            Self::Ext4LabelTooLong => (
                "ErrExt4LabelTooLong",
                "the label is longer than ext4 allows",
                "use at most 16 characters",
            ),
            Self::BtrfsLabelTooLong => (
                "ErrBtrfsLabelTooLong",
                "the label is longer than btrfs allows",
                "use at most 256 characters",
            ),
            Self::XfsLabelTooLong => (
                "ErrXfsLabelTooLong",
                "the label is longer than xfs allows",
                "use at most 12 characters",
            ),
            Self::SwapLabelTooLong => (
                "ErrSwapLabelTooLong",
                "the label is longer than swap allows",
                "use at most 15 characters",
            ),
            Self::VfatLabelTooLong => (
                "ErrVfatLabelTooLong",
                "the label is longer than vfat allows",
                "use at most 11 characters",
            ),
            Self::LuksLabelTooLong => (
                "ErrLuksLabelTooLong",
                "the label is longer than LUKS allows",
                "use at most 47 characters",
            ),
            Self::LuksNameContainsSlash => (
                "ErrLuksNameContainsSlash",
                "the name contains a slash",
                "name it without",
            ),
            Self::InvalidLuksKeyFile => (
                "ErrInvalidLuksKeyFile",
                "the source of the key file is none",
                "correct the URL of \"keyFile.source\"",
            ),
            Self::ClevisPinRequired => (
                "ErrClevisPinRequired",
                "the pin is missing",
                "say with \"pin\" which one: tpm2, tang or sss",
            ),
            Self::UnknownClevisPin => (
                "ErrUnknownClevisPin",
                "the pin is not known",
                "use tpm2, tang or sss",
            ),
            Self::ClevisConfigRequired => (
                "ErrClevisConfigRequired",
                "the pin's config is missing",
                "give it with \"config\"",
            ),
            Self::ClevisCustomWithOthers => (
                "ErrClevisCustomWithOthers",
                "a pin of its own cannot be combined with tpm2, tang or threshold",
                "leave one of them out",
            ),
            Self::TangThumbprintRequired => (
                "ErrTangThumbprintRequired",
                "the thumbprint is missing",
                "give it with \"thumbprint\"",
            ),
            Self::InvalidTangAdvertisement => (
                "ErrInvalidTangAdvertisement",
                "the advertisement is no JSON",
                "copy it from the server as it is",
            ),
            Self::FileIllegalMode => (
                "ErrFileIllegalMode",
                "it is no mode of a file",
                "write it as a decimal number from 0 to 4095: 420 is 0644",
            ),
            Self::ModeSpecialBits => (
                "ErrModeSpecialBits",
                "setuid, setgid and sticky have no effect before 3.6.0",
                "raise the version, or leave them out",
            ),
            Self::BothIdAndNameSet => (
                "ErrBothIDAndNameSet",
                "both id and name are given",
                "leave one of them out",
            ),
            Self::LabelTooLong => (
                "ErrLabelTooLong",
                "the partition's label is too long",
                "use at most 36 characters",
            ),
            Self::DoesntMatchGuid => (
                "ErrDoesntMatchGUIDRegex",
                "it is no GUID",
                "write it as 01234567-89AB-CDEF-EDCB-A98765432101",
            ),
            Self::LabelContainsColon => (
                "ErrLabelContainsColon",
                "the partition's label contains a colon",
                "leave it out: what follows it would be lost",
            ),
            Self::NoPath => ("ErrNoPath", "the path is missing", "give it, from the root"),
            Self::PathRelative => (
                "ErrPathRelative",
                "the path does not begin with a slash",
                "write it from the root",
            ),
            Self::DirtyPath => (
                "ErrDirtyPath",
                "the path is not in its simplest form",
                "write it without //, /./, /../ and a slash at its end",
            ),
            Self::PartitionsOverwritten => (
                "ErrPartitionsOverwritten",
                "the filesystem overwrites a disk that is partitioned",
                "name one of its partitions instead",
            ),
            Self::FilesystemImplicitWipe => (
                "ErrFilesystemImplicitWipe",
                "the disk's table is wiped, and the filesystem with it",
                "set \"wipeFilesystem\" to say that it is meant",
            ),
            Self::RaidLevelRequired => (
                "ErrRaidLevelRequired",
                "the level is missing",
                "say with \"level\" which one it is",
            ),
            Self::SparesUnsupportedForLevel => (
                "ErrSparesUnsupportedForLevel",
                "this level has no spares",
                "leave \"spares\" out",
            ),
            Self::UnrecognizedRaidLevel => (
                "ErrUnrecognizedRaidLevel",
                "the level is not known",
                "use linear, raid0, raid1, raid4, raid5, raid6 or raid10",
            ),
            Self::RaidDevicesRequired => (
                "ErrRaidDevicesRequired",
                "there are no devices",
                "list them in \"devices\"",
            ),
            Self::ShouldNotExistWithOthers => (
                "ErrShouldNotExistWithOthers",
                "it shall not exist, and something is said about it",
                "leave the rest out",
            ),
            Self::NeedLabelOrNumber => (
                "ErrNeedLabelOrNumber",
                "the partition has neither a number nor a label",
                "give it one of them",
            ),
            Self::InvalidProxy => (
                "ErrInvalidProxy",
                "the proxy is not reached over http or https",
                "write its URL with http:// or https://",
            ),
            Self::InsecureProxy => (
                "ErrInsecureProxy",
                "the proxy for https is reached without encryption",
                "write its URL with https://",
            ),
            Self::PathConflictsSystemd => (
                "ErrPathConflictsSystemd",
                "a unit or drop-in of this config has the same path",
                "leave one of them out",
            ),
            Self::CexWithClevis => (
                "ErrCexWithClevis",
                "cex cannot be combined with clevis",
                "leave one of them out",
            ),
            Self::CexWithKeyFile => (
                "ErrCexWithKeyFile",
                "cex cannot be combined with a key file",
                "leave one of them out",
            ),
            Self::InvalidSystemdExt => (
                "ErrInvalidSystemdExt",
                "the unit's name does not end as units do",
                "end it with .service, .socket, .timer or another kind of unit",
            ),
            Self::InvalidSystemdDropinExt => (
                "ErrInvalidSystemdDropinExt",
                "the drop-in's name does not end with .conf",
                "end it with .conf",
            ),
            Self::SourceRequired => (
                "ErrSourceRequired",
                "the source is missing",
                "say with \"source\" where it comes from",
            ),
            Self::InvalidScheme => (
                "ErrInvalidScheme",
                "the URL's scheme is not known",
                "use http, https, tftp, s3, arn, gs (since 3.2.0) or data",
            ),
            Self::InvalidUrl => ("ErrInvalidUrl", "the URL cannot be read", "correct it"),
            Self::InvalidHttpHeader => (
                "ErrInvalidHTTPHeader",
                "the header has an empty value",
                "give it a value, or null to remove the parent's",
            ),
            Self::EmptyHttpHeaderName => (
                "ErrEmptyHTTPHeaderName",
                "the header has no name",
                "give it one",
            ),
            Self::UnsupportedSchemeForHttpHeaders => (
                "ErrUnsupportedSchemeForHTTPHeaders",
                "headers are sent only over http and https",
                "leave them out, or use such a source",
            ),
            Self::HashMalformed => (
                "ErrHashMalformed",
                "the hash has no function in front",
                "write it as sha256-… or sha512-…",
            ),
            Self::HashWrongSize => (
                "ErrHashWrongSize",
                "the hash has not the length of its function",
                "write 64 digits for sha256, 128 for sha512",
            ),
            Self::HashUnrecognized => (
                "ErrHashUnrecognized",
                "the hash's function is not known",
                "use sha512, or sha256 since 3.1.0",
            ),
            Self::InvalidS3Arn => (
                "ErrInvalidS3ARN",
                "the ARN is not one of S3",
                "write it as arn:aws:s3:::bucket/key",
            ),
            Self::InvalidS3ObjectVersionId => (
                "ErrInvalidS3ObjectVersionId",
                "the versionId is empty",
                "give it a value, or leave it out",
            ),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax(what) => write!(f, "the config is no JSON: {what}"),
            Self::WrongType { expected, found } => {
                write!(f, "{found} stands where {expected} is expected")
            }
            Self::UnusedKey(key) => write!(f, "the key {key:?} is not known and is passed over"),
            Self::BadDataUrl(why) => write!(f, "the data URL cannot be decoded: {why}"),
            Self::BadUnit(why) => write!(f, "the unit cannot be read: {why}"),
            Self::NoInstallSection { unit } => write!(
                f,
                "the unit {unit:?} is enabled and has no [Install] section, so that enabling it does nothing"
            ),
            Self::NoInstallSectionInTemplate { template, unit } => write!(
                f,
                "{unit:?} is enabled and its template {template:?} has no [Install] section"
            ),
            other => f.write_str(other.row().1),
        }
    }
}
