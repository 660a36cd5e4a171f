//! Disks, arrays, file systems and encrypted volumes, which are judged and merged, never made.

use super::Maker;
use crate::ignition::draft::Draft;

const DEVICES: [&str; 4] = ["/dev/sda", "/dev/sdb", "/dev/disk/by-id/x", "/dev/vda"];
const PARTS: [&str; 4] = ["/dev/sda1", "/dev/md/a", "/dev/mapper/secret", "/dev/vdb"];
const GUIDS: [&str; 3] = [
    "4F68BCE3-E8CD-4DB1-96E7-FBCAF984B709",
    "01234567-89ab-cdef-edcb-a98765432101",
    "",
];

impl Maker<'_> {
    /// Adds everything that needs disks.
    pub(super) fn disks(&mut self, storage: &mut Draft) {
        let disks: Vec<Draft> = self
            .names(&DEVICES, 20, 2)
            .iter()
            .map(|device| self.disk(device))
            .collect();
        let arrays: Vec<Draft> = self
            .names(&["data", "backup"], 12, 2)
            .iter()
            .map(|name| self.array(name))
            .collect();
        let filesystems: Vec<Draft> = self
            .names(&PARTS, 20, 3)
            .iter()
            .map(|device| self.filesystem(device))
            .collect();
        storage.put_list("disks", disks);
        storage.put_list("raid", arrays);
        storage.put_list("filesystems", filesystems);
        if self.spec.has(2) {
            let volumes: Vec<Draft> = self
                .names(&["secret", "vault"], 20, 2)
                .iter()
                .map(|name| self.volume(name))
                .collect();
            storage.put_list("luks", volumes);
        }
    }

    fn disk(&mut self, device: &str) -> Draft {
        let mut disk = Draft::object().with("device", device);
        let wipe = self.dice.percent(50);
        self.maybe(&mut disk, 30, "wipeTable", wipe);
        let count = i64::try_from(self.few(70, 3)).unwrap_or(0);
        let partitions: Vec<Draft> = (1..=count).map(|number| self.partition(number)).collect();
        disk.put_list("partitions", partitions);
        disk
    }

    /// Makes a partition that overlaps with none of another number.
    fn partition(&mut self, number: i64) -> Draft {
        let mut partition = Draft::object().with("number", number);
        if self.dice.percent(10) {
            partition.put("shouldExist", false);
            self.maybe(&mut partition, 50, "wipePartitionEntry", true);
            return partition;
        }
        self.maybe(&mut partition, 50, "label", format!("label-{number}"));
        self.maybe(&mut partition, 40, "startMiB", number * 1000);
        let size = 1 + self.number(999);
        self.maybe(&mut partition, 40, "sizeMiB", size);
        let (guid, kind) = (self.pick(&GUIDS), self.pick(&GUIDS));
        self.maybe(&mut partition, 20, "guid", guid);
        self.maybe(&mut partition, 20, "typeGuid", kind);
        if self.spec.has(2) {
            self.maybe(&mut partition, 15, "resize", true);
        }
        partition
    }

    fn array(&mut self, name: &str) -> Draft {
        let level = self.pick(&[
            "linear", "raid0", "stripe", "mirror", "raid10", "6", "raid5",
        ]);
        let devices = self.names(&DEVICES, 100, 3);
        let mut array = Draft::object()
            .with("name", name)
            .with("level", level)
            .with("devices", Self::texts(&devices));
        let has_spares = !["linear", "raid0", "stripe"].contains(&level);
        let spares = if has_spares { self.number(3) } else { 0 };
        self.maybe(&mut array, 30, "spares", spares);
        let options = self.names(&["--quiet", "--force", "--assume-clean"], 30, 2);
        array.put_list("options", Self::texts(&options));
        array
    }

    fn filesystem(&mut self, device: &str) -> Draft {
        let mut filesystem = Draft::object().with("device", device);
        if self.dice.percent(10) {
            return filesystem;
        }
        let format = self.pick(&["ext4", "btrfs", "xfs", "swap", "vfat"]);
        filesystem.put("format", format);
        self.maybe(&mut filesystem, 40, "label", "ROOT");
        let path = self.pick(&["/", "/var", "/var/lib/data"]);
        if format != "swap" {
            self.maybe(&mut filesystem, 50, "path", path);
        }
        self.maybe(
            &mut filesystem,
            20,
            "uuid",
            "8a7a6e26-5e8f-4cca-a654-46215d4696ac",
        );
        let wipe = self.dice.percent(50);
        self.maybe(&mut filesystem, 40, "wipeFilesystem", wipe);
        let options = self.names(&["-F", "-q", "-F"], 30, 3);
        filesystem.put_list("options", Self::texts(&options));
        if self.spec.has(1) {
            let options = self.names(&["noatime", "ro"], 30, 3);
            filesystem.put_list("mountOptions", Self::texts(&options));
        }
        filesystem
    }

    fn volume(&mut self, name: &str) -> Draft {
        let device = self.pick(&DEVICES);
        let mut volume = Draft::object().with("name", name).with("device", device);
        self.maybe(&mut volume, 30, "label", "SECRET");
        self.maybe(&mut volume, 30, "wipeVolume", true);
        let options = self.names(&["--cipher", "aes-xts"], 30, 2);
        volume.put_list("options", Self::texts(&options));
        if self.spec.has(4) {
            self.maybe(&mut volume, 30, "discard", true);
            let options = self.names(&["--perf-no_read_workqueue"], 30, 1);
            volume.put_list("openOptions", Self::texts(&options));
        }
        match self.dice.below(4) {
            0 => {
                let key = Draft::object().with("source", "data:,secret");
                volume.put("keyFile", key);
            }
            1 if self.spec.has(5) => volume.put("cex", Draft::object().with("enabled", true)),
            2 => {
                let clevis = self.clevis();
                volume.put_object("clevis", clevis);
            }
            _ => {}
        }
        volume
    }

    fn clevis(&mut self) -> Draft {
        if self.dice.percent(40) {
            let pin = self.pick(&["tpm2", "tang", "sss"]);
            let mut custom = Draft::object().with("pin", pin).with("config", "{}");
            self.maybe(&mut custom, 50, "needsNetwork", true);
            return Draft::object().with("custom", custom);
        }
        let mut clevis = Draft::object();
        self.maybe(&mut clevis, 50, "tpm2", true);
        self.maybe(&mut clevis, 40, "threshold", 1);
        let mut servers = Vec::new();
        for url in self.names(
            &["http://tang.example", "https://tang.example:8443/x"],
            60,
            2,
        ) {
            let mut server = Draft::object().with("url", url).with("thumbprint", "abc");
            if self.spec.has(4) {
                self.maybe(&mut server, 40, "advertisement", r#"{"payload": "x"}"#);
            }
            servers.push(server);
        }
        clevis.put_list("tang", servers);
        clevis
    }
}
