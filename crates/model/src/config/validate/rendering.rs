//! Images that render, and the words that podman is called with.

use std::collections::BTreeMap;
use std::time::Duration;

use super::Check;
use crate::config::document::{RendererDocument, RenderersDocument, RenderingDocument};
use crate::config::grammar::{Problem, duration, image};
use crate::config::rendering::{RendererImage, RenderingSettings};

/// The longest that a render may take: whoever needs more than that hangs.
const LONGEST: Duration = Duration::from_hours(1);

const WHY_WITHIN: &str = "a render that hangs is ended after this time, and not before";
const WHY_FLAG: &str = "a render sees its inputs and writes its output, and nothing else of the \
     machine; bootlace sets what that takes, and finds what it started again";
const WHY_WORD: &str = "podman gets each word as it stands, without a shell";
const WHY_PLACE: &str = "what bootlace does not know it cannot put in, and passing it on as it \
     stands is not what was meant";

/// What an argument may stand for.
const PLACES: [&str; 5] = ["input", "output", "config", "image", "version"];

/// Flags of podman itself under which paths of this machine mean nothing.
const NOT_GLOBAL: [&str; 5] = ["connection", "identity", "noout", "remote", "url"];
/// Flags of `podman run` that bootlace sets, or that would open what it closes.
const NOT_RUN: [&str; 34] = [
    "cap-add",
    "cap-drop",
    "cgroupns",
    "cidfile",
    "detach",
    "device",
    "entrypoint",
    "env-host",
    "interactive",
    "ipc",
    "mount",
    "name",
    "net",
    "network",
    "pid",
    "pod",
    "privileged",
    "publish",
    "publish-all",
    "pull",
    "read-only",
    "replace",
    "restart",
    "rm",
    "rmi",
    "rootfs",
    "security-opt",
    "sig-proxy",
    "timeout",
    "tls-verify",
    "tty",
    "user",
    "volume",
    "volumes-from",
];

impl Check<'_> {
    /// Checks who renders.
    pub(super) fn rendering(&mut self, document: RenderingDocument) -> Option<RenderingSettings> {
        let defaults = RenderingSettings::default();
        let within = self.text(
            "spec.rendering.within",
            document.within,
            defaults.within,
            within,
        );
        let podman_flags = self.flags(
            "spec.rendering.podmanFlags",
            &document.podman_flags.unwrap_or_default(),
            &NOT_GLOBAL,
        );
        let run_flags = self.flags(
            "spec.rendering.runFlags",
            &document.run_flags.unwrap_or_default(),
            &NOT_RUN,
        );
        let images = self.renderers(document.images.unwrap_or_default());
        Some(RenderingSettings {
            images: images?,
            within: within?,
            podman_flags: podman_flags?,
            run_flags: run_flags?,
        })
    }

    fn renderers(
        &mut self,
        document: RenderersDocument,
    ) -> Option<BTreeMap<String, RendererImage>> {
        let named = document.named().into_iter();
        let named = named.filter_map(|(name, renderer)| Some((name, renderer?)));
        let images: Vec<_> = named
            .map(|(name, renderer)| Some((name.to_owned(), self.renderer(name, renderer)?)))
            .collect();
        images.into_iter().collect()
    }

    fn renderer(&mut self, name: &str, document: RendererDocument) -> Option<RendererImage> {
        let path = format!("spec.rendering.images.{name}");
        let Some(text) = document.image else {
            let what = format!("{path} names no image");
            let why = "somebody has to render it";
            self.refuse(&path, what, why, "add image, or leave the component out");
            return None;
        };
        let image = self.text(
            &format!("{path}.image"),
            Some(text),
            String::new(),
            image::image,
        );
        let mut arguments = Vec::new();
        for (n, text) in document
            .arguments
            .unwrap_or_default()
            .into_iter()
            .enumerate()
        {
            let path = format!("{path}.arguments[{n}]");
            arguments.push(self.text(&path, Some(text), String::new(), argument));
        }
        let arguments: Option<Vec<String>> = arguments.into_iter().collect();
        Some(RendererImage {
            image: image?,
            arguments: arguments?,
        })
    }

    fn flags(&mut self, path: &str, words: &[String], refused: &[&str]) -> Option<Vec<String>> {
        let mut read = Vec::new();
        for (n, text) in words.iter().enumerate() {
            let path = format!("{path}[{n}]");
            let flag = |text: &str| flag(text, n == 0, refused);
            read.push(self.text(&path, Some(text.clone()), String::new(), flag));
        }
        read.into_iter().collect()
    }
}

