// The messages of parley.v1, made from their declarations in Sources/SocketMessages.
// Documentation/Protocol.md says what they mean.

/** Retains so many scalars (a positive number), deletes so many (a negative one), inserts (a text). */
export type Operation = (number | string)[];

export interface ClientHello {
  name: string;
  color?: string | null;
  client?: ClientHelloClaim | null;
  token?: string | null;
  numbers?: boolean | null;
  numbersMax?: number | null;
}

export interface ClientHelloClaim {
  id: string;
  resumeToken: string;
}

export interface ClientRefresh {
  token: string;
}

export interface ClientJoin {
  documentId: string;
  resume?: ResumePoint | null;
  unanswered?: ChangeName | null;
  pages?: boolean | null;
  formats?: boolean | null;
}

export interface ResumePoint {
  epoch: string;
  revision: number;
  change?: ChangeName | null;
}

export interface ChangeName {
  clientId: string;
  sequence: number;
  time?: number | null;
}

export interface ClientCreate {
  documentId: string;
  title: string;
  folder?: string | null;
  kind?: "plain" | "rich" | null;
}

export interface ClientDocumentHistory {
  documentId: string;
  resume: ResumePoint;
  limit?: number | null;
}

export interface ClientChange {
  documentId: string;
  epoch: string;
  revision: number;
  sequence: number;
  operation: Operation;
  format?: Format | null;
  exact?: boolean | null;
}

export interface Format {
  kind?: "rich" | null;
  sets?: unknown[] | null;
  kept?: number[] | null;
  put?: number[] | null;
  runs?: number[] | null;
}

export interface ClientSelect {
  documentId: string;
  revision: number;
  selections: [number, number][];
}

export interface ClientLeave {
  documentId: string;
}

export interface ClientProfile {
  name: string;
  color?: string | null;
}

export interface ClientSubscribe {
  room: string;
  position?: RoomPosition | null;
  presence?: boolean | null;
  values?: unknown | null;
  latest?: boolean | null;
  presenceData?: unknown | null;
}

export interface RoomPosition {
  epoch: string;
  offset: number;
}

export interface ClientUnsubscribe {
  room: string;
}

export interface ClientPublish {
  room: string;
  data?: unknown | null;
  values?: unknown[] | null;
  ifOffsets?: unknown | null;
  ifPosition?: RoomPosition | null;
  key?: string | null;
  senderId?: string | null;
  push?: boolean | null;
}

export interface ClientRoomHistory {
  room: string;
  since?: number | null;
  before?: number | null;
  limit?: number | null;
}

export interface ClientTyping {
  room: string;
  typing: boolean;
}

export interface ClientReceipt {
  room: string;
  offset: number;
  state: "delivered" | "read";
}

export interface ClientReceipts {
  room: string;
  offset: number;
}

export interface ClientLastOnline {
  room: string;
  people: string[];
}

export interface ClientBlock {
  personId: string;
  blocked: boolean;
}

export interface ClientFlag {
  room: string;
  offset: number;
  flagged: boolean;
  reason?: string | null;
}

export interface ClientFlags {
  room: string;
}

export interface ClientFollow {
  room: string;
  following: boolean;
}

export interface ClientValues {
  room: string;
  prefix?: string | null;
  after?: string | null;
}

export interface ClientSignal {
  room: string;
  name: string;
  data: unknown;
}

export interface ClientRoomPresence {
  room: string;
  data?: unknown | null;
}

export interface ServerWelcome {
  protocol: "parley.v1";
  clientId: string;
  resumeToken: string;
  serverTime: number;
  demo: boolean;
  capabilities: string[];
  limits: Limits;
  personId?: string | null;
}

