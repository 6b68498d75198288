#!/usr/bin/env bash
# Runs OTCore's tests with the address sanitizer, which checks every read and write.
#
# A separate package links to the same sources, so that nothing else is rebuilt.
set -euo pipefail
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
package=$root/.build/asan-core
mkdir -p "$package/Sources" "$package/Tests"
for target in Sources/OTCore Sources/Kits/ParleyOTWorkloads Sources/Kits/ParleyGrowthKit Tests/OTCoreTests; do
  ln -sfn "$root/$target" "$package/${target/Kits\//}"
done
cat >"$package/Package.swift" <<'MANIFEST'
// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]
let package = Package(
  name: "Parley",
  targets: [
    .target(name: "OTCore", swiftSettings: settings),
    .target(name: "ParleyOTWorkloads", dependencies: ["OTCore"], swiftSettings: settings),
    .target(name: "ParleyGrowthKit", swiftSettings: settings),
    .testTarget(
      name: "OTCoreTests", dependencies: ["OTCore", "ParleyOTWorkloads", "ParleyGrowthKit"],
      resources: [.copy("Vectors")], swiftSettings: settings),
  ],
  swiftLanguageModes: [.v6]
)
MANIFEST
export ORACLE_CASES=${ORACLE_CASES:-10000}
cd "$package"
exec swift test -c release --sanitize address --disable-xctest
