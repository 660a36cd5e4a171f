//! A real browser, driven over two pipes: it is told what to do in messages of JSON, each ended by NUL.

#![expect(clippy::disallowed_methods, reason = "a test's own programs and clock")]
#![expect(clippy::panic, reason = "a test that cannot go on has failed")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Where the browser is.
const CHROMIUM: &str = "/usr/bin/chromium";
/// How long anything may take.
const PATIENCE: Duration = Duration::from_mins(1);
/// How long the browser may take to end by itself.
const ENDS: Duration = Duration::from_secs(10);
/// Gives the browser its pipes as it expects them: it reads from 3 and writes to 4.
const PIPES: &str = r#"exec "$@" 3<&0 4>&1 0</dev/null 1>/dev/null 2>/dev/null"#;

/// A browser with one tab; it is ended when it is dropped.
#[derive(Debug)]
pub(crate) struct Browser {
    child: Child,
    input: Option<ChildStdin>,
    messages: Receiver<Value>,
    /// The tab.
    session: Option<String>,
    last: u64,
    /// Everything that was told without being asked for.
    pub(crate) events: Vec<Value>,
    _profile: TempDir,
}

impl Browser {
    /// Starts one that trusts the certificate in a file, and reaches nothing but 127.0.0.1.
    pub(crate) fn start(certificate: &Path) -> Self {
        assert!(
            Path::new(CHROMIUM).exists(),
            "{CHROMIUM} is missing, and the page is checked in a real browser: install the package chromium"
        );
        let profile = tempfile::tempdir().unwrap();
        let folder = profile.path().display().to_string();
        let key = key_of(certificate);
        let mut command = Command::new("/bin/sh");
        command.args(["-c", PIPES, "sh", CHROMIUM]);
        command.args([
            "--headless=new",
            "--no-sandbox",
            "--remote-debugging-pipe",
            "--no-first-run",
            "--disable-gpu",
            "--hide-scrollbars",
            "--disable-dev-shm-usage",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--disable-breakpad",
            "--disable-crash-reporter",
            "--disable-extensions",
            "--no-proxy-server",
            "--password-store=basic",
            "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
            &format!("--ignore-certificate-errors-spki-list={key}"),
            &format!("--user-data-dir={folder}"),
            "about:blank",
        ]);
        // All that it writes stays in its folder, and all its processes are of one group.
        command
            .env("HOME", &folder)
            .env("TMPDIR", &folder)
            .process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().unwrap());
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            for message in output.split(0) {
                let Ok(message) = message else { return };
                let message = serde_json::from_slice(&message).unwrap_or_default();
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let mut browser = Self {
            child,
            input,
            messages,
            session: None,
            last: 0,
            events: vec![],
            _profile: profile,
        };
        browser.open_tab();
        browser
    }

    fn open_tab(&mut self) {
        let tab = self.call("Target.createTarget", &json!({"url": "about:blank"}));
        let target = &tab["targetId"];
        let tab = self.call(
            "Target.attachToTarget",
            &json!({"targetId": target, "flatten": true}),
        );
        self.session = tab["sessionId"].as_str().map(ToOwned::to_owned);
        for domain in ["Page", "Runtime", "Log", "Network", "Audits"] {
            self.call(&format!("{domain}.enable"), &json!({}));
        }
    }

    /// Asks for something and waits for the answer.
    pub(crate) fn call(&mut self, method: &str, parameters: &Value) -> Value {
        let answer = self.try_call(method, parameters);
        answer.unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    fn try_call(&mut self, method: &str, parameters: &Value) -> Result<Value, Value> {
        self.last += 1;
        let id = self.last;
        let mut message = json!({"id": id, "method": method, "params": parameters});
        if let Some(session) = &self.session {
            message["sessionId"] = session.as_str().into();
        }
        let mut message = message.to_string().into_bytes();
        message.push(0);
        self.input.as_mut().unwrap().write_all(&message).unwrap();
        let end = Instant::now() + PATIENCE;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let message = match self.messages.recv_timeout(left) {
                Ok(message) => message,
                Err(RecvTimeoutError::Timeout) => panic!("no answer to {method}"),
                Err(RecvTimeoutError::Disconnected) => panic!("the browser ended at {method}"),
            };
            if message["id"] == id {
                return match message.get("error") {
                    Some(error) => Err(error.clone()),
                    None => Ok(message["result"].clone()),
                };
            }
            self.events.push(message);
        }
    }

    /// Returns what an expression of JavaScript is in the page.
    pub(crate) fn value(&mut self, expression: &str) -> Value {
        let answer = self.call(
            "Runtime.evaluate",
            &json!({"expression": expression, "returnByValue": true, "awaitPromise": true}),
        );
        assert!(
            answer.get("exceptionDetails").is_none(),
            "{expression}: {answer}"
        );
        answer["result"]["value"].clone()
    }

