import Messages
import Testing

@testable import Delivery

@Suite struct SettlingTests {
  @Test(
    "What is left to wait for is counted from the last change, by whatever the clock says, and another look follows")
  func rest() {
    let settle = Duration.seconds(5)
    func rest(changed secondsAgo: Double) -> Duration {
      let now = Double(Timestamp.now().milliseconds) * 1e6
      return SettlingEntries.rest(of: settle, since: Int64(now - secondsAgo * 1e9))
    }
    #expect(rest(changed: 2.5) <= .seconds(3))
    #expect(rest(changed: 4.99) == .milliseconds(250))
    // The clock was set forward or back, or the entry is gone.
    #expect(rest(changed: 86_400) == .milliseconds(250))
    #expect(rest(changed: -86_400) == settle)
    #expect(SettlingEntries.rest(of: settle, since: nil) == .milliseconds(250))
    #expect(SettlingEntries.rest(of: .milliseconds(100), since: nil) == .milliseconds(100))
  }
}
