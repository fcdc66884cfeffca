import Darkroom
import Messages
import Photos
import Testing

@Suite struct DarkroomPoolTests {
  @Test("An empty photo is refused by the process that looked at it")
  func empty() async throws {
    let darkroom = try DarkroomUnderTest()
    let error = await darkroom.refusal(of: try PhotoBytes([]))
    #expect(error?.cause == .unsupportedImage)
    #expect(error?.sentence.contains("this file is empty") == true)
  }

  @Test("Many photos at once come out as they do one by one")
  func together() async throws {
    var photos: [PhotoBytes] = []
    for seed in 1...24 {
      photos.append(try Photographs.clouds(["jpg", "png", "gif", "webp"][seed % 4], width: 60 + 9 * seed, seed: seed))
    }
    let one = try DarkroomUnderTest { $0.processes = 1 }
    var expected: [PreparedPhoto] = []
    for photo in photos { expected.append(try await one.prepare(photo)) }

    let darkroom = try DarkroomUnderTest { $0.processes = 4 }
    let prepared = try await withThrowingTaskGroup(of: (Int, PreparedPhoto).self) { group in
      for (index, photo) in photos.enumerated() { group.addTask { (index, try await darkroom.prepare(photo)) } }
      return try await group.reduce(into: [Int: PreparedPhoto]()) { $0[$1.0] = $1.1 }
    }
    #expect(photos.indices.allSatisfy { prepared[$0] == expected[$0] })
    #expect(Set(expected.map(\.original.width)).count == 24)
    #expect((1...4).contains(darkroom.processes.count))
  }

  @Test("The reason of a refusal is passed on, and the process goes on")
  func refusals() async throws {
    let darkroom = try DarkroomUnderTest { $0.limits.pixels = 20_000 }
    let jpeg = try Photographs.cloudBytes()
    let refused: [(photo: [UInt8], cause: Cause, words: String)] = [
      (Array("Dear Anna".utf8), .unsupportedImage, "not an image"),
      (Array("GIF89a".utf8), .truncatedImage, "GIF"),
      (Array(jpeg[..<(jpeg.count / 2)]), .truncatedImage, "JPEG"),
      (try Photographs.cloudBytes("png", width: 200, height: 101), .imageLimits, "20200 pixels"),
      ([UInt8](repeating: 0, count: 10_000_001), .imageLimits, "10000001 bytes"),
    ]
    _ = try await darkroom.prepare(PhotoBytes(jpeg))
    let process = try darkroom.process()
    for (photo, cause, words) in refused {
      let error = await darkroom.refusal(of: try PhotoBytes(photo))
      #expect(error?.cause == cause)
      #expect(error?.sentence.contains(words) == true, "\(error?.sentence ?? "")")
      #expect(try await darkroom.prepare(PhotoBytes(jpeg)).width == 120)
    }
    #expect(try darkroom.process() == process)
  }

  @Test("The limits of the pool are those of its photos")
  func limits() async throws {
    let darkroom = try DarkroomUnderTest { $0.limits.longestSide = 50 }
    let prepared = try await darkroom.prepare(Photographs.clouds())
    #expect((prepared.width, prepared.height) == (50, 38))
    #expect(prepared.jpeg.starts(with: [0xFF, 0xD8]))
    #expect(prepared.original.width == 120 && prepared.original.format == .jpeg)
  }

  @Test("A missing program is an error of the installation")
  func missing() async throws {
    let program = "/usr/lib/nowhere/photospool-darkroom"
    let error = try await DarkroomUnderTest { $0.program = program }.refusal(of: try Photographs.clouds())
    #expect(error?.cause == .configError)
    #expect(error?.sentence == "\(program) cannot be started: No such file or directory; is it installed?")
  }

  @Test("A program that may not be executed is an error of the installation")
  func notExecutable() async throws {
    let error = try await DarkroomUnderTest { $0.program = "/etc/passwd" }.refusal(of: try Photographs.clouds())
    #expect(error?.cause == .configError)
    #expect(error?.sentence.hasPrefix("/etc/passwd cannot be started: Permission denied") == true)
  }
}
