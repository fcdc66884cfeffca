import Foundation
import Glibc
import Messages
import TestSupport
import Testing

@testable import Networks

/// Errors of XMTP, and their causes and sentences.
@Suite(.serialized, .timeLimit(.minutes(10))) struct XMTPRefusalTests {
  @Test(
    "What relays refuse has its cause",
    arguments: [
      ("UNAVAILABLE", Cause.network), ("RESOURCE_EXHAUSTED", .rateLimited), ("UNAUTHENTICATED", .authExpired),
      ("PERMISSION_DENIED", .authExpired), ("DEADLINE_EXCEEDED", .timeout), ("INTERNAL", .serverBusy),
    ])
  func refusals(_ status: String, _ cause: Cause) async throws {
    let world = try await XMTPWorld()
    let sender = world.sender()
    let message = world.message("m1", .text("one"), to: world.directly)
    let reserved = message.reserved(as: try await sender.reserve(message))
    await sender.stop()
    try await world.refuse(status)
    // A new process does not know whether it was sent, and asks first.
    let fresh = world.sender()
    await #expect { try await fresh.publish(reserved) } throws: { $0.cause == cause }
    try await world.refuse(nil)
    _ = try await fresh.publish(reserved)
    #expect(try await world.received().map(\.text) == ["one"])
  }

  @Test(
    "What cannot be published to is said",
    arguments: [
      ("family", Cause.rejected, "write group:ID"), ("group:xyz", .rejected, "write group:ID"),
      ("group:" + String(repeating: "ab", count: 16), .roomGone, "not a member"),
      ("dm:" + String(repeating: "ab", count: 32), .roomGone, "nobody has"),
      ("dm:0x" + String(repeating: "ab", count: 20), .roomGone, "has no inbox"),
    ])
  func noConversation(_ conversation: String, _ cause: Cause, _ words: String) async throws {
    let world = try await XMTPWorld()
    let sender = world.sender()
    let message = world.message("m1", .text("one"), to: Address(unchecked: conversation))
    await #expect { try await sender.reserve(message) } throws: { $0.cause == cause && "\($0)".contains(words) }
    #expect(try await sender.standing(of: message.address).knowsConversation == false)
    await #expect { try await sender.checkConversation(message.address) } throws: {
      $0.cause?.disposition == .fail && "\($0)".contains(words)
    }
  }

  @Test("A group that removed us is gone")
  func removed() async throws {
    let world = try await XMTPWorld()
    let sender = world.sender()
    let (group, id) = try await world.group(with: sender)
    _ = try await world.send(world.message("m1", .text("one"), to: group), as: sender)
    _ = try await world.reader.order("remove", ["group": id, "member": try await sender.standing().inbox])
    // The next sender learns of it.
    _ = try? await world.send(world.message("m2", .text("two"), to: group), as: sender)
    await #expect { try await sender.reserve(world.message("m3", .text("three"), to: group)) } throws: {
      $0.cause == .roomGone
    }
  }

  @Test("A reserved id that the database does not know is not guessed about")
  func restored() async throws {
    let world = try await XMTPWorld()
    let message = world.message("m1", .text("one"), to: world.directly, reserved: String(repeating: "ab", count: 32))
    await #expect { try await world.sender().publish(message) } throws: {
      $0.cause == .rejected && "\($0)".contains("restored from a backup")
    }
  }

  @Test("The database is encrypted, and with another key it is not opened")
  func encrypted() async throws {
    let world = try await XMTPWorld()
    let sender = world.sender()
    let (content, _) = try world.photo([UInt8](repeating: 7, count: 5000))
    guard case .photo(let attachment) = content else { return }
    let publication = try await world.send(world.message("m1", content, to: world.directly), as: sender)
    _ = try await world.send(world.message("m2", .text("the words of a secret"), to: world.directly), as: sender)
    #expect(publication.attachment?.secret == attachment.secret)
    await sender.stop()
    let state = world.scratch.path("xmtp")
    let key = try #require(attachment.secret)
    for name in try FileManager.default.contentsOfDirectory(atPath: state) {
      let file = try Data(contentsOf: URL(fileURLWithPath: "\(state)/\(name)"))
      for words in ["words of a secret", "photos.example", key, "CREATE TABLE"] {
        #expect(file.range(of: Data(words.utf8)) == nil, "\(name)")
      }
      let mode = try FileManager.default.attributesOfItem(atPath: "\(state)/\(name)")[.posixPermissions] as? Int
      #expect((mode ?? 0o777) & 0o077 == 0, "\(name)")
    }
    try XMTPWorld.write(key: String(repeating: "5b", count: 32), to: world.scratch.path("key"))
    await #expect { try await world.sender().standing() } throws: { $0.cause == .configError }
  }

  @Test("A key that others can read, or that is invalid, is refused")
  func keys() async throws {
    let world = try await XMTPWorld()
    func refusal(_ change: (inout XMTPNetworkType) -> Void = { _ in }) async -> String {
      do { return "\(try await world.sender(change).standing())" } catch { return "\(error)" }
    }
    #expect(await refusal { $0.keyFile = "/nowhere" }.contains("cannot open the key file /nowhere: No such file"))
    try XMTPWorld.write(key: "secret", to: world.scratch.path("key"))
    #expect(await refusal().contains("one line of 64 hex digits (config_error)"))
    #expect(await !refusal().contains("secret"))
    try XMTPWorld.write(key: String(repeating: "5a", count: 32), to: world.scratch.path("key"), mode: 0o640)
    #expect(await refusal().contains("is open to others than its owner"))
  }

  @Test("It ends when its parent died with an answer unread")
  func unreadAnswer() throws {
    let scratch = try TemporaryDirectory()
    try XMTPWorld.write(key: String(repeating: "5a", count: 32), to: scratch.path("key"))
    var sockets: [Int32] = [0, 0]
    #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &sockets) == 0)
    let process = Process()
    process.executableURL = URL(fileURLWithPath: python)
    process.arguments = [
      XMTPWorld.program, "--state", scratch.path("xmtp"), "--key", scratch.path("key"), "--endpoint", "127.0.0.1:1",
      "--seconds", "45", "--plaintext",
    ]
    let theirs = FileHandle(fileDescriptor: sockets[1], closeOnDealloc: true)
    process.standardInput = theirs
    process.standardOutput = theirs
    process.standardError = FileHandle.nullDevice
    try process.run()
    try theirs.close()
    let request = Array("{\"id\":1,\"do\":\"nothing\"}\n".utf8)
    #expect(write(sockets[0], request, request.count) == request.count)
    var answer = pollfd(fd: sockets[0], events: Int16(POLLIN), revents: 0)
    #expect(poll(&answer, 1, 60_000) == 1)
    close(sockets[0])
    process.waitUntilExit()
    #expect(process.terminationReason == .exit)
  }

  @Test("Two processes do not use one database")
  func twoProcesses() async throws {
    let world = try await XMTPWorld()
    let (first, second) = (world.sender(), world.sender())
    _ = try await first.standing()
    await #expect { try await second.standing() } throws: { $0.cause == .conflict }
    await first.stop()
    #expect(try await second.standing().isReachable)
  }

  @Test("A photo without a seal, or without an https address, is held until the configuration is fixed")
  func unsealed() async throws {
    let network = XMTPNetwork(endpoint: "e", CoProcessProgram(name: "xmtp", path: "p")) { _ in }
    for (url, isSealed) in [("https://a/b", false), ("http://a/b", true), ("file:///a", true)] {
      let message = OutgoingMessage("m", .photo(Messages.Attachment(url, isSealed: isSealed)))
      await #expect { try await network.reserve(message) } throws: { $0.cause == .configError }
    }
  }

  @Test("A missing program and a Python without libxmtp are reported as missing")
  func missing() async throws {
    let world = try await XMTPWorld()
    for change: @Sendable (inout XMTPNetworkType) -> Void in [
      { $0.python = "/nowhere/python3" }, { $0.program = "/nowhere/photospool-xmtp.py" },
    ] {
      await #expect { try await world.sender(change).standing() } throws: {
        $0.cause == .configError && "\($0)".contains("/nowhere")
      }
    }
    await #expect { try await world.sender { $0.python = "/usr/bin/python3" }.standing() } throws: {
      $0.cause == .configError && "\($0)".contains("xmtp-bindings")
    }
  }

  @Test("The check says as whom it publishes, or that nobody answers")
  func check() async throws {
    let world = try await XMTPWorld()
    let sender = world.sender()
    let inbox = try await sender.standing().inbox
    #expect(try await sender.check().contains(inbox))
    #expect(try await sender.checkConversation(world.directly) != nil)
    _ = try await world.relay.order("down")
    await #expect { try await sender.check() } throws: { $0.cause == .network && "\($0)".contains(world.endpoint) }
  }
}
