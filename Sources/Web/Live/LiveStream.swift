import Foundation

/// The events of one stream: what has changed in its views since it was last asked. They hold ids and numbers only.
struct LiveStream {
  let views: [LiveView?]
  /// This process. Counts of another one mean nothing here.
  let epoch: String
  private var sketches: [LiveSketch?]
  private var last: LiveNews?
  private var outstanding: (waiting: Int, failed: Int)?

  init(_ views: [LiveView?], epoch: String) {
    self.views = views
    self.epoch = epoch
    sketches = views.map { _ in nil }
  }

  /// The text of the events; empty if there are none.
  ///
  /// - Parameters:
  ///   - heard: the id of the last event that the browser has, if it comes back.
  ///   - sketch: what a view shows now; nil if it cannot be read.
  ///   - count: requests that wait or failed; nil if they cannot be counted.
  mutating func events(
    _ news: LiveNews, heard: String?, sketch: (LiveView) -> LiveSketch?, count: () -> (waiting: Int, failed: Int)?
  ) -> String {
    let id = "\(epoch)-\(news.count)"
    var text = ""
    func tell(_ event: String, _ data: String) { text += "id: \(id)\nevent: \(event)\ndata: \(data)\n\n" }
    if last == nil, heard != id { tell("reload", "\(news.count)") }
    // Told with each change, too: a page may have been rendered while the daemon was down for a moment.
    if (last?.progress == nil) != (news.progress == nil) || news.count != last?.count {
      tell("trouble", news.progress == nil ? "1" : "0")
    }
    if news.count != last?.count {
      for (index, view) in views.enumerated() {
        guard let view, let now = sketch(view) else { continue }
        if let earlier = sketches[index] {
          let (changed, gone) = now.changes(since: earlier)
          if !changed.isEmpty { tell("changed", "\(index) \(changed.joined(separator: " "))") }
          if !gone.isEmpty { tell("gone", "\(index) \(gone.joined(separator: " "))") }
        }
        sketches[index] = now
      }
      if let now = count(), outstanding.map({ $0 != now }) ?? true {
        tell("queue", "\(now.waiting) \(now.failed)")
        outstanding = now
      }
    }
    let known = last?.progress ?? [:]
    for (message, share) in (news.progress ?? [:]).sorted(by: { $0.key < $1.key })
    where known[message] != share && sketches.contains(where: { $0?.shows(message) == true }) {
      tell("progress", "\(message) \(Double(Int(share * 1000)) / 1000)")
    }
    if text.isEmpty, news.beat != last?.beat { text = ":\n\n" }
    last = news
    return text
  }
}
