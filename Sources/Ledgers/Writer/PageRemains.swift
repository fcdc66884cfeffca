import Glibc

/// The room of a page of SQLite's file that nobody reads, and in which copies of rows may be left: SQLite moves rows from
/// page to page to keep its trees balanced, and `secure_delete` overwrites only those that are deleted (measured with
/// 3.40.1). It lies between a page's index of rows and its first row.
enum PageRemains {
  /// From here on the page numbers that other kinds of pages begin with could be mistaken for a kind of tree page.
  static let mostPages = 1 << 24
  /// Where the file's header tells whether there are pointer maps, in four bytes of which one is not 0 then.
  static let pointerMapField = 52..<56
  /// The page that SQLite locks, which nobody writes to, begins here.
  private static let lockedByte = 0x4000_0000

  /// Whether the page `number`, counted from 1, lists who points to the pages behind it, where there are such lists. It
  /// may begin like a page of a tree.
  static func isPointerMap(_ number: Int, pageSize: Int) -> Bool {
    guard number >= 2 else { return false }
    let span = pageSize / 5 + 1
    let map = 2 + (number - 2) / span * span
    return number == (map == lockedByte / pageSize + 1 ? map + 1 : map)
  }

  /// Where they are in a page that is no pointer map; nil when there are none, or when it is no page of a tree.
  static func range(in page: UnsafeRawBufferPointer, isFirst: Bool) -> Range<Int>? {
    let header = isFirst ? 100 : 0
    func number(at offset: Int) -> Int { Int(page[offset]) << 8 | Int(page[offset + 1]) }
    let index: Int
    switch page[header] {
    case 2, 5: index = header + 12
    case 10, 13: index = header + 8
    default: return nil
    }
    let rows = number(at: header + 3)
    let first = number(at: header + 5) == 0 ? 65_536 : number(at: header + 5)
    let unused = index + 2 * rows
    guard unused < first, first <= page.count else { return nil }
    for row in 0..<rows where !(first..<page.count).contains(number(at: index + 2 * row)) { return nil }
    let gap = UnsafeRawBufferPointer(rebasing: page[unused..<first])
    guard let begin = gap.baseAddress else { return nil }
    if gap[0] == 0 && memcmp(begin, begin + 1, gap.count - 1) == 0 { return nil }
    return unused..<first
  }
}
