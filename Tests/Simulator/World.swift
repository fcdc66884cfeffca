import Messages
import TestSupport

/// What a kill leaves: directories, the store, the network. Nothing of it is known to the daemon but by looking.
struct World {
  /// A request's directory as its client wrote it.
  struct Drop {
    let name: String
    /// The directory itself, wherever it is moved.
    let inode: UInt64
    let conversation: String
    let key: String?
    let digest: String
    /// A file for each message: `photo-N` or `text`.
    let files: [String]
    let isBad: Bool
    /// Its place in the order of arrival: of the rename into `new/`.
    var arrival = 0
  }

  var new: [Drop] = []
  var drafts: [Drop] = []
  /// Accepted, by the name that the ledger gave.
  var accepted: [String: Drop] = [:]
  var failed: [Drop] = []
  /// Orders in `purge/`.
  var orders: [String] = []
  /// Objects that are in the store.
  var objects: Set<String> = []
  var network: SimulatedNetwork

  private var lastInode: UInt64 = 0
  private var lastArrival = 0

  init(network: SimulatedNetwork) { self.network = network }

  mutating func inode() -> UInt64 {
    lastInode += 1
    return lastInode
  }

  mutating func arrival() -> Int {
    lastArrival += 1
    return lastArrival
  }
}

/// A network that publishes a message once for its id, as `Network` promises, and whose answers get lost.
struct SimulatedNetwork {
  /// How it knows a repetition.
  enum Kind: Int, CaseIterable {
    /// By our id; it cannot be asked.
    case keyed
    /// By our id; it can be asked.
    case searchable
    /// By an id that it gives before.
    case reserving
  }

  struct Published {
    let conversation: String
    let object: String?
    let at: Timestamp
  }

  let kind: Kind
  /// By the id that the network knows a message by.
  private(set) var published: [String: Published] = [:]
  /// In the order in which messages became visible, by conversation.
  private(set) var order: [String: [String]] = [:]

  init(kind: Kind) { self.kind = kind }

  /// - Returns: what stands published under that id now.
  mutating func publish(_ id: String, _ message: Published) -> (standing: Published, isNew: Bool) {
    if let standing = published[id] { return (standing, false) }
    published[id] = message
    order[message.conversation, default: []].append(id)
    return (message, true)
  }
}
