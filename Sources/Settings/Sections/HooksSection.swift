import Messages
import SettingKit

extension Settings {
  package struct Hooks: SettingsSection {
    /// The absolute path of the program, by event.
    package var programs: [HookEvent: String] = [:]
    package var timeout = Duration.seconds(10)
    package var perMinute = 60

    package init() {}

    package static let rows: [Setting<Hooks>] = [
      Setting(
        "sent", \.programs[.sent], .optional(.program), "The program that is told of each request that was sent"),
      Setting(
        "failed", \.programs[.failed], .optional(.program), "The program that is told of each request that failed"),
      Setting(
        "received", \.programs[.received], .optional(.program),
        "The program that is told of each photo that was received"),
      Setting(
        "timeout", \.timeout, .duration(.seconds(1) ... .minutes(10)),
        "How long such a program may take for one event"),
      Setting(
        "perMinute", \.perMinute, .count(1...6000), "How often each such program may be started in a minute"),
    ]
  }
}
