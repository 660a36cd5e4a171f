//! Units, drop-ins, masks and instances.

use super::Maker;
use crate::ignition::draft::Draft;
use crate::ignition::root;

const UNITS: [&str; 7] = [
    "app.service",
    "data.mount",
    "tick.timer",
    "wake.socket",
    "group.slice",
    "some-very.long_name.path",
    "b.target",
];
const INSTANCES: [&str; 4] = [
    "echo@one.service",
    "echo@two.service",
    "echo@a-b.service",
    "tick@x.timer",
];
const DROPINS: [&str; 3] = ["10-first.conf", "20-second.conf", "override.conf"];
const INSTALLED: &str = "[Unit]\nDescription=ü test\n\n[Service]\nExecStart=/bin/true\n\n[Install]\nWantedBy=multi-user.target\n";
const CONTENTS: [&str; 6] = [
    INSTALLED,
    "[Unit]\nDescription=without a section to be installed by\n",
    "# nothing but a comment\n",
    "",
    "[Service]\nExecStart=/bin/sh -c \\\n  'echo two lines'\n; a comment\n[Install]\nAlias=other.service\n",
    "[Unit]\r\nDescription=other line ends\r\n[Install]\r\nWantedBy=a.target",
];
const SNIPPETS: [&str; 4] = [
    "[Service]\nEnvironment=A=b\n",
    "",
    "[Unit]\nAfter=network.target",
    "# comment\n",
];
/// Where units are put.
const FOLDER: &str = "/etc/systemd/system";

impl Maker<'_> {
    /// Makes units.
    pub(super) fn systemd(&mut self) -> Draft {
        let mut systemd = Draft::object();
        let mut names = self.names(&UNITS, 60, 3);
        if self.dice.percent(30) {
            names.push(self.pick(root::UNITS));
        }
        let instances = self.names(&INSTANCES, 35, 3);
        if !instances.is_empty() && self.dice.percent(60) {
            names.push("echo@.service");
        }
        names.extend(instances);
        let units: Vec<Draft> = names.iter().map(|name| self.unit(name)).collect();
        systemd.put_list("units", units);
        systemd
    }

    fn unit(&mut self, name: &str) -> Draft {
        let mut unit = Draft::object().with("name", name);
        let percent = if name.contains("@.") { 90 } else { 55 };
        if self.dice.percent(percent) {
            let contents = self.pick(&CONTENTS);
            unit.put("contents", contents);
            self.unit_paths.insert(format!("{FOLDER}/{name}"));
        }
        let enabled = self.dice.percent(70);
        let percent = if name.contains('@') { 75 } else { 50 };
        self.maybe(&mut unit, percent, "enabled", enabled);
        let mask = self.dice.percent(70);
        self.maybe(&mut unit, 30, "mask", mask);
        let dropins = self.dropins(name);
        unit.put_list("dropins", dropins);
        unit
    }

    fn dropins(&mut self, unit: &str) -> Vec<Draft> {
        let names = self.names(&DROPINS, 30, 2);
        let mut dropins = Vec::new();
        for name in names {
            let mut dropin = Draft::object().with("name", name);
            let contents = self.pick(&SNIPPETS);
            self.maybe(&mut dropin, 85, "contents", contents);
            self.unit_paths.insert(format!("{FOLDER}/{unit}.d/{name}"));
            dropins.push(dropin);
        }
        dropins
    }
}
