import Messages

/// A delivery error with the step that it happened at.
struct StepError: Error {
  enum Step: String {
    case prepare, upload, publish
  }

  let step: Step
  /// The store or network that failed; nil where it was none.
  let destination: String?
  let error: DeliveryError
  /// The destination was asked; false when it was known not to work, and left alone.
  let wasTried: Bool

  init(step: Step, destination: String? = nil, error: DeliveryError, wasTried: Bool = true) {
    self.step = step
    self.destination = destination
    self.error = error
    self.wasTried = wasTried
  }

  /// The same may work later.
  var canPass: Bool { error.cause.disposition != .fail }
}
