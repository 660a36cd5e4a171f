//! Contents: from a data URL or a server, unpacked and checked, within bounds.

use std::sync::Arc;
use std::time::Duration;

use bootlace_ignition::content::{ContentError, decode_data_url, finish};
use bootlace_ignition::{Config, Resource, Scheme, Source, Stretch};
use bootlace_model::content::Content;
use bootlace_model::fault::{Fault, FaultKind};
use bootlace_model::provision::Fetched;
use bootlace_model::shell;

use super::supply::{Inline, Packed, Reread, Url, Whole};
use super::{Fetch, LARGEST_CONFIG, LARGEST_TOTAL, Request, WITHIN, place};

/// What servers are told that we understand; a config may say something else.
const ACCEPT: [(&str, &str); 2] = [
    (
        "Accept",
        "application/vnd.coreos.ignition+json;version=3.6.0, */*;q=0.1",
    ),
    ("Accept-Encoding", "identity"),
];
/// The longest URL that is shown whole.
const LONGEST_SHOWN: usize = 200;

/// Gets contents, with what the config says about getting them.
pub(super) struct Contents<'f, 'a> {
    fetch: &'f mut Fetch<'a>,
    authorities: Option<Vec<u8>>,
    within: Duration,
    /// The proxy that the config asks for.
    proxy: Option<String>,
    total: u64,
    /// The config that everything begins with, and how it is read again.
    text: Option<(Arc<String>, Arc<dyn Reread>)>,
    /// What was fetched so far.
    pub(super) fetched: Vec<Fetched>,
}

/// Something before it is unpacked.
enum Raw {
    Nothing,
    Inline(Vec<u8>),
    Remote(Content),
}

impl<'f, 'a> Contents<'f, 'a> {
    pub(super) fn new(fetch: &'f mut Fetch<'a>) -> Self {
        Self {
            fetch,
            authorities: None,
            within: WITHIN,
            proxy: None,
            total: 0,
            text: None,
            fetched: vec![],
        }
    }

    /// Takes note of the config that everything begins with, and returns it as a content.
    pub(super) fn keep_text(
        &mut self,
        whole: &Arc<String>,
        again: Option<Arc<dyn Reread>>,
    ) -> Content {
        let supply = match again {
            None => Whole::Shared(Arc::clone(whole)),
            Some(text) => {
                self.text = Some((Arc::clone(whole), Arc::clone(&text)));
                let length = whole.len();
                Whole::Again { text, length }
            }
        };
        Content::supplied(whole.as_bytes(), Arc::new(supply))
    }

    /// Takes over what a config says about fetching.
    pub(super) fn settle(&mut self, config: &Config) -> Result<(), Fault> {
        let total = config.timeouts().http_total.unwrap_or_default();
        let total = u64::try_from(total).unwrap_or_default();
        // Zero is without end there; here every wait has one.
        self.within = match total {
            0 => WITHIN,
            seconds => Duration::from_secs(seconds),
        };
        let proxy = config.proxy();
        self.proxy = proxy.http.or(proxy.https).map(shown);
        let mut bundle = Vec::new();
        for authority in config.authorities() {
            bundle.extend(self.take(&authority, LARGEST_CONFIG)?);
            bundle.push(b'\n');
        }
        self.authorities = (!bundle.is_empty()).then_some(bundle);
        Ok(())
    }

    /// Gets what a resource names; nothing if it names nothing.
    pub(super) fn take(&mut self, resource: &Resource<'_>, limit: u64) -> Result<Vec<u8>, Fault> {
        let raw = match self.raw(resource, limit)? {
            Raw::Nothing => return Ok(vec![]),
            Raw::Inline(bytes) => bytes,
            Raw::Remote(content) => content.read()?.to_vec(),
        };
        self.finished(raw, resource, limit)
    }

    /// Like [`Contents::take`], but what can be had again is not held in memory.
    pub(super) fn keep(&mut self, resource: &Resource<'_>, limit: u64) -> Result<Content, Fault> {
        let is_packed = resource.compression == Some("gzip");
        let (raw, fetched) = match self.raw(resource, limit)? {
            Raw::Nothing => (vec![], None),
            Raw::Inline(bytes) => (bytes, None),
            Raw::Remote(content) => (content.read()?.to_vec(), Some(content)),
        };
        let bytes = self.finished(raw, resource, limit)?;
        Ok(match (fetched, resource.stretch) {
            (Some(content), _) if is_packed => {
                Content::supplied(&bytes, Arc::new(Packed { content, limit }))
            }
            (Some(content), _) => content,
            (None, Some(stretch)) => {
                let inline = Inline {
                    url: self.url(stretch),
                    is_packed,
                    limit,
                };
                Content::supplied(&bytes, Arc::new(inline))
            }
            (None, None) => Content::of(bytes),
        })
    }

    fn url(&self, stretch: &Stretch) -> Url {
        match &self.text {
            Some((whole, text)) if stretch.is_of(whole) => {
                let (from, length) = stretch.bounds();
                let text = Arc::clone(text);
                Url::Again { text, from, length }
            }
            _ => Url::Shared(stretch.clone()),
        }
    }

    fn raw(&mut self, resource: &Resource<'_>, limit: u64) -> Result<Raw, Fault> {
        Ok(match resource.origin() {
            // Ignition checks nothing about an empty source.
            Source::Nothing => Raw::Nothing,
            Source::Inline(url) => Raw::Inline(decode_data_url(url).map_err(|problem| {
                at(resource, &format!("the data URL cannot be read: {problem}"))
                    .hint("write it as `data:;base64,…`, or escape it as `data:,…`")
            })?),
            Source::Remote { url, scheme } => {
                self.check_scheme(resource, url, scheme)?;
                let content = Content::of(self.download(resource, url, limit)?);
                self.fetched.push(Fetched {
                    url: url.to_owned(),
                    content: content.clone(),
                });
                Raw::Remote(content)
            }
        })
    }

