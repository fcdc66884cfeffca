import Hummingbird

extension Site {
  /// The pages for who looks after the system.
  func addOperating(to router: Router<WebContext>) {
    addQueue(to: router)
    addStorage(to: router)
    addCheck(to: router)
    addMetrics(to: router)
    addProfile(to: router)
    router.get("request/:name") { request, context in
      let session = try await session(request, context, may: .see)
      let name = try context.parameters.require("name")
      return try await pool.run {
        templates.page("request", title: "\(shown(name)) · photospool", try source(session).request(name))
      }
    }
  }
}
