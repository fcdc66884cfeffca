/// Requests, or an order about earlier ones of its partition. Orders stand in the same queue, so that they are neither
/// lost nor overtaken, and every later owner finds those that are still in force.
package enum RecordContents: Codable, Sendable, Equatable {
  /// One request, or several that are texts of one conversation, in order.
  case requests([RelayedRequest])
  /// Nothing more of this request is to be published. Finished with the request's record.
  case cancel(request: String, id: RecordID)
  /// Nothing is published in the conversation. Finished with its release.
  case hold(conversation: String)
  case release(conversation: String)
  /// Everything that waits is tried now.
  case flush
}
