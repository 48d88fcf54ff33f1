//! The cases that a GPU would run, on the replay: launches, references, and that a wrong result is
//! seen.
#![allow(missing_docs)]

use lanebook_gpu::{Arg, Device, cases, job, replay::Replay};

#[test]
fn every_case_is_right() {
    for arch in ["sm_80", "sm_90a"] {
        for case in cases::all(1) {
            let job = match job(&case, arch) {
                Ok(job) => job,
                // The one that sm_80 has no instruction for.
                Err(why) => {
                    assert_eq!((arch, case.name), ("sm_80", "gemm_fp8"), "{why}");
                    continue;
                }
            };
            let operands: Vec<_> = case.operands.iter().map(|o| o.bytes.clone()).collect();
            assert!(case.wrong(&operands) >= case.want.len(), "{}: nothing has run yet", case.name);
            let after = Replay
                .run(&job, &operands)
                .unwrap_or_else(|said| panic!("{arch} {}: {said}\n{}", case.name, job.text));
            assert_eq!(case.wrong(&after), 0, "{arch} {}", case.name);
            assert!(
                job.launches.iter().any(|launch| launch.grid != [1; 3])
                    == case.program.contains("grid = ("),
                "{arch} {}",
                case.name
            );
            let maps = job
                .launches
                .iter()
                .flat_map(|launch| &launch.args)
                .filter(|arg| matches!(arg, Arg::Map(_)))
                .count();
            assert_eq!(maps > 0, job.text.contains("bulk.tensor"), "{arch} {}", case.name);
        }
    }
}

#[test]
fn a_wrong_element_or_a_changed_operand_is_seen() {
    for case in cases::all(1) {
        let mut after: Vec<_> = case.operands.iter().map(|o| o.bytes.clone()).collect();
        after[case.result] = case.want.iter().flat_map(|v| (*v as f32).to_le_bytes()).collect();
        assert_eq!(case.wrong(&after), 0, "{}", case.name);
        let mut wrong = after.clone();
        wrong[case.result][7] ^= 0x40;
        assert_eq!(case.wrong(&wrong), 1, "{}", case.name);
        after[0][0] ^= 1;
        assert_eq!(case.wrong(&after), 1, "{}", case.name);
    }
}
