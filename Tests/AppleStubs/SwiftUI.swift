// swift-format-ignore-file
// Declarations of SwiftUI that this package's views and examples use, for `make apple-check` on Linux. README.md says
// how they are written. Nothing runs.
// unverified: initialisers of structures, and the requirements of Scene and of UIViewRepresentable but for dismantleUIView
@_exported import Foundation
@_exported import FoundationNetworking

#if canImport(UIKit)
  public import UIKit
#elseif canImport(AppKit)
  public import AppKit
#endif

// unverified: URL
extension URL { public static var applicationSupportDirectory: URL { fatalError() } }

// https://developer.apple.com/documentation/swiftui/view · iOS 13.0, macOS 10.15 · read 2026-11-29
@MainActor @preconcurrency public protocol View {
  associatedtype Body: View
  @ViewBuilder var body: Body { get }
}
// for the stubs alone
extension Never: View { public var body: Never { fatalError() } }
// for the stubs alone
public protocol Primitive: View where Body == Never {}
// for the stubs alone
extension Primitive { public var body: Never { fatalError() } }

// https://developer.apple.com/documentation/swiftui/viewbuilder · iOS 13.0, macOS 10.15 · read 2026-11-29
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
// for the stubs alone
extension Optional: View where Wrapped: View { public var body: Never { fatalError() } }
// for the stubs alone
public struct Either<A: View, B: View>: Primitive { public nonisolated init() {} }
// https://developer.apple.com/documentation/swiftui/group · iOS 13.0, macOS 10.15 · read 2026-11-29
public struct Group: Primitive { public nonisolated init() {} }

// https://developer.apple.com/documentation/swiftui/scene · iOS 14.0, macOS 11.0 · read 2026-11-29
@MainActor @preconcurrency public protocol Scene {
  associatedtype Body: Scene
  @SceneBuilder var body: Body { get }
}
// for the stubs alone
extension Never: Scene {}
// for the stubs alone
public struct SomeScene: Scene {
  public var body: Never { fatalError() }
}
// https://developer.apple.com/documentation/swiftui/scenebuilder · iOS 14.0, macOS 11.0 · read 2026-11-29
@resultBuilder public struct SceneBuilder {
  public static func buildPartialBlock<Content: Scene>(first: Content) -> Content { first }
  @MainActor public static func buildPartialBlock<A: Scene, B: Scene>(accumulated: A, next: B)
    -> SomeScene
  { SomeScene() }
}
// https://developer.apple.com/documentation/swiftui/windowgroup · iOS 14.0, macOS 11.0 · read 2026-11-29
public struct WindowGroup<Content: View>: Scene {
  public init(@ViewBuilder content: () -> Content) {}
  public init(_ title: String, @ViewBuilder content: () -> Content) {}
  public init(_ title: String, id: String, @ViewBuilder content: () -> Content) {}
  public var body: Never { fatalError() }
}
// unverified: App
@MainActor @preconcurrency public protocol App {
  associatedtype Body: Scene
  @SceneBuilder var body: Body { get }
  init()
}
// unverified: App
extension App { public static func main() {} }

// https://developer.apple.com/documentation/swiftui/state · iOS 13.0, macOS 10.15 · read 2026-11-29
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
// https://developer.apple.com/documentation/swiftui/state · iOS 13.0, macOS 10.15 · read 2026-11-29
extension State where Value: ExpressibleByNilLiteral {
  public init() { self.init(initialValue: nil) }
}
// unverified: Binding
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
// https://developer.apple.com/documentation/swiftui/bindable · iOS 17.0, macOS 14.0 · read 2026-11-29
@propertyWrapper @dynamicMemberLookup public struct Bindable<Value: AnyObject> {
  public var wrappedValue: Value
  public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }
  public init(_ value: Value) { wrappedValue = value }
  public var projectedValue: Self { self }
  public subscript<Subject>(dynamicMember path: ReferenceWritableKeyPath<Value, Subject>)
    -> Binding<Subject>
  { Binding<Subject>() }
}
// https://developer.apple.com/documentation/swiftui/openwindowaction · iOS 16.0, macOS 13.0 · read 2026-11-29
@MainActor @preconcurrency public struct OpenWindowAction: Sendable {
  public func callAsFunction(id: String) {}
}
// https://developer.apple.com/documentation/swiftui/scenephase · iOS 14.0, macOS 11.0 · read 2026-11-29
public enum ScenePhase: Sendable { case active, inactive, background }
// unverified: EnvironmentValues
public struct EnvironmentValues {
  public var openWindow: OpenWindowAction { fatalError() }
  public var scenePhase: ScenePhase { .active }
}
// https://developer.apple.com/documentation/swiftui/environment · iOS 13.0, macOS 10.15 · read 2026-11-29
@propertyWrapper public struct Environment<Value> {
  public init(_ path: KeyPath<EnvironmentValues, Value>) {}
  public var wrappedValue: Value { fatalError() }
}

