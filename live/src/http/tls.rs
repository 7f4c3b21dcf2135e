//! Which certificates are trusted for https: the system's, and those of a file.

use std::path::Path;
use std::sync::Arc;

use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use super::ClientError;

/// With the system's authorities and those of a PEM file.
pub fn connector(ca: Option<&Path>) -> Result<TlsConnector, ClientError> {
    let mut roots = RootCertStore::empty();
    if let Some(path) = ca {
        let bad = |why: String| ClientError::Certificates { path: path.display().to_string(), why };
        for certificate in CertificateDer::pem_file_iter(path).map_err(|e| bad(e.to_string()))? {
            roots.add(certificate.map_err(|e| bad(e.to_string()))?).map_err(|e| bad(e.to_string()))?;
        }
        if roots.is_empty() {
            return Err(bad("no certificate in it".into()));
        }
    }
    let found = rustls_native_certs::load_native_certs();
    roots.add_parsable_certificates(found.certs);
    if roots.is_empty() {
        return Err(ClientError::NoRoots(found.errors.first().map_or_else(|| "the system has none".into(), ToString::to_string)));
    }
    let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|e| ClientError::NoRoots(e.to_string()))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}

/// The name that the certificate must be for.
pub fn server_name(host: &str) -> Option<ServerName<'static>> {
    ServerName::try_from(host.to_string()).ok()
}
