import Foundation
import HTTP
import Matrix
import Messages
import Networks
import Secrets
import Synchronization
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2))) struct MatrixListenerFaultTests {
  private let server: FaultServer
  private let listener: MatrixListener
  private let heard = Heard()

  private final class Heard: Sendable {
    let messages = Mutex<[String]>([])
    var all: [String] { messages.withLock { $0 } }
    let isAccountKnown = Mutex(false)
  }

  private static let position = "@bob:example.test s1"
  private static let account = FaultServer.says(#"{"user_id": "@bob:example.test"}"#)
  private static let filter = FaultServer.says(#"{"filter_id": "f"}"#)

  init() throws {
    server = try FaultServer()
    var limits = HTTPLimits()
    limits.stall = .seconds(1)
    listener = try MatrixListener(
      name: "matrix", MatrixAccount(homeserver: server.endpoint, token: Secret("TOKENSECRET")),
      conversations: HeardConversations("!a:example.test"), client: HTTPClient(), limits: limits
    ) { _ in }
  }

  /// The messages and the position for these answers of the homeserver.
  private func listen(_ answers: String...) async throws -> (messages: [String], position: String) {
    let isKnown = heard.isAccountKnown.withLock { isKnown in
      defer { isKnown = true }
      return isKnown
    }
    for word in (isKnown ? [] : [Self.account]) + [Self.filter] + answers { try await server.script(word) }
    let next = try await listener.listen(after: Self.position) { [heard] arrivals in
      heard.messages.withLock { $0 += arrivals.map(\.message) }
    }
    return (heard.all, next)
  }

  private static func room(_ events: String, _ more: String = "") -> String {
    #"{"next_batch": "s2", "rooms": {"join": {"!a:example.test": {"timeline": {"events": [\#(events)]\#(more)}}}}}"#
  }

  private static func photo(_ id: String) -> String {
    #"{"type": "m.room.message", "event_id": "\#(id)", "sender": "@eve:example.test", "content": {"msgtype": "m.image", "url": "mxc://a/b"}}"#
  }

  @Test(arguments: [
    ("status/503", Cause.serverBusy), ("html/502", .serverBusy), ("html/200", .network), ("status/401", .authExpired),
    ("status/429", .rateLimited), ("reset-reply", .network), ("garbage", .network), ("half", .timeout),
    ("json?text=[]", .network), ("json?text=7", .network),
    ("json/403?text={\"errcode\":\"M_FORBIDDEN\"}", .configError),
  ])
  func everyFaultHasACauseAndOnePlainSentence(_ fault: String, _ cause: Cause) async throws {
    let fault = fault.replacing("{", with: "%7B").replacing("}", with: "%7D").replacing("\"", with: "%22")
    let error = await #expect(throws: DeliveryError.self) { _ = try await listen(fault) }
    #expect(error?.cause == cause && error?.sentence.contains("SECRET") == false)
    // Everything is looked up again.
    let (_, next) = try await listen(FaultServer.says(Self.room("")))
    #expect(next == "@bob:example.test s2")
  }

  @Test(arguments: [
    #"{"next_batch": "s2", "rooms": []}"#, #"{"next_batch": "s2", "rooms": {"join": {"!a:example.test": 7}}}"#,
    #"{"next_batch": "s2", "rooms": {"join": {"!a:example.test": {"timeline": {"events": {}, "limited": 3}}}}}"#,
    room(#"7, null, [], {"type": "m.room.message"}"#),
    room(#"{"type": "m.room.message", "event_id": 7, "sender": "@eve:x", "content": {"msgtype": "m.image"}}"#),
    room(#"{"type": "m.room.message", "event_id": "$1", "sender": "@eve:x", "content": "m.image"}"#),
  ])
  func wrongTypesArePassedOver(_ answer: String) async throws {
    let (messages, next) = try await listen(FaultServer.says(answer))
    #expect(messages.isEmpty && next == "@bob:example.test s2")
  }

  @Test func unreadableEventSpoilsNoOther() async throws {
    let deep = String(repeating: "[", count: 3000) + String(repeating: "]", count: 3000)
    let hostile = #"{"type": "m.room.message", "event_id": "$2", "sender": "@eve:x", "content": \#(deep)}"#
    let (messages, _) = try await listen(
      FaultServer.says(
        Self.room([Self.photo("$1"), hostile, #"{"a": 1e999}"#, Self.photo("$3")].joined(separator: ","))))
    #expect(messages == ["$1", "$3"])
  }

  @Test func endlessAnswerIsAskedForInSmallerPieces() async throws {
    let (messages, _) = try await listen(
      "huge", FaultServer.says(#"{"filter_id": "g"}"#), FaultServer.says(Self.room(Self.photo("$1"))))
    #expect(messages == ["$1"])
    let filters = try await server.asked().filter { $0.method == "POST" }
    #expect(filters.count == 2)
  }

  @Test func strangersMessagesToTheDeviceEndNoListening() async throws {
    // They come with every answer, however few events it has.
    let large = FaultServer.says(
      #"{"next_batch": "s2", "to_device": {"events": ["PADDING"]}, "rooms": {"join": {"!a:example.test": "#
        + #"{"timeline": {"events": [\#(Self.photo("$1"))]}}}}}"#)
    let filter = FaultServer.says(#"{"filter_id": "g"}"#)
    let (messages, next) = try await listen("huge", filter, "huge", filter, large + "&pad=\(17 << 20)")
    #expect(messages == ["$1"] && next == "@bob:example.test s2")
  }

  @Test func forgottenFilterIsMadeAgain() async throws {
    let forgotten = FaultServer.says(#"{"errcode": "M_INVALID_PARAM"}"#, status: 400)
    let filter = FaultServer.says(#"{"filter_id": "g"}"#)
    let (messages, _) = try await listen(forgotten, filter, FaultServer.says(Self.room(Self.photo("$1"))))
    #expect(messages == ["$1"])
  }

  @Test func aGapIsReadBeforeWhatFollowsIt() async throws {
    let gap = #", "limited": true, "prev_batch": "s1.9""#
    let page = #"{"chunk": [\#(Self.photo("$1"))], "end": "s1.5"}"#
    let last = #"{"chunk": [\#(Self.photo("$2"))]}"#
    let (messages, next) = try await listen(
      FaultServer.says(Self.room(Self.photo("$3"), gap)), FaultServer.says(page), FaultServer.says(last))
    #expect(messages == ["$1", "$2", "$3"] && next == "@bob:example.test s2")
    let pages = try await server.asked().map(\.target).filter { $0.contains("/messages?") }
    #expect(pages.count == 2 && pages[0].contains("from=s1&to=s1.9") && pages[1].contains("from=s1.5&to=s1.9"))
  }

  @Test func anAliasIsLookedUpAgainEachHour() async throws {
    let now = Mutex(Timestamp(milliseconds: 0))
    let listener = try MatrixListener(
      name: "matrix", MatrixAccount(homeserver: server.endpoint, token: Secret("t")),
      conversations: HeardConversations("#family:example.test"), client: HTTPClient(), clock: { now.withLock { $0 } }
    ) { _ in }
    func listen(after seconds: Double, _ answers: String...) async throws -> [String] {
      now.withLock { $0 = $0.advanced(seconds: seconds) }
      try await server.script(answers)
      _ = try await listener.listen(after: Self.position) { [heard] arrivals in
        heard.messages.withLock { $0 += arrivals.map(\.message) }
      }
      return heard.all
    }
    func room(_ letter: String) -> String { FaultServer.says(#"{"room_id": "!\#(letter):example.test"}"#) }
    func photo(_ id: String, in letter: String) -> String {
      FaultServer.says(Self.room(Self.photo(id)).replacing("!a:", with: "!\(letter):"))
    }
    #expect(try await listen(after: 0, Self.account, room("a"), Self.filter, photo("$1", in: "a")) == ["$1"])
    #expect(try await listen(after: 3599, photo("$2", in: "b")) == ["$1"])
    #expect(try await listen(after: 1, room("b"), Self.filter, photo("$3", in: "b")) == ["$1", "$3"])
    // Without an answer of the directory the room stays; the filter does, too.
    #expect(try await listen(after: 3600, "status/502", photo("$4", in: "b")) == ["$1", "$3", "$4"])
    #expect(try await listen(after: 3600, room("b"), photo("$5", in: "b")) == ["$1", "$3", "$4", "$5"])
  }

  @Test func failedPageRepeatsTheWholeAnswer() async throws {
    let gap = #", "limited": true, "prev_batch": "s1.9""#
    let answer = FaultServer.says(Self.room(Self.photo("$3"), gap))
    await #expect(throws: DeliveryError.self) { _ = try await listen(answer, "status/503") }
    #expect(heard.all.isEmpty)
    // A forbidden room delays nothing.
    let forbidden = FaultServer.says(#"{"errcode": "M_FORBIDDEN"}"#, status: 403)
    #expect(try await listen(answer, forbidden).messages == ["$3"])
  }
}
