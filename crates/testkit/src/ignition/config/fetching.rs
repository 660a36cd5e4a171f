//! The section `ignition`, kernel arguments, and what contents come from.

use super::{Maker, Purpose};
use crate::ignition::draft::Draft;
use crate::ignition::server;
use crate::ignition::words::{bytes, data_url, gzip, hash};

/// Sources that are valid in all versions.
const REMOTE: [&str; 6] = [
    "http://127.0.0.1/a",
    "https://example.com/config?x=1#part",
    "https://user:pass@example.com:8443/a%20b",
    "tftp://10.0.0.1/file",
    "s3://bucket/object",
    "s3://bucket/object?versionId=abc",
];
/// Sources that are valid since 3.2.
const CLOUD: &str = "gs://bucket/object";
/// Sources that are valid since 3.4.
const ARN: [&str; 2] = [
    "arn:aws:s3:::bucket/object",
    "arn:aws:s3:us-west-2:123456789012:accesspoint/name/object?versionId=v1",
];
const PROXIES: [&str; 3] = [
    "http://proxy.example:3128",
    "https://proxy.example",
    "https://user:pass@proxy.example:3129/",
];
const HEADERS: [&str; 4] = ["Accept", "X-Token", "Authorization", "accept"];
const KERNEL_ARGUMENTS: [&str; 7] = [
    "quiet",
    "nosmt",
    "console=tty0",
    "console=ttyS0,115200n8",
    "a=b=c",
    "",
    "systemd.unit=x y",
];

