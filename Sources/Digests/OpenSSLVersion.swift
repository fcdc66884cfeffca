import COpenSSL

/// For example `OpenSSL 3.0.15 3 Sep 2024`.
package var opensslVersion: String { String(cString: OpenSSL_version(0)) }
