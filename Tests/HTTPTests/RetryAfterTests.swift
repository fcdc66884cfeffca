import HTTP
import Messages
import Testing

@Suite struct RetryAfterTests {
  /// 1994-11-06T08:49:37Z, as the dates below.
  private let then = Timestamp(milliseconds: 784_111_777_000)

  @Test(arguments: [("0", 0.0), ("120", 120), (" 7 ", 7), ("1.5", 1.5)])
  func secondsAreSeconds(_ text: String, _ seconds: Double) {
    #expect(RetryAfter.seconds(text) == seconds)
  }

  @Test(arguments: [
    "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
  ])
  func aDateOfEachOfTheThreeFormsIsTheTimeUntilThen(_ text: String) {
    #expect(RetryAfter.seconds(text, now: then.advanced(seconds: -90)) == 90)
  }

  @Test func pastDatesMeanNow() {
    #expect(RetryAfter.seconds("Sun, 06 Nov 1994 08:49:37 GMT", now: then.advanced(seconds: 10)) == 0)
    #expect(RetryAfter.seconds("-5") == 0)
  }

  @Test(arguments: ["99999999999999999999", "86401", "Sun, 06 Nov 2095 08:49:37 GMT"])
  func nobodyWaitsLongerThanADay(_ text: String) {
    #expect(RetryAfter.seconds(text, now: then) == RetryAfter.longest)
  }

  @Test(arguments: ["", "soon", "nan", "inf", "0x10", "1e9", "--", "5 minutes", String(repeating: "9", count: 100)])
  func invalidValuesAreIgnored(_ text: String) {
    #expect(RetryAfter.seconds(text) == nil)
  }
}
