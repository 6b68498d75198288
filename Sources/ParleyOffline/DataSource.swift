package import ParleyJSON

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A place that things come from: a server, the device, anything.
public protocol DataSource<Model>: Sendable {
  /// The things.
  associatedtype Model: OfflineModel

  /// Fetches the things that a question is about; of a single one none or one.
  func fetch(_ query: DataQuery, as user: String) async throws(FetchError) -> [Model]
}

/// A source of any closure.
public struct ClosureSource<Model: OfflineModel>: DataSource {
  private let closure: @Sendable (DataQuery, String) async throws -> [Model]

  /// Makes a source.
  ///
  /// - Parameter closure: Fetches in the name of a user. An error that is no ``FetchError`` counts as
  ///   `unreachable`.
  public init(_ closure: @escaping @Sendable (DataQuery, String) async throws -> [Model]) {
    self.closure = closure
  }

  /// Fetches by the closure.
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

  /// Makes a source.
  ///
  /// - Parameters:
  ///   - resource: The collection, `contacts`.
  ///   - field: The field of a list's answer that has the array, if it is not the answer itself.
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

/// The things that are kept on the device.
public struct CacheSource<Model: OfflineModel>: DataSource {
  package let store: OfflineStore
  package let resource: String

  /// Makes a source.
  public init(_ store: OfflineStore, _ resource: String) {
    self.store = store
    self.resource = resource
  }

  /// Reads what is kept; nothing where nothing is.
  public func fetch(_ query: DataQuery, as user: String) async throws(FetchError) -> [Model] {
    try kept(query, as: user) ?? []
  }

  /// Reads what is kept; `nil` if it was never fetched. What the model does not read, for it has changed
  /// since, counts as never fetched, and so does a list with such a thing: without it the list would be
  /// shown as if it were whole.
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

/// The sources of a collection, and how they work together: what the device has, what the server says, and
/// what is kept of it.
///
/// ``CachedInterface`` is the usual one. Write your own to put sources together, such as a server's and
/// another's that adds fields.
public protocol DataInterface<Model>: Sendable {
  /// The things.
  associatedtype Model: OfflineModel

  /// The collection, as changes name it.
  var resource: String { get }

  /// Returns the values on the device; `nil` if there never were any.
  func kept(_ query: DataQuery, as user: String) async throws(FetchError) -> [Model]?

  /// Fetches from the sources.
  func fetch(_ query: DataQuery, as user: String) async throws(FetchError) -> [Model]

  /// Keeps what was fetched.
  func keep(_ models: [Model], for query: DataQuery, as user: String) async throws(FetchError)
}

/// A source whose values are kept in a store.
public struct CachedInterface<Model: OfflineModel>: DataInterface {
  /// The collection.
  public let resource: String
  private let source: any DataSource<Model>
  private let cache: CacheSource<Model>

  /// Makes an interface.
  public init(_ resource: String, _ source: some DataSource<Model>, in store: OfflineStore) {
    self.resource = resource
    self.source = source
    cache = CacheSource(store, resource)
  }

  /// Returns what the store has.
  public func kept(_ query: DataQuery, as user: String) async throws(FetchError) -> [Model]? {
    try cache.kept(query, as: user)
  }

  /// Fetches from the source.
  public func fetch(_ query: DataQuery, as user: String) async throws(FetchError) -> [Model] {
    try await source.fetch(query, as: user)
  }

  /// Keeps it in the store.
  public func keep(
    _ models: [Model], for query: DataQuery, as user: String
  ) async throws(FetchError) {
    try cache.keep(models, for: query, as: user)
  }
}

/// Models as JSON.
package enum ModelForm {
  package static func model<Model: OfflineModel>(_ json: JSONValue) throws(FetchError) -> Model {
    do {
      return try JSONDecoder().decode(Model.self, from: Data(json.utf8))
    } catch {
      throw .unreadable
    }
  }

  /// The same model gives the same bytes.
  package static func json(_ model: some OfflineModel) -> JSONValue {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(model), let json = JSONValue(data) else { return .null }
    return json
  }

  package static func json(of value: some Encodable) -> [UInt8]? {
    (try? JSONEncoder().encode(value)).map(Array.init)
  }
}
