//! What a request for a certificate asks for.

use std::net::IpAddr;

use x509_parser::certification_request::X509CertificationRequest;
use x509_parser::extensions::{GeneralName, ParsedExtension};
use x509_parser::prelude::FromDer as _;

const BEGIN: &str = "-----BEGIN CERTIFICATE REQUEST-----";
const END: &str = "-----END CERTIFICATE REQUEST-----";

/// The subject and the names of a request.
#[derive(Debug, Default)]
pub(super) struct Asked {
    pub(super) common_names: Vec<String>,
    pub(super) organizations: Vec<String>,
    pub(super) dns: Vec<String>,
    pub(super) addresses: Vec<IpAddr>,
}

impl Asked {
    /// Reads a request in PEM; refuses what another reader could understand differently.
    pub(super) fn read(pem: &[u8]) -> Result<Self, String> {
        if !is_one_block(pem) {
            return Err("it is not one certificate request in PEM and nothing else".into());
        }
        let (_, pem) = x509_parser::pem::parse_x509_pem(pem)
            .map_err(|error| format!("it is not valid PEM: {error}"))?;
        let (rest, request) = X509CertificationRequest::from_der(&pem.contents)
            .map_err(|error| format!("it is not a valid certificate request: {error}"))?;
        if !rest.is_empty() {
            return Err("it has bytes after its end".into());
        }
        request
            .verify_signature()
            .map_err(|_| "its signature does not fit its key".to_owned())?;
        let info = &request.certification_request_info;
        // A signer may skip an attribute that this parser takes, and use the next one.
        if info.iter_attributes().count() > 1 {
            return Err("it has more than one attribute".into());
        }
        let subject = &info.subject;
        let text = |value: &x509_parser::x509::AttributeTypeAndValue<'_>| {
            value.as_str().map(ToOwned::to_owned).unwrap_or_default()
        };
        let mut asked = Self {
            common_names: subject.iter_common_name().map(text).collect(),
            organizations: subject.iter_organization().map(text).collect(),
            ..Self::default()
        };
        if subject.iter_attributes().count() != 2 {
            return Err("its subject has more than a name and a group".into());
        }
        for extension in request.requested_extensions().into_iter().flatten() {
            match extension {
                ParsedExtension::SubjectAlternativeName(names) => {
                    for name in &names.general_names {
                        asked.take(name)?;
                    }
                }
                // The signer uses the usages of the object.
                ParsedExtension::KeyUsage(_) | ParsedExtension::ExtendedKeyUsage(_) => {}
                _ => return Err("it asks for more than names and usages".into()),
            }
        }
        Ok(asked)
    }

    fn take(&mut self, name: &GeneralName<'_>) -> Result<(), String> {
        match name {
            GeneralName::DNSName(dns) => self.dns.push((*dns).to_owned()),
            GeneralName::IPAddress(bytes) => {
                let four = <[u8; 4]>::try_from(*bytes).map(IpAddr::from);
                let sixteen = <[u8; 16]>::try_from(*bytes).map(IpAddr::from);
                let address = four.or(sixteen);
                let address = address.map_err(|_| "it names an invalid address".to_owned())?;
                self.addresses.push(address.to_canonical());
            }
            // Its author chose the text, which may hold control characters.
            other => return Err(format!("it names {:?}", other.to_string())),
        }
        Ok(())
    }
}

/// Tells whether a text is a single PEM block of a certificate request, with nothing around it.
///
/// PEM readers skip what they do not understand, each by rules of its own. With two blocks, or one that
/// only some readers accept, the signer could sign something other than what was checked here.
fn is_one_block(text: &[u8]) -> bool {
    let text = text.trim_ascii_end();
    let inner = text.strip_prefix(BEGIN.as_bytes());
    let inner = inner.and_then(|inner| inner.strip_suffix(END.as_bytes()));
    inner.is_some_and(|inner| {
        let is_base64 = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/=\r\n".contains(byte);
        let is_own_line = inner.starts_with(b"\n") || inner.starts_with(b"\r\n");
        is_own_line && inner.iter().all(is_base64)
    })
}
