import Signalling
import Testing

@Suite(.timeLimit(.minutes(5))) struct BellTests {
  @Test("A time that has come rings although a later one is set at that moment")
  func laterTime() async {
    for _ in 0..<10_000 {
      let bell = Bell()
      bell.ring(in: 0)
      bell.ring(in: 3600)
      for await _ in bell.rings { break }
      bell.retire()
    }
  }

  @Test("Of two times that are still to come, the earlier one rings")
  func earlierTime() async {
    for times in [[3600, 0.01], [0.01, 3600]] {
      let bell = Bell()
      for time in times { bell.ring(in: time) }
      for await _ in bell.rings { break }
      bell.retire()
    }
  }

  @Test("Who asks a service is answered when its loop begins again, and at once after its end")
  func answers() async {
    let bell = Bell()
    let loop = Task {
      await bell.serve {
      } failed: { _ in
        nil
      }
    }
    await bell.answers()
    bell.retire()
    await loop.value
    await bell.answers()
  }
}
