import Delivery
import Messages
import Testing

@Suite struct RetryPolicyTests {
  private let policy = RetryPolicy(first: .seconds(1), longest: .seconds(300))
  private let timeout = DeliveryError(.timeout, "slow")

  @Test func theBoundDoublesUpToTheLongest() {
    let bounds = (1...12).map { policy.delay(after: timeout, attempt: $0, random: 1) }
    #expect(bounds == [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300])
  }

  @Test func noWaitIsLongerThanTheBoundNorNothing() {
    for attempt in [0, 1, 5, 60, .max] {
      for random in [0, 0.25, 0.5, 1] {
        let delay = policy.delay(after: timeout, attempt: attempt, random: random)
        #expect(delay >= 0.1 && delay <= 300)
      }
    }
  }

  @Test func theOtherSidesWishIsHonouredWithinADay() {
    func delay(_ asked: Double?) -> Double {
      policy.delay(after: DeliveryError(.rateLimited, "slow down", retryAfter: asked), attempt: 1, random: 0.5)
    }
    #expect(delay(42) == 42 && delay(1e9) == 86_400 && delay(-5) == 0.5 && delay(nil) == 0.5)
  }
}
