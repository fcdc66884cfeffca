import Blocking
import Clusters

/// Connects at the first call, and again after the connection was closed. Makes missing streams.
actor Connector {
  private let options: NATSOptions
  private let threads = BlockingPool(label: "photospool.nats.connect", threads: 4)
  private var current: Connection?
  private var connecting: Task<Result<Connection, QueueError>, Never>?
  private var preparing: Task<Result<Void, QueueError>, Never>?
  private var isPrepared = false
  private var isClosed = false

  init(_ options: NATSOptions) { self.options = options }

  /// A connection to servers that are new enough, with all streams.
  func jetStream() async throws(QueueError) -> JetStream {
    let stream = JetStream(connection: try await connection())
    guard !isPrepared else { return stream }
    let task = preparing ?? Task { await Self.prepare(stream) }
    preparing = task
    let result = await task.value
    // Others that waited for it may have begun another one.
    if preparing == task { preparing = nil }
    try result.get()
    isPrepared = true
    return stream
  }

  /// The greeting of each server, read before photospool signs on; nil for a server without one.
  func greetings() async -> [(address: NATSAddress, greeting: Greeting?)] {
    await withTaskGroup { group in
      for address in options.servers {
        group.addTask { [threads] in (address, try? await threads.run { Greeting.of(address) }) }
      }
      var found: [NATSAddress: Greeting] = [:]
      for await (address, greeting) in group { found[address] = greeting }
      return options.servers.map { ($0, found[$0]) }
    }
  }

  func close() async {
    isClosed = true
    await current?.close()
    current = nil
  }

  private func connection() async throws(QueueError) -> Connection {
    guard !isClosed else { throw .unavailable("the connection to the cluster is closed") }
    if let current, !current.isClosed { return current }
    let task = connecting ?? Task { await self.attempt() }
    connecting = task
    let result = await task.value
    if connecting == task { connecting = nil }
    return try result.get()
  }

  private func attempt() async -> Result<Connection, QueueError> {
    do throws(QueueError) { return .success(try await connect()) } catch { return .failure(error) }
  }

  private func connect() async throws(QueueError) -> Connection {
    let greetings = await greetings()
    if let old = greetings.first(where: { $0.greeting?.isNewEnough == false }), let greeting = old.greeting {
      throw .refused(Self.tooOld(old.address, greeting))
    }
    let made: Connection
    do { made = try await threads.run { [options] in try Connection(options) } } catch {
      throw error as? QueueError ?? .unavailable("no connection to the cluster: \(error)")
    }
    guard !isClosed else {
      await made.close()
      throw .unavailable("the connection to the cluster is closed")
    }
    current = made
    return made
  }

  static func tooOld(_ address: NATSAddress, _ greeting: Greeting) -> String {
    """
    \(address) runs nats-server \(greeting.versionText), which has lost acknowledged messages; install version 2.12.3 or later
    """
  }

  /// Makes the streams that are missing, some at a time, and waits until all can be used: another host may be making them.
  private static func prepare(_ stream: JetStream) async -> Result<Void, QueueError> {
    let end = ContinuousClock.now + .seconds(20)
    while true {
      do {
        let present = try await stream.streams()
        let missing = StreamSettings.all.filter { !present.contains($0.name) }
        _ = try await eachOf(missing, atOnce: 8) { try await stream.create($0) }
        let infos = try await eachOf(StreamSettings.all, atOnce: 16) {
          try await stream.stream($0.name, within: .seconds(1))
        }
        if infos.allSatisfy({ $0?.cluster?.leader?.isEmpty == false }) { return .success(()) }
        guard ContinuousClock.now < end else {
          return .failure(.unavailable("the streams of the cluster are not ready; check that two of its servers run"))
        }
      } catch let fault as JetStreamFault {
        let error = fault.queueError(mayTakeEffect: false)
        guard case .unavailable = error, ContinuousClock.now < end, !stream.connection.isClosed else {
          return .failure(error)
        }
      } catch {
        return .failure(.unavailable("the streams of the cluster are not ready: \(error)"))
      }
      do { try await Task.sleep(for: .milliseconds(100)) } catch {
        return .failure(.unavailable("the daemon stopped before the streams of the cluster were ready"))
      }
    }
  }
}

/// Runs `work` for all items, at most `limit` at a time. The first error ends it.
func eachOf<Item: Sendable, Output: Sendable>(
  _ items: [Item], atOnce limit: Int, _ work: @escaping @Sendable (Item) async throws -> Output
) async throws -> [Output] {
  try await withThrowingTaskGroup(of: (Int, Output).self) { group in
    var outputs: [Output?] = Array(repeating: nil, count: items.count)
    for (index, item) in items.enumerated() {
      if index >= limit, let (done, output) = try await group.next() { outputs[done] = output }
      group.addTask { (index, try await work(item)) }
    }
    while let (done, output) = try await group.next() { outputs[done] = output }
    return outputs.compactMap { $0 }
  }
}
