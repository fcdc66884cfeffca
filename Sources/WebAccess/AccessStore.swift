import Digests
import DurableFiles
import FoundationEssentials
import Messages
import Spooling

/// Links and sessions: one file each in `state/web/links` and `state/web/sessions`, named by the SHA-256 of its secret.
///
/// A link ends when its file is removed, so of two who use it one succeeds. The time of a session's file is its last use,
/// to the hour. Secrets are never written.
package struct AccessStore: Sendable {
  private let links: Directory
  private let sessions: Directory
  private let root: Directory
  private let known = KnownSessions()
  /// The path of the spool.
  let path: String

  /// How long a link can be used.
  package static let linkLife = Duration.minutes(10)
  /// A session ends when it was not used for so long.
  private static let idle = Duration.days(7)
  /// A session with a password is locked when it was not used for so long.
  private static let rest = Duration.hours(12)
  /// The port of the service.
  package static let servicePort: UInt16 = 7377
  /// Sessions at once.
  private static let most = 64
  /// Sessions at once by links that one user of the spool's group got.
  private static let mostOfMember = 8
  private static let nameFile = "name"
  private static let addressFile = "address"

  package init(_ spool: Spool) throws {
    path = spool.path
    root = try spool.state.directory(creating: "web")
    links = try root.directory(creating: "links")
    sessions = try root.directory(creating: "sessions")
  }

  /// The page's own name below `localhost`. Browsers then send its cookies to no other server of this computer.
  package func name() throws -> String {
    if let name = try note(Self.nameFile) { return name }
    let name = "ps-\(secret(bytes: 4)).localhost"
    try setNote(name, Self.nameFile)
    return name
  }

  /// Where browsers find a page on this socket.
  package func address(
    _ place: ListeningSocket.Place, names: [String], hasCertificate: Bool
  ) throws -> PageAddress {
    try PageAddress(place, own: name(), names: names, hasCertificate: hasCertificate)
  }

  /// Scheme, name and port of the page that was started last; nil before the first start.
  package func origin() throws -> String? {
    // Before TLS, the scheme was not written.
    try note(Self.addressFile).map { $0.contains("://") ? $0 : "http://\($0)" }
  }

  package func setOrigin(_ origin: String) throws { try setNote(origin, Self.addressFile) }

  private func note(_ name: String) throws -> String? {
    guard try root.entry(name) != nil else { return nil }
    return try root.file(name).contents(limit: 256).map { String(decoding: $0, as: UTF8.self) }
  }

  private func setNote(_ text: String, _ name: String) throws {
    try root.write(Array(text.utf8), as: name)
    try root.sync()
  }

  // MARK: Links

  /// Makes a link. Returns its secret code.
  package func makeLink(_ grant: Grant) throws -> String {
    let code = secret(bytes: 16)
    for name in try links.names() {
      if let entry = try links.entry(name), isOld(entry, at: .now()) { try? links.remove(name) }
    }
    try links.write(try Array(JSONEncoder().encode(grant)), as: key(code))
    try links.sync()
    return code
  }

  /// Looks at a link without spending it; nil if it was used or is too old.
  package func link(_ code: String, at now: Timestamp) throws -> Grant? {
    guard let entry = try links.entry(key(code)), !isOld(entry, at: now) else { return nil }
    return try read(Grant.self, key(code), in: links)
  }

  /// Spends a link and begins a session of `user`. Returns the session's secret and end; nil if the link cannot be used.
  package func beginSession(
    by code: String, user: UInt32?, at now: Timestamp
  ) throws -> (secret: String, end: Timestamp)? {
    guard let grant = try link(code, at: now), grant.user == nil || grant.user == user else { return nil }
    // Of several that use it at once, one removes it.
    guard try links.removeExisting(key(code)) else { return nil }
    try links.sync()
    try makeRoom(for: grant, at: now)
    let secret = secret(bytes: 32)
    let session = WebSession(id: self.secret(bytes: 6), grant: grant, user: user)
    try sessions.write(try Array(JSONEncoder().encode(session)), as: key(secret))
    try sessions.sync()
    try use(key(secret), at: now)
    return (secret, grant.expires)
  }

  // MARK: Sessions

  /// The session of a secret; nil if there is none, it is over, or another user has it.
  ///
  /// - Parameter isUse: whether a person uses it. A locked one is not used by this.
  package func session(
    _ secret: String, user: UInt32?, at now: Timestamp, isUse: Bool = true
  ) throws -> WebSession? {
    let key = key(secret)
    guard let (found, lastUse) = try read(key), found.user == user else { return nil }
    var session = found
    guard isGood(session, lastUse, at: now) else {
      try? sessions.remove(key)
      return nil
    }
    session.isLocked = session.password != nil && now.seconds(since: lastUse) >= Self.rest.seconds
    if isUse, !session.isLocked, now.seconds(since: lastUse) > 3600 { try use(key, at: now) }
    return session
  }

  /// Unlocks a session for its next rest.
  ///
  /// - Returns: false if the password is wrong.
  package func unlock(_ secret: String, _ session: WebSession, password: String, at now: Timestamp) throws -> Bool {
    guard session.password?.matches(password) != false else { return false }
    try use(key(secret), at: now)
    return true
  }

  /// Gives a session a password, or takes it away.
  ///
  /// - Parameter id: as in `AccessEntry`.
  /// - Returns: whether there is such a session.
  package func setPassword(_ password: String?, ofSession id: String) throws -> Bool {
    for name in try sessions.names() {
      guard let (found, lastUse) = try read(name), found.id == id else { continue }
      var session = found
      session.password = password.map(ScryptDigest.init(of:))
      try sessions.write(try Array(JSONEncoder().encode(session)), as: name)
      try use(name, at: lastUse)
      try sessions.sync()
      return true
    }
    return false
  }

  package func endSession(_ secret: String) throws { try remove(key(secret), from: sessions) }

  private func remove(_ key: String, from directory: Directory) throws {
    try directory.remove(key)
    try directory.sync()
  }

  // MARK: Overview

  /// The links and sessions that can be used, those that were used last first.
  package func entries(at now: Timestamp) throws -> [AccessEntry] {
    var entries: [AccessEntry] = []
    for name in try links.names() {
      guard let file = try links.entry(name), !isOld(file, at: now), let grant = try read(Grant.self, name, in: links)
      else { continue }
      let made = Timestamp(milliseconds: file.changed / 1_000_000)
      entries.append(AccessEntry(id: String(name.prefix(12)), isLink: true, grant: grant, user: grant.user, time: made))
    }
    for name in try sessions.names() {
      guard let (session, lastUse) = try read(name), isGood(session, lastUse, at: now) else { continue }
      entries.append(
        AccessEntry(
          id: session.id, isLink: false, grant: session.grant, user: session.user, time: lastUse,
          hasPassword: session.password != nil))
    }
    return entries.sorted { ($1.time, $0.id) < ($0.time, $1.id) }
  }

  /// Withdraws a link, or ends a session.
  ///
  /// - Parameter id: as in `AccessEntry`.
  /// - Returns: whether there was one.
  package func end(_ id: String) throws -> Bool {
    for name in try links.names() where name.prefix(12) == id {
      try remove(name, from: links)
      return true
    }
    for name in try sessions.names() where try read(name)?.0.id == id {
      try remove(name, from: sessions)
      return true
    }
    return false
  }

  private func isOld(_ link: Entry, at now: Timestamp) -> Bool {
    now.seconds(since: Timestamp(milliseconds: link.changed / 1_000_000)) >= Self.linkLife.seconds
  }

  private func isGood(_ session: WebSession, _ lastUse: Timestamp, at now: Timestamp) -> Bool {
    now < session.grant.expires && now.seconds(since: lastUse) < Self.idle.seconds
  }

  private func use(_ key: String, at now: Timestamp) throws {
    try sessions.file(key).setModified(now.milliseconds * 1_000_000)
  }

  private func read(_ key: String) throws -> (WebSession, lastUse: Timestamp)? {
    guard let entry = try sessions.entry(key),
      let session = try known.session(key, entry, { try read(WebSession.self, key, in: sessions) })
    else { return nil }
    return (session, Timestamp(milliseconds: entry.modified / 1_000_000))
  }

  /// Removes sessions that are over and, if there are too many, the one that was not used for the longest time. Users who
  /// get links at will do not end the sessions of others so.
  private func makeRoom(for grant: Grant, at now: Timestamp) throws {
    var kept: [(key: String, member: UInt32?, lastUse: Timestamp)] = []
    for name in try sessions.names() {
      if let (session, lastUse) = try read(name), isGood(session, lastUse, at: now) {
        kept.append((name, session.grant.user, lastUse))
      } else {
        try? sessions.remove(name)
      }
    }
    kept.sort { $0.lastUse > $1.lastUse }
    let own = grant.user == nil ? [] : kept.filter { $0.member == grant.user }
    let surplus = own.dropFirst(Self.mostOfMember - 1) + kept.dropFirst(Self.most - 1)
    for old in surplus { try? sessions.remove(old.key) }
  }

  private func read<Value: Decodable>(
    _ type: Value.Type, _ name: String, in directory: Directory
  ) throws(FileError) -> Value? {
    do {
      guard let bytes = try directory.file(name).contents(limit: 4096) else { return nil }
      return try? JSONDecoder().decode(type, from: Data(bytes))
    } catch {
      if error.isMissing { return nil }
      throw error
    }
  }

  private func key(_ secret: String) -> String { SHA256Digest(of: Array(secret.utf8)).hex }

  private func secret(bytes count: Int) -> String { (0..<count).map { _ in UInt8.random(in: 0 ... .max) }.hex }
}
