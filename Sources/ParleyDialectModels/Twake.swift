/// The models of the Twake family, with the names of their fields on the wire.
///
/// They are what apps of this family keep and receive, for clients and backends in Swift and for
/// ``DomainRouter``. The server has no need of them.
public enum Twake {}
