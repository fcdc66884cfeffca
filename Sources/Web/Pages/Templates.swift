import Digests
import Foundation
import HTTPTypes
import Hummingbird
import Mustache

/// The values of a template. Every name of a template has one: Mustache takes a missing one from an outer scope.
typealias Values = [String: Any]

/// The templates and static files, which are part of the program.
struct Templates: Sendable {
  private let library: MustacheLibrary
  /// Static files by path. The path changes with their contents, so that browsers may keep them.
  let files: [String: (bytes: [UInt8], type: String)]
  /// The directory of the static files, which name one another.
  private let place: String

  /// The page's script: one module for each idea.
  private static let modules: [(name: String, bytes: [UInt8])] = [
    ("main.js", PackageResources.main_js), ("parts.js", PackageResources.parts_js),
    ("live.js", PackageResources.live_js), ("composer.js", PackageResources.composer_js),
    ("tray.js", PackageResources.tray_js), ("upload.js", PackageResources.upload_js),
    ("timeline.js", PackageResources.timeline_js), ("viewer.js", PackageResources.viewer_js),
    ("gestures.js", PackageResources.gestures_js), ("board.js", PackageResources.board_js),
  ]

  private static let others: [(name: String, bytes: [UInt8], type: String)] = [
    ("style.css", PackageResources.style_css, css), ("talk.css", PackageResources.talk_css, css),
    ("live.css", PackageResources.live_css, css), ("viewer.css", PackageResources.viewer_css, css),
    ("operating.css", PackageResources.operating_css, css), ("icon.svg", PackageResources.icon_svg, "image/svg+xml"),
    ("icon-192.png", PackageResources.icon_192_png, "image/png"),
    ("icon-512.png", PackageResources.icon_512_png, "image/png"),
  ]
  private static let css = "text/css; charset=utf-8"

  init() throws {
    var library = MustacheLibrary()
    for (name, bytes) in Self.sources {
      try library.register(String(decoding: bytes, as: UTF8.self), named: name)
    }
    self.library = library
    let contents = Self.modules.flatMap(\.bytes) + Self.others.flatMap(\.bytes)
    let place = "/static/\(SHA256Digest(of: contents).hex.prefix(16))"
    var files: [String: (bytes: [UInt8], type: String)] = [:]
    for (name, bytes) in Self.modules {
      files["\(place)/\(name)"] = (Self.dense(bytes), "text/javascript; charset=utf-8")
    }
    for (name, bytes, type) in Self.others { files["\(place)/\(name)"] = (bytes, type) }
    (self.files, self.place) = (files, place)
  }

  /// The page's manifest (W3C Web Application Manifest), by which a phone installs it and shares photos with it.
  var manifest: String { text(of: "manifest", ["place": place]) }

  /// The style sheets of a page. The first one is enough for the list and for cards.
  private func sheets(of page: String, isOperating: Bool) -> [Values] {
    var names = ["style"]
    if !["conversations", "share", "login", "problem", "unlock"].contains(page) { names.append("talk") }
    if page == "conversation" { names.append("live") }
    if page == "photo" { names.append("viewer") }
    if isOperating { names.append("operating") }
    return names.map { ["href": "\(place)/\($0).css", "isForScript": $0 == "live"] }
  }

  private static let sources: [String: [UInt8]] = [
    "ask": PackageResources.ask_mustache, "banners": PackageResources.banners_mustache,
    "board": PackageResources.board_mustache, "check": PackageResources.check_mustache,
    "clear": PackageResources.clear_mustache, "composer": PackageResources.composer_mustache,
    "conversation": PackageResources.conversation_mustache, "conversations": PackageResources.conversations_mustache,
    "dialogs": PackageResources.dialogs_mustache, "fact": PackageResources.fact_mustache,
    "foot": PackageResources.foot_mustache, "head": PackageResources.head_mustache,
    "home": PackageResources.home_mustache, "icons": PackageResources.icons_mustache,
    "list": PackageResources.list_mustache, "login": PackageResources.login_mustache,
    "manifest": PackageResources.manifest_mustache, "message": PackageResources.message_mustache,
    "metrics": PackageResources.metrics_mustache, "new": PackageResources.new_mustache,
    "photo": PackageResources.photo_mustache, "picture": PackageResources.picture_mustache,
    "plate": PackageResources.plate_mustache, "plot": PackageResources.plot_mustache,
    "problem": PackageResources.problem_mustache, "profile": PackageResources.profile_mustache,
    "progress": PackageResources.progress_mustache, "purge": PackageResources.purge_mustache,
    "queue": PackageResources.queue_mustache, "queued": PackageResources.queued_mustache,
    "request": PackageResources.request_mustache, "sessions": PackageResources.sessions_mustache,
    "settings": PackageResources.settings_mustache, "share": PackageResources.share_mustache,
    "shortcuts": PackageResources.shortcuts_mustache, "side": PackageResources.side_mustache,
    "state": PackageResources.state_mustache, "storage": PackageResources.storage_mustache,
    "talk": PackageResources.talk_mustache, "unlock": PackageResources.unlock_mustache,
  ]

  /// A module without its indentation and the lines of its comments, which are for its authors.
  private static func dense(_ module: [UInt8]) -> [UInt8] {
    let lines = String(decoding: module, as: UTF8.self).split(separator: "\n").map { $0.drop { $0 == " " } }
    let kept = lines.filter { !["//", "/**", "*"].contains(where: $0.hasPrefix) }
    return Array((kept.joined(separator: "\n") + "\n").utf8)
  }

  func page(_ name: String, title: String, _ values: Values, status: HTTPResponse.Status = .ok) -> Response {
    let sheets = sheets(of: name, isOperating: values["isOperating"] as? Bool ?? false)
    let head: Values = [
      "page": name, "title": title, "sheets": sheets, "icon": "\(place)/icon.svg",
      "touchIcon": "\(place)/icon-192.png", "script": "\(place)/main.js", "isConversation": name == "conversation",
    ]
    let text = text(of: name, values.merging(head) { $1 })
    return Response(text.utf8, type: "text/html; charset=utf-8", status: status)
  }

  /// A part of a page, which its script puts in place.
  func fragment(_ name: String, _ values: Values, status: HTTPResponse.Status = .ok) -> Response {
    Response(text(of: name, values).utf8, type: "\(Request.fragment); charset=utf-8", status: status)
  }

  func text(of name: String, _ values: Values) -> String { library.render(values, withTemplate: name) ?? "" }

  func page(_ problem: WebProblem) -> Response {
    if problem.isLocked {
      return page("unlock", title: "photospool", ["sentence": problem.sentence], status: problem.status)
    }
    return page(
      "problem", title: problem.status.reasonPhrase,
      [
        "status": problem.status.code, "heading": problem.status.reasonPhrase, "sentence": problem.sentence,
        "hasCommand": problem.command != nil, "command": problem.command ?? "", "hasBack": problem.back != nil,
        "back": problem.back?.address ?? "", "backWord": problem.back?.word ?? "",
      ], status: problem.status)
  }
}
