extension Preparer {
  /// Lets the libraries find what they need while the process may still look at files.
  public static func loadLibraries() { HEIFLibrary.prepare() }
}
