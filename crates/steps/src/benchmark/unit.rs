//! The command that systemd starts the kubelet with: its unit, the drop-ins, and the files of variables.

use std::collections::BTreeMap;

use bootlace_model::probe::FileTree;

use crate::documents::ending;

/// Settings that could change the command in ways that are not followed here.
const NOT_FOLLOWED: [&str; 4] = [
    "PassEnvironment",
    "RootDirectory",
    "RootImage",
    "UnsetEnvironment",
];

/// The files that the command depends on.
#[derive(Debug)]
pub(super) struct Unit {
    /// The unit itself.
    pub(super) main: Option<Vec<u8>>,
    /// Folders of drop-ins, with their paths. A file of a folder hides those of the same name in later ones.
    pub(super) dropins: Vec<(&'static str, FileTree)>,
    /// The files of variables that may be named, by path; none if the file does not exist.
    pub(super) variables: BTreeMap<&'static str, Option<Vec<u8>>>,
}

/// What the files say together.
#[derive(Debug, Default)]
struct Settings {
    variables: BTreeMap<String, String>,
    files: Vec<String>,
    commands: Vec<String>,
}

impl Unit {
    /// Returns the words of the command; an error says what cannot be followed.
    pub(super) fn command(&self) -> Result<Vec<String>, String> {
        let unit = self.main.as_deref();
        let unit = unit.ok_or("no unit in /etc/systemd/system/kubelet.service")?;
        let mut settings = Settings::default();
        settings.read(unit)?;
        for dropin in self.dropins()?.values() {
            settings.read(dropin)?;
        }
        for path in std::mem::take(&mut settings.files) {
            let (path, is_optional) = match path.strip_prefix('-') {
                Some(path) => (path, true),
                None => (&*path, false),
            };
            match self.variables.get(path) {
                None => {
                    return Err(format!(
                        "kubelet.service reads {path}, which this benchmark does not read"
                    ));
                }
                Some(Some(file)) => settings.variables.extend(variables(file)?),
                Some(None) if is_optional => {}
                Some(None) => {
                    return Err(format!("kubelet.service reads {path}, which is missing"));
                }
            }
        }
        match settings.commands.as_slice() {
            [command] => expand(command, &settings.variables),
            commands => Err(format!("kubelet.service has {} commands", commands.len())),
        }
    }

