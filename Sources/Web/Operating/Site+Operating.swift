import Hummingbird

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
}
