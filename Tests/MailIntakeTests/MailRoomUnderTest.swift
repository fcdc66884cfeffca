import DurableFiles
import Foundation
import Logging
import MailIntake
import Settings
import Spooling
import TestSupport

/// A mail room with the real parser on a spool of its own.
struct MailRoomUnderTest {
  static let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    .deletingLastPathComponent().appendingPathComponent("photospool-darkroom").path
  /// The beginning of a JPEG in base64.
  static let jpeg = "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAMCAgICAgMCAgIDAwMDBAYEBAQEBAgGBgUGCQgKCgkI"

  let scratch: TemporaryDirectory
  let spool: Spool
  let room: MailRoom
  let settings: Settings

  init(_ mail: String, program: String = Self.program, idle: Duration = .seconds(60)) throws {
    scratch = try TemporaryDirectory()
    let file = scratch.path("photospool.yaml")
    try Data("mail:\n\(mail)".utf8).write(to: URL(fileURLWithPath: file))
    settings = try Settings.load(file: file, fileIsExplicit: true, environment: [:], flags: [:])
    spool = try Spool(creating: scratch.path("spool"))
    let log = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    room = try MailRoom(spool: spool, program: program, idle: idle, settings: { [settings] in settings }, log: log)
  }

  /// Delivers a mail as Postfix does, with a link.
  func deliver(_ mail: String, as name: String = "1795.V1.vm") throws {
    let tmp = spool.path + "/mail/tmp/" + name
    try Data(mail.utf8).write(to: URL(fileURLWithPath: tmp))
    try FileManager.default.linkItem(atPath: tmp, toPath: spool.path + "/mail/new/" + name)
  }

  static func mail(to: String, fields: String = "", photos: Int, text: String = "Somebody is at the door") -> String {
    let part = "--x\nContent-Type: image/jpeg\nContent-Transfer-Encoding: base64\n\n"
    return "From: cam@cams.home\nTo: \(to)\n\(fields)Content-Type: multipart/mixed; boundary=x\n\n--x\n\n\(text)\n"
      + (0..<photos).map { "\(part)\(jpeg)\(Data("\($0)".utf8).base64EncodedString())\n" }.joined() + "--x--\n"
  }

  /// The requests in `new/`, by name, with the lines of their files.
  func requests() throws -> [(name: String, files: [String: String])] {
    try spool.new.names().map { name in
      let directory = try spool.new.directory(name)
      var files = [String: String]()
      for file in try directory.names() {
        files[file] = String(decoding: try directory.file(file).contents(limit: 1 << 20) ?? [], as: UTF8.self)
      }
      return (name, files)
    }
  }

  func waiting() throws -> [String] { try spool.root.directory("mail").directory("new").names() }
}