impl Maker<'_> {
    /// Makes the section that every config has.
    pub(super) fn ignition(&mut self) -> Draft {
        let mut section = Draft::object().with("version", self.spec.text());
        let mut timeouts = Draft::object();
        let (headers, total) = (self.number(60), self.number(600));
        self.maybe(&mut timeouts, 15, "httpResponseHeaders", headers);
        self.maybe(&mut timeouts, 15, "httpTotal", total);
        section.put_object("timeouts", timeouts);
        if self.spec.has(1) && !self.is(Purpose::Tree) {
            let proxy = self.proxy();
            section.put_object("proxy", proxy);
        }
        if self.is(Purpose::Verdict) {
            let references = self.references();
            section.put_object("config", references);
            let authorities = self.authorities();
            if !authorities.is_empty() {
                let tls = Draft::object().with("certificateAuthorities", authorities);
                section.put("security", Draft::object().with("tls", tls));
            }
        }
        section
    }

    fn proxy(&mut self) -> Draft {
        let mut proxy = Draft::object();
        let (plain, secure) = (self.pick(&PROXIES), self.pick(&PROXIES));
        self.maybe(&mut proxy, 20, "httpProxy", plain);
        self.maybe(&mut proxy, 20, "httpsProxy", secure);
        let exceptions = self.names(&["example.com", "10.0.0.0/8", ".internal", "*"], 20, 4);
        proxy.put_list("noProxy", Self::texts(&exceptions));
        proxy
    }

    fn references(&mut self) -> Draft {
        let mut references = Draft::object();
        let mut merged: Vec<Draft> = Vec::new();
        for _ in 0..self.few(15, 3) {
            let reference = self.reference();
            if !merged
                .iter()
                .any(|other| other.get("source") == reference.get("source"))
            {
                merged.push(reference);
            }
        }
        references.put_list("merge", merged);
        if self.dice.percent(8) {
            let reference = self.reference();
            references.put("replace", reference);
        }
        references
    }

    fn authorities(&mut self) -> Vec<Draft> {
        let mut authorities: Vec<Draft> = Vec::new();
        for _ in 0..self.few(10, 3) {
            let authority = self.reference();
            if !authorities
                .iter()
                .any(|other| other.get("source") == authority.get("source"))
            {
                authorities.push(authority);
            }
        }
        authorities
    }

    /// Makes a reference to a config or to a certificate, which in 3.0 is less than other contents.
    fn reference(&mut self) -> Draft {
        let bytes = bytes(self.dice);
        let mut reference = if self.dice.percent(50) {
            Draft::object().with("source", data_url(self.dice, &bytes))
        } else {
            self.remote()
        };
        if self.dice.percent(20) {
            reference.put("verification", self.verification(&bytes));
        }
        if self.spec.has(1) {
            let compression = self.pick(&["", "gzip"]);
            self.maybe(&mut reference, 10, "compression", compression);
        }
        reference
    }

    fn verification(&mut self, bytes: &[u8]) -> Draft {
        let short = self.spec.has(1) && self.dice.percent(50);
        Draft::object().with("hash", hash(bytes, short))
    }

    /// Makes a source on another machine, with headers where they are known.
    fn remote(&mut self) -> Draft {
        let source = match self.dice.below(10) {
            0 if self.spec.has(2) => CLOUD,
            1 if self.spec.has(4) => self.pick(&ARN),
            _ => self.pick(&REMOTE),
        };
        let mut resource = Draft::object().with("source", source);
        if self.spec.has(1) && source.starts_with("http") {
            let headers = self.headers();
            resource.put_list("httpHeaders", headers);
        }
        resource
    }

    fn headers(&mut self) -> Vec<Draft> {
        let names = self.names(&HEADERS, 40, 3);
        let mut headers = Vec::new();
        for name in names {
            let mut header = Draft::object().with("name", name);
            let value = self.pick(&["text/plain", "Bearer abc", "ü"]);
            // Without a value it removes the header of a parent.
            self.maybe(&mut header, 80, "value", value);
            headers.push(header);
        }
        headers
    }

    /// Makes the contents of a file: what it is filled with, and perhaps how that is checked.
    pub(super) fn contents(&mut self) -> Draft {
        match self.purpose {
            Purpose::Tree if self.dice.percent(10) => self.served(),
            Purpose::Tree => self.inline(),
            _ if self.dice.percent(70) => self.inline(),
            _ => self.remote(),
        }
    }

    /// Makes contents that the server of tests has, or now and then refuses to give.
    fn served(&mut self) -> Draft {
        let kind = self.pick(&["plain", "plain", "packed", "moved", "secret", "missing"]);
        let number = self.dice.below(1000);
        let source = format!("http://{}/{kind}/{number}", server::PLACEHOLDER);
        let mut contents = Draft::object().with("source", source);
        if kind == "packed" {
            contents.put("compression", "gzip");
        }
        if kind == "secret" && self.spec.has(1) {
            let (name, value) = server::TOKEN;
            let header = Draft::object().with("name", name).with("value", value);
            contents.put("httpHeaders", vec![header]);
        }
        if self.dice.percent(50) {
            contents.put("verification", self.verification(&server::body(number)));
        }
        contents
    }

    fn inline(&mut self) -> Draft {
        let bytes = bytes(self.dice);
        let is_packed = self.dice.percent(15);
        let raw = if is_packed {
            gzip(&bytes)
        } else {
            bytes.clone()
        };
        let mut contents = match self.dice.below(20) {
            0 if !is_packed => return Draft::object().with("source", ""),
            _ => Draft::object().with("source", data_url(self.dice, &raw)),
        };
        if is_packed {
            contents.put("compression", "gzip");
        } else {
            self.maybe(&mut contents, 5, "compression", "");
        }
        if self.dice.percent(25) {
            // A wrong one is valid, and fails when it is applied.
            let bytes = if self.dice.percent(4) {
                b"other".to_vec()
            } else {
                bytes
            };
            contents.put("verification", self.verification(&bytes));
        }
        contents
    }

    /// Makes arguments, none of them twice.
    pub(super) fn kernel_arguments(&mut self) -> Draft {
        let chosen = self.names(&KERNEL_ARGUMENTS, 30, 5);
        let split = self.dice.index(chosen.len() + 1);
        let (wanted, unwanted) = chosen.split_at(split);
        let mut arguments = Draft::object();
        arguments.put_list("shouldExist", Self::texts(wanted));
        arguments.put_list("shouldNotExist", Self::texts(unwanted));
        arguments
    }
}
