/// Every type of store there is. To add one, write a folder beside this file and its type into the list.
package enum AllStores {
  /// The first is the standard store's where nobody names another one.
  package static let types: [any StoreType.Type] = [
    DirectoryStoreType.self, S3StoreType.self, PresignedStoreType.self, MatrixStoreType.self,
  ]
}
