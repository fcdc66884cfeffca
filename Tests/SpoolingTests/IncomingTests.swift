import Foundation
import Glibc
import Messages
import TestSupport
import Testing

@testable import Spooling

@Suite struct IncomingTests {
  private let scratch: TemporaryDirectory
  private let spool: Spool
  private let incoming: IncomingSpool

  init() throws {
    scratch = try TemporaryDirectory()
    spool = try Spool(creating: scratch.path("spool"))
    incoming = try IncomingSpool(spool)
  }

  private func path(_ name: String) -> String { scratch.path("spool/incoming/new/\(name)") }

  private func drop(_ name: String, _ files: [String: String]) throws {
    try FileManager.default.createDirectory(atPath: path(name), withIntermediateDirectories: true)
    for (file, text) in files { try Data(text.utf8).write(to: URL(fileURLWithPath: path("\(name)/\(file)"))) }
  }

  private var whole: [String: String] {
    ["from-conversation": "family\n", "inbox": "me\n", "message": "$a:b\n", "attachment": "{}"]
  }

  private func fault(_ name: String) -> String? {
    do {
      _ = try incoming.read(name)
      return nil
    } catch { return "\(error)" }
  }

  @Test func bridgeDropsAreRead() throws {
    try drop("a", whole)
    let found = try #require(try incoming.read("a"))
    #expect(found.conversation.text == "family" && found.inbox?.text == "me" && found.message.text == "$a:b")
    #expect(found.attachment == Array("{}".utf8))
    try drop("b", whole.filter { $0.key != "inbox" }.merging(["error": "refused before"]) { $1 })
    #expect(try #require(try incoming.read("b")).inbox == nil)
    #expect(try incoming.read("nothing") == nil)
    #expect(found.sender == nil)
    try drop("c", whole.merging(["sender": "@bob:example.org\n"]) { $1 })
    #expect(try #require(try incoming.read("c")).sender?.text == "@bob:example.org")
  }

  @Test func acceptedDropsLeaveInOneRename() throws {
    try drop("a", whole)
    try incoming.remove("a")
    try incoming.remove("a")
    #expect(try incoming.new.names().isEmpty && incoming.cur.names().isEmpty)
  }

  @Test func heardMessagesNameTheirSender() throws {
    func drop(_ message: String, _ sender: String?) throws {
      try incoming.drop(
        [
          Incoming(
            conversation: ConversationID(unchecked: "family"), inbox: InboxID(unchecked: "me"),
            message: RemoteMessageID(unchecked: message), sender: sender.map(SenderID.init(unchecked:)),
            attachment: Array("{}".utf8))
        ], from: "matrix")
    }
    try drop("a", "@bob:example.org")
    try drop("b", nil)
    let found = try incoming.new.names().sorted().compactMap { try incoming.read($0) }
    #expect(found.map(\.sender?.text) == ["@bob:example.org", nil])
  }

  @Test(arguments: ["from-conversation", "message", "attachment"])
  func missingFilesAreNamed(_ file: String) throws {
    try drop("a", whole.filter { $0.key != file })
    #expect(fault("a")?.contains("no file named \(file)") == true)
  }

  @Test(arguments: [
    ("message", ""), ("message", "a\nb"), ("message", String(repeating: "x", count: 256)),
    ("message", String(repeating: "x", count: 5000)), ("inbox", "\u{1b}[2J"), ("from-conversation", "\n"),
    ("sender", ""), ("sender", "\u{1b}]0;x\u{7}"), ("sender", String(repeating: "x", count: 256)),
    ("photo.jpg", "x"), ("attachment", String(repeating: "x", count: IncomingLimits.attachmentBytes + 1)),
  ])
  func aBadFieldIsRefused(_ file: String, _ text: String) throws {
    try drop("a", whole.merging([file: text]) { $1 })
    #expect(fault("a")?.contains(file) == true)
  }

  @Test func linksAndOtherThingsAreRefusedWithoutBeingFollowed() throws {
    for kind in ["link", "fifo", "directory", "hard link"] {
      try drop(kind.replacing(" ", with: "-"), whole.filter { $0.key != "attachment" })
      let target = path("\(kind.replacing(" ", with: "-"))/attachment")
      switch kind {
      case "link": #expect(symlink("/etc/passwd", target) == 0)
      case "fifo": #expect(mkfifo(target, 0o600) == 0)
      case "directory": #expect(mkdir(target, 0o700) == 0)
      default:
        try Data("{}".utf8).write(to: URL(fileURLWithPath: scratch.path("other")))
        #expect(link(scratch.path("other"), target) == 0)
      }
      #expect(fault(kind.replacing(" ", with: "-"))?.contains("attachment") == true)
    }
    #expect(symlink("/etc", path("elsewhere")) == 0)
    #expect(fault("elsewhere")?.contains("a symbolic link") == true)
    try Data().write(to: URL(fileURLWithPath: path("file")))
    #expect(fault("file")?.contains("not a directory") == true)
    try drop("many", Dictionary(uniqueKeysWithValues: (0..<50).map { ("x\($0)", "x") }))
    #expect(fault("many")?.contains("more than") == true)
  }

  @Test func refusedDropsGoToFailedWithTheirReason() throws {
    try drop("a", whole)
    #expect(try incoming.refuse(Array("a".utf8), because: "it is bad")?.text == "a")
    try drop("a", whole)
    #expect(try incoming.refuse(Array("a".utf8), because: "it is bad")?.text == "a.2")
    let failed = scratch.path("spool/incoming/failed")
    #expect(try String(contentsOfFile: "\(failed)/a.2/error", encoding: .utf8) == "it is bad\n")
    #expect(try String(contentsOfFile: "\(failed)/a.2/message", encoding: .utf8) == "$a:b\n")
    #expect(try incoming.refuse(Array("a".utf8), because: "it is bad") == nil)
  }

  @Test func plainFilesAreRefusedWhole() throws {
    try Data("x".utf8).write(to: URL(fileURLWithPath: path("-file")))
    let name = try #require(try incoming.refuse(Array("-file".utf8), because: "it is bad"))
    let failed = scratch.path("spool/incoming/failed/\(name)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: failed).sorted() == ["entry", "error"])
    #expect(try incoming.new.names().isEmpty)
  }
}
