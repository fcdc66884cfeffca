import Web

@main
struct PhotospoolWeb {
  static func main() async {
    await WebProgram.main()
  }
}
