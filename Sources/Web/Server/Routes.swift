import HTTPTypes
import Hummingbird
import WebAccess

/// The addresses of the page. Those that are added here are for sessions only.
struct Routes {
  typealias Answer = @Sendable (Request, WebContext, WebSession) async throws -> Response

  let site: Site
  let router = Router(context: WebContext.self)

  /// Answers requests of sessions with the right; of all sessions if it is nil.
  func on(_ method: HTTPRequest.Method, _ path: RouterPath, may right: WebRight? = nil, answer: @escaping Answer) {
    router.on(path, method: method) { [site = self.site] request, context in
      try await answer(request, context, site.session(request, context, may: right))
    }
  }

  /// Shows a page. Its values are read on a thread that may block.
  func show(
    _ path: RouterPath, may right: WebRight, _ page: String, title: String,
    values: @escaping @Sendable (Request, WebContext, WebSession) throws -> Values
  ) {
    on(.get, path, may: right) { [site = self.site] request, context, session in
      try await site.pool.run {
        site.templates.page(page, title: "\(title) · photospool", try values(request, context, session))
      }
    }
  }
}
