//! Private keys: made here, or read in the forms in which people bring them.

use bootlace_engine::port::HostResult;
use bootlace_model::pki::KeyAlgorithm;
use bootlace_model::secret::Secret;
use rcgen::KeyPair;
use rustls::pki_types::pem::SectionKind;

use super::{crypto, der, pem};

/// The algorithm identifier of a key on the curve P-256: `id-ecPublicKey`, `prime256v1`.
const ON_P256: &[u8] = &[
    0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86, 0x48,
    0xce, 0x3d, 0x03, 0x01, 0x07,
];
/// The algorithm identifier of a key on the curve P-384: `id-ecPublicKey`, `secp384r1`.
const ON_P384: &[u8] = &[
    0x30, 0x10, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x05, 0x2b, 0x81, 0x04,
    0x00, 0x22,
];
/// The algorithm identifier of an RSA key: `rsaEncryption`, no parameters.
const RSA: &[u8] = &[
    0x30, 0x0d, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01, 0x05, 0x00,
];

/// Makes a private key as PKCS#8 in PEM.
pub fn make_key(algorithm: KeyAlgorithm) -> HostResult<Secret> {
    let kind = match algorithm {
        KeyAlgorithm::EcdsaP256 => &rcgen::PKCS_ECDSA_P256_SHA256,
    };
    let pair = KeyPair::generate_for(kind)
        .map_err(|error| crypto(format!("an {algorithm} key cannot be made: {error}")))?;
    Ok(Secret::new(pair.serialize_pem().into_bytes()))
}

/// Returns the public half, in PEM, of a private key; fails if it is none.
pub fn public_key(key: &Secret) -> HostResult<String> {
    Ok(read(key)?.public_key_pem())
}

/// Reads a private key in PEM: PKCS#8, or the older forms of EC and RSA keys.
pub(super) fn read(key: &Secret) -> HostResult<KeyPair> {
    let text = key.expose();
    if text.windows(9).any(|window| window == b"ENCRYPTED") {
        return Err(crypto(
            "the private key is encrypted; decrypt it first: openssl pkey -in KEY -out PLAIN",
        ));
    }
    let private = |kind| {
        matches!(
            kind,
            SectionKind::PrivateKey | SectionKind::EcPrivateKey | SectionKind::RsaPrivateKey
        )
    };
    let (kind, bytes) = pem::find(text, private)?
        .ok_or_else(|| crypto("there is no private key in it: no block PRIVATE KEY was found"))?;
    let candidates = match kind {
        SectionKind::EcPrivateKey => vec![wrap(ON_P256, &bytes), wrap(ON_P384, &bytes)],
        SectionKind::RsaPrivateKey => vec![wrap(RSA, &bytes)],
        _ => vec![bytes],
    };
    candidates
        .into_iter()
        .find_map(|pkcs8| KeyPair::try_from(pkcs8).ok())
        .ok_or_else(|| {
            crypto(
                "the private key is damaged or of a kind that is not supported; supported are \
                 ECDSA on P-256 and P-384, Ed25519, and RSA from 2048 bits",
            )
        })
}

/// Puts a key of an older form into the PKCS#8 envelope, the only one that the library reads.
fn wrap(algorithm: &[u8], inner: &[u8]) -> Vec<u8> {
    der::element(
        der::SEQUENCE,
        &[
            &der::element(der::INTEGER, &[&[0]]),
            algorithm,
            &der::element(der::OCTET_STRING, &[inner]),
        ],
    )
}
