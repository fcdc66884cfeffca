import Foundation
import TestSupport
import Testing

@testable import Settings

struct LocationTests {
  @Test("systemd's directories come first, then the user's, then the computer's")
  func order() {
    #expect(
      SettingsLocation.candidates(environment: [
        "CONFIGURATION_DIRECTORY": "/etc/a:/etc/b", "XDG_CONFIG_HOME": "/home/x/cfg", "HOME": "/home/x",
      ]) == [
        "/etc/a/photospool.yaml", "/etc/b/photospool.yaml", "/home/x/cfg/photospool/photospool.yaml",
        "/etc/photospool/photospool.yaml",
      ])
    #expect(
      SettingsLocation.candidates(environment: ["HOME": "/home/x", "XDG_CONFIG_HOME": "relative"]) == [
        "/home/x/.config/photospool/photospool.yaml", "/etc/photospool/photospool.yaml",
      ])
    #expect(SettingsLocation.candidates(environment: [:]) == ["/etc/photospool/photospool.yaml"])
  }

  @Test("the first candidate that is there is chosen")
  func firstThatIsThere() throws {
    let scratch = try TemporaryDirectory()
    try FileManager.default.createDirectory(
      atPath: scratch.path("cfg/photospool"), withIntermediateDirectories: true)
    let file = scratch.path("cfg/photospool/photospool.yaml")
    try Data().write(to: URL(fileURLWithPath: file))
    let chosen = SettingsLocation.choose(
      flag: nil,
      environment: ["CONFIGURATION_DIRECTORY": scratch.path("none"), "XDG_CONFIG_HOME": scratch.path("cfg")])
    #expect(chosen.file == file)
    #expect(!chosen.isExplicit)
  }

  @Test("a named file is taken whether it is there or not, the flag before the variable")
  func named() {
    let flag = SettingsLocation.choose(flag: "/a", environment: ["PHOTOSPOOL_CONFIG": "/b"])
    #expect(flag.file == "/a" && flag.isExplicit)
    let variable = SettingsLocation.choose(flag: nil, environment: ["PHOTOSPOOL_CONFIG": "/b"])
    #expect(variable.file == "/b" && variable.isExplicit)
  }
}
