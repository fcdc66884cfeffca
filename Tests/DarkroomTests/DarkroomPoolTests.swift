import Darkroom
import Photos
import Testing

@Suite struct DarkroomPoolTests {
  @Test("An empty photo is refused by the process that looked at it")
  func empty() async throws {
    let pool = DarkroomPool(DarkroomPool.Options(program: DarkroomUnderTest.program))
    let photo = try PhotoBytes([])
    await #expect { try await pool.prepare(photo) } throws: { "\($0)".contains("this file is empty") }
  }
}
