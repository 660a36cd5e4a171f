//! Failures that are known for the steps of this sequence, as one table.

use bootlace_model::failure::KnownFailure;

/// Every failure that a step of ours names, by code.
pub(super) static FAILURES: &[KnownFailure] = &[
    row(
        "I-01",
        "a file `is there already, and overwrite is not true`",
        "an image or an earlier run brought the file, and a config has to say that it may be replaced",
        "add `\"overwrite\": true` to the entry, or leave out its contents to change mode and owner only",
    ),
    row(
        "I-02",
        "content `is not what its hash promises`",
        "the source was changed after the config was made, or the hash is that of the compressed bytes",
        "make the hash anew over the decompressed content: `sha512sum FILE`",
    ),
    row(
        "I-03",
        "a `user` or a `group` that an entry names `is not known on the target`",
        "names are looked up in the target's own lists, where the config or an image has to add them",
        "add it to passwd.users or passwd.groups, or give its number",
    ),
    row(
        "I-04",
        "a source `gave no answer`, or answers 5xx again and again",
        "a server, a name or a route is not there yet; Ignition itself would wait for ever",
        "`curl -v URL` from this machine; ignition.timeouts.httpTotal sets how long is waited",
    ),
    row(
        "I-05",
        "`useradd` or `groupadd` ends with a code",
        "the target has no lists of users, a number is taken, or a group that is named is not there",
        "the last lines tell which; look at the target's /etc/passwd and /etc/group",
    ),
    row(
        "I-06",
        "an entry leads through `a link` or a file on the way",
        "paths are followed inside of the target as they will be there, and nothing is under a file",
        "`namei -l PATH` below the root shows the way",
    ),
    row(
        "I-07",
        "a unit is `masked` or has no file, and cannot be started now",
        "an entry enables what another one masks, or what only another image has",
        "`systemctl cat UNIT` on the target; take the unit out of the config or bring its file",
    ),
];

const fn row(
    code: &'static str,
    shows: &'static str,
    cause: &'static str,
    remedy: &'static str,
) -> KnownFailure {
    KnownFailure {
        code,
        shows,
        cause,
        remedy,
    }
}
