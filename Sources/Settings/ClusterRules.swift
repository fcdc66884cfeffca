import Networks
import SettingKit
import Stores

extension DestinationSettings {
  /// Reports a cluster without a secret, and destinations that exist on one host only: another host could publish there
  /// something else, or the same again.
  func checkCluster(_ stores: [StoreSettings], _ networks: [NetworkSettings]) {
    let cluster = settings.cluster
    guard cluster.isConfigured else { return }
    let check = SectionCheck(path: "cluster", type: "", isStandard: true, complaints: complaints)
    let keys = ["cluster.secretFile", "cluster.secretVariable"]
    if cluster.secret.source == nil, complaints.rejected.isDisjoint(with: keys) {
      complaints.add(
        ["cluster.servers"], "`cluster.servers` needs a secret; name its place in `cluster.secretFile`, on all hosts")
    }
    _ = check.isClear("secret", cluster.secret)
    _ = check.isClear("token", cluster.token)
    checkBytes(cluster, stores)
    guard cluster.work else { return }
    for network in networks where Self.belongsToOneHost(network.type) {
      complaints.add(
        ["networks.\(network.name)", "network.type", "cluster.servers"],
        "the network `\(network.name)` belongs to one host, and a cluster publishes on all; use another one, or write "
          + "`cluster.work: false` to pass requests on only")
    }
    for store in stores where store.type is DirectoryStoreType {
      complaints.add(
        ["stores.\(store.name)", "store.type", "cluster.servers"],
        "the store `\(store.name)` is a directory of one host, and a cluster uploads from all; use another one, or write "
          + "`cluster.work: false` to pass requests on only")
    }
  }

  private func checkBytes(_ cluster: Settings.Cluster, _ stores: [StoreSettings]) {
    guard let bytes = cluster.bytes, isKnown(bytes, in: .stores, at: "cluster.bytes"),
      let store = stores.first(where: { $0.name == bytes }), !(store.type is S3StoreType)
    else { return }
    complaints.add(
      ["cluster.bytes"],
      "`cluster.bytes` is `\(bytes)`, a store of type `\(Swift.type(of: store.type).word)`; name one of type "
        + "`\(S3StoreType.word)`, or none to keep bytes on the servers")
  }

  private static func belongsToOneHost(_ network: any NetworkType) -> Bool {
    Swift.type(of: network).publishesIntoSpool || Swift.type(of: network).keepsAccountInSpool
  }
}