export interface Limits {
  messageBytesMax?: number | null;
  documentScalarsMax?: number | null;
  documentsPerConnectionMax?: number | null;
  roomsPerConnectionMax?: number | null;
  documentIdBytesMax?: number | null;
  roomBytesMax?: number | null;
  nameBytesMax?: number | null;
  titleBytesMax?: number | null;
  selectionsMax?: number | null;
  publicationBytesMax?: number | null;
  keyBytesMax?: number | null;
  pageMax?: number | null;
  presentMax?: number | null;
  presenceLeaseMilliseconds?: number | null;
  typingMilliseconds?: number | null;
  signsPerSecondMax?: number | null;
  operationComponentsMax?: number | null;
  grantsMax?: number | null;
  burstSeconds?: number | null;
  messagesPerSecondMax?: number | null;
  bytesPerSecondMax?: number | null;
  userConnectionsMax?: number | null;
  userConnectsPerSecondMax?: number | null;
  userMessagesPerSecondMax?: number | null;
  userBytesPerSecondMax?: number | null;
  userRequestsPerSecondMax?: number | null;
  addressConnectionsMax?: number | null;
  addressConnectsPerSecondMax?: number | null;
  addressMessagesPerSecondMax?: number | null;
  addressBytesPerSecondMax?: number | null;
  addressRequestsPerSecondMax?: number | null;
}

export interface ServerRefreshed {
  expiresAt?: number | null;
}

export interface ServerTokenExpiring {
  expiresAt: number;
}

export interface ServerAccessChanged {
  documentId: string;
  access: "none" | "read" | "write";
}

export interface ServerJoined {
  documentId: string;
  title: string;
  epoch: string;
  revision: number;
  kind?: "plain" | "rich" | null;
  text?: string | null;
  changes?: ServerChange[] | null;
  format?: Format | null;
  lastSequence: number;
  change?: ChangeName | null;
  settled?: ChangeName | null;
  access: "read" | "write";
  presence: ServerParticipant[];
  people?: number | null;
  numbers?: ServerNumbers | null;
}

export interface ServerChange {
  clientId: string;
  sequence: number;
  operation: Operation;
  format?: Format | null;
}

export interface ServerParticipant {
  clientId: string;
  name: string;
  color?: string | null;
  selections?: [number, number][] | null;
  personId?: string | null;
}

export interface ServerNumbers {
  document: number;
  time: number;
  authors: ServerAuthor[];
}

export interface ServerAuthor {
  number: number;
  clientId: string;
}

export interface ServerCreated {
  documentId: string;
  title: string;
  folder?: string | null;
  repeated: boolean;
}

export interface ServerBehind {
  documentId: string;
  epoch: string;
  revision: number;
  lastSequence: number;
  settled?: ChangeName | null;
}

export interface ServerDocumentHistory {
  documentId: string;
  epoch: string;
  revision: number;
  changes: ServerChange[];
  time?: number | null;
  more: boolean;
}

export interface ServerChanges {
  documentId: string;
  revision: number;
  changes: ServerChange[];
  time?: number | null;
}

export interface ServerAcknowledged {
  documentId: string;
  sequence: number;
  revision: number;
  time?: number | null;
}

export interface ServerRefused {
  documentId: string;
  sequence: number;
  code: "badMessage" | "unknownType" | "notAllowed" | "unauthorised" | "unknownDocument" | "notJoined" | "badOperation" | "lengthMismatch" | "futureRevision" | "negativeRevision" | "historyGone" | "epochChanged" | "outdated" | "conflict" | "unknownValue" | "sequenceReused" | "sequenceGap" | "keyReused" | "idTaken" | "notOffered" | "unknownPublication" | "unknownConnection" | "tooLarge" | "tooMany" | "tooFast" | "busy" | "unavailable" | "damaged";
  message: string;
  retryable: boolean;
  retryAfter?: number | null;
  revision?: number | null;
}

export interface ServerResync {
  documentId: string;
  reason: "historyGone" | "lagging" | "epochChanged";
  epoch: string;
  revision: number;
  kind?: "plain" | "rich" | null;
  text: string;
  format?: Format | null;
  lastSequence: number;
  change?: ChangeName | null;
}

export interface ServerSelections {
  documentId: string;
  revision: number;
  clientId: string;
  selections: [number, number][];
}

export interface ServerPresence {
  documentId: string;
  joined: ServerParticipant[];
  updated: ServerParticipant[];
  left: string[];
  people?: number | null;
}

export interface ServerLeft {
  documentId: string;
}

export interface ServerNumberedChanges {
  c: (number | Operation | Format)[];
  authors?: ServerAuthor[] | null;
}