fn within(text: &str) -> Result<Duration, Problem> {
    let hint = "write a whole number and m (minutes) or s, such as 5m";
    let within =
        duration::duration(text).map_err(|problem| Problem::new(problem.what, WHY_WITHIN, hint))?;
    match within {
        within if within.is_zero() => Err(Problem::new("leaves no time", WHY_WITHIN, hint)),
        within if within > LONGEST => {
            let what = "is longer than an hour";
            Err(Problem::new(what, WHY_WITHIN, "write at most 1h"))
        }
        within => Ok(within),
    }
}

/// Reads a word for podman: a flag, or the value of the flag before it.
fn flag(text: &str, is_first: bool, refused: &[&str]) -> Result<String, Problem> {
    let text = word(text)?;
    let Some(name) = text.strip_prefix('-') else {
        if is_first {
            let hint = "begin with a flag, such as --ulimit";
            return Err(Problem::new("is no flag", WHY_WORD, hint));
        }
        return Ok(text);
    };
    let Some(name) = name.strip_prefix('-') else {
        let hint = "write the long form, which begins with --";
        return Err(Problem::new("is a short flag", WHY_FLAG, hint));
    };
    let name = name.split('=').next().unwrap_or_default();
    if refused.contains(&name) {
        let what = format!("cannot be given: --{name} is not yours to set here");
        let hint = match name {
            "tls-verify" => "name a registry without TLS in podman's own registries.conf",
            _ => "leave it out",
        };
        return Err(Problem::new(what, WHY_FLAG, hint));
    }
    Ok(text)
}

/// Reads an argument of an image; `$(NAME)` stands for what is known when it is called.
fn argument(text: &str) -> Result<String, Problem> {
    let text = word(text)?;
    for rest in text.split("$(").skip(1) {
        let name = rest.split_once(')').map(|(name, _)| name);
        if !name.is_some_and(|name| PLACES.contains(&name)) {
            let what = format!("names no place that can be filled: $({rest}");
            let hint = format!("the places are $({})", PLACES.join("), $("));
            return Err(Problem::new(what, WHY_PLACE, hint));
        }
    }
    Ok(text)
}

fn word(text: &str) -> Result<String, Problem> {
    if text.is_empty() || text.chars().any(char::is_control) {
        let what = "cannot be a word of a command";
        return Err(Problem::new(
            what,
            WHY_WORD,
            "write one word, or leave it out",
        ));
    }
    Ok(text.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_that_open_what_is_closed_are_refused() {
        for good in ["--ulimit", "--ulimit=nofile=1024", "--memory=1g"] {
            assert!(flag(good, true, &NOT_RUN).is_ok(), "{good}");
        }
        for bad in [
            "--privileged",
            "--network=host",
            "--volume",
            "-v",
            "",
            "x",
            "--user=1",
        ] {
            assert!(flag(bad, true, &NOT_RUN).is_err(), "{bad}");
        }
        assert!(flag("nofile=1024:4096", false, &NOT_RUN).is_ok());
        assert!(flag("--remote", false, &NOT_GLOBAL).is_err());
        assert!(NOT_RUN.is_sorted());
    }

    #[test]
    fn arguments_name_only_known_places() {
        for good in [
            "render",
            "--in=$(input)",
            "$(output)/$(version)",
            "$HOME",
            "a(b)",
        ] {
            assert!(argument(good).is_ok(), "{good}");
        }
        for bad in ["$(inputs)", "$(", "$(input", "", "a\nb", "$(input)$(x)"] {
            assert!(argument(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_render_has_some_time_but_not_for_ever() {
        assert_eq!(within("90s").ok(), Some(Duration::from_secs(90)));
        for bad in ["0s", "2h", "5", "x"] {
            assert!(within(bad).is_err(), "{bad}");
        }
    }
}
