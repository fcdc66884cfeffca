import ArgumentParser

/// The options of a command that take one value. The argument parser would silently use the last of several.
enum GivenOptions {
  /// - Parameter command: after parsing `arguments`.
  /// - Throws: `ValidationError` if an option is given twice.
  static func check(_ arguments: [String], of command: any ParsableCommand) throws {
    let names = names(in: command)
    var given = Set<String>()
    for argument in arguments.prefix(while: { $0 != "--" }) where argument.hasPrefix("-") {
      let word = argument.prefix { $0 != "=" }
      guard let name = name(word, among: names), !given.insert(name).inserted else { continue }
      throw ValidationError("\(word) is given twice and takes one value; run the command once for each")
    }
  }

  /// The property of an option: `dryRun` for `--dry-run`, the one with that initial for `-o`.
  private static func name(_ word: Substring, among names: Set<String>) -> String? {
    let plain = word.filter { $0 != "-" }.lowercased()
    if word.hasPrefix("--") { return names.first { $0.lowercased() == plain } }
    return names.first { plain.count == 1 && $0.hasPrefix(plain) }
  }

  private static func names(in arguments: any ParsableArguments) -> Set<String> {
    var names = Set<String>()
    for (label, value) in Mirror(reflecting: arguments).children {
      switch value {
      case let group as any GroupOfOptions: names.formUnion(Self.names(in: group.members))
      case is any Repeatable: break
      case is any TakingOneValue: names.insert(String((label ?? "").drop { $0 == "_" }))
      default: break
      }
    }
    return names
  }
}

private protocol TakingOneValue {}
extension Option: TakingOneValue {}

private protocol Repeatable {}
extension Option: Repeatable where Value == [String] {}

private protocol GroupOfOptions { var members: any ParsableArguments { get } }
extension OptionGroup: GroupOfOptions {
  fileprivate var members: any ParsableArguments { wrappedValue }
}
