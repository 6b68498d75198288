public import ParleyDialectModels

/// The state of a list with an optional selection.
public enum SelectionState<Item: Sendable & Equatable>: Sendable, Equatable {
  /// Nothing was requested yet.
  case initial
  /// The items are being fetched, and none are stored.
  case loading
  /// The items, stored or fetched, with the selected one.
  case loaded([Item], selected: Item?)
}

/// The cubit for the user's companies.
@MainActor public final class CompaniesCubit: Cubit<SelectionState<Twake.Company>> {
  private let source: any CompaniesSource
  private let storage: any CubitStorage
  private let globals: Globals
  private var companies: [Twake.Company] = []
  /// The session in which the companies were fetched.
  private var session = 0

  /// Creates a cubit.
  public init(
    _ source: any CompaniesSource, storage: any CubitStorage = MemoryCubitStorage(),
    globals: Globals
  ) {
    self.source = source
    self.storage = storage
    self.globals = globals
    super.init(.initial)
  }

  /// Shows the companies: the stored ones, then the server's.
  public func fetch() async throws {
    if session != globals.session {
      session = globals.session
      companies = []
    }
    let session = session
    if companies.isEmpty {
      emit(.loading)
      let kept: [Twake.Company]? = await storage.list("companies")
      guard session == globals.session else { return }
      if let kept, companies.isEmpty {
        companies = kept
        show()
      }
    }
    let workspaces = Dictionary(
      companies.map { ($0.id, $0.selectedWorkspace) }, uniquingKeysWith: { $1 })
    let fetched = try await source.companies()
    guard session == globals.session else { return }
    companies = fetched.map { company in
      var company = company
      // The selection on this device overrides the server's.
      if let selected = workspaces[company.id] ?? nil { company.selectedWorkspace = selected }
      return company
    }
    await shown()
  }

  /// Selects a company, and its last selected workspace.
  public func selectCompany(_ id: String) {
    let company = companies.first { $0.id == id }
    globals.set {
      $0.companyID = id
      $0.workspaceID = company?.selectedWorkspace
    }
    show()
  }

  /// Stores the selection of a workspace in the selected company.
  public func selectWorkspace(_ id: String) async {
    guard let index = companies.firstIndex(where: { $0.id == globals.state.companyID }) else {
      return
    }
    guard session == globals.session else { return }
    companies[index].selectedWorkspace = id
    globals.set { $0.workspaceID = id }
    await shown()
  }

  /// The selected company; `nil` if none is selected or loaded.
  public var selected: Twake.Company? { companies.first { $0.id == globals.state.companyID } }

  private func show() { emit(.loaded(companies, selected: selected)) }

  private func shown() async {
    show()
    await storage.keep(companies, as: "companies")
  }
}

/// The cubit for a company's workspaces.
@MainActor public final class WorkspacesCubit: Cubit<SelectionState<Twake.Workspace>> {
  private let source: any CompaniesSource
  private let storage: any CubitStorage
  private let globals: Globals
  private var workspaces: [Twake.Workspace] = []
  private var companyID: String?
  /// The session in which the workspaces were fetched.
  private var session = 0

  /// Creates a cubit.
  public init(
    _ source: any CompaniesSource, storage: any CubitStorage = MemoryCubitStorage(),
    globals: Globals
  ) {
    self.source = source
    self.storage = storage
    self.globals = globals
    super.init(.initial)
  }

  /// Shows a company's workspaces: the stored ones, then the server's.
  public func fetch(companyID: String) async throws {
    if companyID != self.companyID || session != globals.session {
      session = globals.session
      self.companyID = companyID
      workspaces = []
      emit(.loading)
      let session = session
      let kept: [Twake.Workspace]? = await storage.list("workspaces/" + companyID)
      guard isCurrent(companyID, session) else { return }
      if let kept, workspaces.isEmpty {
        workspaces = kept
        show()
      }
    }
    let session = session
    let fetched = try await source.workspaces(of: companyID)
    guard isCurrent(companyID, session) else { return }
    workspaces = fetched
    await shown()
  }

  /// Fetches a workspace's people.
  public func members(of workspaceID: String) async throws -> [Twake.Account] {
    try await source.members(of: workspaceID)
  }

  /// Selects a workspace.
  public func select(_ id: String) {
    globals.set { $0.workspaceID = id }
    show()
  }

  /// Creates a workspace, and selects it.
  public func create(companyID: String, name: String, members: [String]) async throws {
    let session = session
    let made = try await source.create(
      workspace: name, in: companyID, members: members, key: RequestKey.make())
    guard isCurrent(companyID, session) else { return }
    if !workspaces.contains(where: { $0.id == made.id }) { workspaces.append(made) }
    globals.set { $0.workspaceID = made.id }
    await shown()
  }

  /// Whether a response belongs to the shown company and the signed-in user.
  private func isCurrent(_ companyID: String, _ session: Int) -> Bool {
    companyID == self.companyID && session == globals.session
  }

  private func show() {
    emit(
      .loaded(workspaces, selected: workspaces.first { $0.id == globals.state.workspaceID }))
  }

  private func shown() async {
    show()
    await storage.keep(workspaces, as: "workspaces/" + (companyID ?? ""))
  }
}
