/// All types of network. To add one, write a folder beside this file and add its type to the list.
package enum AllNetworks {
  /// The first is the default type of the standard network.
  package static let types: [any NetworkType.Type] = [
    LocalNetworkType.self, MatrixNetworkType.self, WebhookNetworkType.self, ExecNetworkType.self,
    XMTPNetworkType.self, FirestoreNetworkType.self,
  ]
}
