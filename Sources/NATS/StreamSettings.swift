import Clusters

/// A stream as photospool makes it. An operator may change its limits.
struct StreamSettings: Sendable {
  enum Kind: Sendable {
    /// Messages are removed when their only consumer acknowledges them.
    case queue
    /// Messages stay for so many days; with `isLastOnly` only the last one of each subject.
    case log(days: Int, isLastOnly: Bool)
  }

  /// The bytes of all streams on each server. JetStream reserves them when it makes the streams. On a full disk it cannot
  /// even make a consumer, so nobody could empty a queue; a full stream only refuses new messages.
  private static let room = 4 << 30

  let name: String
  let subject: String
  let kind: Kind
  /// The stream gets one of so many parts of `room`.
  let share: Int

  /// A stream's settings as a server reports them.
  struct Found: Decodable, Sendable {
    let retention: String
    let storage: String
    let subjects: [String]?
    let discard: String
    let replicas: Int
    let bytes: Int

    private enum CodingKeys: String, CodingKey {
      case retention, storage, subjects, discard
      case replicas = "num_replicas"
      case bytes = "max_bytes"
    }
  }

  struct Info: Decodable, Sendable {
    struct Cluster: Decodable, Sendable {
      struct Replica: Decodable, Sendable {
        let name: String
        let offline: Bool?
      }
      let leader: String?
      let replicas: [Replica]?
    }
    struct State: Decodable, Sendable {
      /// The position of the last message that was ever appended.
      let last: UInt64
      private enum CodingKeys: String, CodingKey { case last = "last_seq" }
    }
    let config: Found
    let state: State
    let cluster: Cluster?
  }

  static func queue(_ partition: Partition) -> StreamSettings {
    StreamSettings(name: "PS_Q\(partition)", subject: "ps.q.\(partition).*", kind: .queue, share: 4 * Partition.count)
  }
  /// The age limit is longer than a request may wait, so it removes only bytes that nobody needs.
  static let bytes = StreamSettings(
    name: "PS_BYTES", subject: "ps.b.>", kind: .log(days: 30, isLastOnly: true), share: 2)
  static let done = StreamSettings(
    name: "PS_DONE", subject: "ps.r.*.*", kind: .log(days: 7, isLastOnly: false), share: 5)
  static let hosts = StreamSettings(
    name: "PS_HOSTS", subject: "ps.h.*", kind: .log(days: 1, isLastOnly: true), share: 1024)
  static let all = Partition.all.map(queue) + [bytes, done, hosts]

  /// `discard` is `new`: a full stream refuses messages. With `old` it would lose its oldest ones.
  var json: String {
    let common = """
      {"name":"\(name)","subjects":["\(subject)"],"storage":"file","num_replicas":3,"discard":"new","max_msgs":-1,\
      "max_bytes":\(Self.room / share)
      """
    switch kind {
    case .queue:
      let memory = Int64(Partition.memory) * 1_000_000_000
      return common + ",\"retention\":\"workqueue\",\"max_consumers\":1,\"duplicate_window\":\(memory)}"
    case .log(let days, let isLastOnly):
      let each = isLastOnly ? 1 : -1
      return common
        + ",\"retention\":\"limits\",\"allow_direct\":true,\"max_age\":\(Int64(days) * 86_400_000_000_000),"
        + "\"max_msgs_per_subject\":\(each)}"
    }
  }

  /// A sentence about settings that would break a promise; nil if all are right.
  func fault(_ info: Info) -> String? {
    let found = info.config
    let retention = if case .queue = kind { "workqueue" } else { "limits" }
    guard found.retention == retention, found.storage == "file", found.discard == "new", found.subjects == [subject]
    else {
      return "the stream \(name) is not as photospool makes it; move what is in it, and delete it"
    }
    guard found.replicas >= 3 else {
      return "the stream \(name) has \(found.replicas) replicas; run `nats stream edit --replicas 3 \(name)`"
    }
    guard found.bytes > 0 else {
      return
        "the stream \(name) has no limit; run `nats stream edit --max-bytes 1GB \(name)`, so that the disks never fill up"
    }
    return nil
  }
}
