/// Every type of network there is. To add one, write a folder beside this file and its type into the list.
package enum AllNetworks {
  /// The first is the standard network's where nobody names another one.
  package static let types: [any NetworkType.Type] = [
    LocalNetworkType.self, MatrixNetworkType.self, WebhookNetworkType.self, ExecNetworkType.self,
    XMTPNetworkType.self,
  ]
}