    /// Unpacks and checks.
    fn finished(
        &mut self,
        raw: Vec<u8>,
        resource: &Resource<'_>,
        limit: u64,
    ) -> Result<Vec<u8>, Fault> {
        let content = finish(raw, resource.compression, resource.hash, limit);
        let content = content.map_err(|error| unfit(resource, &error))?;
        self.total = self.total.saturating_add(content.len() as u64);
        if self.total > LARGEST_TOTAL {
            let mega = LARGEST_TOTAL >> 20;
            let message = format!("all contents together are larger than {mega} MiB");
            return Err(at(resource, &message).hint("bring large files by an image instead"));
        }
        Ok(content)
    }

    #[expect(
        clippy::unused_self,
        reason = "what may be fetched is a matter of who fetches"
    )]
    fn check_scheme(
        &self,
        resource: &Resource<'_>,
        url: &str,
        scheme: Scheme,
    ) -> Result<(), Fault> {
        let name = match scheme {
            Scheme::Http | Scheme::Https => return Ok(()),
            Scheme::Tftp => "tftp",
            Scheme::S3 => "s3",
            Scheme::Arn => "arn",
            Scheme::Gs => "gs",
            Scheme::File => "file",
            Scheme::Unknown => url.split(':').next().unwrap_or_default(),
        };
        let message = format!("{} comes over {name}, which is not supported", shown(url));
        Err(at(resource, &message)
            .hint("serve it over https, or put it into the config as a data URL"))
    }

    fn download(
        &mut self,
        resource: &Resource<'_>,
        url: &str,
        limit: u64,
    ) -> Result<Vec<u8>, Fault> {
        if let Some(proxy) = &self.proxy {
            let message = format!("ignition.proxy asks for {proxy}, which is not supported");
            return Err(at(resource, &message)
                .because("Going around a proxy that a config asks for could reach a wrong server.")
                .hint("take it out, and set HTTPS_PROXY for this command instead"));
        }
        let own = resource.headers.iter();
        let own = own.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let mut headers: Vec<(String, String)> = own.collect();
        for (name, value) in ACCEPT {
            if !headers
                .iter()
                .any(|(own, _)| own.eq_ignore_ascii_case(name))
            {
                headers.push((name.to_owned(), value.to_owned()));
            }
        }
        let request = Request {
            url: url.to_owned(),
            headers,
            authorities: self.authorities.clone(),
            limit,
            within: self.within,
        };
        (self.fetch)(&request).map_err(|mut fault| {
            fault.message = format!("{}: {}", resource.place.path, fault.message);
            // What cannot be fetched is wrong with the input, unless it only took too long.
            if fault.kind != FaultKind::Deadline && fault.kind != FaultKind::Stopped {
                fault.kind = FaultKind::BadInput;
            }
            // There is no run yet that could go on.
            fault
                .hints
                .retain(|hint| !hint.contains("`bootlace resume"));
            let fault = fault
                .at(place(&resource.place))
                .because("A config is applied as a whole or not at all; nothing was touched.");
            if fault.kind == FaultKind::Stopped {
                return fault;
            }
            let curl = shell::line(["curl", "-v", &shown(url)]);
            fault.hint(format!(
                "`{curl}` from this machine shows what the server says"
            ))
        })
    }
}

fn at(resource: &Resource<'_>, message: &str) -> Fault {
    Fault::bad_input(format!("{}: {message}", resource.place.path))
        .at(place(&resource.place))
        .because("A config is applied as a whole or not at all; nothing was touched.")
}

fn unfit(resource: &Resource<'_>, error: &ContentError) -> Fault {
    let url = resource.source.unwrap_or_default();
    let fault = at(
        resource,
        &format!("{} is not what it should be: {error}", shown(url)),
    );
    match error {
        ContentError::Hash { .. } => fault.hint(
            "the hash is that of the unpacked content; `sha256sum FILE` or `sha512sum FILE` makes it",
        ),
        ContentError::Gzip(_) => fault.hint("take out \"compression\", or pack it with gzip"),
        ContentError::TooLarge { .. } => fault.hint("bring large files by an image instead"),
        ContentError::UnknownHash(_) => fault.hint("use sha512 or sha256"),
    }
}

/// Writes a URL for people: without what is secret in it, and without a whole file.
pub(super) fn shown(url: &str) -> String {
    if url
        .get(..5)
        .is_some_and(|begin| begin.eq_ignore_ascii_case("data:"))
    {
        return "a data URL".into();
    }
    let (url, query) = url
        .split_once('?')
        .map_or((url, ""), |(url, _)| (url, "?…"));
    let plain = match url.split_once("://") {
        Some((scheme, rest)) => {
            let (host, path) = rest
                .split_once('/')
                .map_or((rest, ""), |(host, path)| (host, path));
            let host = host.rsplit('@').next().unwrap_or_default();
            let slash = if rest.contains('/') { "/" } else { "" };
            format!("{scheme}://{host}{slash}{path}{query}")
        }
        None => format!("{url}{query}"),
    };
    match plain.char_indices().nth(LONGEST_SHOWN) {
        Some((end, _)) => format!("{}…", &plain[..end]),
        None => plain,
    }
}
