import Ledgers
import Messages
import Spooling

/// One request: its messages, attempts and times, all that `photospool show` prints.
extension PageSource {
  func request(_ name: String) throws -> Values {
    guard let story = try ledger?.story(of: name), inbox == nil || story.inbox == inbox?.text else {
      throw WebProblem(.notFound, "There is no such request here.")
    }
    let isBusy = story.state == .queued || story.state == .draft
    let isKept = try story.state == .failed && spool.failed.entry(name) != nil
    // Its files are moved soon after the ledger knows; no event tells of that.
    let isUnfiled = try story.state == .failed && !isKept && spool.cur.entry(name) != nil
    let mayChange = session.mayChange(requestWith: story.id)
    let named = story.conversation.flatMap { text in text.hasPrefix("profile~") ? nil : text }
    return try frame(page: .queue).merging([
      "request": shown(name), "requestQuery": inAddress(name), "state": story.state.rawValue,
      "isFailed": story.state == .failed, "isBusy": isBusy, "command": "photospool show \(shown(name))",
      "isUnfiled": isUnfiled, "canRetry": isKept && mayChange, "canCancel": isBusy && mayChange,
      "hasError": story.error != nil,
      "error": sentence(story.error ?? ""), "hasConversation": named != nil, "conversation": shown(named ?? ""),
      "nameQuery": inAddress(named ?? ""), "facts": facts(story),
      "messages": story.messages.map { try values(of: $0, in: story) },
    ]) { $1 }
  }

  private func facts(_ story: RequestStory) -> [Values] {
    let rows: [(String, String?)] = [
      ("Conversation", story.conversation), ("Inbox", story.inbox), ("Id", story.id), ("Dropped as", story.droppedAs),
      ("Duplicate of", story.duplicateOf), ("Cause", story.cause),
    ]
    return rows.compactMap { term, text in text.map { fact(term, $0) } }
      + [("Accepted", story.acceptedAt), ("Finished", story.finishedAt)].compactMap { term, time in
        time.map { fact(term, clock.exact($0), at: $0) }
      }
  }

  private func fact(_ term: String, _ text: String, at time: Timestamp? = nil) -> Values {
    ["term": term, "isTime": time != nil, "at": time?.description ?? "", "text": shown(text)]
  }

  private func values(of message: RequestStory.Message, in story: RequestStory) throws -> Values {
    let isSentText = message.kind == .text && message.state == .sent
    let text = try isSentText ? spool.keptText(of: story.request, digest: message.digest) : nil
    let percent = progress?[message.message].map { Int($0 * 100) }
    let isPhoto = message.kind == .photo || message.kind == .profile
    return [
      "message": shown(message.message), "file": shown(isPhoto ? PhotoName.original(message.file) : message.file),
      "kind": message.kind.rawValue, "state": message.state.rawValue + (percent.map { ", \($0) %" } ?? ""),
      "isFailed": message.state == .failed, "isMoving": !message.state.isFinal && message.state != .pending,
      "hasPhoto": isPhoto && message.photo != nil, "hasText": text != nil, "text": shown(text ?? ""),
      "hasError": message.error != nil, "error": sentence(message.error ?? ""), "facts": facts(message),
      "hasAttempts": !message.attempts.isEmpty, "attempts": attempts(of: message, in: story),
    ]
  }

  private func facts(_ message: RequestStory.Message) -> [Values] {
    var rows: [(String, String?)] = []
    if let photo = message.photo {
      let before = "\(photo.format) \(photo.originalWidth) × \(photo.originalHeight), \(sizeInWords(message.bytes))"
      rows.append(("Photo", "\(before) → \(photo.width) × \(photo.height), \(sizeInWords(photo.bytes))"))
      rows.append(("Bytes", "\(grouped(message.bytes)) as dropped, \(grouped(photo.bytes)) as sent"))
      rows += [("Path", photo.path), ("URL", photo.url)]
    } else {
      rows.append(("Bytes", "\(grouped(message.bytes))"))
    }
    rows += [
      ("File", message.file), ("SHA-256", message.digest), ("Id on the network", message.remote),
      ("Cause", message.cause),
    ]
    return rows.compactMap { term, text in text.map { fact(term, $0) } }
      + [("Next attempt", message.nextAttempt), ("Sent", message.sentAt)].compactMap { term, time in
        time.map { fact(term, clock.exact($0), at: $0) }
      }
  }

  /// The attempts with their bars: from the request's acceptance to its end, or to now.
  private func attempts(of message: RequestStory.Message, in story: RequestStory) -> [Values] {
    let all = story.messages.flatMap(\.attempts)
    let begin = all.map(\.startedAt).min() ?? story.acceptedAt
    let isRunning = all.contains { $0.endedAt == nil && $0.error == nil }
    let end = ([isRunning ? clock.now : begin] + all.flatMap { [$0.startedAt, $0.endedAt].compactMap(\.self) }).max()
    let whole = max(0.001, (end ?? begin).seconds(since: begin))
    return message.attempts.map { attempt in
      let last = attempt.endedAt ?? (attempt.error == nil ? clock.now : attempt.startedAt)
      let seconds = max(0, last.seconds(since: attempt.startedAt))
      let width = max(8, Int(seconds / whole * 1000))
      let x = min(1000 - width, max(0, Int(attempt.startedAt.seconds(since: begin) / whole * 1000)))
      return [
        "step": "\(attempt.step) \(attempt.number)", "at": attempt.startedAt.description,
        "begin": clock.exact(attempt.startedAt), "hasEnd": attempt.endedAt != nil,
        "endAt": attempt.endedAt?.description ?? "", "end": attempt.endedAt.map(clock.exact) ?? "",
        "x": x, "width": width, "isFailed": attempt.error != nil,
        "length": attempt.endedAt == nil ? (attempt.error == nil ? "running" : "not known") : LocalTime.words(seconds),
        "hasError": attempt.error != nil, "cause": attempt.cause ?? "", "error": sentence(attempt.error ?? ""),
      ]
    }
  }
}
