import Logging
import Settings
import Synchronization

/// The current log settings, shared by all loggers.
package final class LogSetting: Sendable {
  private let settings: Mutex<Settings.Log>

  package init(_ settings: Settings.Log) { self.settings = Mutex(settings) }

  var level: Logger.Level { settings.withLock { Logger.Level(rawValue: $0.level.rawValue) ?? .info } }
  var format: Settings.Log.Format { settings.withLock { $0.format } }

  func replace(with new: Settings.Log) { settings.withLock { $0 = new } }
}
