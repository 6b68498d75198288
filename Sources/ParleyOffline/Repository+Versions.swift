package import ParleyJSON

/// The versions of resources: those created by changes of this device, and the fields of earlier
/// versions.
extension Repository {
  /// The maximum remembered versions; when it is reached, all are discarded. After that, saving a
  /// copy of an earlier version is a conflict, even if only this device has changed the resource
  /// since.
  private static var versionsMax: Int { 1_000 }

  /// Returns the fields of a model that a change sends. The id and the version are sent separately.
  package static func fields(of model: Model) -> JSONValue { ModelForm.sent(model) }

  /// Returns the base version of a change: the version of the copy, or a newer version if only this
  /// device has changed the resource since.
  ///
  /// - Parameter newest: The newest known version; `nil` if the resources have no versions.
  package func base(of model: Model, _ id: ResourceID, newest: String?) -> String? {
    guard let newest else { return model.version }
    var version = model.version
    // A server may repeat a version, which makes a cycle: take at most one step per entry.
    for _ in 0..<ownVersions.count where version != newest {
      guard let next = ownVersions[VersionName(id, version)] else { break }
      version = next
    }
    return version ?? newest
  }

  /// Returns the fields that a copy is compared with: those of the copy's version, else those of
  /// `base`, else those shown now.
  package func former(
    _ model: Model, _ id: ResourceID, base: String?, newest: String?, _ shown: Model?
  ) -> JSONValue? {
    if newest != nil, model.version != newest {
      let copied = formerFields[VersionName(id, model.version)]
      if let fields = copied ?? formerFields[VersionName(id, base)] { return fields }
    }
    return shown.map { Self.fields(of: $0) }
  }

  /// Records the version that a change of this device has created, and its base version.
  package func recordVersion(of done: Outbox.DoneMutation) {
    let isCreate = done.draft.kind == .create
    guard let version = done.version, isCreate || done.draft.base != nil else { return }
    for list in values.values {
      guard let model = list.first(where: { $0.id == done.id }) else { continue }
      if model.version != version { recordFields(of: model) }
      break
    }
    if ownVersions.count >= Self.versionsMax { ownVersions = [:] }
    ownVersions[VersionName(done.id, isCreate ? nil : done.draft.base)] = version
  }

  /// Records the fields that a resource reported with a conflict will replace.
  package func recordFields(replacedBy theirs: Outbox.DoneMutation) {
    guard let json = theirs.body.flatMap({ JSONValue($0) }),
      let model: Model = try? ModelForm.model(json)
    else { return }
    recordFields(replacedBy: [model])
  }

  /// Records the fields of models that newer versions will replace.
  package func recordFields(replacedBy models: [Model]) {
    let fresh = Dictionary(models.map { ($0.id, $0.version) }) { $1 }
    for list in values.values {
      for model in list {
        if let version = fresh[model.id], version != model.version { recordFields(of: model) }
      }
    }
  }

  private func recordFields(of model: Model) {
    guard let version = model.version else { return }
    if formerFields.count >= Self.versionsMax { formerFields = [:] }
    formerFields[VersionName(model.id, version)] = Self.fields(of: model)
  }
}
