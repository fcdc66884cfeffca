import Foundation
import Glibc
import TestSupport
import Testing

@testable import Spooling

/// The story of disks in trouble covers a full disk, with a purge and an eviction.
@Suite struct ReserveTests {
  private let scratch: TemporaryDirectory
  private let reserve: Reserve
  private var path: String { scratch.path("spool/state/reserve") }

  init() throws {
    scratch = try TemporaryDirectory()
    reserve = Reserve(try Spool(creating: scratch.path("spool")))
  }

  /// The allocated bytes of the reserve, if it exists.
  private var room: Int? {
    var status = stat()
    return stat(path, &status) == 0 ? Int(status.st_blocks) * 512 : nil
  }

  @Test func itTakesRoomAndKeepsIt() throws {
    reserve.take()
    let room = try #require(room)
    #expect(room >= Reserve.bytes)
    let before = try FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber] as? Int
    reserve.take()
    #expect(try FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber] as? Int == before)
  }

  @Test func incompleteReserveIsCompleted() throws {
    try Data(repeating: 0, count: 4096).write(to: URL(fileURLWithPath: path))
    reserve.take()
    #expect(try #require(room) >= Reserve.bytes)
  }

  @Test func itIsGivenOnlyWhereThereIsNoOther() throws {
    reserve.take()
    try reserve.give()
    #expect(room != nil)
  }

  @Test func aSmallDiskIsLeftAlone() async throws {
    guard SmallDisk.isAllowed else { return }
    try await SmallDisk.use { disk in
      let spool = try Spool(creating: disk + "/spool")
      Reserve(spool).take()
      #expect(try spool.state.entry(Reserve.fileName) == nil)
      // An allocated reserve is not kept there either.
      try spool.state.file(creating: Reserve.fileName).allocate(4096)
      try Reserve(spool).give()
      #expect(try spool.state.entry(Reserve.fileName) == nil)
    }
  }
}