export interface ServerSubscribed {
  room: string;
  epoch: string;
  offset: number;
  recovered?: boolean | null;
  publications?: Publication[] | null;
  present?: PersonProfile[] | null;
  values?: unknown | null;
  more?: boolean | null;
}

export interface Publication {
  offset: number;
  time: number;
  personId?: string | null;
  senderId?: string | null;
  data?: unknown | null;
  values?: unknown | null;
}

export interface PersonProfile {
  personId: string;
  name: string;
  color?: string | null;
  data?: unknown | null;
}

export interface ServerUnsubscribed {
  room: string;
}

export interface ServerPublished {
  room: string;
  epoch: string;
  offset: number;
  repeated: boolean;
}

export interface ServerRoomPublication {
  room: string;
  epoch: string;
  offset: number;
  time: number;
  personId?: string | null;
  senderId?: string | null;
  data?: unknown | null;
  values?: unknown | null;
}

export interface ServerRoomHistory {
  room: string;
  epoch: string;
  offset: number;
  publications: Publication[];
  gap: boolean;
  more: boolean;
}

export interface PresenceChange {
  room: string;
  joined: PersonProfile[];
  updated: PersonProfile[];
  left: string[];
}

export interface ServerTyping {
  room: string;
  personId: string;
  typing: boolean;
}

export interface ServerReceipt {
  room: string;
  offset: number;
  personId: string;
  state: "delivered" | "read";
}

export interface ServerReceipts {
  room: string;
  offset: number;
  receipts: Receipt[];
}

export interface Receipt {
  personId: string;
  state: "delivered" | "read";
}

export interface ServerLastOnline {
  room: string;
  people: ServerLastOnlineItem[];
}

export interface ServerLastOnlineItem {
  personId: string;
  online: boolean;
  time?: number | null;
}

export interface ServerBlocks {
  people: string[];
}

export interface ServerFlag {
  room: string;
  offset: number;
  personId: string;
  flagged: boolean;
  reason?: string | null;
}

export interface ServerFlags {
  room: string;
  flags: PublicationFlag[];
}

export interface PublicationFlag {
  offset: number;
  personId: string;
  reason?: string | null;
  time: number;
}

export interface ServerFollowing {
  room: string;
  following: boolean;
}

export interface ResourceUpdate {
  resourceId: string;
  senderId: string | null;
}

export interface ServerDocumentChanged {
  documentId: string;
  title?: string | null;
  deleted: boolean;
}

export interface ServerFailure {
  code: "badMessage" | "unknownType" | "notAllowed" | "unauthorised" | "unknownDocument" | "notJoined" | "badOperation" | "lengthMismatch" | "futureRevision" | "negativeRevision" | "historyGone" | "epochChanged" | "outdated" | "conflict" | "unknownValue" | "sequenceReused" | "sequenceGap" | "keyReused" | "idTaken" | "notOffered" | "unknownPublication" | "unknownConnection" | "tooLarge" | "tooMany" | "tooFast" | "busy" | "unavailable" | "damaged";
  message: string;
  retryable: boolean;
  retryAfter?: number | null;
  position?: RoomPosition | null;
  values?: unknown | null;
}

export interface ServerGoodbye {
  reason: string;
  reconnectAfter: [number, number];
}

export interface ServerPong {
  serverTime: number;
}

export interface ServerValues {
  room: string;
  epoch: string;
  offset: number;
  values: unknown;
  more: boolean;
}

export interface ServerSignal {
  room: string;
  clientId?: string | null;
  personId?: string | null;
  name: string;
  data: unknown;
}

