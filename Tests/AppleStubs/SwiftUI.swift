// swift-format-ignore-file
// Declarations of SwiftUI that this package's views and examples use, written by hand from its
// documentation, so that `make apple-check` finds misspelt names, wrong arguments and broken isolation
// on Linux. Nothing runs.
@_exported import Foundation
@_exported import FoundationNetworking

#if canImport(UIKit)
  public import UIKit
#elseif canImport(AppKit)
  public import AppKit
#endif

extension URL { public static var applicationSupportDirectory: URL { fatalError() } }

@MainActor @preconcurrency public protocol View {
  associatedtype Body: View
  @ViewBuilder var body: Body { get }
}
extension Never: View { public var body: Never { fatalError() } }
public protocol Primitive: View where Body == Never {}
extension Primitive { public var body: Never { fatalError() } }

@resultBuilder public struct ViewBuilder {
  public static func buildBlock() -> Group { Group() }
  public static func buildPartialBlock<Content: View>(first: Content) -> Content { first }
  public static func buildPartialBlock<A: View, B: View>(accumulated: A, next: B) -> Group {
    Group()
  }
  public static func buildExpression<Content: View>(_ content: Content) -> Content { content }
  public static func buildOptional<Content: View>(_ content: Content?) -> Content? { content }
  public static func buildEither<A: View, B: View>(first: A) -> Either<A, B> { Either() }
  public static func buildEither<A: View, B: View>(second: B) -> Either<A, B> { Either() }
}
extension Optional: View where Wrapped: View { public var body: Never { fatalError() } }
public struct Either<A: View, B: View>: Primitive { public nonisolated init() {} }
public struct Group: Primitive { public nonisolated init() {} }

@MainActor @preconcurrency public protocol Scene {
  associatedtype Body: Scene
  @SceneBuilder var body: Body { get }
}
extension Never: Scene {}
public struct SomeScene: Scene {
  public var body: Never { fatalError() }
}
@resultBuilder public struct SceneBuilder {
  public static func buildPartialBlock<Content: Scene>(first: Content) -> Content { first }
  @MainActor public static func buildPartialBlock<A: Scene, B: Scene>(accumulated: A, next: B)
    -> SomeScene
  { SomeScene() }
}
public struct WindowGroup<Content: View>: Scene {
  public init(@ViewBuilder content: () -> Content) {}
  public init(_ title: String, @ViewBuilder content: () -> Content) {}
  public init(_ title: String, id: String, @ViewBuilder content: () -> Content) {}
  public var body: Never { fatalError() }
}
@MainActor @preconcurrency public protocol App {
  associatedtype Body: Scene
  @SceneBuilder var body: Body { get }
  init()
}
extension App { public static func main() {} }

@propertyWrapper public struct State<Value> {
  private final class Box { var value: Value; init(_ value: Value) { self.value = value } }
  private let box: Box
  public init(wrappedValue: Value) { box = Box(wrappedValue) }
  public init(initialValue: Value) { box = Box(initialValue) }
  public var wrappedValue: Value {
    get { box.value }
    nonmutating set { box.value = newValue }
  }
  public var projectedValue: Binding<Value> { Binding() }
}
extension State where Value: ExpressibleByNilLiteral {
  public init() { self.init(initialValue: nil) }
}
@propertyWrapper @dynamicMemberLookup public struct Binding<Value> {
  public init() {}
  public var wrappedValue: Value {
    get { fatalError() }
    nonmutating set {}
  }
  public var projectedValue: Self { self }
  public subscript<Subject>(dynamicMember path: WritableKeyPath<Value, Subject>) -> Binding<Subject>
  {
    Binding<Subject>()
  }
}
@propertyWrapper @dynamicMemberLookup public struct Bindable<Value: AnyObject> {
  public var wrappedValue: Value
  public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }
  public init(_ value: Value) { wrappedValue = value }
  public var projectedValue: Self { self }
  public subscript<Subject>(dynamicMember path: ReferenceWritableKeyPath<Value, Subject>)
    -> Binding<Subject>
  { Binding<Subject>() }
}
public struct OpenWindowAction: Sendable {
  @MainActor public func callAsFunction(id: String) {}
}
public enum ScenePhase: Sendable { case active, inactive, background }
public struct EnvironmentValues {
  public var openWindow: OpenWindowAction { OpenWindowAction() }
  public var scenePhase: ScenePhase { .active }
}
@propertyWrapper public struct Environment<Value> {
  public init(_ path: KeyPath<EnvironmentValues, Value>) {}
  public var wrappedValue: Value { fatalError() }
}

