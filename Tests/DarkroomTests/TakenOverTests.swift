import Darkroom
import Foundation
import Messages
import Photos
import Testing

/// A process that a photo has taken over costs its pool no more than that photo.
@Suite struct TakenOverTests {
  private static let crash = "decoding this photo crashes or takes too much memory; save it again as an ordinary JPEG"

  @Test("A process that closes its line and stays is ended")
  func silent() async throws {
    let darkroom = try DarkroomUnderTest(script: "exec 3<&-; kill -STOP $$")
    #expect(await darkroom.refusal(of: try Photographs.clouds())?.sentence == Self.crash)
    #expect(darkroom.processes.isEmpty)
  }

  @Test("A process that does not end with its line is ended")
  func stubborn() async throws {
    let darkroom = try DarkroomUnderTest(
      script: #"dd bs=1 count=104 <&3 > /dev/null 2>&1; cat "$directory/answer" >&3; kill -STOP $$"#)
    let refusal = DeliveryError(.truncatedImage, "half of it is missing")
    let answer = DarkroomAnswer(.failure(refusal)).encoded
    let header = (0..<8).map { UInt8(truncatingIfNeeded: answer.count >> (8 * $0)) }
    try Data(header + answer).write(to: URL(fileURLWithPath: darkroom.directory.path("answer")))
    #expect(await darkroom.refusal(of: try Photographs.clouds()) == refusal)
    let process = try darkroom.process()
    darkroom.pool.close()
    #expect(isGone(process))
  }

  @Test("A fault ends a process at once: nothing catches it, so that nothing can return to what faults")
  func faults() async throws {
    let lines = try await DarkroomUnderTest().inside { DarkroomUnderTest.text("\($0)/status") }.split(separator: "\n")
    #expect(lines.contains("SigCgt:\t0000000000000000"))
    // Swift traps without memory for the photo's bytes.
    let darkroom = try DarkroomUnderTest { $0.memory = 0 }
    #expect(await darkroom.refusal(of: try Photographs.clouds(width: 1200, height: 900))?.sentence == Self.crash)
    #expect(darkroom.processes.isEmpty)
  }

  @Test(
    "It stands at the root, and keeps no filesystem busy",
    .enabled(if: SandboxTests.isRoot, "only root sees into the darkroom"))
  func root() async throws {
    let place = try await DarkroomUnderTest().inside {
      try FileManager.default.destinationOfSymbolicLink(atPath: "\($0)/cwd")
    }
    #expect(place == "/")
  }
}
