import HTTPTypes
import Hummingbird
import HummingbirdCore
import Ledgers
import Messages
import NIOCore
import Spooling
import WebAccess

/// The stream of events, for pages that stay open.
extension Site {
  func addLive(to routes: Routes) {
    routes.on(.get, "events", may: .see) { request, context, session in
      guard let news = live.listen() else {
        throw WebProblem(.tooManyRequests, "Too many pages are open at once. Close some, then reload this one.")
      }
      let views = LiveView.all(in: request.uri.query ?? "")
      let heard = HTTPField.Name("last-event-id").flatMap { request.headers[$0] }
      return Response(
        status: .ok, headers: [.contentType: "text/event-stream"],
        body: ResponseBody { writer in
          try await request.body.consumeWithCancellationOnInboundClose { [writer] _ in
            var writer = writer
            var (stream, beat) = (LiveStream(views, epoch: epoch), UInt64(0))
            for await news in news {
              // A session that has ended hears no more.
              if news.beat != beat, (try? await self.session(request, context, may: .see)) == nil { break }
              beat = news.beat
              let (text, next) = try await pool.run { [stream] in
                var next = stream
                return (self.events(of: &next, news, heard: heard, session), next)
              }
              stream = next
              if !text.isEmpty { try await writer.write(ByteBuffer(string: text)) }
            }
          }
          try await writer.finish(nil)
        })
    }
  }

  private func events(
    of stream: inout LiveStream, _ news: LiveNews, heard: String?, _ session: WebSession
  ) -> String {
    let source = try? PageSource(spool, settings, session, shelf, progress: news.progress)
    return stream.events(
      news, heard: heard,
      sketch: { view in
        guard case .conversation(let conversation) = view else { return try? source?.sketch(of: view, draft: nil) }
        return try? source?.sketch(of: view, draft: try? desk.find(to: conversation, for: session))
      }, count: { try? source?.counts(QueueFilter(inbox: session.inbox)) })
  }
}
