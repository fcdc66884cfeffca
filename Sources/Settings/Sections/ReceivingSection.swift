import Messages
import SettingKit

extension Settings {
  /// Photos that others send.
  package struct Receiving: SettingsSection {
    package var fetch = FetchPolicy.known
    package var bytes = 10_000_000
    package var downloads = 4
    package var perHost = 2
    package var time = Duration.minutes(5)
    package var lifetime = Duration.days(1)
    package var allowPrivate = false

    package init() {}

    package static let rows: [Setting<Receiving>] = [
      Setting("fetch", \.fetch, .word, "Which photos of others are fetched before anybody asks for them"),
      Setting("bytes", \.bytes, .bytes(1000...10_000_000), "The size of a photo that is received, at most"),
      Setting("downloads", \.downloads, .count(1...64), "How many photos are fetched at once"),
      Setting("perHost", \.perHost, .count(1...64), "How many photos are fetched from one host at once"),
      Setting(
        "time", \.time, .duration(.seconds(1) ... .days(1)), "How long fetching a photo may take, each time"),
      Setting(
        "lifetime", \.lifetime, .duration(.seconds(1) ... .days(365)),
        "How long a photo that cannot be had is tried"),
      Setting(
        "allowPrivate", \.allowPrivate, .flag, "Whether photos may lie in private networks and behind plain http://"),
    ]
  }
}
