import Control
import Digests
import FoundationEssentials
import Messages
import Photos

extension FuzzTarget {
  static let processes: [FuzzTarget] = [controlRequest, controlReply, darkroomAnswer, darkroomOrder]

  static let controlRequest = FuzzTarget(
    "control-request",
    words: [
      "{", "}", "[", "]", "\"", ":", ",", "_0", "cancel", "hold", "release", "flush", "reveal", "hide", "want",
      "viewed", "prefer", "conversation", "fetch", "autoReveal", "clear", "inbox", "check", "progress", "metrics",
    ]
  ) { input throws(BrokenProperty) in try holdJSON(ControlRequest.self, input) }

  static let controlReply = FuzzTarget(
    "control-reply",
    words: [
      "{", "}", "[", "]", "\"", ":", ",", "outcomes", "subject", "isDone", "sentence", "progress", "metrics", "error",
    ]
  ) { input throws(BrokenProperty) in try holdJSON(ControlReply.self, input) }

  /// Checks that a read value can be written and read again.
  private static func holdJSON<Value: Codable & Equatable>(
    _: Value.Type, _ input: [UInt8]
  ) throws(BrokenProperty) {
    guard let value = try? JSONDecoder().decode(Value.self, from: Data(input)) else { return }
    let again = try? JSONDecoder().decode(Value.self, from: JSONEncoder().encode(value))
    try hold(again == value, "what was written is not what is read")
  }

  static let darkroomAnswer = FuzzTarget("darkroom-answer", words: ["jpeg", "image_limits", "unsupported_image"]) {
    input throws(BrokenProperty) in
    var limits = PhotoLimits()
    limits.outputBytes = 4096
    guard let answer = DarkroomAnswer(encoded: input, limits: limits) else { return }
    switch answer.result {
    case .success(let photo):
      try hold(photo.jpeg.count <= 4096 && 1...limits.longestSide ~= photo.width, "it is beyond its limits")
      for word in photo.stripped + [photo.blurhash] { try holdPlain(word) }
    case .failure(let error): try holdPlain(error.sentence)
    }
    let again = DarkroomAnswer(encoded: answer.encoded, limits: limits)
    try hold(again?.encoded == answer.encoded, "what was written is not what is read")
  }

  static let darkroomOrder = FuzzTarget("darkroom-order") { input throws(BrokenProperty) in
    guard let limits = PhotoLimits(encoded: input) else { return }
    try hold(limits.encoded == input, "what was written is not what is read")
    let sane = limits.sane
    try hold(sane.sane == sane, "sane limits are not sane")
  }
}
