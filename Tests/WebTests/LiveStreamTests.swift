import Messages
import Testing

@testable import Web

/// The events of a stream. Browser tests have pages act on them.
@Suite struct LiveStreamTests {
  private var sketch = LiveSketch()
  private var stream = LiveStream([.list], epoch: "e")

  private mutating func events(_ news: LiveNews, heard: String? = nil, waiting: Int = 0) -> [String] {
    let text = stream.events(news, heard: heard, sketch: { _ in sketch }, count: { (waiting, 0) })
    return text.split(separator: "\n").filter { !$0.hasPrefix("id: ") }.map(String.init)
  }

  @Test mutating func aNewStreamHasThePageLoadWhatItMissed() {
    #expect(
      events(LiveNews(count: 7))
        == ["event: reload", "data: 7", "event: trouble", "data: 1", "event: queue", "data: 0 0"])
    var second = LiveStream([.list], epoch: "e")
    let text = second.events(LiveNews(count: 7), heard: "e-7", sketch: { _ in nil }, count: { nil })
    #expect(!text.contains("reload"), "nothing was missed")
  }

  @Test mutating func whatChangedAndWhatIsGoneIsToldOnce() {
    sketch.numbers = ["a": 1, "b": 1]
    _ = events(LiveNews(count: 1, progress: [:]))
    sketch.numbers = ["a": 2, "c": 1]
    let runs = ["event: trouble", "data: 0"]
    #expect(
      events(LiveNews(count: 2, progress: [:])) == runs + ["event: changed", "data: 0 a c", "event: gone", "data: 0 b"])
    #expect(events(LiveNews(count: 3, progress: [:]), waiting: 0) == runs)
    #expect(events(LiveNews(count: 4, progress: [:]), waiting: 2) == runs + ["event: queue", "data: 2 0"])
    #expect(events(LiveNews(count: 4, progress: [:]), waiting: 2).isEmpty)
  }

  @Test mutating func progressIsToldOfMessagesThatTheViewShows() {
    sketch.numbers = ["a": 1]
    sketch.drafted = ["d"]
    _ = events(LiveNews(count: 1, progress: [:]))
    #expect(
      events(LiveNews(count: 1, progress: ["a": 0.5, "d": 0.25, "other": 0.1]))
        == ["event: progress", "data: a 0.5", "event: progress", "data: d 0.25"])
    #expect(events(LiveNews(count: 1, progress: ["a": 0.5, "d": 0.25])).isEmpty)
  }

  @Test mutating func aDaemonThatEndsOrComesBackIsTold() {
    _ = events(LiveNews(count: 1, progress: [:]))
    #expect(events(LiveNews(count: 1, progress: nil)) == ["event: trouble", "data: 1"])
    #expect(events(LiveNews(count: 1, progress: nil)).isEmpty)
    #expect(events(LiveNews(count: 1, progress: [:])) == ["event: trouble", "data: 0"])
  }

  @Test mutating func aChangeTellsWhetherTheDaemonRuns() {
    _ = events(LiveNews(count: 1, progress: [:]))
    #expect(
      events(LiveNews(count: 2, progress: [:])) == ["event: trouble", "data: 0"], "it may have been down between")
  }

  @Test mutating func aSignOfLifeIsAComment() {
    _ = events(LiveNews(count: 1))
    #expect(events(LiveNews(count: 1, beat: 1)) == [":"])
  }

  @Test func viewsAreReadFromAnAddress() throws {
    let family = try ConversationID("a b & c")
    #expect(LiveView.all(in: "view=list&view=conversation:a+b+%26+c") == [.list, .conversation(family)])
    #expect(LiveView.all(in: "view=other&view=conversation:&x=list&view=list") == [nil, nil, .list])
    #expect(LiveView.all(in: String(repeating: "view=list&", count: 100)).count == 32)
  }
}
