import Messages

struct StepError: Error {
  enum Step: String {
    case prepare, upload, publish
  }

  let step: Step
  /// The store or network that failed, if any.
  var destination: String?
  let error: DeliveryError
  /// Whether the destination was asked; false if it was left alone.
  var wasTried = true

  /// A retry may succeed.
  var canPass: Bool { error.cause.disposition != .fail }
}