public protocol ShapeStyle: Sendable {}
public struct Color: Primitive, ShapeStyle, Hashable {
  public enum RGBColorSpace: Sendable { case sRGB }
  public nonisolated init(
    _ space: RGBColorSpace = .sRGB, red: Double, green: Double, blue: Double, opacity: Double = 1
  ) {}
  public static let red = Color(red: 0, green: 0, blue: 0)
  public static let black = red
  public static let white = red
  public static let secondary = red
}
public protocol Shape: View {}
public struct Circle: Primitive, Shape { public init() {} }
public struct Image: Primitive { public init(systemName: String) {} }
public struct Text: Primitive {
  public init(_ words: String) {}
}
public struct Spacer: Primitive { public init() {} }
public struct Button: Primitive {
  public init(_ title: String, action: @escaping @MainActor () -> Void) {}
}
public struct TextField: Primitive {
  public init(_ title: String, text: Binding<String>) {}
}
public struct TextEditor: Primitive { public init(text: Binding<String>) {} }
public struct HStack: Primitive {
  public init<Content: View>(@ViewBuilder content: () -> Content) {}
}
public struct VStack: Primitive {
  public init<Content: View>(@ViewBuilder content: () -> Content) {}
}
public struct List: Primitive {
  public init<Content: View>(@ViewBuilder content: () -> Content) {}
}
public struct ForEach<Data: RandomAccessCollection, ID: Hashable, Content: View>: Primitive {
  public init(
    _ data: Data, id: KeyPath<Data.Element, ID>,
    @ViewBuilder content: @escaping (Data.Element) -> Content
  ) {}
  public init(_ data: Data, @ViewBuilder content: @escaping (Data.Element) -> Content)
  where Data.Element: Identifiable, ID == Data.Element.ID {}
  public func onDelete(perform action: ((IndexSet) -> Void)?) -> some View { self }
}
public enum AccessibilityChildBehavior: Sendable { case combine }
extension View {
  public func padding() -> some View { self }
  public func padding(_ length: CGFloat) -> some View { self }
  public func disabled(_ isDisabled: Bool) -> some View { self }
  public func opacity(_ share: Double) -> some View { self }
  public func foregroundStyle<Style: ShapeStyle>(_ style: Style) -> some View { self }
  public func background<Style: ShapeStyle, Outline: Shape>(_ style: Style, in shape: Outline)
    -> some View
  { self }
  public func accessibilityHidden(_ isHidden: Bool) -> some View { self }
  public func accessibilityLabel(_ label: Text) -> some View { self }
  public func accessibilityElement(children: AccessibilityChildBehavior) -> some View { self }
  public func refreshable(action: @escaping @Sendable @MainActor () async -> Void) -> some View {
    self
  }
  public func task(_ action: @escaping @Sendable @MainActor () async -> Void) -> some View { self }
  public func onSubmit(_ action: @escaping () -> Void) -> some View { self }
  public func onChange<Value: Equatable>(of value: Value, _ action: @escaping () -> Void)
    -> some View
  { self }
}

#if canImport(UIKit)
  public struct UIViewRepresentableContext<Representable> {}
  @MainActor @preconcurrency public protocol UIViewRepresentable: View where Body == Never {
    associatedtype UIViewType: UIView
    associatedtype Coordinator = Void
    typealias Context = UIViewRepresentableContext<Self>
    func makeUIView(context: Context) -> UIViewType
    func updateUIView(_ view: UIViewType, context: Context)
    static func dismantleUIView(_ view: UIViewType, coordinator: Coordinator)
  }
  extension UIViewRepresentable { public var body: Never { fatalError() } }
#elseif canImport(AppKit)
  public struct NSViewRepresentableContext<Representable> {}
  @MainActor @preconcurrency public protocol NSViewRepresentable: View where Body == Never {
    associatedtype NSViewType: NSView
    associatedtype Coordinator = Void
    typealias Context = NSViewRepresentableContext<Self>
    func makeNSView(context: Context) -> NSViewType
    func updateNSView(_ view: NSViewType, context: Context)
    static func dismantleNSView(_ view: NSViewType, coordinator: Coordinator)
  }
  extension NSViewRepresentable { public var body: Never { fatalError() } }
#endif
