package import ParleyJSON

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A source of resources, such as a server or the device's cache.
public protocol DataSource<Model>: Sendable {
  /// The type of the resources.
  associatedtype Model: OfflineModel

  /// Fetches the resources that match a query; for `single`, at most one.
  func fetch(_ query: DataQuery, as user: String) async throws(FetchError) -> [Model]
}

/// A data source that calls a closure.
public struct ClosureSource<Model: OfflineModel>: DataSource {
  private let closure: @Sendable (DataQuery, String) async throws -> [Model]

  /// Creates a source.
  ///
  /// - Parameter closure: Fetches on behalf of a user. An error other than ``FetchError`` is
  ///   reported as `unreachable`.
  public init(_ closure: @escaping @Sendable (DataQuery, String) async throws -> [Model]) {
    self.closure = closure
  }

  /// Fetches by calling the closure.
  public func fetch(_ query: DataQuery, as user: String) async throws(FetchError) -> [Model] {
    do {
      return try await closure(query, user)
    } catch let error as FetchError {
      throw error
    } catch {
      throw .unreachable("\(error)")
    }
  }
}

/// A collection of a ``RESTService``.
public struct RESTSource<Model: OfflineModel>: DataSource {
  private let service: RESTService
  private let resource: String
  private let field: String?

  /// Creates a source for a collection.
  ///
  /// - Parameters:
  ///   - resource: The collection, such as `contacts`.
  ///   - field: The field of a list response that contains the array; `nil` if the response is the
  ///     array.
  public init(_ service: RESTService, _ resource: String, listField field: String? = nil) {
    self.service = service
    self.resource = resource
    self.field = field
  }

  /// Fetches `resource`, `resource?parameters` or `resource/id`.
  public func fetch(_ query: DataQuery, as user: String) async throws(FetchError) -> [Model] {
    let json: JSONValue?
    switch query {
    case .all: json = try await service.get(resource, as: user)
    case .subset(let parameters):
      json = try await service.get(resource, parameters: parameters, as: user)
    case .single(let id):
      guard !id.isTemporary else { return [] }
      json = try await service.get(resource, id: id, as: user)
    }
    guard let json else { return [] }
    if case .single = query { return [try ModelForm.model(json)] }
    let list = field.flatMap { json.fields?[$0] } ?? json
    guard let elements = list.elements else { throw .unreadable }
    var models: [Model] = []
    for element in elements { models.append(try ModelForm.model(element)) }
    return models
  }
}

/// A source that reads the resources stored on the device.
public struct CacheSource<Model: OfflineModel>: DataSource {
  package let store: OfflineStore
  package let resource: String

  /// Creates a source for a collection in a store.
  public init(_ store: OfflineStore, _ resource: String) {
    self.store = store
    self.resource = resource
  }

  /// Reads the stored resources; empty if none are stored.
  public func fetch(_ query: DataQuery, as user: String) async throws(FetchError) -> [Model] {
    try kept(query, as: user) ?? []
  }

  /// Reads the stored resources; `nil` if they were never fetched.
  ///
  /// A resource that the model can no longer decode counts as never fetched. So does a list that
  /// contains such a resource, because the rest would look like the complete list.
  package func kept(_ query: DataQuery, as user: String) throws(FetchError) -> [Model]? {
    let collection = Collection(user: user, resource: resource)
    do throws(OfflineStoreError) {
      if case .single(let id) = query {
        return try store.kept(id, of: collection).flatMap { try? [ModelForm.model($0)] }
      }
      guard let items = try store.kept(query.name, of: collection) else { return nil }
      let models = items.compactMap { item in try? ModelForm.model(item.json) as Model }
      return models.count == items.count ? models : nil
    } catch {
      throw .storage(error)
    }
  }

  package func keep(_ models: [Model], for query: DataQuery, as user: String) throws(FetchError) {
    let collection = Collection(user: user, resource: resource)
    do throws(OfflineStoreError) {
      if case .single(let id) = query {
        try store.keep(models.first.map(ModelForm.json), id, of: collection)
      } else {
        try store.keep(
          models.map { ($0.id, ModelForm.json($0)) }, as: query.name, of: collection)
      }
    } catch {
      throw .storage(error)
    }
  }
}

/// The sources of a collection, and how they are combined: the stored values, the server's values,
/// and which of them are stored.
///
/// ``CachedInterface`` is the usual one. Write your own to combine sources, such as a server and a
/// second server that adds fields.
public protocol DataInterface<Model>: Sendable {
  /// The type of the resources.
  associatedtype Model: OfflineModel

  /// The collection's name in changes.
  var resource: String { get }

  /// Returns the stored values; `nil` if none were ever stored.
  func kept(_ query: DataQuery, as user: String) async throws(FetchError) -> [Model]?

  /// Fetches values from the sources.
  func fetch(_ query: DataQuery, as user: String) async throws(FetchError) -> [Model]

  /// Stores fetched values.
  func keep(_ models: [Model], for query: DataQuery, as user: String) async throws(FetchError)
}

/// A source whose values are cached in a store.
public struct CachedInterface<Model: OfflineModel>: DataInterface {
  /// The collection's name in changes.
  public let resource: String
  private let source: any DataSource<Model>
  private let cache: CacheSource<Model>

  /// Creates an interface that caches a source's values.
  public init(_ resource: String, _ source: some DataSource<Model>, in store: OfflineStore) {
    self.resource = resource
    self.source = source
    cache = CacheSource(store, resource)
  }

  /// Returns the values in the store; `nil` if none were ever stored.
  public func kept(_ query: DataQuery, as user: String) async throws(FetchError) -> [Model]? {
    try cache.kept(query, as: user)
  }

  /// Fetches values from the source.
  public func fetch(_ query: DataQuery, as user: String) async throws(FetchError) -> [Model] {
    try await source.fetch(query, as: user)
  }

  /// Stores fetched values in the store.
  public func keep(
    _ models: [Model], for query: DataQuery, as user: String
  ) async throws(FetchError) {
    try cache.keep(models, for: query, as: user)
  }
}

/// Converts models to and from JSON.
package enum ModelForm {
  package static func model<Model: OfflineModel>(_ json: JSONValue) throws(FetchError) -> Model {
    do {
      return try JSONDecoder().decode(Model.self, from: Data(json.utf8))
    } catch {
      throw .unreadable
    }
  }

  /// Returns a model as JSON. Equal models result in equal bytes.
  package static func json(_ model: some OfflineModel) -> JSONValue {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(model), let json = JSONValue(data) else { return .null }
    return json
  }

  /// Returns the fields of a model that a change sends. The id and the version are sent separately.
  package static func sent(_ model: some OfflineModel) -> JSONValue {
    let json = Merging.removing("id", from: json(model))
    guard let version = model.version, let field = json.fields?["version"],
      (field.string ?? field.integer.map { String($0) }) == version
    else { return json }
    return Merging.removing("version", from: json)
  }

  package static func json(of value: some Encodable) -> [UInt8]? {
    (try? JSONEncoder().encode(value)).map(Array.init)
  }
}
