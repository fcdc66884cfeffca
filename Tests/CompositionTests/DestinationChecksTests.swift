import Control
import Messages
import Settings
import TestSupport
import Testing

@testable import Composition

@Suite(.timeLimit(.minutes(5))) struct DestinationChecksTests {
  private let scratch: Scratch

  init() throws { scratch = try Scratch() }

  /// The checks of a daemon with these settings.
  private func checks(
    _ settings: Settings, listening: [ControlReply.Outcome] = []
  ) throws -> DestinationChecks {
    var factory = DestinationFactory(settings, spool: scratch.spool) { _ in }
    return DestinationChecks(of: try factory.destinations(), settings: settings, listening: { listening })
  }

  private func lines(_ checks: DestinationChecks) async -> [ControlReply.Outcome] {
    var lines = [ControlReply.Outcome]()
    await checks.run { lines.append($0) }
    return lines
  }

  @Test("A round of the daemon says the same, in the same order, as the command about the same configuration")
  func same() async throws {
    let settings = try scratch.settings(
      """
      networks:
        program: {type: exec, program: /usr/bin/true}
        missing: {type: exec, program: \(scratch.directory.path("missing"))}
      stores: {other: {type: directory, directory: \(scratch.directory.path("other"))}}
      """)
    let round = try await checks(settings).round()
    #expect(round == (await lines(try DestinationChecks(settings: settings, spool: scratch.spool, isNew: false))))
    #expect(round.filter { !$0.isDone }.map(\.subject) == ["network missing"])
    #expect(round.map(\.subject).filter { $0.hasPrefix("store ") }.count == 2)
  }

  @Test("A round asks the daemon's own listeners")
  func listening() async throws {
    let settings = try scratch.settings(
      "network: {type: matrix, homeserver: \"http://127.0.0.1:9\", tokenVariable: PATH, listen: true}")
    let silent = ControlReply.Outcome("matrix", isDone: false, "the homeserver is away")
    let round = try await checks(settings, listening: [silent]).round()
    #expect(round.last == ControlReply.Outcome("listening to matrix", isDone: false, silent.sentence))
  }

  @Test("A receiver whose answer never ends does not hang a round")
  func drip() async throws {
    let server = try FaultServer()
    let settings = try scratch.settings("store: {type: presigned, endpoint: \"\(server.url("drip"))\"}")
    let round = try await checks(settings).round(patience: 1)
    #expect(round.first == ControlReply.Outcome("store presigned", isDone: false, "has not answered within 1 s"))
    #expect(round.dropFirst().allSatisfy(\.isDone) && round.count > 1)
  }
}
