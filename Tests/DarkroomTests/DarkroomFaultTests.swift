import Darkroom
import Foundation
import Messages
import Testing

/// Faults that the real program should not have, by scripts in its place.
@Suite struct DarkroomFaultTests {
  struct Fault: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let script: String
    let cause: Cause
    let sentence: String
  }

  private static let crash = "decoding this photo crashes or takes too much memory; save it again as an ordinary JPEG"
  /// The limit for processes that hang. The real program has to prepare a photo within it, on a busy machine, too.
  private static let seconds = 2
  private static let slow = "decoding this photo takes more than \(seconds) s; save it again as an ordinary JPEG"
  private static let wrong = "decoding this photo goes wrong; save it again as an ordinary JPEG"
  /// Reads the order of 104 bytes, as the real program does.
  private static let takeOrder = "dd bs=1 count=104 <&3 >/dev/null 2>&1"

  private static let faults = [
    Fault(testDescription: "crashes", script: "kill -SEGV $$", cause: .unsupportedImage, sentence: crash),
    Fault(testDescription: "exits", script: "exit 0", cause: .unsupportedImage, sentence: crash),
    Fault(
      testDescription: "exits after it has taken the photo", script: takeOrder, cause: .unsupportedImage,
      sentence: crash),
    Fault(
      testDescription: "crashes in the middle of its answer",
      script: #"\#(takeOrder); printf '\144\0\0\0\0\0\0\0\0\0\0\0' >&3; kill -SEGV $$"#, cause: .unsupportedImage,
      sentence: crash),
    Fault(testDescription: "hangs", script: "kill -STOP $$", cause: .imageLimits, sentence: slow),
    Fault(
      testDescription: "hangs in the middle of its answer",
      script: #"printf '\144\0\0\0\0\0\0\0\0\0\0\0' >&3; kill -STOP $$"#, cause: .imageLimits, sentence: slow),
    Fault(testDescription: "works without end", script: "while :; do :; done", cause: .imageLimits, sentence: slow),
    Fault(
      testDescription: "answers nonsense", script: #"printf '\010\0\0\0\0\0\0\0nonsense' >&3; kill -STOP $$"#,
      cause: .unsupportedImage, sentence: wrong),
    Fault(
      testDescription: "answers nothing", script: #"printf '\0\0\0\0\0\0\0\0' >&3; kill -STOP $$"#,
      cause: .unsupportedImage, sentence: wrong),
    Fault(
      testDescription: "answers without end", script: "exec cat /dev/zero >&3", cause: .unsupportedImage,
      sentence: wrong),
    Fault(
      testDescription: "announces more than a photo can have",
      script: #"printf '\0\0\0\0\0\0\0\001' >&3; kill -STOP $$"#, cause: .unsupportedImage, sentence: wrong),
    Fault(
      testDescription: "announces more bytes than there are numbers",
      script: #"printf '\377\377\377\377\377\377\377\377' >&3; kill -STOP $$"#, cause: .unsupportedImage,
      sentence: wrong),
  ]

  @Test("A process that misbehaves twice fails the photo for the right reason, and is gone", arguments: faults)
  func twice(fault: Fault) async throws {
    // The first two processes have the fault; the third is the real program.
    let darkroom = try DarkroomUnderTest(
      script: """
        echo $$ >> "$directory/lives"
        [ "$(wc -l < "$directory/lives")" -gt 2 ] && exec "$real" "$@"
        \(fault.script)
        """
    ) { $0.seconds = Self.seconds }
    let photo = try Photographs.clouds()
    #expect(await darkroom.refusal(of: photo) == DeliveryError(fault.cause, fault.sentence))
    let lives = DarkroomUnderTest.text(darkroom.directory.path("lives")).split(separator: "\n").compactMap { pid_t($0) }
    #expect(lives.count == 2 && lives.allSatisfy(isGone))
    #expect(try await darkroom.prepare(photo).width == 120)
  }

  @Test("A process that misbehaves once costs the photo nothing", arguments: faults)
  func once(fault: Fault) async throws {
    let darkroom = try DarkroomUnderTest(
      script: """
        mkdir "$directory/first" 2> /dev/null || exec "$real" "$@"
        \(fault.script)
        """
    ) { $0.seconds = Self.seconds }
    #expect(try await darkroom.prepare(Photographs.clouds()).width == 120)
  }

  @Test("The photos beside one whose process crashes are prepared")
  func neighbours() async throws {
    // Only the second process crashes.
    let darkroom = try DarkroomUnderTest(
      script: """
        mkdir "$directory/one" 2> /dev/null && exec "$real" "$@"
        mkdir "$directory/two" 2> /dev/null && kill -SEGV $$
        exec "$real" "$@"
        """
    ) { $0.processes = 3 }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for seed in 1...12 {
        group.addTask {
          let prepared = try await darkroom.prepare(Photographs.clouds(seed: seed))
          #expect(prepared.width == 120)
        }
      }
      try await group.waitForAll()
    }
  }

  @Test("A photo that takes more memory than there may be is refused, and the next one is prepared")
  func memory() async throws {
    let darkroom = try DarkroomUnderTest { $0.memory = 64 << 20 }
    let error = await darkroom.refusal(of: try Photographs.largeInterlaced())
    #expect([.imageLimits, .unsupportedImage].contains(error?.cause), "\(String(describing: error))")
    #expect(error?.sentence.contains("memory") == true, "\(String(describing: error))")
    #expect(try await darkroom.prepare(Photographs.clouds()).width == 120)
    let roomy = try DarkroomUnderTest()
    #expect(try await roomy.prepare(Photographs.largeInterlaced()).width == 2048)
  }
}
