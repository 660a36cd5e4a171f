//! What the referee says, by the names of its errors.

/// The words of every error that validation can find.
const WORDS: &[(&str, &str)] = &[
    ("ErrEmpty", "not a config (empty)"),
    ("ErrDuplicate", "duplicate entry defined"),
    (
        "ErrInvalidVersion",
        "invalid config version (couldn't parse)",
    ),
    ("ErrUnknownVersion", "unsupported config version"),
    ("ErrCompressionInvalid", "invalid compression method"),
    ("ErrFileUsedSymlink", "file path includes link in config"),
    (
        "ErrDirectoryUsedSymlink",
        "directory path includes link in config",
    ),
    ("ErrLinkUsedSymlink", "link path includes link in config"),
    ("ErrLinkTargetRequired", "link target is required"),
    ("ErrHardLinkToDirectory", "hard link target is a directory"),
    (
        "ErrHardLinkSpecifiesOwner",
        "user/group ignored for hard link",
    ),
    ("ErrDiskDeviceRequired", "disk device is required"),
    ("ErrPartitionNumbersCollide", "partition numbers collide"),
    ("ErrPartitionsOverlap", "partitions overlap"),
    (
        "ErrOverwriteAndNilSource",
        "overwrite must be false if source is unspecified",
    ),
    (
        "ErrVerificationAndNilSource",
        "source must be specified if verification is specified",
    ),
    ("ErrFilesystemInvalidFormat", "invalid filesystem format"),
    (
        "ErrLabelNeedsFormat",
        "filesystem must specify format if label is specified",
    ),
    (
        "ErrFormatNilWithOthers",
        "format cannot be empty when path, label, uuid, wipeFilesystem, options, or mountOptions is specified",
    ),
    (
        "ErrExt4LabelTooLong",
        "filesystem labels cannot be longer than 16 characters when using ext4",
    ),
    (
        "ErrBtrfsLabelTooLong",
        "filesystem labels cannot be longer than 256 characters when using btrfs",
    ),
    (
        "ErrXfsLabelTooLong",
        "filesystem labels cannot be longer than 12 characters when using xfs",
    ),
    (
        "ErrSwapLabelTooLong",
        "filesystem labels cannot be longer than 15 characters when using swap",
    ),
    (
        "ErrVfatLabelTooLong",
        "filesystem labels cannot be longer than 11 characters when using vfat",
    ),
    (
        "ErrLuksLabelTooLong",
        "luks device labels cannot be longer than 47 characters",
    ),
    (
        "ErrLuksNameContainsSlash",
        "device names cannot contain slashes",
    ),
    ("ErrInvalidLuksKeyFile", "invalid key-file source"),
    ("ErrClevisPinRequired", "missing required custom clevis pin"),
    ("ErrUnknownClevisPin", "unsupported clevis pin"),
    (
        "ErrClevisConfigRequired",
        "missing required custom clevis config",
    ),
    (
        "ErrClevisCustomWithOthers",
        "cannot use custom clevis config with tpm2, tang, or threshold",
    ),
    ("ErrTangThumbprintRequired", "thumbprint is required"),
    (
        "ErrInvalidTangAdvertisement",
        "advertisement is not valid JSON",
    ),
    ("ErrFileIllegalMode", "illegal file mode"),
    (
        "ErrModeSpecialBits",
        "setuid/setgid/sticky bits are not supported or functional in spec versions older than 3.6.0",
    ),
    ("ErrBothIDAndNameSet", "cannot set both id and name"),
    (
        "ErrLabelTooLong",
        "partition labels may not exceed 36 characters",
    ),
    (
        "ErrDoesntMatchGUIDRegex",
        "doesn't match the form \"01234567-89AB-CDEF-EDCB-A98765432101\"",
    ),
    (
        "ErrLabelContainsColon",
        "partition label will be truncated to text before the colon",
    ),
    ("ErrNoPath", "path not specified"),
    ("ErrPathRelative", "path not absolute"),
    ("ErrDirtyPath", "path is not fully simplified"),
    (
        "ErrPartitionsOverwritten",
        "filesystem overwrites partitioned device",
    ),
    (
        "ErrFilesystemImplicitWipe",
        "device matches disk with wipeTable enabled; filesystem will be wiped",
    ),
    ("ErrRaidLevelRequired", "raid level is required"),
    (
        "ErrSparesUnsupportedForLevel",
        "spares unsupported for linear and raid0 arrays",
    ),
    ("ErrUnrecognizedRaidLevel", "unrecognized raid level"),
    ("ErrRaidDevicesRequired", "raid devices required"),
    (
        "ErrShouldNotExistWithOthers",
        "shouldExist specified false with other options also specified",
    ),
    (
        "ErrZeroesWithShouldNotExist",
        "shouldExist is false for a partition and other partition(s) has start or size 0",
    ),
    (
        "ErrNeedLabelOrNumber",
        "a partition number >= 1 or a label must be specified",
    ),
    (
        "ErrDuplicateLabels",
        "cannot use the same partition label twice",
    ),
    ("ErrInvalidProxy", "proxies must be http(s)"),
    (
        "ErrInsecureProxy",
        "insecure plaintext HTTP proxy specified for HTTPS resources",
    ),
    (
        "ErrPathConflictsSystemd",
        "path conflicts with systemd unit or dropin",
    ),
    ("ErrCexWithClevis", "cannot use cex with clevis"),
    ("ErrCexWithKeyFile", "cannot use key file with cex"),
    ("ErrInvalidSystemdExt", "invalid systemd unit extension"),
    (
        "ErrInvalidSystemdDropinExt",
        "invalid systemd drop-in extension",
    ),
    ("ErrSourceRequired", "source is required"),
    ("ErrInvalidScheme", "invalid url scheme"),
    ("ErrInvalidUrl", "unable to parse url"),
    ("ErrInvalidHTTPHeader", "unable to parse HTTP header"),
    ("ErrEmptyHTTPHeaderName", "HTTP header name can't be empty"),
    (
        "ErrUnsupportedSchemeForHTTPHeaders",
        "cannot use HTTP headers with this source scheme",
    ),
    ("ErrHashMalformed", "malformed hash specifier"),
    ("ErrHashWrongSize", "incorrect size for hash sum"),
    ("ErrHashUnrecognized", "unrecognized hash function"),
    ("ErrInvalidS3ARN", "invalid S3 ARN format"),
    ("ErrInvalidS3ObjectVersionId", "invalid S3 object VersionId"),
];

/// Finds the name of what was said: that of Ignition's error, or ours for what has none there.
pub(crate) fn name(message: &str) -> String {
    if let Some((name, _)) = WORDS.iter().find(|(_, words)| *words == message) {
        return (*name).to_owned();
    }
    let kinds = [
        ("unused key", "unused key"),
        ("invalid unit content: ", "bad unit"),
        ("unit \"", "no install section"),
        ("template unit \"", "no install section in template"),
        ("json: cannot unmarshal", "wrong type"),
        ("context tree does not match", "context tree"),
        ("invalid character ", "syntax"),
        ("unexpected end of JSON", "syntax"),
        ("exceeded max depth", "syntax"),
    ];
    let kind = kinds.iter().find(|(start, _)| message.starts_with(start));
    // What is left is said by the reader of data URLs.
    kind.map_or("bad data URL", |(_, name)| name).to_owned()
}

/// Finds the name of what was said instead of a report.
pub(crate) fn refusal(message: &str) -> String {
    let message = message.trim_start_matches("couldn't parse config: ");
    name(message)
}
