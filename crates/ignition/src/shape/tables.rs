//! The tables. Names are sorted; a version stands only where a field is younger than 3.0.

use super::{Field, Holds, Key, Merging, Shape};
use crate::version::Version;

const fn field(name: &'static str, holds: Holds) -> Field {
    Field {
        name,
        holds,
        since: Version::V3_0,
        is_plain: false,
        merging: Merging::ByKey(name),
    }
}

const fn text(name: &'static str) -> Field {
    field(name, Holds::Text)
}

const fn number(name: &'static str) -> Field {
    field(name, Holds::Number)
}

const fn flag(name: &'static str) -> Field {
    field(name, Holds::Flag)
}

const fn part(name: &'static str, shape: &'static Shape) -> Field {
    field(name, Holds::Part(shape))
}

const fn texts(name: &'static str) -> Field {
    field(name, Holds::Texts)
}

const fn parts(name: &'static str, shape: &'static Shape) -> Field {
    field(name, Holds::Parts(shape))
}

impl Field {
    const fn since(mut self, version: Version) -> Self {
        self.since = version;
        self
    }

    const fn plain(mut self) -> Self {
        self.is_plain = true;
        self
    }

    /// Shares the keys of its list with other lists of the same part.
    const fn among(mut self, group: &'static str) -> Self {
        self.merging = Merging::ByKey(group);
        self
    }

    const fn all(mut self) -> Self {
        self.merging = Merging::All;
        self
    }
}

const fn shape(fields: &'static [Field]) -> Shape {
    Shape {
        fields,
        key: Key::None,
    }
}

const fn keyed(key: &'static str, fields: &'static [Field]) -> Shape {
    Shape {
        fields,
        key: Key::Field(key),
    }
}

/// A whole config.
pub(crate) static CONFIG: Shape = shape(&[
    part("ignition", &IGNITION),
    part("kernelArguments", &KERNEL_ARGUMENTS).since(Version::V3_3),
    part("passwd", &PASSWD),
    part("storage", &STORAGE),
    part("systemd", &SYSTEMD),
]);

static IGNITION: Shape = shape(&[
    part("config", &IGNITION_CONFIG),
    part("proxy", &PROXY).since(Version::V3_1),
    part("security", &SECURITY),
    part("timeouts", &TIMEOUTS),
    text("version").plain(),
]);

static IGNITION_CONFIG: Shape = shape(&[parts("merge", &REFERENCE), part("replace", &REFERENCE)]);

static PROXY: Shape = shape(&[text("httpProxy"), text("httpsProxy"), texts("noProxy")]);

static SECURITY: Shape = shape(&[part("tls", &TLS)]);

static TLS: Shape = shape(&[parts("certificateAuthorities", &REFERENCE)]);

static TIMEOUTS: Shape = shape(&[number("httpResponseHeaders"), number("httpTotal")]);

/// What a config or an authority is fetched from: in 3.0 less could be said of it than of a file.
static REFERENCE: Shape = keyed(
    "source",
    &[
        text("compression").since(Version::V3_1),
        parts("httpHeaders", &HTTP_HEADER).since(Version::V3_1),
        text("source"),
        part("verification", &VERIFICATION),
    ],
);

static RESOURCE: Shape = keyed(
    "source",
    &[
        text("compression"),
        parts("httpHeaders", &HTTP_HEADER).since(Version::V3_1),
        text("source"),
        part("verification", &VERIFICATION),
    ],
);

static HTTP_HEADER: Shape = keyed("name", &[text("name").plain(), text("value")]);

static VERIFICATION: Shape = shape(&[text("hash")]);

static KERNEL_ARGUMENTS: Shape = shape(&[
    texts("shouldExist").among("arguments"),
    texts("shouldNotExist").among("arguments"),
]);

static PASSWD: Shape = shape(&[parts("groups", &GROUP), parts("users", &USER)]);

static GROUP: Shape = keyed(
    "name",
    &[
        number("gid"),
        text("name").plain(),
        text("passwordHash"),
        flag("shouldExist").since(Version::V3_2),
        flag("system"),
    ],
);

