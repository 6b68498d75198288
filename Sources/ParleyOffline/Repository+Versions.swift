package import ParleyJSON

/// Versions of things: those that this device has made itself, and what former ones looked like.
extension Repository {
  /// Versions that are remembered; of more, all are forgotten. Then a copy of a former version is a
  /// conflict even if only this device has changed the thing since.
  private static var versionsMax: Int { 1_000 }

  /// The fields that are sent of a thing, without its id and its version, which have places of their own.
  package static func fields(of model: Model) -> JSONValue {
    let json = Merging.removing("id", from: ModelForm.json(model))
    guard let version = model.version, let field = json.fields?["version"],
      (field.string ?? field.integer.map { String($0) }) == version
    else { return json }
    return Merging.removing("version", from: json)
  }

  /// Returns the version that a change is made on: that of the copy, or the one that changes of this device
  /// alone have made of it.
  ///
  /// - Parameter newest: The newest version that is known; `nil` if the things have none.
  package func base(of model: Model, _ id: ResourceID, newest: String?) -> String? {
    guard let newest else { return model.version }
    var version = model.version
    // A server may give a version twice: no more steps than there are.
    for _ in 0..<ownVersions.count where version != newest {
      guard let next = ownVersions[VersionName(id, version)] else { break }
      version = next
    }
    return version ?? newest
  }

  /// Returns the fields that a copy is compared with: those of its own version, as far as they are known;
  /// otherwise those that are shown.
  package func former(
    _ model: Model, _ id: ResourceID, base: String?, newest: String?, _ shown: Model?
  ) -> JSONValue? {
    if newest != nil, model.version != newest {
      let copied = formerFields[VersionName(id, model.version)]
      if let fields = copied ?? formerFields[VersionName(id, base)] { return fields }
    }
    return shown.map { Self.fields(of: $0) }
  }

  /// Remembers which version a change of this device has made of which.
  package func noteVersion(of done: Outbox.DoneMutation) {
    let isCreate = done.draft.kind == .create
    guard let version = done.version, isCreate || done.draft.base != nil else { return }
    for list in values.values {
      guard let model = list.first(where: { $0.id == done.id }) else { continue }
      if model.version != version { noteFields(of: model) }
      break
    }
    if ownVersions.count >= Self.versionsMax { ownVersions = [:] }
    ownVersions[VersionName(done.id, isCreate ? nil : done.draft.base)] = version
  }

  /// Remembers what is about to be replaced by newer versions.
  package func noteFields(replacedBy models: [Model]) {
    let fresh = Dictionary(models.map { ($0.id, $0.version) }) { $1 }
    for list in values.values {
      for model in list {
        if let version = fresh[model.id], version != model.version { noteFields(of: model) }
      }
    }
  }

  private func noteFields(of model: Model) {
    guard let version = model.version else { return }
    if formerFields.count >= Self.versionsMax { formerFields = [:] }
    formerFields[VersionName(model.id, version)] = Self.fields(of: model)
  }
}
