//! Certificates of another authority or another time, made by openssl inside of the machine.

use crate::world::Node;

/// Makes another authority.
pub(super) const OTHER: &str = "openssl req -x509 -newkey rsa:2048 -nodes -days 9 -subj /CN=other \
                     -keyout /tmp/other.key -out /tmp/other.crt 2>/dev/null";

/// Begin and end of a certificate, as `openssl ca` wants them.
pub(super) const VALID: (&str, &str) = ("20200101000000Z", "20991231000000Z");
pub(super) const PAST: (&str, &str) = ("20200101000000Z", "20200102000000Z");
pub(super) const FUTURE: (&str, &str) = ("20980101000000Z", "20990101000000Z");

/// Returns a line of shell that issues a certificate anew: the same key and names, another issuer or time.
pub(super) fn issued(name: &str, authority: &str, (begin, end): (&str, &str)) -> String {
    let at = format!("/opt/bootlace/tls/{name}");
    format!(
        "cd /tmp && rm -rf ca && mkdir ca && touch ca/index && \
         printf '[ca]\\ndefault_ca=d\\n[d]\\ndatabase=ca/index\\nnew_certs_dir=ca\\nrand_serial=yes\\n\
         default_md=sha256\\npolicy=p\\ncopy_extensions=copy\\n[p]\\nCN=optional\\ncommonName=optional\\n' > ca/config && \
         openssl x509 -in {at}.crt -signkey {at}.key -x509toreq -copy_extensions copy -out ca/request 2>/dev/null && \
         openssl ca -batch -notext -config ca/config -in ca/request -cert {authority}.crt -keyfile {authority}.key \
         -startdate {begin} -enddate {end} -out ca/new 2>/dev/null && cat ca/new > {at}.crt"
    )
}

pub(super) fn keep(node: &Node, name: &str) {
    node.sh(&format!("cp -p /opt/bootlace/tls/{name} /tmp/kept"));
}

pub(super) fn put_back(node: &Node, name: &str) {
    node.sh(&format!("cp -p /tmp/kept /opt/bootlace/tls/{name}"));
}
