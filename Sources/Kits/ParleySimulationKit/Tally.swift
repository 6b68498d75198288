/// Counts of events in simulations. A check proves something only about events that occurred.
package struct Tally: Sendable, Equatable {
  /// A kind of event.
  package enum Event: Int, Sendable, CaseIterable {
    // Actions of clients.
    case edits
    case editsWhileAway
    case changesSentAgain
    case keeps
    case editsWithFormats
    case notesMadeRich
    // Replies and messages to clients.
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
    // Actions of the gateway.
    case stalledReaderRanges
    case historyReads
    case documentLoads
    case epochRenewals
    // Actions of the store.
    case commits
    case commitsOfSeveralChanges
    case commitsOfSeveralDocuments
    case compactions
    // Faults.
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
    // Faults between nodes.
    case freezes
    case cuts
    case answersLost
    case linesBroken
    case lateStatements
    case failovers
    case hintsLost
    case hintsHeard
    // Reactions of nodes.
    case racesLost
    case entriesAdopted
    case changesResubmitted
    case changesFenced
    case sessionsBegun
    case unknownOutcomes
    // Responses to programs that write over HTTP.
    case httpChanges
    case httpAnswersReplayed
    case httpChangesAskedTwice
    case httpRefusals
    case httpBasesGone
    // Faults of clients.
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
    // Values of rooms.
    case valuesExpired
    case valuesReleased
    case conditionsLost
    case headsLost
    case clientsGoneForGood

    /// The name as separate words: `lagSnapshots` is “lag snapshots”.
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

  /// Adds the counts of another tally.
  package mutating func add(_ other: Tally) {
    for place in counts.indices { counts[place] += other.counts[place] }
  }

  /// The events that occur only between several nodes.
  package static let amongNodes: [Event] = [
    .freezes, .cuts, .answersLost, .linesBroken, .lateStatements, .failovers, .hintsLost,
    .hintsHeard, .racesLost, .entriesAdopted, .changesResubmitted, .changesFenced, .sessionsBegun,
    .unknownOutcomes, .httpChanges, .httpAnswersReplayed, .httpChangesAskedTwice, .httpRefusals,
    .httpBasesGone,
  ]

  /// The events that occur only in rooms.
  package static let ofRooms: [Event] = [
    .valuesExpired, .valuesReleased, .conditionsLost, .headsLost, .clientsGoneForGood,
  ]

  /// The events of documents at single nodes that have not occurred.
  package var missing: [Event] {
    Event.allCases.filter {
      self[$0] == 0 && !Self.amongNodes.contains($0) && !Self.ofRooms.contains($0)
    }
  }

  /// The events between nodes that have not occurred.
  package var missingAmongNodes: [Event] { Self.amongNodes.filter { self[$0] == 0 } }
}
