import FoundationEssentials
import Glibc

#if PHOTOSPOOL_FUZZER
  /// libFuzzer's entry point; the environment names the parser.
  @_cdecl("LLVMFuzzerTestOneInput")
  package func readOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    do { try chosen.read(Array(UnsafeBufferPointer(start: start, count: count))) } catch {
      fatalError("\(chosen.name): \(error)")
    }
    return 0
  }

  private let chosen: FuzzTarget = {
    let name = ProcessInfo.processInfo.environment["PHOTOSPOOL_FUZZ"] ?? ""
    guard let target = FuzzTarget.all.first(where: { $0.name == name }) else {
      fatalError("PHOTOSPOOL_FUZZ is none of \(FuzzTarget.all.map(\.name).joined(separator: " "))")
    }
    return target
  }()
#else
  /// `photospool-fuzz CORPUS MUTATIONS SEED KEEP [TARGET...]` replays corpora and mutations of them; without arguments
  /// it lists the parsers.
  @main struct Main {
    static func main() {
      let arguments = CommandLine.arguments.dropFirst()
      guard arguments.count >= 4, let mutations = Int(arguments[2]), let seed = UInt64(arguments[3]) else {
        for target in FuzzTarget.all { print(target.name) }
        return
      }
      let replay = Replay(corpus: arguments[1], mutations: mutations, seed: seed, keep: arguments[4])
      let names = arguments.dropFirst(4)
      Watch.begin(keeping: arguments[4])
      for target in FuzzTarget.all where names.isEmpty || names.contains(target.name) {
        do {
          let count = try replay.run(target)
          let slowest = (Watch.slowest * 1000).rounded(.up)
          print("\(target.name): \(count) inputs, at most \(Int(slowest)) ms each, \(Watch.peak >> 20) MiB")
        } catch {
          print("\(error)")
          exit(1)
        }
        fflush(nil)
      }
    }
  }
#endif
