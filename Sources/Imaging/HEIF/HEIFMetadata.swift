extension Metadata {
  /// Reads the profile of a picture, the descriptions, and the names of further pictures.
  mutating func readHEIF(_ items: HEIFItems, plan: HEIFPlan) {
    let parts = items.tree(of: plan.item)
    // Its own profile goes before that of a tile.
    for number in [plan.item] + parts.sorted() {
      guard !mentionsProfile, let profile = items.items[number]?.profile else { continue }
      readProfile(profile.count > Self.profileLimit ? [] : Array(profile.bytes[profile.range]))
    }
    for (_, item) in items.items.sorted(by: { $0.key < $1.key }) where !HEIFItems.Item.pictures.contains(item.type) {
      readDescription(item)
    }
    let others = items.items.keys.filter { number in
      !parts.contains(number) && items.items[number].map { HEIFItems.Item.pictures.contains($0.type) } == true
    }
    for number in others {
      if !items.targets("thmb", of: number).isEmpty {
        add("embedded thumbnail")
      } else if items.items[number]?.isAlpha != true,
        items.items[number]?.isHidden == false
          || !items.targets("auxl", of: number).isEmpty
      {
        add("second picture")
      }
    }
  }

  private mutating func readDescription(_ item: HEIFItems.Item) {
    guard item.data.reduce(0, { $0 + $1.count }) <= Self.profileLimit else { return add("application data") }
    let bytes = item.bytes
    let contents = ByteReader(bytes, bytes.indices)
    switch item.type {
    case "Exif":
      // Four bytes give the offset of the block.
      readExif(contents.dropFirst(4 + min(contents.uint32(at: 0) ?? 0, bytes.count)))
    case "mime" where contents.contains("adobe:ns:meta"): readXMP(contents)
    default: add("application data")
    }
  }
}

extension HEIFItems {
  /// A picture and all that it is made of.
  fileprivate func tree(of item: Int) -> Set<Int> {
    var found: Set<Int> = [item]
    var rest = [item]
    while let number = rest.popLast() {
      for part in targets("dimg", of: number) where found.insert(part).inserted { rest.append(part) }
    }
    return found
  }
}
