//! The `[Install]` section of a unit file.

use bootlace_model::effect::UnitName;

/// What a unit file says about being enabled.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Install {
    pub(super) wanted_by: Vec<String>,
    pub(super) required_by: Vec<String>,
    pub(super) upheld_by: Vec<String>,
    pub(super) alias: Vec<String>,
    pub(super) also: Vec<String>,
    pub(super) default_instance: Option<String>,
}

impl Install {
    /// Returns the instance that is enabled when a bare template is.
    pub(super) fn instance_for(&self, unit: &UnitName) -> Option<UnitName> {
        let instance = self.default_instance.as_deref()?;
        let (stem, suffix) = unit.as_str().rsplit_once("@.")?;
        UnitName::parse(&format!("{stem}@{instance}.{suffix}"))
    }
}

/// Reads a unit file; only the `[Install]` section matters here.
pub(super) fn read_unit(text: &str) -> Install {
    let mut install = Install::default();
    let mut inside = false;
    for line in logical_lines(text) {
        let line = line.trim();
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        if line.starts_with('[') {
            inside = line == "[Install]";
            continue;
        }
        let Some((key, value)) = line.split_once('=').filter(|_| inside) else {
            continue;
        };
        let words = value
            .split_whitespace()
            .map(|word| word.trim_matches(['"', '\'']).to_owned());
        let list = match key.trim() {
            "WantedBy" => &mut install.wanted_by,
            "RequiredBy" => &mut install.required_by,
            "UpheldBy" => &mut install.upheld_by,
            "Alias" => &mut install.alias,
            "Also" => &mut install.also,
            "DefaultInstance" => {
                install.default_instance = Some(value.trim().to_owned()).filter(|v| !v.is_empty());
                continue;
            }
            _ => continue,
        };
        // An empty value takes back what was said before, as everywhere in unit files.
        if value.trim().is_empty() {
            list.clear();
        } else {
            list.extend(words);
        }
    }
    install
}

/// Joins lines that end in a backslash with those that follow; comments in between are dropped.
fn logical_lines(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut open: Option<String> = None;
    for line in text.lines() {
        if open.is_some() && line.trim_start().starts_with(['#', ';']) {
            continue;
        }
        let joined = match open.take() {
            Some(begun) => format!("{begun} {line}"),
            None => line.to_owned(),
        };
        match joined.strip_suffix('\\') {
            Some(begun) => open = Some(begun.to_owned()),
            None => lines.push(joined),
        }
    }
    lines.extend(open);
    lines
}

/// Replaces the specifiers that make sense in an `[Install]` section.
pub(super) fn expand(text: &str, unit: &UnitName) -> String {
    let name = unit.as_str();
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let (prefix, instance) = stem.split_once('@').unwrap_or((stem, ""));
    let mut expanded = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        if c != '%' {
            expanded.push(c);
            continue;
        }
        match rest.next() {
            Some('n') => expanded.push_str(name),
            Some('N') => expanded.push_str(stem),
            Some('p') => expanded.push_str(prefix),
            Some('i' | 'I') => expanded.push_str(instance),
            Some('%') | None => expanded.push('%'),
            Some(other) => expanded.extend(['%', other]),
        }
    }
    expanded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_install_section_is_read_as_systemd_reads_it() {
        let unit = "[Unit]\nWantedBy=no.target\n[Install]\n# c\nWantedBy=a.target \\\n; c\n b.target\n\
                    WantedBy=\nWantedBy=c.target\nAlias=x-%i.service\nDefaultInstance=tty1\n";
        let install = read_unit(unit);
        assert_eq!(install.wanted_by, ["c.target"]);
        assert_eq!(install.alias, ["x-%i.service"]);
        let template = UnitName::parse("getty@.service").unwrap();
        let instance = install.instance_for(&template).unwrap();
        assert_eq!(instance.as_str(), "getty@tty1.service");
        assert_eq!(expand("x-%i-%p-%%", &instance), "x-tty1-getty-%");
    }

    #[test]
    fn lines_continue_over_comments() {
        let install = read_unit("[Install]\nWantedBy=a.target \\\n; c\n b.target\n");
        assert_eq!(install.wanted_by, ["a.target", "b.target"]);
    }
}
