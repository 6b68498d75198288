/// The models of the Twake family, with the wire's field names.
///
/// Apps of this family store and receive them. They are for clients and backends in Swift, and for
/// ``DomainRouter``; the server does not use them.
public enum Twake {}
