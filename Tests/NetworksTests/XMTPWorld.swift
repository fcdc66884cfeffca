import Foundation
import Glibc
import Messages
import Seals
import TestSupport
import Testing

@testable import Networks

/// A relay of XMTP on loopback, a reader, and our sender, whose co-process a test can kill.
final class XMTPWorld: Sendable {
  struct Received: Decodable, Sendable {
    let id: String
    let sender: String
    let type: String
    let fallback: String
    let text: String?
    let attachment: CoProcessAnswer.SentAttachment?
    /// The photo of a profile update: `url`, `salt` and `nonce`; empty without one.
    let profile: [String: String]?
  }

  let scratch: TemporaryDirectory
  let relay: Dialogue
  let reader: Dialogue
  let endpoint: String
  let readerInbox: String
  let readerAddress: String
  let said: Said

  init() async throws {
    scratch = try TemporaryDirectory()
    relay = try Dialogue("xmtp_relay.py")
    endpoint = try await relay.order("endpoint")["endpoint"] ?? ""
    reader = try Dialogue("xmtp_reader.py", [endpoint, scratch.path])
    let who = try await reader.order("who")
    (readerInbox, readerAddress) = (who["inbox"] ?? "", who["address"] ?? "")
    said = Said()
    try Self.write(key: String(repeating: "5a", count: 32), to: scratch.path("key"))
  }

  static func write(key: String, to path: String, mode: Int = 0o600) throws {
    try Data("\(key)\n".utf8).write(to: URL(fileURLWithPath: path))
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
  }

  var settings: XMTPNetworkType {
    var settings = XMTPNetworkType()
    settings.endpoint = endpoint
    settings.insecure = true
    settings.keyFile = scratch.path("key")
    settings.python = python
    return settings
  }

  /// Stops the program of `haltedOptions` at a moment named in its script.
  func halt(at moment: String?) throws {
    try Data((moment ?? "").utf8).write(to: URL(fileURLWithPath: scratch.path("halt")))
  }

  /// A sender as in a new daemon.
  func sender(seconds: Int = 45, _ change: (inout XMTPNetworkType) -> Void = { _ in }) -> XMTPNetwork {
    var settings = settings
    change(&settings)
    return XMTPNetwork(
      endpoint: endpoint, settings.coProcess(Self.program, state: scratch.path("xmtp"), seconds: seconds)
    ) { [said] in said.add($0) }
  }

  static let program = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("Sources/photospool-xmtp/photospool-xmtp.py").path

  /// Kills the co-process and its children as a power cut would.
  func kill(_ sender: XMTPNetwork) throws {
    Glibc.kill(-(try #require(sender.coProcess.processID)), SIGKILL)
  }

  /// A group of the reader and the sender, and its id.
  func group(with sender: XMTPNetwork) async throws -> (Address, id: String) {
    let group = try await reader.order("group", ["with": try await sender.standing().inbox])["group"] ?? ""
    return (Address(unchecked: "group:\(group)"), group)
  }

  var directly: Address { Address(unchecked: "dm:\(readerInbox)") }

  func received() async throws -> [Received] {
    try await reader.order("read", as: [String: [Received]].self)["messages"] ?? []
  }

  /// The number of the group's messages on the relay, including those that receivers ignore.
  func envelopes(of group: String) async throws -> Int {
    try await relay.order("stored", ["group": group], as: [String: Int].self)["stored"] ?? 0
  }

  /// Waits until the relay holds a message.
  func waitUntilHeld() async throws { _ = try await relay.order("held") }

  /// A moment of a kill while a message is reserved and published.
  enum Moment: String, CaseIterable {
    case beforeItIsReserved = "before reserve"
    case reservedAndNotAnswered = "after reserve"
    case beforeItIsPublished = "before publish"
    case onItsWayToTheRelay = "before"
    case atTheRelayAndNotMarked = "after"
    case publishedAndNotAnswered = "after publish"

    var isOfReserving: Bool { rawValue.hasSuffix("reserve") }
  }

  /// Kills the sender at this moment of `work`, which fails.
  func kill(
    _ sender: XMTPNetwork, at moment: Moment, while work: @escaping @Sendable () async throws -> Void
  ) async throws {
    let isAtRelay = moment == .onItsWayToTheRelay || moment == .atTheRelayAndNotMarked
    if isAtRelay { try await hold(moment.rawValue) } else { try halt(at: moment.rawValue) }
    let attempt = Task { try await work() }
    if isAtRelay { try await waitUntilHeld() } else { await said.wait(for: "halted") }
    try kill(sender)
    await #expect { try await attempt.value } throws: { $0.cause == .network && "\($0)".contains("was killed") }
    switch moment {
    case .onItsWayToTheRelay: try await drop()
    case .atTheRelayAndNotMarked: try await release()
    default: try halt(at: nil)
    }
  }

  func hold(_ when: String) async throws { _ = try await relay.order("hold", ["when": when]) }
  func release() async throws { _ = try await relay.order("release") }
  func drop() async throws { _ = try await relay.order("drop") }

  func refuse(_ status: String?) async throws {
    _ = try await relay.order("refuse", ["status": status ?? NSNull() as any Sendable])
  }

  func message(
    _ id: String, _ content: OutgoingMessage.Content, to address: Address, reserved: String? = nil
  ) -> OutgoingMessage {
    OutgoingMessage(id, content, to: address.text).reserved(as: reserved)
  }

  /// A sealed photo with its object in a file.
  func photo(_ bytes: [UInt8], object: String = "object") throws -> (OutgoingMessage.Content, object: String) {
    let sealed = try XMTPSeal().seal(
      PhotoFile(bytes: bytes, filename: "photo.jpg", mimeType: "image/jpeg", width: 3, height: 4))
    let path = scratch.path(object)
    try Data(sealed.bytes).write(to: URL(fileURLWithPath: path))
    return (.photo(sealed.facts.attachment(at: "https://photos.example/\(sealed.digest.hex)")), path)
  }

  /// Reserves and publishes as delivery does.
  func send(_ message: OutgoingMessage, as sender: XMTPNetwork) async throws -> Publication {
    try await sender.publish(message.reserved(as: try await sender.reserve(message)))
  }
}