    /// Returns the drop-ins that count, in the order in which systemd reads them.
    fn dropins(&self) -> Result<BTreeMap<&str, &[u8]>, String> {
        let mut dropins = BTreeMap::new();
        for (folder, tree) in &self.dropins {
            let is_dropin = |name: &str| ending(name) == "conf" && !name.contains('/');
            for file in tree.files.iter().filter(|file| is_dropin(&file.relative)) {
                let name = file.relative.as_str();
                dropins.entry(name).or_insert(file.content.as_slice());
            }
            for (name, what) in tree.odd.iter().filter(|(name, _)| is_dropin(name)) {
                // Such a link says that there is nothing, whatever later folders have.
                if what == "a link to /dev/null" {
                    dropins.entry(name).or_default();
                } else if !dropins.contains_key(name.as_str()) {
                    return Err(format!(
                        "{folder}/{name} is {what}, which this benchmark does not read"
                    ));
                }
            }
        }
        Ok(dropins)
    }
}

impl Settings {
    fn read(&mut self, content: &[u8]) -> Result<(), String> {
        let text = String::from_utf8_lossy(content).replace("\\\n", " ");
        let mut section = "";
        let lines = text.lines().map(str::trim);
        for line in lines.filter(|line| !line.starts_with(['#', ';'])) {
            if let Some(name) = line.strip_prefix('[') {
                section = name.trim_end_matches(']');
            }
            let Some((key, value)) = line.split_once('=').filter(|_| section == "Service") else {
                continue;
            };
            let (key, value) = (key.trim(), value.trim());
            if NOT_FOLLOWED.contains(&key) {
                return Err(format!(
                    "kubelet.service sets {key}, which this benchmark does not read"
                ));
            }
            match key {
                "EnvironmentFile" => put(&mut self.files, value),
                "ExecStart" => put(&mut self.commands, value),
                "Environment" if value.is_empty() => self.variables.clear(),
                "Environment" => {
                    let words = words(value)?.into_iter();
                    let pairs = words.filter_map(|word| {
                        let (name, value) = word.split_once('=')?;
                        Some((name.to_owned(), value.to_owned()))
                    });
                    self.variables.extend(pairs);
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// Adds to a list; nothing empties it.
fn put(list: &mut Vec<String>, value: &str) {
    if value.is_empty() {
        list.clear();
    } else {
        list.push(value.to_owned());
    }
}

/// Reads a file of variables. Quotes may go over several lines.
fn variables(content: &[u8]) -> Result<Vec<(String, String)>, String> {
    let text = String::from_utf8_lossy(content).replace("\\\n", "");
    let mut found = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let line = rest.lines().next().unwrap_or_default();
        let is_comment = line.starts_with(['#', ';']);
        let Some((name, _)) = line.split_once('=').filter(|_| !is_comment) else {
            rest = rest[line.len()..].trim_start();
            continue;
        };
        let (mut value, mut quote, mut length) = (String::new(), None, name.len() + 1);
        for character in rest[length..].chars() {
            match (character, quote) {
                ('\n', None) => break,
                ('\\', _) => return Err(escapes(line)),
                (_, None) if matches!(character, '"' | '\'') => quote = Some(character),
                (_, Some(open)) if character == open => quote = None,
                _ => value.push(character),
            }
            length += character.len_utf8();
        }
        found.push((name.trim().to_owned(), value.trim().to_owned()));
        rest = rest[length..].trim_start();
    }
    Ok(found)
}

/// Puts the values of variables into a command, and splits it into words.
fn expand(command: &str, variables: &BTreeMap<String, String>) -> Result<Vec<String>, String> {
    let value = |name: &str| variables.get(name).map(String::as_str).unwrap_or_default();
    let mut expanded = Vec::new();
    for word in words(command)? {
        // A variable that is a word of its own becomes as many words as it has.
        if let Some(name) = word.strip_prefix('$')
            && !name.starts_with(['{', '$'])
        {
            expanded.extend(words(value(name))?);
            continue;
        }
        let mut parts = word.split("${");
        let mut whole = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let (name, after) = part.split_once('}').unwrap_or((part, ""));
            whole.push_str(value(name));
            whole.push_str(after);
        }
        expanded.push(whole);
    }
    Ok(expanded)
}

/// Splits a text at spaces outside of quotes.
fn words(text: &str) -> Result<Vec<String>, String> {
    if text.contains('\\') {
        return Err(escapes(text));
    }
    let (mut words, mut quote, mut is_open) = (vec![], None, false);
    for character in text.chars() {
        if quote.is_none() && character.is_whitespace() {
            is_open = false;
            continue;
        }
        if !is_open {
            words.push(String::new());
            is_open = true;
        }
        match quote {
            None if matches!(character, '"' | '\'') => quote = Some(character),
            Some(open) if character == open => quote = None,
            _ => {
                if let Some(word) = words.last_mut() {
                    word.push(character);
                }
            }
        }
    }
    Ok(words)
}

fn escapes(text: &str) -> String {
    let start: String = text.chars().take(60).collect();
    format!("{start:?} of kubelet.service has a backslash, which this benchmark does not read")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::tree;

    const ENV: &str = "/etc/kubernetes/kubelet.env";
    const DEFAULT: &str = "/etc/default/kubelet";

    fn unit(unit: &str, dropins: &[(&str, &str)], env: &str, default: Option<&str>) -> Unit {
        Unit {
            main: Some(unit.into()),
            dropins: vec![("/etc/d", tree(dropins))],
            variables: [(ENV, Some(env.into())), (DEFAULT, default.map(Into::into))].into(),
        }
    }

    const PLAIN: &str = "[Unit]\nExecStart=x\n[Service]\nEnvironmentFile=/etc/kubernetes/kubelet.env\nExecStart=/k $A\n";

    #[test]
    fn the_command_is_the_one_that_systemd_starts() {
        type Dropins = &'static [(&'static str, &'static str)];
        let rows: [(Dropins, &str, &str); 9] = [
            (&[], "A=\"--a=1 --b=2\"\n", "/k|--a=1|--b=2"),
            (&[], "#A=x\n\nB=1\nA=--a \\\n--b\n", "/k|--a|--b"),
            (&[], "A=\"--a\n--b\"\nB=--c", "/k|--a|--b"),
            (&[], "A='--a \"--b c\"'", "/k|--a|--b c"),
            (
                &[("10.conf", "[Service]\nExecStart=\nExecStart=/k --x ${A}y")],
                "A=z",
                "/k|--x|zy",
            ),
            (
                &[("10.conf", "[Service]\nEnvironment=\"A=--x\" B=y\n")],
                "B=1",
                "/k|--x",
            ),
            (
                &[("10.conf", "[Service]\nEnvironment=A=--x\n")],
                "A=--y",
                "/k|--y",
            ),
            (
                &[(
                    "10.conf",
                    "[Service]\nEnvironmentFile=-/etc/default/kubelet\n",
                )],
                "A=--y",
                "/k|--y",
            ),
            (
                &[
                    (
                        "20.conf",
                        "[Service]\nExecStart=\nExecStart=/k \\\n  --second",
                    ),
                    ("10.conf", "[Service]\nExecStart=\nExecStart=/k --first"),
                    ("30.txt", "[Service]\nExecStart=\n"),
                ],
                "",
                "/k|--second",
            ),
        ];
        for (dropins, env, expected) in rows {
            let words = unit(PLAIN, dropins, env, None).command().unwrap();
            assert_eq!(words.join("|"), expected, "{dropins:?} {env}");
        }
        let dropin = [("a.conf", "[Service]\nEnvironmentFile=/etc/default/kubelet")];
        let words = unit(PLAIN, &dropin, "A=--x", Some("A=--y")).command();
        assert_eq!(words.unwrap(), ["/k", "--y"]);
    }

    #[test]
    fn a_dropin_hides_those_of_its_name_in_later_folders() {
        let weak = tree(&[("10.conf", "[Service]\nExecStart=\nExecStart=/weak")]);
        let mut unit = unit(PLAIN, &[("10.conf", "")], "", None);
        unit.dropins.push(("/usr/d", weak));
        assert_eq!(unit.command().unwrap(), ["/k"]);
        unit.dropins[0].1 = FileTree {
            odd: vec![("10.conf".into(), "a link to /dev/null".into())],
            ..FileTree::default()
        };
        assert_eq!(unit.command().unwrap(), ["/k"]);
        unit.dropins.remove(0);
        assert_eq!(unit.command().unwrap(), ["/weak"]);
    }

    #[test]
    fn what_cannot_be_followed_is_named() {
        let dropins: [(&str, &str); 6] = [
            ("ExecStart=/second", "2 commands"),
            ("ExecStart=", "0 commands"),
            ("EnvironmentFile=/etc/mine", "/etc/mine"),
            ("EnvironmentFile=/etc/default/kubelet", "missing"),
            ("RootDirectory=/x", "RootDirectory"),
            ("Environment=A=\\x2d", "backslash"),
        ];
        for (line, expected) in dropins {
            let text = format!("[Service]\n{line}\n");
            let why = unit(PLAIN, &[("a.conf", &text)], "", None).command();
            let why = why.unwrap_err();
            assert!(why.contains(expected), "{line}: {why}");
        }
        let mut linked = unit(PLAIN, &[], "", None);
        linked.dropins[0].1.odd = vec![("a.conf".into(), "a link to /x".into())];
        assert!(linked.command().unwrap_err().contains("/etc/d/a.conf"));
        linked.main = None;
        assert!(linked.command().unwrap_err().contains("no unit"));
    }
}
