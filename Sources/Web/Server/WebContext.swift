import Hummingbird
import NIOCore

/// The facts of one request besides its head and body.
struct WebContext: RequestContext {
  var coreContext: CoreRequestContextStorage
  /// The connection, of which the kernel knows the user at its other end.
  let channel: any Channel
  var peer = PeerUser()

  init(source: ApplicationRequestContextSource) {
    coreContext = CoreRequestContextStorage(source: source)
    channel = source.channel
  }
}
