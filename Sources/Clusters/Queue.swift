/// The queue that the hosts of a cluster share: records in partitions, facts, and who is alive.
///
/// A record holds accepted requests. It stays until its owner finishes it. A fact says how requests ended, and has the id of a
/// request or a record. The first fact of an id stands, and later ones are refused. Records, facts and bytes are sealed; a
/// queue knows only their names. Many tasks may call at once. Nothing is retried here, except to find a server.
package protocol Queue: Sendable {
  // MARK: Records

  /// Appends a record behind all others of its partition.
  ///
  /// A record with this id is not appended again while it is in the queue, or within `Partition.memory` of its append. The
  /// result is then the position of the first one.
  ///
  /// - Throws: `.doubtful` if the record may be in the queue, now or later. Any other error means that it is not.
  func append(_ record: [UInt8], as id: RecordID, to partition: Partition) async throws(QueueError) -> Position

  /// The position of a record that was appended and is not finished; nil if the queue does not have it now.
  func find(_ id: RecordID, in partition: Partition) async throws(QueueError) -> Position?

  /// The first unfinished record behind a position; nil if there is none. It stays as it is.
  func record(after position: Position, in partition: Partition) async throws(QueueError) -> StoredRecord?

  // MARK: Owners

  /// The owners of partitions that have one.
  func owners() async throws(QueueError) -> [Partition: HostID]

  /// Makes `host` the only owner of a partition.
  ///
  /// - Parameter replaced: owners that this host may replace, because they are dead. Its own earlier life always is.
  /// - Returns: nil if another host owns it, or was quicker.
  func take(
    _ partition: Partition, for host: HostID, replacing replaced: Set<HostID>
  ) async throws(QueueError) -> (any OwnedPartition)?

  // MARK: Facts

  /// Makes a fact, unless one stands.
  ///
  /// - Returns: the one that stands: this one, or the earlier one.
  /// - Throws: `.doubtful` if this one may stand, now or later.
  func conclude(_ fact: [UInt8], of id: RecordID, from origin: HostID) async throws(QueueError) -> [UInt8]

  /// The fact that stands; nil if there is none now.
  func fact(of id: RecordID, from origin: HostID) async throws(QueueError) -> [UInt8]?

  /// Facts of one origin's requests, oldest first. Waits some seconds for the first one.
  ///
  /// - Parameter position: that of the last fact that is known; 0 for all.
  func facts(for origin: HostID, after position: Position, limit: Int) async throws(QueueError) -> [StoredFact]

  // MARK: Hosts

  /// Says that a host lives. Every beat is another value.
  func beat(_ beat: Beat) async throws(QueueError)

  /// The last beat of every host, dead ones included.
  func beats() async throws(QueueError) -> [StoredBeat]

  /// Faults of the servers, each a sentence for `photospool check`; empty if there are none.
  func faults() async throws(QueueError) -> [String]

  func close() async
}

/// A partition that this process owns, or has owned.
package protocol OwnedPartition: AnyObject, Sendable {
  /// The position of the last record when the partition was taken, or a later one. Up to there, an earlier owner may have
  /// read the records; nobody else reads later ones.
  var inherited: Position { get }

  /// The next records in the order of their positions. The first call begins with the first unfinished record of the
  /// partition. A record may come again, for example after a lost connection; its position tells. Waits some seconds for
  /// the first one, and returns none if none came.
  ///
  /// - Throws: `.lost` once another owner has the partition.
  func read(limit: Int) async throws(QueueError) -> [StoredRecord]

  /// Removes a record for good. Repeatable.
  ///
  /// - Throws: `.lost` once another owner has the partition; the record then stays.
  func finish(_ position: Position) async throws(QueueError)

  /// Gives the partition up, so that another host can take it at once. Errors are ignored: the lease ends it, too.
  func release() async
}

/// Grows with every record of a partition, and with every fact of an origin. The first one is at least 1.
package typealias Position = UInt64

package struct StoredRecord: Sendable, Equatable {
  package let position: Position
  package let id: RecordID
  package let record: [UInt8]

  package init(position: Position, id: RecordID, record: [UInt8]) {
    self.position = position
    self.id = id
    self.record = record
  }
}

package struct StoredFact: Sendable, Equatable {
  package let position: Position
  package let id: RecordID
  package let fact: [UInt8]

  package init(position: Position, id: RecordID, fact: [UInt8]) {
    self.position = position
    self.id = id
    self.fact = fact
  }
}

/// A sign that a host lives, sent again and again. It is not sealed, and holds nothing secret.
package struct Beat: Sendable, Equatable, Codable {
  package let host: HostID
  /// The host's own name, for people.
  package let name: String
  /// Whether it publishes.
  package let works: Bool
  /// The newest version of records that it reads.
  package let version: Int
  /// A digest of its destinations. All hosts should have the same.
  package let routes: String

  package init(host: HostID, name: String, works: Bool, version: Int, routes: String) {
    self.host = host
    self.name = name
    self.works = works
    self.version = version
    self.routes = routes
  }
}

package struct StoredBeat: Sendable, Equatable {
  package let beat: Beat
  /// Different for every beat. If it does not change for the time of a lease, the host is dead.
  package let number: UInt64

  package init(beat: Beat, number: UInt64) {
    self.beat = beat
    self.number = number
  }
}

/// Why a call to the queue failed. The sentence holds no secret.
package enum QueueError: Error, Equatable, Sendable, CustomStringConvertible {
  /// Without effect, for example because no server answers. To be tried again.
  case unavailable(String)
  /// No answer came: the call may have had its effect, or may still have it.
  case doubtful(String)
  /// Without effect: the queue has no room.
  case full(String)
  /// Without effect: somebody has to fix it, for example the credentials or the version of a server.
  case refused(String)
  /// Another owner has the partition.
  case lost

  package var description: String {
    switch self {
    case .unavailable(let sentence), .doubtful(let sentence), .full(let sentence), .refused(let sentence): sentence
    case .lost: "another host owns the partition now"
    }
  }
}
