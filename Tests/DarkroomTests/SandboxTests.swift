import Darkroom
import Foundation
import Photos
import TestSupport
import Testing

@Suite struct SandboxTests {
  /// The kernel shows an undumpable process to root only.
  static let isRoot = geteuid() == 0

  @Test("It has no core dumps, few descriptors, and bounded memory and time")
  func limits() async throws {
    let darkroom = try DarkroomUnderTest()
    let text = try await darkroom.inside { DarkroomUnderTest.text("\($0)/limits") }
    func limit(_ name: String) throws -> (soft: UInt64?, hard: UInt64?) {
      let line = try #require(text.split(separator: "\n").first { $0.hasPrefix(name) })
      let fields = line.dropFirst(name.count).split(separator: " ")
      return (UInt64(fields[0]), UInt64(fields[1]))
    }
    #expect(try limit("Max core file size") == (0, 0))
    #expect(try limit("Max open files") == (16, 16))
    let memory = try limit("Max address space")
    #expect(memory.soft == memory.hard)
    #expect(try #require(memory.hard) > UInt64(darkroom.options.memory))
    #expect(try #require(memory.hard) < UInt64(darkroom.options.memory) + 2 << 30)
    #expect(try #require(limit("Max cpu time").soft) <= 12)
  }

  @Test("It can gain no privileges, and its system calls are filtered")
  func status() async throws {
    let lines = try await DarkroomUnderTest().inside { DarkroomUnderTest.text("\($0)/status") }.split(separator: "\n")
    #expect(lines.contains("NoNewPrivs:\t1"))
    #expect(lines.contains("Seccomp:\t2"))
    #expect(lines.contains("Threads:\t1"))
  }

  @Test("Its environment contains a setting for memory paging and nothing else")
  func environment() async throws {
    // A script records its environment and then executes the real program.
    let darkroom = try DarkroomUnderTest(
      script: #"tr '\0' '\n' < /proc/$$/environ > "$directory/environment"; exec "$real" "$@""#)
    setenv("PHOTOSPOOL_MARKER", "a secret", 1)
    defer { unsetenv("PHOTOSPOOL_MARKER") }
    #expect(try await darkroom.prepare(Photographs.clouds()).width == 120)
    let file = darkroom.directory.path("environment")
    #expect(DarkroomUnderTest.text(file) == "GLIBC_TUNABLES=glibc.malloc.hugetlb=1\n")
  }

  @Test(
    "It reads and writes nothing but its line, whatever is left open",
    .enabled(if: isRoot, "only root sees into the darkroom"))
  func descriptors() async throws {
    let stray = open("/etc/passwd", O_RDONLY)
    defer { close(stray) }
    let files = try await DarkroomUnderTest().inside { process in
      try FileManager.default.contentsOfDirectory(atPath: "\(process)/fd").sorted().map { file in
        [file, try FileManager.default.destinationOfSymbolicLink(atPath: "\(process)/fd/\(file)")]
      }
    }
    #expect(files.prefix(3) == [["0", "/dev/null"], ["1", "/dev/null"], ["2", "/dev/null"]])
    #expect(files.count == 4 && files.last?.first == "3" && files.last?.last?.hasPrefix("socket:") == true)
  }

  @Test("The photo's descriptor is closed with the photo", .enabled(if: isRoot, "only root sees into the darkroom"))
  func photosDescriptor() async throws {
    let darkroom = try DarkroomUnderTest()
    for seed in 1...20 { _ = try await darkroom.prepare(Photographs.clouds(seed: seed)) }
    _ = await darkroom.refusal(of: try PhotoBytes(Array("Dear Anna".utf8)))
    let files = try await darkroom.inside { try FileManager.default.contentsOfDirectory(atPath: "\($0)/fd") }
    #expect(files.count == 4)
  }

  @Test("Every attempt to break out is denied")
  func probe() throws { expectDenial(of: try run([DarkroomUnderTest.realProgram, "probe"])) }

  @Test(
    "It is locked in without the help of root, too",
    .enabled(
      if: isRoot && FileManager.default.isExecutableFile(atPath: "/usr/bin/setpriv"),
      "only root can be another user, with setpriv"))
  func probeAsNobody() throws {
    let directory = try TemporaryDirectory()
    let program = directory.path("darkroom")
    try DarkroomUnderTest.install(DarkroomUnderTest.realProgram, as: program)
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: directory.path)
    expectDenial(of: try run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", program, "probe"]))
  }

  @Test("Started by hand, it explains what it is", arguments: [[], ["serve"], ["serve", "much"], ["serve", "-1"]])
  func usage(arguments: [String]) throws {
    let result = try run([DarkroomUnderTest.realProgram] + arguments)
    #expect(result.status == 64)
    #expect(result.errors == "photospool-darkroom is started by photospool; see photospool-darkroom(8)\n")
  }

  private func expectDenial(
    of result: CommandResult, at location: SourceLocation = #_sourceLocation
  ) {
    let lines = result.output.split(separator: "\n")
    #expect(result.status == 0, "\(result)", sourceLocation: location)
    #expect(lines.first?.hasPrefix("landlock: ") == true, sourceLocation: location)
    let attempts = lines.dropFirst().map { line in line.split(separator: ":", maxSplits: 1).map(String.init) }
    #expect(attempts.allSatisfy { $0.count == 2 && $0[1].hasPrefix(" denied (") }, "\(lines)", sourceLocation: location)
    let names = [
      "open a file", "create a file", "list a directory", "open a network socket", "open a local socket",
      "start a process", "execute a program", "trace the parent", "signal the parent", "map executable memory",
      "raise its limits",
    ]
    #expect(attempts.map { $0[0] } == names, sourceLocation: location)
  }
}
