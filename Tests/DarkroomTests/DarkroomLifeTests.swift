import Darkroom
import Foundation
import Messages
import Testing

@Suite struct DarkroomLifeTests {
  @Test("Photos one after the other are prepared by one process")
  func reused() async throws {
    let darkroom = try DarkroomUnderTest { $0.processes = 4 }
    #expect(darkroom.processes.isEmpty)
    _ = try await darkroom.prepare(Photographs.clouds())
    let process = try darkroom.process()
    for seed in 2...5 { _ = try await darkroom.prepare(Photographs.clouds(seed: seed)) }
    #expect(try darkroom.process() == process)
  }

  @Test("A process is replaced after its number of photos")
  func replaced() async throws {
    let darkroom = try DarkroomUnderTest { $0.photosPerProcess = 2 }
    let photo = try Photographs.clouds()
    _ = try await darkroom.prepare(photo)
    let first = try darkroom.process()
    _ = try await darkroom.prepare(photo)
    #expect(isGone(first))
    _ = try await darkroom.prepare(photo)
    #expect(try darkroom.process() != first)
  }

  @Test("An idle process is ended, and a new one starts for the next photo")
  func idle() async throws {
    let darkroom = try DarkroomUnderTest {
      $0.idleSeconds = 1
      $0.processes = 3
    }
    let photo = try Photographs.clouds()
    for _ in 1...2 {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 1...3 { group.addTask { _ = try await darkroom.prepare(photo) } }
        try await group.waitForAll()
      }
      let processes = darkroom.processes
      try await eventually("all are let go") { darkroom.processes.isEmpty && processes.allSatisfy(isGone) }
    }
    #expect(try await darkroom.prepare(photo).width == 120)
  }

  @Test("A pool that is gone, or closed, leaves no process and no zombie")
  func gone() async throws {
    let darkroom = try DarkroomUnderTest { $0.processes = 3 }
    let photo = try Photographs.clouds()
    func work(_ pool: DarkroomPool) async throws -> [pid_t] {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 1...6 { group.addTask { _ = try await pool.prepare(photo) } }
        try await group.waitForAll()
      }
      return darkroom.processes
    }
    let processes = try await work(darkroom.pool)
    #expect(!processes.isEmpty)
    darkroom.pool.close()
    #expect(processes.allSatisfy(isGone))
    #expect(try await darkroom.prepare(photo).width == 120)
    darkroom.pool.close()

    let left = try await work(DarkroomPool(darkroom.options))
    try await eventually("all are gone") { left.allSatisfy(isGone) && darkroom.processes.isEmpty }
  }

  @Test("A cancelled task ends its process at once")
  func cancelled() async throws {
    let darkroom = try DarkroomUnderTest(script: "kill -STOP $$")
    let photo = try Photographs.clouds()
    let task = Task { try await darkroom.prepare(photo) }
    try await eventually("it has begun") { !darkroom.processes.isEmpty }
    let process = try darkroom.process()
    task.cancel()
    let error = await #expect(throws: DeliveryError.self) { try await task.value }
    #expect(error?.cause == .cancelled)
    #expect(isGone(process))
  }

  @Test("A task that was cancelled before its turn starts no process that stays")
  func cancelledEarly() async throws {
    let darkroom = try DarkroomUnderTest()
    let photo = try Photographs.clouds()
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await darkroom.prepare(photo)
    }
    let error = await #expect(throws: DeliveryError.self) { try await task.value }
    #expect(error?.cause == .cancelled)
    try await eventually("it is gone") { darkroom.processes.isEmpty }
    #expect(try await darkroom.prepare(photo).width == 120)
  }

  @Test("A photo whose process is killed from outside is prepared by another one")
  func killed() async throws {
    let photo = try Photographs.largeInterlaced()
    // It may finish before it is killed; then it is done again.
    var wasAtWork = false
    for _ in 1...20 where !wasAtWork {
      let darkroom = try DarkroomUnderTest()
      let task = Task { try await darkroom.prepare(photo) }
      try await eventually("it works on the photo") { darkroom.processes.contains { processorTime(of: $0) >= 10 } }
      let process = try darkroom.process()
      #expect(kill(process, SIGKILL) == 0)
      let prepared = try await task.value
      #expect((prepared.original.width, prepared.width) == (6000, 2048))
      wasAtWork = isGone(process)
      try await eventually("it is gone") { !darkroom.processes.contains(process) }
    }
    #expect(wasAtWork)
  }

  @Test("A process that was killed while it had no work costs no photo")
  func killedIdle() async throws {
    let darkroom = try DarkroomUnderTest()
    let photo = try Photographs.clouds()
    let expected = try await darkroom.prepare(photo)
    let process = try darkroom.process()
    #expect(kill(process, SIGKILL) == 0)
    #expect(try await darkroom.prepare(photo) == expected)
    #expect(isGone(process))
  }

  /// Ticks of processor time, a hundred per second.
  private func processorTime(of process: pid_t) -> Int {
    let fields = DarkroomUnderTest.text("/proc/\(process)/stat").split(separator: " ")
    return fields.count > 14 ? (Int(fields[13]) ?? 0) + (Int(fields[14]) ?? 0) : 0
  }
}
