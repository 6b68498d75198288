/// Counts of the events in simulations: a checker proves something only about what took place.
package struct Tally: Sendable, Equatable {
  /// A kind of event that is counted.
  package enum Event: Int, Sendable, CaseIterable {
    // What clients did.
    case edits
    case editsWhileAway
    case changesSentAgain
    case keeps
    // Answers and notices to clients.
    case acknowledgements
    case ownChangesInRanges
    case dedupeHits
    case notesMade
    case notesMadeAgain
    case notesRefused
    case numberedChanges
    case authorsNumbered
    case resumesWithNothingMissed
    case resumesByReplay
    case resumesBySnapshot
    case joinsBehind
    case pagesOfChanges
    case pagesUnderPendingEdits
    case pagesWithoutHistory
    case changesInParts
    case mergesOfPendingEdits
    case lagSnapshots
    case epochResyncs
    case refusalsUnavailable
    case refusalsBusy
    case refusalsTooFast
    case floodCloses
    case refusalsHistoryGone
    case refusalsEpochChanged
    case joinsTurnedAway
    case whalerResyncs
    case takeovers
    case slowReaderCloses
    case rejoinCloses
    // What the gateway did.
    case stalledReaderRanges
    case historyReads
    case documentLoads
    case epochRenewals
    // What the store did.
    case commits
    case commitsOfSeveralChanges
    case commitsOfSeveralDocuments
    case compactions
    // What went wrong.
    case disconnects
    case halfOpenConnections
    case messagesDropped
    case stalls
    case kills
    case killsBetweenWriteAndAnswer
    case killsBeforeWrite
    case drains
    case failedAppends
    case failedSyncs
    case failedSyncsFoundAtRestart
    case fullDisks
    case clockJumps
    case lostTails
    case lostChanges
    case lostChangesSeen
    case runsWithSeveralLostTails
    // What went wrong between nodes.
    case freezes
    case cuts
    case answersLost
    case linesBroken
    case lateStatements
    case failovers
    case hintsLost
    case hintsHeard
    // What nodes did about it.
    case racesLost
    case entriesAdopted
    case changesResubmitted
    case changesFenced
    case sessionsBegun
    case unknownOutcomes
    // Answers to programs that write over HTTP.
    case httpChanges
    case httpAnswersReplayed
    case httpChangesAskedTwice
    case httpRefusals
    case httpBasesGone
    // What went wrong with clients.
    case clientKills
    case clientKillsBetweenActions
    case clientKillsWithUnkeptText
    case keepsFailed
    case requiredKeepsFailed
    case claimsForgotten
    case textsUnderNewIds
    case changesFoundUnderFormerIds
    case tokensExpired
    case tokensRefreshed
    case tokensRefused

    /// The event in words: `lagSnapshots` is “lag snapshots”.
    package var words: String {
      var words = ""
      for letter in "\(self)" {
        words += letter.isUppercase ? " " + letter.lowercased() : String(letter)
      }
      return words
    }
  }

  private var counts = [Int](repeating: 0, count: Event.allCases.count)

  package init() {}

  package subscript(event: Event) -> Int {
    get { counts[event.rawValue] }
    set { counts[event.rawValue] = newValue }
  }

  /// Adds what was counted elsewhere.
  package mutating func add(_ other: Tally) {
    for place in counts.indices { counts[place] += other.counts[place] }
  }

  /// Events that take place between several nodes alone.
  package static let amongNodes: [Event] = [
    .freezes, .cuts, .answersLost, .linesBroken, .lateStatements, .failovers, .hintsLost,
    .hintsHeard, .racesLost, .entriesAdopted, .changesResubmitted, .changesFenced, .sessionsBegun,
    .unknownOutcomes, .httpChanges, .httpAnswersReplayed, .httpChangesAskedTwice, .httpRefusals,
    .httpBasesGone,
  ]

  /// The events of one node that never took place.
  package var missing: [Event] {
    Event.allCases.filter { self[$0] == 0 && !Self.amongNodes.contains($0) }
  }

  /// The events between nodes that never took place.
  package var missingAmongNodes: [Event] { Self.amongNodes.filter { self[$0] == 0 } }
}
