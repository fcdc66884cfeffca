/// Receives the body of an answer in pieces, instead of holding it in memory. Called on the client's thread, which runs
/// all transfers: it must return quickly.
package protocol HTTPSink: AnyObject, Sendable {
  /// Begins a body; `head` is the answer without it. Not called without a body. Returns false to refuse it; the
  /// transfer then ends with `HTTPError.Reason.stopped`.
  func begin(_ head: HTTPResponse) -> Bool

  /// Takes the next bytes; returns false to stop.
  func take(_ piece: UnsafeRawBufferPointer) -> Bool
}
