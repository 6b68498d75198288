/// The description of the HTTP API, from `openapi.json` beside this file.
///
/// The description is part of the program: a server tells of itself, and not of the version whose
/// files happen to be there. It is in a module of its own because compiling it takes a while.
public enum APIDescription {
  /// The description in OpenAPI 3.1, as JSON in UTF-8.
  public static var openAPI: [UInt8] { PackageResources.openapi_json }
}
