import Testing

@testable import Delivery

/// When receipts are written.
@Suite struct FilingPaceTests {
  private let start = ContinuousClock.now

  @Test func whatEndsNowAndThenIsFiledAtOnce() {
    var pace = FilingPace(at: start)
    #expect(pace.wait(at: start) == nil)
    pace.filed(FilingPace.crowd - 1, at: start)
    #expect(pace.wait(at: start) == nil)
    // Many, but not in so long a time.
    pace.filed(100, at: start + .seconds(1))
    #expect(pace.wait(at: start + .seconds(1)) == nil)
  }

  @Test func aCrowdIsFollowedByAWaitThatEnds() throws {
    var pace = FilingPace(at: start)
    let end = start + .milliseconds(20)
    pace.filed(FilingPace.crowd, at: end)
    #expect(try #require(pace.wait(at: end)) == 5)
    #expect(try #require(pace.wait(at: end + .seconds(1.5))) == 3.5)
    let next = end + FilingPace.patience
    #expect(pace.wait(at: next) == nil)
    pace.filed(3_000, at: next)
    #expect(pace.wait(at: next) != nil)
    pace.filed(30, at: next + FilingPace.patience)
    #expect(pace.wait(at: next + FilingPace.patience) == nil)
  }
}