static USER: Shape = keyed(
    "name",
    &[
        text("gecos"),
        texts("groups"),
        text("homeDir"),
        text("name").plain(),
        flag("noCreateHome"),
        flag("noLogInit"),
        flag("noUserGroup"),
        text("passwordHash"),
        text("primaryGroup"),
        text("shell"),
        flag("shouldExist").since(Version::V3_2),
        texts("sshAuthorizedKeys"),
        flag("system"),
        number("uid"),
    ],
);

static STORAGE: Shape = shape(&[
    parts("directories", &DIRECTORY).among("nodes"),
    parts("disks", &DISK),
    parts("files", &FILE).among("nodes"),
    parts("filesystems", &FILESYSTEM),
    parts("links", &LINK).among("nodes"),
    parts("luks", &LUKS).since(Version::V3_2),
    parts("raid", &RAID),
]);

static OWNER: Shape = shape(&[number("id"), text("name")]);

static DIRECTORY: Shape = keyed(
    "path",
    &[
        part("group", &OWNER),
        number("mode"),
        flag("overwrite"),
        text("path").plain(),
        part("user", &OWNER),
    ],
);

static FILE: Shape = keyed(
    "path",
    &[
        parts("append", &RESOURCE).all(),
        part("contents", &RESOURCE),
        part("group", &OWNER),
        number("mode"),
        flag("overwrite"),
        text("path").plain(),
        part("user", &OWNER),
    ],
);

static LINK: Shape = keyed(
    "path",
    &[
        part("group", &OWNER),
        flag("hard"),
        flag("overwrite"),
        text("path").plain(),
        text("target"),
        part("user", &OWNER),
    ],
);

static DISK: Shape = keyed(
    "device",
    &[
        text("device").plain(),
        parts("partitions", &PARTITION),
        flag("wipeTable"),
    ],
);

static PARTITION: Shape = Shape {
    key: Key::Partition,
    fields: &[
        text("guid"),
        text("label"),
        number("number").plain(),
        flag("resize").since(Version::V3_2),
        flag("shouldExist"),
        number("sizeMiB"),
        number("startMiB"),
        text("typeGuid"),
        flag("wipePartitionEntry"),
    ],
};

static FILESYSTEM: Shape = keyed(
    "device",
    &[
        text("device").plain(),
        text("format"),
        text("label"),
        texts("mountOptions").all().since(Version::V3_1),
        texts("options").all(),
        text("path"),
        text("uuid"),
        flag("wipeFilesystem"),
    ],
);

static LUKS: Shape = keyed(
    "name",
    &[
        part("cex", &CEX).since(Version::V3_5),
        part("clevis", &CLEVIS),
        text("device"),
        flag("discard").since(Version::V3_4),
        part("keyFile", &RESOURCE),
        text("label"),
        text("name").plain(),
        texts("openOptions").since(Version::V3_4),
        texts("options").all(),
        text("uuid"),
        flag("wipeVolume"),
    ],
);

static CEX: Shape = shape(&[flag("enabled")]);

static CLEVIS: Shape = shape(&[
    part("custom", &CLEVIS_CUSTOM),
    parts("tang", &TANG),
    number("threshold"),
    flag("tpm2"),
]);

static CLEVIS_CUSTOM: Shape = shape(&[text("config"), flag("needsNetwork"), text("pin")]);

static TANG: Shape = keyed(
    "url",
    &[
        text("advertisement").since(Version::V3_4),
        text("thumbprint"),
        text("url").plain(),
    ],
);

static RAID: Shape = keyed(
    "name",
    &[
        texts("devices"),
        text("level"),
        text("name").plain(),
        texts("options").all(),
        number("spares"),
    ],
);

static SYSTEMD: Shape = shape(&[parts("units", &UNIT)]);

static UNIT: Shape = keyed(
    "name",
    &[
        text("contents"),
        parts("dropins", &DROPIN),
        flag("enabled"),
        flag("mask"),
        text("name").plain(),
    ],
);

static DROPIN: Shape = keyed("name", &[text("contents"), text("name").plain()]);
