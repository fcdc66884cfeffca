import Hummingbird
import Messages

extension Site {
  /// The pages for who looks after the system.
  func addOperating(to routes: Routes) {
    addQueue(to: routes)
    addStorage(to: routes)
    addCheck(to: routes)
    addMetrics(to: routes)
    addProfile(to: routes)
    routes.on(.get, "request/:name", may: .see) { request, context, session in
      let name = try context.parameters.require("name")
      return try await pool.run {
        templates.page("request", title: "\(shown(name)) · photospool", try source(session).request(name))
      }
    }
  }

  /// The sentence on what was just done, by the code in a page's address; nil for any other: an address must not have
  /// the page say anything else.
  static func notice(_ code: String) -> String? {
    if let found = code.wholeMatch(of: /(retry|cancel)-([0-9]+)/), let count = Int(found.output.2) {
      let requests = counted(count, "request is", "requests are")
      return found.output.1 == "retry"
        ? "\(requests) sent again."
        : "\(requests) being cancelled. Those that are being published are sent."
    }
    if let found = code.wholeMatch(of: /cleared ([0-9]+ photos?, [0-9.]+ (B|kB|MB|GB))/) {
      return "Cleared: \(found.output.1)."
    }
    return [
      "flush-0": "Everything that waited is tried now.",
      "purged": "The conversation is deleted here. What was sent stays with its receivers.",
      "purging": "The order to delete the conversation is on the disk. The daemon carries it out.",
    ][code]
  }
}
