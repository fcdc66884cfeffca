import DurableFiles
import Foundation
import NIOSSL
import Synchronization
import WebAccess

/// The files of a certificate and its key. New ones are taken at the next connection, so nothing watches them.
final class CertificateFiles: Sendable {
  private let certificate: String
  private let key: String
  private let state: Mutex<(stamps: [[Int]], configuration: TLSConfiguration)>

  /// Reads the files, both in PEM.
  ///
  /// - Throws: `WebError` if they cannot be used.
  init(certificate: String, key: String) throws(WebError) {
    self.certificate = certificate
    self.key = key
    let stamps = [Self.stamp(certificate), Self.stamp(key)]
    state = Mutex((stamps, try Self.read(certificate, key)))
  }

  var configuration: TLSConfiguration { state.withLock { $0.configuration } }

  /// The configuration of files that have changed; nil if they have not.
  ///
  /// - Throws: `WebError`, once, if the new files cannot be used. Then the former configuration stays.
  func change() throws(WebError) -> TLSConfiguration? {
    try state.withLock { state throws(WebError) in
      let stamps = [Self.stamp(certificate), Self.stamp(key)]
      guard stamps != state.stamps else { return nil }
      state.stamps = stamps
      let configuration = try Self.read(certificate, key)
      state.configuration = configuration
      return configuration
    }
  }

  /// Facts that change with a file; empty if there is no such file.
  private static func stamp(_ path: String) -> [Int] {
    var facts = stat()
    guard stat(path, &facts) == 0 else { return [] }
    let file = [facts.st_dev, facts.st_ino].map { Int(truncatingIfNeeded: $0) }
    return file + [Int(facts.st_size), facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec]
  }

  private static func read(_ certificate: String, _ key: String) throws(WebError) -> TLSConfiguration {
    let certificateBytes = try bytes(of: certificate)
    guard let chain = try? NIOSSLCertificate.fromPEMBytes(certificateBytes), !chain.isEmpty else {
      throw WebError("\(certificate) holds no certificate in PEM; correct web.certificate")
    }
    var facts = stat()
    guard stat(key, &facts) != 0 || facts.st_mode & S_IRWXO == 0 else {
      throw WebError("every user can use the key \(key); run `chmod o= \(key)`")
    }
    let keyBytes = try bytes(of: key)
    guard let secret = try? NIOSSLPrivateKey(bytes: keyBytes, format: .pem) else {
      throw WebError("\(key) holds no private key in PEM without a password; correct web.key")
    }
    var configuration = TLSConfiguration.makeServerConfiguration(
      certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(secret))
    configuration.minimumTLSVersion = .tlsv12
    do { _ = try NIOSSLContext(configuration: configuration) } catch {
      throw WebError("the key \(key) is not that of the certificate \(certificate); correct web.certificate or web.key")
    }
    return configuration
  }

  private static let longest = 1 << 20

  private static func bytes(of path: String) throws(WebError) -> [UInt8] {
    let place = URL(fileURLWithPath: path)
    let contents: [UInt8]?
    do {
      let directory = try Directory(path: place.deletingLastPathComponent().path)
      contents = try directory.file(place.lastPathComponent).contents(limit: longest)
    } catch { throw WebError("\(error); photospool-web has to read \(path)") }
    guard let contents else { throw WebError("\(path) is larger than 1 MiB; it is no certificate or key") }
    return contents
  }
}