// https://developer.apple.com/documentation/swiftui/shapestyle · iOS 13.0, macOS 10.15 · read 2026-11-29
public protocol ShapeStyle: Sendable {}
// https://developer.apple.com/documentation/swiftui/color/init(_:red:green:blue:opacity:) · iOS 13.0, macOS 10.15 · read 2026-11-29
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
// https://developer.apple.com/documentation/swiftui/shape · iOS 13.0, macOS 10.15 · read 2026-11-29
public protocol Shape: View {}
// unverified: Circle
public struct Circle: Primitive, Shape { public init() {} }
// https://developer.apple.com/documentation/swiftui/image · iOS 13.0, macOS 10.15 · read 2026-11-29
public struct Image: Primitive { public init(systemName: String) {} }
// https://developer.apple.com/documentation/swiftui/text · iOS 13.0, macOS 10.15 · read 2026-11-29
public struct Text: Primitive {
  public init(_ words: String) {}
}
// https://developer.apple.com/documentation/swiftui/spacer · iOS 13.0, macOS 10.15 · read 2026-11-29
public struct Spacer: Primitive { public init() {} }
// https://developer.apple.com/documentation/swiftui/button · iOS 13.0, macOS 10.15 · read 2026-11-29
public struct Button: Primitive {
  public init(_ title: String, action: @escaping @MainActor () -> Void) {}
}
// https://developer.apple.com/documentation/swiftui/textfield · iOS 13.0, macOS 10.15 · read 2026-11-29
public struct TextField: Primitive {
  public init(_ title: String, text: Binding<String>) {}
}
// https://developer.apple.com/documentation/swiftui/texteditor · iOS 14.0, macOS 11.0 · read 2026-11-29
public struct TextEditor: Primitive { public init(text: Binding<String>) {} }
// https://developer.apple.com/documentation/swiftui/hstack · iOS 13.0, macOS 10.15 · read 2026-11-29
public struct HStack: Primitive {
  public init<Content: View>(@ViewBuilder content: () -> Content) {}
}
// https://developer.apple.com/documentation/swiftui/vstack · iOS 13.0, macOS 10.15 · read 2026-11-29
public struct VStack: Primitive {
  public init<Content: View>(@ViewBuilder content: () -> Content) {}
}
// https://developer.apple.com/documentation/swiftui/list · iOS 13.0, macOS 10.15 · read 2026-11-29
public struct List: Primitive {
  public init<Content: View>(@ViewBuilder content: () -> Content) {}
}
// https://developer.apple.com/documentation/swiftui/foreach · iOS 13.0, macOS 10.15 · read 2026-11-29
public struct ForEach<Data: RandomAccessCollection, ID: Hashable, Content: View>: Primitive {
  public init(
    _ data: Data, id: KeyPath<Data.Element, ID>,
    @ViewBuilder content: @escaping (Data.Element) -> Content
  ) {}
  public init(_ data: Data, @ViewBuilder content: @escaping (Data.Element) -> Content)
  where Data.Element: Identifiable, ID == Data.Element.ID {}
  public func onDelete(perform action: ((IndexSet) -> Void)?) -> some View { self }
}
// unverified: ModifiedContent
public struct ModifiedContent<Modifier>: Primitive { public nonisolated init() {} }
// https://developer.apple.com/documentation/swiftui/accessibilitychildbehavior · iOS 13.0, macOS 10.15 · read 2026-11-29
public struct AccessibilityChildBehavior: Hashable, Sendable {
  public static let combine = AccessibilityChildBehavior()
}
// https://developer.apple.com/documentation/swiftui/view/refreshable(action:) · iOS 15.0, macOS 12.0 · read 2026-11-29
extension View {
  public nonisolated func refreshable(action: @escaping () async -> Void) -> some View { Group() }
}
// Pages leave out `@_inheritActorContext`, which SwiftUI's module interface has.
// https://developer.apple.com/documentation/swiftui/view/task(name:priority:file:line:_:) · iOS 15.0, macOS 12.0 · read 2026-11-29
extension View {
  public nonisolated func task(
    priority: TaskPriority = .userInitiated, @_inheritActorContext _ action: @escaping @Sendable () async -> Void
  ) -> some View { Group() }
}
// https://developer.apple.com/documentation/swiftui/view/onchange(of:initial:_:) · iOS 17.0, macOS 14.0 · read 2026-11-29
extension View {
  public nonisolated func onChange<V: Equatable>(of value: V, initial: Bool = false, _ action: @escaping () -> Void)
    -> some View
  { Group() }
  public nonisolated func onChange<V: Equatable>(
    of value: V, initial: Bool = false, _ action: @escaping (V, V) -> Void
  ) -> some View { Group() }
}
// unverified: Transferable
public protocol Transferable {}
// unverified: Transferable
extension String: Transferable {}
// https://developer.apple.com/documentation/swiftui/view/draggable(_:) · iOS 16.0, macOS 13.0 · read 2026-11-30
extension View {
  public nonisolated func draggable<T: Transferable>(_ payload: @autoclosure @escaping () -> T) -> some View { Group() }
}
// https://developer.apple.com/documentation/swiftui/view/dropdestination(for:action:istargeted:) · iOS 16.0, macOS 13.0 · read 2026-11-30
extension View {
  public nonisolated func dropDestination<T: Transferable>(
    for payloadType: T.Type = T.self, action: @escaping ([T], CGPoint) -> Bool,
    isTargeted: @escaping (Bool) -> Void = { _ in }
  ) -> some View { Group() }
}
// https://developer.apple.com/documentation/swiftui/viewmodifier · iOS 13.0, macOS 10.15 · read 2026-11-29
@MainActor @preconcurrency public protocol ViewModifier {
  associatedtype Body: View
  typealias Content = ModifiedContent<Self>
  @ViewBuilder func body(content: Content) -> Body
}
// unverified: modifiers of View
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
  public func onSubmit(_ action: @escaping () -> Void) -> some View { self }
  public func modifier<T: ViewModifier>(_ modifier: T) -> some View { Group() }
}

