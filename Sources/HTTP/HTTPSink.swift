/// Takes the body of an answer piece by piece, for bodies that are not to be held in memory.
///
/// It is called on the client's thread, where all transfers wait for it: it must return quickly.
package protocol HTTPSink: AnyObject, Sendable {
  /// The answer's body begins; `head` is the answer without it. Not called for an answer without a body.
  ///
  /// - Returns: false when none of it is wanted; the transfer then ends with `HTTPError.Reason.stopped`.
  func begin(_ head: HTTPResponse) -> Bool

  /// The next bytes.
  ///
  /// - Returns: false when no more is wanted.
  func take(_ piece: UnsafeRawBufferPointer) -> Bool
}