/** What clients send. */
export type ClientMessage =
  | { messageId: string; type: "hello"; data: ClientHello }
  | { messageId: string; type: "refresh"; data: ClientRefresh }
  | { messageId: string; type: "grant"; data: ClientRefresh }
  | { messageId: string; type: "join"; data: ClientJoin }
  | { messageId: string; type: "create"; data: ClientCreate }
  | { messageId: string; type: "documentHistory"; data: ClientDocumentHistory }
  | { messageId: string; type: "change"; data: ClientChange }
  | { messageId: string; type: "select"; data: ClientSelect }
  | { messageId: string; type: "leave"; data: ClientLeave }
  | { messageId: string; type: "profile"; data: ClientProfile }
  | { messageId: string; type: "subscribe"; data: ClientSubscribe }
  | { messageId: string; type: "unsubscribe"; data: ClientUnsubscribe }
  | { messageId: string; type: "publish"; data: ClientPublish }
  | { messageId: string; type: "roomHistory"; data: ClientRoomHistory }
  | { messageId: string; type: "typing"; data: ClientTyping }
  | { messageId: string; type: "receipt"; data: ClientReceipt }
  | { messageId: string; type: "receipts"; data: ClientReceipts }
  | { messageId: string; type: "lastOnline"; data: ClientLastOnline }
  | { messageId: string; type: "block"; data: ClientBlock }
  | { messageId: string; type: "blocks"; data: {} }
  | { messageId: string; type: "flag"; data: ClientFlag }
  | { messageId: string; type: "flags"; data: ClientFlags }
  | { messageId: string; type: "follow"; data: ClientFollow }
  | { messageId: string; type: "ping"; data: {} }
  | { messageId: string; type: "values"; data: ClientValues }
  | { messageId: string; type: "signal"; data: ClientSignal }
  | { messageId: string; type: "roomPresence"; data: ClientRoomPresence };

/** What servers send. */
export type ServerMessage =
  | { messageId: string; type: "welcome"; data: ServerWelcome }
  | { messageId: string; type: "refreshed"; data: ServerRefreshed }
  | { messageId: string; type: "granted"; data: ServerRefreshed }
  | { messageId: string; type: "tokenExpiring"; data: ServerTokenExpiring }
  | { messageId: string; type: "accessChanged"; data: ServerAccessChanged }
  | { messageId: string; type: "joined"; data: ServerJoined }
  | { messageId: string; type: "created"; data: ServerCreated }
  | { messageId: string; type: "behind"; data: ServerBehind }
  | { messageId: string; type: "documentHistory"; data: ServerDocumentHistory }
  | { messageId: string; type: "changes"; data: ServerChanges }
  | { messageId: string; type: "acknowledged"; data: ServerAcknowledged }
  | { messageId: string; type: "refused"; data: ServerRefused }
  | { messageId: string; type: "resync"; data: ServerResync }
  | { messageId: string; type: "selections"; data: ServerSelections }
  | { messageId: string; type: "presence"; data: ServerPresence }
  | { messageId: string; type: "left"; data: ServerLeft }
  | { messageId: string; type: "c"; data: ServerNumberedChanges }
  | { messageId: string; type: "subscribed"; data: ServerSubscribed }
  | { messageId: string; type: "unsubscribed"; data: ServerUnsubscribed }
  | { messageId: string; type: "published"; data: ServerPublished }
  | { messageId: string; type: "publication"; data: ServerRoomPublication }
  | { messageId: string; type: "roomHistory"; data: ServerRoomHistory }
  | { messageId: string; type: "roomPresence"; data: PresenceChange }
  | { messageId: string; type: "typing"; data: ServerTyping }
  | { messageId: string; type: "receipt"; data: ServerReceipt }
  | { messageId: string; type: "receipts"; data: ServerReceipts }
  | { messageId: string; type: "lastOnline"; data: ServerLastOnline }
  | { messageId: string; type: "blocks"; data: ServerBlocks }
  | { messageId: string; type: "flag"; data: ServerFlag }
  | { messageId: string; type: "flags"; data: ServerFlags }
  | { messageId: string; type: "following"; data: ServerFollowing }
  | { messageId: string; type: "resourceUpdate"; data: ResourceUpdate }
  | { messageId: string; type: "documentChanged"; data: ServerDocumentChanged }
  | { messageId: string; type: "error"; data: ServerFailure }
  | { messageId: string; type: "goodbye"; data: ServerGoodbye }
  | { messageId: string; type: "pong"; data: ServerPong }
  | { messageId: string; type: "values"; data: ServerValues }
  | { messageId: string; type: "signal"; data: ServerSignal };
