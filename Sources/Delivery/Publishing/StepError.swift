import Messages

struct StepError: Error {
  enum Step: String {
    case prepare, upload, publish
  }

  let step: Step
  /// The store or network that failed, if any.
  let destination: String?
  let error: DeliveryError
  /// Whether the destination was asked; false if it was left alone.
  let wasTried: Bool

  init(step: Step, destination: String? = nil, error: DeliveryError, wasTried: Bool = true) {
    self.step = step
    self.destination = destination
    self.error = error
    self.wasTried = wasTried
  }

  /// A retry may succeed.
  var canPass: Bool { error.cause.disposition != .fail }
}