#if canImport(UIKit)
// https://developer.apple.com/documentation/swiftui/uiviewrepresentablecontext · iOS 13.0 · read 2026-11-29
public struct UIViewRepresentableContext<Representable> {}
// https://developer.apple.com/documentation/swiftui/uiviewrepresentable · iOS 13.0, macOS 10.15 · read 2026-11-29
@MainActor @preconcurrency public protocol UIViewRepresentable: View where Body == Never {
  associatedtype UIViewType: UIView
  associatedtype Coordinator = Void
  typealias Context = UIViewRepresentableContext<Self>
  func makeUIView(context: Context) -> UIViewType
  func updateUIView(_ view: UIViewType, context: Context)
  static func dismantleUIView(_ view: UIViewType, coordinator: Coordinator)
}
// for the stubs alone
extension UIViewRepresentable { public var body: Never { fatalError() } }
#elseif canImport(AppKit)
// unverified: NSViewRepresentableContext
public struct NSViewRepresentableContext<Representable> {}
// https://developer.apple.com/documentation/swiftui/nsviewrepresentable · macOS 10.15 · read 2026-11-29
@MainActor @preconcurrency public protocol NSViewRepresentable: View where Body == Never {
  associatedtype NSViewType: NSView
  associatedtype Coordinator = Void
  typealias Context = NSViewRepresentableContext<Self>
  func makeNSView(context: Context) -> NSViewType
  func updateNSView(_ view: NSViewType, context: Context)
  static func dismantleNSView(_ view: NSViewType, coordinator: Coordinator)
}
// for the stubs alone
extension NSViewRepresentable { public var body: Never { fatalError() } }
#endif
