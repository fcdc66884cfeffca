import Matrix
import Messages
import Olm

/// A Megolm session of a room, in memory only: a restart begins a new one.
struct MatrixRoomSession: Sendable {
  var megolm: OutboundMegolmSession
  let madeAt: Timestamp
  /// After so many messages, or seconds, a new session begins.
  let mostMessages: Int
  let mostSeconds: Double
  var messages = 0
  /// The devices that have its key, each with the number of sessions that it had opened with ours when it got it.
  var holders: [MatrixDevice: Int] = [:]
  /// The devices that were told that they do not get it.
  var refused: Set<MatrixDevice> = []

  /// - Parameter rules: the content of `m.room.encryption`; its limits only shorten the usual ones.
  init(_ rules: JSONValue?, at now: Timestamp) throws(OlmError) {
    megolm = try OutboundMegolmSession()
    madeAt = now
    mostMessages = min(max(Self.whole(rules?["rotation_period_msgs"]) ?? 100, 1), 100)
    let week = 604_800_000
    mostSeconds = Double(min(max(Self.whole(rules?["rotation_period_ms"]) ?? week, 1), week)) / 1000
  }

  /// Whether another message may be encrypted for exactly these devices.
  func isUsable(for devices: Set<MatrixDevice>, at now: Timestamp) -> Bool {
    messages < mostMessages && abs(now.seconds(since: madeAt)) < mostSeconds
      && holders.keys.allSatisfy(devices.contains)
  }

  private static func whole(_ value: JSONValue?) -> Int? {
    guard case .whole(let whole) = value else { return nil }
    return Int(whole)
  }
}
