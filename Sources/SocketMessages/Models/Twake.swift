/// The models of the Twake family, with the names of their fields on the wire.
///
/// They are what apps of this family keep and receive. Parley itself looks into few of them; they
/// are here for clients and backends in Swift, and for the ``DomainRouter``.
public enum Twake {}