    /// Waits until an expression holds; it may fail while a page is on its way.
    pub(crate) fn until(&mut self, expression: &str) {
        let end = Instant::now() + PATIENCE;
        let guarded = format!(
            "(() => {{ try {{ return Boolean({expression}) }} catch {{ return false }} }})()"
        );
        let asked = json!({"expression": guarded, "returnByValue": true});
        // A page that is just going away answers with an error.
        let holds = |answer: Result<Value, Value>| {
            answer.is_ok_and(|answer| answer["result"]["value"] == true)
        };
        while !holds(self.try_call("Runtime.evaluate", &asked)) {
            if Instant::now() >= end {
                let text = self.value("document.body.innerText");
                panic!("in vain: {expression}\n{text}\n{:#?}", self.complaints());
            }
            std::thread::sleep(Duration::from_millis(30));
        }
    }

    /// Opens an address, and waits until it is there.
    pub(crate) fn open(&mut self, url: &str) {
        let answer = self.call("Page.navigate", &json!({ "url": url }));
        assert!(answer.get("errorText").is_none(), "{answer}");
        self.until("document.readyState === 'complete'");
    }

    /// Types a text wherever the cursor is.
    pub(crate) fn types(&mut self, text: &str) {
        for sign in text.chars() {
            let key = json!({"type": "char", "text": sign.to_string()});
            self.call("Input.dispatchKeyEvent", &key);
        }
    }

    /// Presses a key that is no letter.
    pub(crate) fn presses(&mut self, key: &str, number: u32) {
        let text = if key == "Enter" { "\r" } else { "" };
        let mut press = json!({"type": "keyDown", "key": key, "code": key,
            "windowsVirtualKeyCode": number, "text": text});
        self.call("Input.dispatchKeyEvent", &press.clone());
        press["type"] = "keyUp".into();
        self.call("Input.dispatchKeyEvent", &press);
    }

    /// Clicks on the first element that a selector finds.
    pub(crate) fn clicks(&mut self, selector: &str) {
        let quoted = json!(selector);
        self.until(&format!("document.querySelector({quoted})"));
        let place = self.value(&format!(
            "(() => {{ const e = document.querySelector({quoted}); e.scrollIntoView({{block: 'center'}}); \
             const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2] }})()"
        ));
        for kind in ["mousePressed", "mouseReleased"] {
            let event = json!({"type": kind, "x": place[0], "y": place[1], "button": "left", "clickCount": 1});
            self.call("Input.dispatchMouseEvent", &event);
        }
    }

    /// Looks at the page in a window of a size, in light or dark.
    pub(crate) fn looks(&mut self, width: u32, height: u32, scheme: &str) {
        let metrics =
            json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.call("Emulation.setDeviceMetricsOverride", &metrics);
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        self.call(
            "Emulation.setEmulatedMedia",
            &json!({ "features": features }),
        );
    }

    /// Takes a picture of what is seen.
    pub(crate) fn picture(&mut self) -> Vec<u8> {
        let picture = self.call("Page.captureScreenshot", &json!({"format": "png"}));
        STANDARD.decode(picture["data"].as_str().unwrap()).unwrap()
    }

    /// Lists everything that the browser found wrong.
    pub(crate) fn complaints(&self) -> Vec<&Value> {
        let events = self.events.iter().filter(|event| {
            let parameters = &event["params"];
            match event["method"].as_str().unwrap_or_default() {
                "Runtime.exceptionThrown" => true,
                // What tests do themselves is called slow.
                "Audits.issueAdded" => parameters["issue"]["code"] != "PerformanceIssue",
                "Runtime.consoleAPICalled" => parameters["type"] == "error",
                "Log.entryAdded" => parameters["entry"]["level"] == "error",
                _ => false,
            }
        });
        events.collect()
    }

    /// Lists the addresses that the browser asked.
    pub(crate) fn asked(&self) -> Vec<&str> {
        let asked = self.events.iter();
        let asked = asked.filter(|event| event["method"] == "Network.requestWillBeSent");
        asked
            .filter_map(|event| event["params"]["request"]["url"].as_str())
            .collect()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The end of its pipe tells it to end; if it does not, it is killed with all that it started.
        drop(self.input.take());
        let end = Instant::now() + ENDS;
        while Instant::now() < end && matches!(self.child.try_wait(), Ok(None)) {
            std::thread::sleep(Duration::from_millis(20));
        }
        if let Some(group) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            // Nobody of the group may be left.
            let _ = kill_process_group(group, Signal::KILL);
        }
        drop(self.child.wait());
    }
}

/// Returns the hash of a certificate's public key, as the browser wants it.
fn key_of(certificate: &Path) -> String {
    use sha2::Digest as _;
    let (_, pem) = x509_parser::pem::parse_x509_pem(&std::fs::read(certificate).unwrap()).unwrap();
    let certificate = pem.parse_x509().unwrap();
    STANDARD.encode(sha2::Sha256::digest(certificate.public_key().raw))
}
