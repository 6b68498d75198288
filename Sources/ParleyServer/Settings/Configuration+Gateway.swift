import Gateway
import ParleyGatewayPorts
package import SocketMessages

extension Configuration {
  /// The limits that clients receive.
  package var announcedLimits: Limits { gateway.limits }

  var gateway: GatewaySettings {
    var gateway = GatewaySettings()
    gateway.isDemo = isDemo
    gateway.acceptsKeysOnlyInternally = apiListen != nil
    gateway.allowsTokenInURL = allowTokenInURL
    gateway.dialects.allowsLegacyRoomTokens = allowLegacyRoomTokens
    gateway.dialects.sessionsMax = sessionsMax
    gateway.dialects.authenticateMilliseconds = Int64(authenticateTime.milliseconds)
    gateway.dialects.recoveryMilliseconds = Int64(recoveryTime.milliseconds)
    gateway.dialects.recoveryBytesMax = recoveryBytesMax
    gateway.dialects.recoversAllClients = recoversAllSessions
    gateway.dialects.pingInterval = Int64(pingInterval.milliseconds)
    gateway.dialects.connectHoldMilliseconds = Int64(connectHold.milliseconds)
    gateway.sharesStore = isStoreInDatabase
    gateway.queuedBytesMax = queuedBytesMax
    gateway.helloMilliseconds = Int64(helloTime.milliseconds)
    gateway.limits = limits
    gateway.historyComponentsMax = historyComponentsMax
    gateway.limits.messageBytesMax = messageBytesMax
    gateway.limits.documentScalarsMax = documentScalarsMax
    gateway.limits.documentsPerConnectionMax = documentsPerConnectionMax
    gateway.limits.roomsPerConnectionMax = roomsPerConnectionMax
    gateway.limits.publicationBytesMax = publicationBytesMax
    gateway.valueLimits.namesMax = roomValuesMax
    gateway.valueLimits.valueBytesMax = roomValueBytesMax
    gateway.valueLimits.bytesMax = roomValuesBytesMax
    gateway.signalsPerSecondMax = signalsPerSecondMax
    gateway.valuePageBytes = min(gateway.valuePageBytes, queuedBytesMax / 4)
    // Leave room in the queue for other replies.
    gateway.pageBytes = min(gateway.pageBytes, queuedBytesMax / 4)
    gateway.recoveryBytesMax = min(gateway.recoveryBytesMax, queuedBytesMax / 4)
    gateway.roomRetention = RoomRetention(
      publicationsMax: roomHistoryMax, ageMax: Timestamp(roomHistoryAgeMax.milliseconds))
    gateway.deletedMilliseconds = Int64(deletedAgeMax.milliseconds)
    gateway.audit = AuditRule(milliseconds: Int64(auditAgeMax.milliseconds))
    gateway.accessTokenMilliseconds = Int64(accessTokenTime.milliseconds)
    gateway.files.bytesMax = fileBytesMax
    gateway.files.limits = FileLimits(
      noteBytesMax: noteFilesBytesMax, diskReserveBytes: filesDiskReserve)
    gateway.files.unusedMilliseconds = Int64(unusedFilesAgeMin.milliseconds)
    gateway.files.waitingBytesMax = uploadsBytesMax
    gateway.names.isOffered = publicNames != .off
    gateway.comments.textBytesMax = commentBytesMax
    gateway.comments.countMax = noteCommentsMax
    gateway.comments.perMinuteMax = userCommentsPerMinuteMax
    gateway.presenceGraceMilliseconds = Int64(presenceGrace.milliseconds)
    gateway.presenceListMax = presenceListMax
    gateway.blocksBothWays = blocksBothWays
    gateway.lastOnlineMilliseconds = Int64(lastOnlineInterval.milliseconds)
    gateway.pushesFromOutbox = pushURL != nil
    gateway.storeRequestsMax = storeQueueMax
    gateway.storeBytesMax = storeQueueBytesMax
    gateway.storeStallMilliseconds = Int64(storeStallTime.milliseconds)
    gateway.roomMemories = roomHistories.compactMap { RoomHistoryRule($0)?.rule }
    return gateway
  }
}
