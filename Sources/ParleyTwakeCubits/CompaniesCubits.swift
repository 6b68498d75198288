public import ParleyDialectModels

/// The state of a list of which one may be selected.
public enum SelectionState<Item: Sendable & Equatable>: Sendable, Equatable {
  /// Nothing was asked for yet.
  case initial
  /// They are being fetched, and none are kept.
  case loading
  /// They are here, kept or fetched, with the selected one.
  case loaded([Item], selected: Item?)
}

/// The user's companies.
@MainActor public final class CompaniesCubit: Cubit<SelectionState<Twake.Company>> {
  private let source: any CompaniesSource
  private let storage: any CubitStorage
  private let globals: Globals
  private var companies: [Twake.Company] = []
  /// The session whose companies these are.
  private var session = 0

  /// Makes a cubit.
  public init(
    _ source: any CompaniesSource, storage: any CubitStorage = MemoryCubitStorage(),
    globals: Globals
  ) {
    self.source = source
    self.storage = storage
    self.globals = globals
    super.init(.initial)
  }

  /// Shows the companies: those that are kept, then the server's.
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
      // The selection made on this device counts.
      if let selected = workspaces[company.id] ?? nil { company.selectedWorkspace = selected }
      return company
    }
    await shown()
  }

  /// Selects a company, and the workspace that was selected in it.
  public func selectCompany(_ id: String) {
    let company = companies.first { $0.id == id }
    globals.set {
      $0.companyID = id
      $0.workspaceID = company?.selectedWorkspace
    }
    show()
  }

  /// Remembers the workspace that is selected in the selected company.
  public func selectWorkspace(_ id: String) async {
    guard let index = companies.firstIndex(where: { $0.id == globals.state.companyID }) else {
      return
    }
    guard session == globals.session else { return }
    companies[index].selectedWorkspace = id
    globals.set { $0.workspaceID = id }
    await shown()
  }

  /// The selected company; `nil` if none is, or they are not here yet.
  public var selected: Twake.Company? { companies.first { $0.id == globals.state.companyID } }

  private func show() { emit(.loaded(companies, selected: selected)) }

  private func shown() async {
    show()
    await storage.keep(companies, as: "companies")
  }
}

/// The workspaces of a company.
@MainActor public final class WorkspacesCubit: Cubit<SelectionState<Twake.Workspace>> {
  private let source: any CompaniesSource
  private let storage: any CubitStorage
  private let globals: Globals
  private var workspaces: [Twake.Workspace] = []
  private var companyID: String?
  /// The session whose workspaces these are.
  private var session = 0

  /// Makes a cubit.
  public init(
    _ source: any CompaniesSource, storage: any CubitStorage = MemoryCubitStorage(),
    globals: Globals
  ) {
    self.source = source
    self.storage = storage
    self.globals = globals
    super.init(.initial)
  }

  /// Shows a company's workspaces: those that are kept, then the server's.
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

  /// Makes a workspace, and selects it.
  public func create(companyID: String, name: String, members: [String]) async throws {
    let session = session
    let made = try await source.create(
      workspace: name, in: companyID, members: members, key: RequestKey.make())
    guard isCurrent(companyID, session) else { return }
    if !workspaces.contains(where: { $0.id == made.id }) { workspaces.append(made) }
    globals.set { $0.workspaceID = made.id }
    await shown()
  }

  /// Whether an answer is for the company that is shown now, and for the person who is signed in.
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
