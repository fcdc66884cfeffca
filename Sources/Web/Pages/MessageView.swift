import Ledgers
import Messages
import Spooling

/// The values of one entry of a timeline.
struct MessageView {
  let source: PageSource
  let entry: TimelineEntry
  let isHeld: Bool

  /// The largest picture on a desk, in pixels.
  private static let frame = (width: 640, height: 600)

  var isPhoto: Bool { entry.kind != .text }
  private var hasPicture: Bool {
    isPhoto && entry.size != nil && (entry.hasThumbnail || entry.hasOriginal && !entry.isHidden)
  }
  private var isBusy: Bool { entry.isOwn && entry.state?.isFinal == false }
  private var isFailed: Bool { entry.state == .failed || entry.requestState == .failed }
  private var time: Timestamp { entry.sentAt ?? entry.time }
  private var sender: String { entry.isOwn ? "you" : entry.sender.map(shown) ?? "unknown" }

  /// The values for its place between two other entries of the page.
  func values(after previous: TimelineEntry?, before next: TimelineEntry?) throws -> Values {
    let text = try keptText()
    let isFirstOfDay = previous.map { !source.clock.isSameDay($0.time, entry.time) } ?? true
    let isLastOfRequest = next.map { $0.request != entry.request } ?? true
    let mayRepair = try isFailed && isLastOfRequest && mayChange && isKept()
    let progress = source.progress?[entry.message.text].map { Int($0 * 100) }
    var values: Values = [
      "message": entry.message.text, "request": entry.request.map(inAddress) ?? "", "opensDay": isFirstOfDay,
      "day": source.clock.day(entry.time), "isOwn": entry.isOwn, "sender": sender, "at": time.description,
      "time": source.clock.time(time), "hasPicture": hasPicture, "isPlate": isPhoto && !hasPicture,
      "isText": !isPhoto, "hasText": text != nil, "text": text.map(shown) ?? "",
      "file": shown(PhotoName.original(entry.file)),
      "size": sizeInWords(entry.bytes), "isHidden": entry.isHidden && hasPicture,
      "isBusy": isBusy, "mayRepair": mayRepair, "isSent": entry.state == .sent,
      "isFailed": isFailed, "isCancelled": entry.state == .cancelled, "progress": progress ?? 0,
      "hasProgress": progress != nil, "canCancel": isBusy && entry.state != .publishing && mayChange,
      "hasMeta": next.map { $0.isOwn != entry.isOwn || $0.sender != entry.sender || $0.request != entry.request }
        ?? true,
    ]
    values.merge(states) { $1 }
    values.merge(pictures) { $1 }
    values.merge(faults(isLastOfRequest)) { $1 }
    return values
  }

  private var states: Values {
    func isState(_ state: MessageState) -> Bool { entry.isOwn && entry.state == state }
    return [
      "isPending": isState(.pending), "isPreparing": isState(.preparing), "isUploading": isState(.uploading),
      "isUploaded": isState(.uploaded), "isPublishing": isState(.publishing),
      "isRelayed": isState(.relayed),
    ]
  }

  private var pictures: Values {
    let isFetching = !hasPicture && (entry.received == .wanted || entry.received == .downloading)
    let isAway = isPhoto && !hasPicture && !isBusy && !isFetching
    let canFetch =
      isAway && entry.received.map { [.offered, .failed, .downloaded].contains($0) } ?? (entry.state == .sent)
    let size = Self.fitted(entry.size)
    return [
      "picture": entry.hasOriginal ? "original" : "thumbnail", "width": size.width, "height": size.height,
      "isFetching": isFetching, "canFetch": canFetch, "isGone": isAway && !canFetch && !isFailed,
    ]
  }

  /// The size on a desk: it fits the frame and is never enlarged.
  private static func fitted(_ size: (width: Int, height: Int)?) -> (width: Int, height: Int) {
    guard let size, size.width > 0, size.height > 0 else { return (1, 1) }
    let scale = min(1, Double(frame.width) / Double(size.width), Double(frame.height) / Double(size.height))
    return (max(1, Int(Double(size.width) * scale)), max(1, Int(Double(size.height) * scale)))
  }

  private func faults(_ isLastOfRequest: Bool) -> Values {
    let isWaiting = isBusy && (entry.nextAttempt != nil && entry.error != nil || isHeld)
    let error = !isBusy && (!isFailed || isLastOfRequest) ? entry.error : nil
    return [
      "isWaiting": isWaiting, "waiting": isWaiting ? waiting : "", "hasError": error != nil,
      "error": error.map(shown) ?? "",
    ]
  }

  private var waiting: String {
    if isHeld { return "Held: it waits for release." }
    let again = entry.nextAttempt.map { ", tried again at \(source.clock.time($0))" } ?? ""
    return shown((entry.error ?? "It waits") + again) + "."
  }

  /// Whether the failed request is there, so that it can be sent again.
  private func isKept() throws -> Bool {
    guard let request = entry.request else { return false }
    return try source.spool.failed.entry(request) != nil
  }

  private var mayChange: Bool { source.session.mayChange(requestWith: entry.key) }

  private func keptText() throws -> String? {
    guard !isPhoto, entry.state == .sent, let request = entry.request, let digest = entry.digest else { return nil }
    return try source.spool.keptText(of: request, digest: digest)
  }
}

extension WaitingRequest {
  /// The values of what the daemon has not accepted yet, photos first.
  func values(at clock: LocalTime) -> [Values] {
    let blank: Values = [
      "message": "", "request": inAddress(name), "opensDay": false, "day": "", "isOwn": true, "sender": "you",
      "at": clock.now.description, "time": "", "hasPicture": false, "isPlate": false, "isText": false, "hasText": false,
      "text": "", "file": "photo", "size": "", "isHidden": false, "isBusy": true, "isSent": false, "isFailed": false,
      "isCancelled": false, "progress": 0, "hasProgress": false, "canCancel": false, "mayRepair": false,
      "hasMeta": false, "isPending": true, "isPreparing": false, "isUploading": false, "isUploaded": false,
      "isPublishing": false, "isRelayed": false, "picture": "", "width": 1, "height": 1, "isFetching": false,
      "canFetch": false, "isGone": false, "isWaiting": false, "waiting": "", "hasError": false, "error": "",
    ]
    let photos = self.photos.enumerated().map { index, photo in
      blank.merging(
        [
          "message": "\(name).\(index)", "isPlate": true, "file": shown(photo.file), "size": sizeInWords(photo.bytes),
        ]
      ) { $1 }
    }
    guard let text else { return photos }
    return photos + [blank.merging(["message": name, "isText": true, "hasText": true, "text": shown(text)]) { $1 }]
  }
}
