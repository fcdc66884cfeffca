import Foundation
import SettingKit
import TestSupport

@testable import Settings

/// A section with these settings, and the others at their defaults.
func made<Section: SettingsSection>(_ change: (inout Section) -> Void) -> Section {
  var section = Section()
  change(&section)
  return section
}

/// The settings of a file `FOLDER/photospool.yaml` with this text.
///
/// - Parameter folder: made for the call and removed after it.
func loadSettings(
  _ text: String, environment: [String: String] = [:], flags: [String: String] = [:]
) throws -> (settings: Settings, folder: String) {
  let scratch = try TemporaryDirectory()
  try Data(text.utf8).write(to: URL(fileURLWithPath: scratch.path("photospool.yaml")))
  let settings = try Settings.load(
    file: scratch.path("photospool.yaml"), fileIsExplicit: true, environment: environment, flags: flags)
  return (settings, scratch.path)
}

/// The sentences for an invalid file named `f`.
func settingsProblems(_ text: String, environment: [String: String] = [:]) throws -> [String] {
  let scratch = try TemporaryDirectory()
  let file = scratch.path("photospool.yaml")
  try Data(text.utf8).write(to: URL(fileURLWithPath: file))
  do throws(SettingsError) {
    _ = try Settings.load(file: file, fileIsExplicit: true, environment: environment, flags: [:])
    return []
  } catch {
    return error.problems.map { $0.description.replacing(file, with: "f") }
  }
}
