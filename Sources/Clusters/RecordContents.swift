/// A request, or an order about earlier ones of its partition. Orders stand in the same queue, so that they are neither
/// lost nor overtaken, and every later owner finds those that are still in force.
package enum RecordContents: Codable, Sendable, Equatable {
  case request(RelayedRequest)
  /// Nothing more of this request is to be published. Finished once the request has ended.
  case cancel(request: String, record: RecordID)
  /// Nothing is published in the conversation. Finished with its release.
  case hold(conversation: String)
  case release(conversation: String)
  /// Everything that waits is tried now.
  case flush
}
