import FoundationEssentials
import GRDB
import Olm

/// The Olm sessions over which this process sends: for each device the one that got its last message, or that was opened
/// later. Their chains that encrypt are nowhere else, so a new process opens new sessions. It also goes on with a former
/// one over which a new ratchet key comes.
struct LiveSessions: Sendable {
  /// Our device, to which they belong.
  let own: String
  private var sessions: [Curve25519PublicKey: OlmSession] = [:]
  private var openings: [Curve25519PublicKey: Int] = [:]

  private static let most = 10_000

  init(of own: String) { self.own = own }

  mutating func use(_ session: OlmSession, with device: Curve25519PublicKey) {
    if sessions.count >= Self.most { sessions.removeAll() }
    sessions[device] = session
  }

  mutating func noteOpening(by device: Curve25519PublicKey) {
    if openings.count >= Self.most { openings.removeAll() }
    openings[device, default: 0] += 1
  }

  /// How many sessions a device has opened since the start of the process.
  func openings(by device: Curve25519PublicKey) -> Int { openings[device] ?? 0 }

  /// The session over which to send to a device; nil if a new one is needed.
  func sending(to device: Curve25519PublicKey, _ database: Database) throws -> OlmSession? {
    guard let id = sessions[device]?.id, let session = try stored(id, with: device, database), session.canEncrypt else {
      return nil
    }
    return session
  }

  /// A session of the file, with its chain if that is in memory; nil if there is none, and for a damaged row.
  func stored(_ id: String, with device: Curve25519PublicKey, _ database: Database) throws -> OlmSession? {
    let state = try String.fetchOne(database, sql: "SELECT state FROM olm WHERE session = ?", arguments: [id])
    guard let state, var session = try? JSONDecoder().decode(OlmSession.self, from: Data(state.utf8)) else {
      return nil
    }
    if let live = sessions[device], live.id == id { session.resume(live) }
    return session
  }
}
