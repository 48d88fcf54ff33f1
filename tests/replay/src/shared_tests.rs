//! The happens-before record, access by access.

use super::*;

fn kind(result: Result<(), Clash>) -> Option<FaultKind> {
    result.err().map(|c| c.kind)
}

fn two_warps() -> Shared {
    Shared::new(0, 64, 64, 32, false)
}

#[test]
fn reads_need_a_barrier_after_other_threads_writes() {
    let mut s = two_warps();
    let mut out = [0; 4];
    s.write(0, 1, 0, &[1, 2, 3, 4], &[]).expect("first write");
    s.read(0, 2, 0, &mut out, &mut []).expect("own data");
    assert_eq!(kind(s.read(1, 2, 0, &mut out, &mut [])), Some(FaultKind::RaceReadAfterWrite));
    assert_eq!(kind(s.read(40, 2, 0, &mut out, &mut [])), Some(FaultKind::RaceReadAfterWrite));
    s.barrier(&[0, 1]);
    s.read(40, 2, 0, &mut out, &mut []).expect("after the barrier");
    assert_eq!(kind(s.write(0, 3, 0, &[9], &[])), Some(FaultKind::RaceWriteAfterRead));
    s.barrier(&[0]);
    assert_eq!(kind(s.write(0, 3, 0, &[9], &[])), Some(FaultKind::RaceWriteAfterRead));
    s.barrier(&[0, 1]);
    s.write(0, 3, 0, &[9], &[]).expect("after the second barrier");
    // Lanes of one instruction may write the same; another value, or another instruction, is a
    // race.
    assert_eq!(kind(s.write(1, 3, 0, &[8], &[])), Some(FaultKind::RaceWriteAfterWrite));
    assert_eq!(kind(s.write(1, 4, 0, &[9], &[])), Some(FaultKind::RaceWriteAfterWrite));
    s.write(1, 3, 0, &[9], &[]).expect("the same by the same instruction");
    assert_eq!(kind(s.write(40, 3, 0, &[8], &[])), Some(FaultKind::RaceWriteAfterWrite));
}

#[test]
fn warps_may_store_the_same_and_count_each() {
    let mut s = Shared::new(0, 64, 96, 32, false);
    let mut out = [0; 1];
    for warp in 0..3 {
        s.write(32 * warp, 3, 0, &[9], &[]).expect("the same by the same instruction");
    }
    // Another instruction, or another value.
    assert_eq!(kind(s.write(32, 4, 0, &[9], &[])), Some(FaultKind::RaceWriteAfterWrite));
    assert_eq!(kind(s.write(32, 3, 0, &[8], &[])), Some(FaultKind::RaceWriteAfterWrite));
    // Ordered after the last of them alone.
    s.barrier(&[1, 2]);
    assert_eq!(kind(s.read(32, 5, 0, &mut out, &mut [])), Some(FaultKind::RaceReadAfterWrite));
    assert_eq!(kind(s.write(32, 5, 0, &[8], &[])), Some(FaultKind::RaceWriteAfterWrite));
    s.proxy_fence(&(32..96).collect::<Vec<u32>>());
    assert_eq!(kind(s.hold(0, 0, 1)), Some(FaultKind::UnitNotFenced));
    s.proxy_fence(&(0..32).collect::<Vec<u32>>());
    s.hold(0, 0, 1).expect("all have fenced");
    s.end_hold(0, 0, 1);
    s.barrier(&[0, 1, 2]);
    s.read(32, 5, 0, &mut out, &mut []).expect("after all of them");
    s.barrier(&[0, 1, 2]);
    s.write(64, 6, 0, &[7], &[]).expect("after all of them");
}

#[test]
fn copies_are_unusable_until_waited_and_met() {
    let mut s = two_warps();
    let mut out = [0; 4];
    let id = s.begin_copy(1, &[(0, 8, vec![1, 2, 3, 4], vec![])]).expect("copy");
    assert_eq!(kind(s.read(0, 2, 8, &mut out, &mut [])), Some(FaultKind::AsyncNotWaited));
    s.barrier(&[0, 1]);
    assert_eq!(kind(s.read(0, 2, 8, &mut out, &mut [])), Some(FaultKind::AsyncNotWaited));
    assert_eq!(kind(s.write(0, 2, 8, &[0], &[])), Some(FaultKind::AsyncNotWaited));
    s.end_copy(id);
    s.read(0, 2, 8, &mut out, &mut []).expect("own copy, waited");
    assert_eq!(kind(s.read(5, 2, 8, &mut out, &mut [])), Some(FaultKind::RaceReadAfterWrite));
    s.barrier(&[0, 1]);
    s.read(5, 2, 8, &mut out, &mut []).expect("waited and met");
    let again = s.begin_copy(3, &[(33, 8, vec![0; 4], vec![])]).err().map(|c| c.kind);
    assert_eq!(again, Some(FaultKind::AsyncOverwrite));
}

#[test]
fn a_wave_in_lockstep_is_ordered_with_itself() {
    let mut s = Shared::new(0, 16, 128, 64, true);
    s.write(0, 1, 0, &[1; 4], &[]).expect("write");
    s.read(63, 1, 0, &mut [0; 4], &mut []).expect("same wave");
    assert_eq!(kind(s.read(64, 1, 0, &mut [0; 4], &mut [])), Some(FaultKind::RaceReadAfterWrite));
    s.barrier(&[0, 1]);
    s.carry_over(0, 1, 0, 4, true);
    assert_eq!(kind(s.read(64, 1, 0, &mut [0; 4], &mut [])), Some(FaultKind::RaceReadAfterWrite));
}
