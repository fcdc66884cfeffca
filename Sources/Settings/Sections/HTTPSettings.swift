import HTTP
import Messages
import SettingKit

/// HTTP connections of stores and networks.
package struct HTTPSettings: SettingsSection, Hashable {
  package var client = HTTPOptions()
  package var limits = HTTPLimits()

  package init() {}

  package static let rows: [Setting<HTTPSettings>] = [
    Setting(
      "authorityFile", \.client.authorityFile, .optional(.file),
      "The PEM file with the authorities that are believed; empty is the system's"),
    Setting("proxy", \.client.proxy, .optional(.proxy), "The proxy for stores and networks; empty is none"),
    Setting(
      "connect", \.limits.connect, .duration(.milliseconds(100) ... .hours(1)),
      "How long a connection may take to be there"),
    Setting(
      "stall", \.limits.stall, .duration(.seconds(1) ... .hours(1)),
      "How long a request may go without a byte in either direction"),
    Setting(
      "total", \.limits.total, .optional(.duration(.seconds(1) ... .days(1))),
      "How long a request may take; empty is without end"),
  ]
}
