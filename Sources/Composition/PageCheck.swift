import Messages
import Spooling
import WebAccess

/// The check of the web page: where it listens, and who may do everything from elsewhere.
struct PageCheck {
  let spool: Spool

  func run() throws -> String {
    guard try spool.state.entry("web") != nil else { return "not used; `photospool web` starts it" }
    let access = try AccessStore(spool)
    guard let origin = try access.origin() else { return "not started yet; `photospool web` starts it" }
    let entries = try access.entries(at: .now())
    let sessions = entries.count { !$0.isLink }
    let place = "last started at \(origin)"
    guard !entries.isEmpty else { return "\(place), without links and sessions" }
    let who = "\(counted(entries.count - sessions, "link")) and \(counted(sessions, "session"))"
    // The kernel tells who uses a page on this computer.
    let isOutside = origin.hasPrefix("https")
    let strong = entries.filter { $0.grant.rights.contains(.operate) && isOutside && $0.user == nil }
    guard let first = strong.first else { return "\(place), with \(who)" }
    return "\(place), with \(who); \(strong.count) of them may operate from other computers, "
      + "such as '\(escaped(first.grant.name))' (`photospool web sessions --end \(first.id)` ends it)"
  }
}
