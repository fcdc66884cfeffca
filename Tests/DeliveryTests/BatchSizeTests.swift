import Testing

@testable import Delivery

@Suite struct BatchSizeTests {
  @Test func growsWhileItIsQuickAndNotBeyondItsMost() {
    var pace = BatchSize()
    var lengths = [pace.length]
    for _ in 1...6 {
      pace.published(pace.length, in: .milliseconds(1) * pace.length)
      lengths.append(pace.length)
    }
    #expect(lengths == [1, 2, 4, 8, 16, 16, 16])
  }

  @Test func noMoreBeginThanTheirTimeIsFor() {
    var pace = BatchSize()
    for _ in 1...4 { pace.published(1, in: .milliseconds(1)) }
    pace.published(16, in: .milliseconds(160))
    #expect(pace.length == 2)
    pace.published(2, in: .milliseconds(60))
    #expect(pace.length == 1)
    pace.published(0, in: .zero)
    pace.published(1, in: .zero)
    #expect(pace.length == 2)
  }
}
