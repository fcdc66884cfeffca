import Testing

@testable import Ledgers

@Suite struct CopyPlanTests {
  private var plan = CopyPlan()

  @Test mutating func fewChangesAreNotCopied() {
    #expect(plan.committed(CopyPlan.dueAfter - 1) == .nothing)
    #expect(!plan.isDue)
  }

  @Test mutating func aPauseIsWaitedForOnceAndTheLogCopiedInIt() {
    #expect(plan.committed(CopyPlan.dueAfter) == .afterPause)
    #expect(plan.waited() == .now)
    #expect(plan.isDue)
    plan.copied()
    #expect(!plan.isDue)
    #expect(plan.committed(1) == .nothing)
  }

  @Test mutating func aChangeMeanwhileIsNoPause() {
    #expect(plan.committed(CopyPlan.dueAfter) == .afterPause)
    #expect(plan.committed(1) == .nothing)
    #expect(plan.waited() == .afterPause)
    #expect(plan.waited() == .now)
  }

  @Test mutating func aLongLogIsCopiedAtOnce() {
    #expect(plan.committed(CopyPlan.dueAfter) == .afterPause)
    #expect(plan.committed(CopyPlan.latestAfter - CopyPlan.dueAfter) == .now)
    plan.copied()
    #expect(plan.waited() == .nothing)
  }

  @Test mutating func nothingIsCopiedOnceItCloses() {
    #expect(plan.committed(CopyPlan.dueAfter) == .afterPause)
    plan.close()
    #expect(plan.waited() == .nothing)
    #expect(!plan.isDue)
    #expect(plan.committed(1) == .nothing)
  }
}
