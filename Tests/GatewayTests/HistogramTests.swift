import ParleyGatewayPorts
import Testing

/// The quantiles that histograms report for recorded values.
@Suite("Histograms")
struct HistogramTests {
  private func histogram(_ values: Int64...) -> Histogram {
    var histogram = Histogram(bounds: [100, 200, 400])
    for value in values { histogram.record(value) }
    return histogram
  }

  @Test("an empty histogram has no quantiles")
  func empty() {
    #expect(histogram().quantile(0.5) == nil)
    #expect(histogram().count == 0)
  }

  @Test(
    "values count as evenly spread within a bucket",
    arguments: [(0.0, Int64(0)), (0.25, 50), (0.5, 100), (0.75, 150), (1.0, 200)])
  func spread(share: Double, expected: Int64) {
    #expect(histogram(10, 20, 110, 120).quantile(share) == expected)
  }

  @Test("an empty bucket before the value does not count")
  func gap() {
    #expect(histogram(300, 300).quantile(0.5) == 300)
    #expect(histogram(10, 300).quantile(1) == 400)
  }

  @Test("values above the last bound count as the bound")
  func beyond() {
    #expect(histogram(1_000).quantile(0.5) == 400)
    #expect(histogram(10, 1_000).quantile(0.99) == 400)
  }

  @Test("only values since an earlier state are counted")
  func since() {
    let earlier = histogram(10, 1_000)
    var later = earlier
    later.record(150)
    later.record(300)
    let between = later.since(earlier)
    #expect(between.counts == [0, 1, 1, 0])
    #expect(between.sum == 450)
    #expect(later.since(later).count == 0)
  }
}
