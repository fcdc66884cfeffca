import CKernel
import Foundation
import LogOutput
import Logging
import Messages
import Settings
import Spooling
import WebAccess

/// The program `photospool-web`. It serves the page on the socket that its starter opened, and knows the spool and the
/// configuration from the environment, as photospool does.
package enum WebProgram {
  private static let configuration: Int32 = 78

  /// Serves until a signal ends the process. Nothing is lost then: what was answered is on disk.
  package static func main() async {
    signal(SIGPIPE, SIG_IGN)
    umask(0o077)
    // Photos and secrets of sessions are in memory.
    ckernel_refuse_core_files()
    do { try await serve() } catch {
      StandardError.write("photospool-web: \(error)\n")
      exit(configuration)
    }
  }

  private static func serve() async throws {
    let environment = ProcessInfo.processInfo.environment
    let (file, isExplicit) = SettingsLocation.choose(flag: nil, environment: environment)
    let settings = try Settings.load(file: file, fileIsExplicit: isExplicit, environment: environment, flags: [:])
    let logSetting = LogSetting(settings.log)
    let log = Logger(label: "photospool-web") { _ in LineLog(logSetting) }
    guard let socket = try ListeningSocket.inherited(environment: environment) else {
      throw WebError("it serves on a socket of its starter; run `photospool web`, or start photospool-web.socket")
    }
    let spool = try Spool(opening: settings.spool.directory)
    let access = try AccessStore(spool)
    let site = try Site(spool, settings: settings, access: access, place: socket.place, log: log)
    let certificate = try certificate(of: settings, at: socket.place)
    // `photospool web link` finds a page here that a service manager started.
    try access.setOrigin(site.address.origin)
    log.info("page ready", metadata: ["address": "\(site.address.origin)/"])
    let isService = !CommandLine.arguments.contains(ListeningSocket.stays)
    try await WebServer(
      socket: socket, certificate: certificate, respond: site.responder(), idleEnd: isService ? .minutes(10) : nil,
      log: log
    ).run()
    log.info("nobody looks; the next visit starts the page again")
  }

  /// The certificate of the page; nil without one, and behind a proxy, which has its own.
  private static func certificate(of settings: Settings, at place: ListeningSocket.Place) throws -> CertificateFiles? {
    switch (settings.web.certificate, settings.web.key) {
    case (nil, nil): return nil
    case (let certificate?, let key?):
      return place == .proxy ? nil : try CertificateFiles(certificate: certificate, key: key)
    default: throw WebError("web.certificate and web.key belong together; set both, or neither")
    }
  }
}
