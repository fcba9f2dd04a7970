use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::config::{Budgets, Config};
use crate::failure::Code;

fn budgets(text: &str) -> Budgets {
    Config::from_toml(&format!("[govern.budgets]\n{text}\n"))
        .unwrap()
        .budgets
}

fn rules(text: &str) -> Rules {
    Rules::new(&budgets(text), &BTreeMap::new())
}

fn network(bytes: u64) -> Used {
    Used {
        network_bytes: bytes,
        ..Used::default()
    }
}

fn request() -> Estimate {
    Estimate {
        network_bytes: 10_000,
        wall_clock_ms: 2_000,
    }
}

#[test]
fn defaults_of_a_run() {
    let rules = rules("");
    let limits: Vec<Option<u64>> = Dimension::ALL
        .iter()
        .map(|dimension| rules.limit(*dimension))
        .collect();
    assert_eq!(
        limits,
        [
            Some(50),
            Some(60_000),
            Some(10_485_760),
            Some(52_428_800),
            Some(120_000),
            Some(512),
            None,
            None
        ]
    );
    for dimension in Dimension::ALL {
        assert_eq!(
            serde_json::to_value(dimension).unwrap(),
            json!(dimension.as_str())
        );
    }
}

#[test]
fn fifty_calls_and_no_more() {
    let rules = rules("");
    let mut budget = Budget::default();
    for _ in 0..50 {
        assert!(budget.reserve(&rules, &Estimate::default()).is_ok());
        budget.charge(&rules, &Used::default(), 0);
    }
    assert_eq!(budget.used(Dimension::Steps), 50);
    assert!(budget.reserve(&rules, &Estimate::default()).is_err());
    assert_eq!(budget.used(Dimension::Steps), 50);
    let exhausted = rules.admit(&budget, &Estimate::default()).unwrap_err();
    assert_eq!(
        (exhausted.dimension, exhausted.ask),
        (Dimension::Steps, false)
    );
    let failure = exhausted.failure();
    assert_eq!(failure.code, Code::BudgetExhausted);
    assert!(failure.message.contains("steps"));
}

#[test]
fn a_call_that_has_begun_has_taken_its_step() {
    let rules = rules("steps = 1");
    let mut budget = Budget::default();
    budget.reserve(&rules, &Estimate::default()).unwrap();
    let exhausted = budget.reserve(&rules, &Estimate::default()).unwrap_err();
    assert_eq!(exhausted.dimension, Dimension::Steps);
    // It was not made: another may be.
    budget.release();
    assert!(budget.reserve(&rules, &Estimate::default()).is_ok());
    budget.release();
    budget.release();
    assert_eq!(budget.used(Dimension::Steps), 0);
}

#[test]
fn a_step_that_is_reserved_is_warned_of_when_its_call_ends() {
    let rules = rules("steps = 2");
    let mut budget = Budget::default();
    budget.reserve(&rules, &Estimate::default()).unwrap();
    let due = budget.charge(&rules, &Used::default(), 0);
    let percents: Vec<u8> = due.iter().map(|warning| warning.percent).collect();
    assert_eq!(percents, [50]);
}

#[test]
fn an_estimate_above_what_is_left_is_refused() {
    let rules = rules("network_bytes = 15000");
    let mut budget = Budget::default();
    assert!(rules.admit(&budget, &request()).is_ok());
    budget.charge(&rules, &network(5_000), 0);
    assert!(rules.admit(&budget, &request()).is_ok());
    budget.charge(&rules, &network(1), 0);
    assert_eq!(
        rules.admit(&budget, &request()).unwrap_err().dimension,
        Dimension::NetworkBytes
    );
    // What makes no request is not concerned.
    assert!(rules.admit(&budget, &Estimate::default()).is_ok());
    assert_eq!(rules.left(&budget, Dimension::NetworkBytes), Some(9_999));
}

#[test]
fn zero_is_nothing_and_unlimited_is_for_the_operator_only() {
    assert_eq!(
        rules("steps = 0")
            .admit(&Budget::default(), &Estimate::default())
            .unwrap_err()
            .dimension,
        Dimension::Steps
    );
    assert_eq!(
        rules("memory_mb = 0")
            .admit(&Budget::default(), &Estimate::default())
            .unwrap_err()
            .dimension,
        Dimension::MemoryMb
    );
    let unlimited = rules("network_bytes = 'unlimited'");
    assert_eq!(
        unlimited.left(&Budget::default(), Dimension::NetworkBytes),
        None
    );
}

#[test]
fn memory_is_a_peak_and_the_rest_is_summed() {
    let rules = rules("");
    let mut budget = Budget::default();
    let used = Used {
        wall_clock_ms: 1,
        network_bytes: 2,
        cpu_ms: 3,
        storage_bytes: 4,
    };
    for peak in [10 * 1024 * 1024, 3 * 1024 * 1024 + 1] {
        budget.reserve(&rules, &Estimate::default()).unwrap();
        budget.charge(&rules, &used, peak);
    }
    let of = |dimension| budget.used(dimension);
    assert_eq!(of(Dimension::Steps), 2);
    assert_eq!(of(Dimension::WallClockMs), 2);
    assert_eq!(of(Dimension::NetworkBytes), 4);
    assert_eq!(of(Dimension::CpuMs), 6);
    assert_eq!(of(Dimension::StorageBytes), 8);
    assert_eq!(of(Dimension::MemoryMb), 10);
    assert_eq!(rules.left(&budget, Dimension::MemoryMb), Some(512));
    let kept = serde_json::to_string(&budget).unwrap();
    assert_eq!(serde_json::from_str::<Budget>(&kept).unwrap(), budget);
}

#[test]
fn policies() {
    let mut spent = Budget::default();
    spent.charge(&rules(""), &network(2_000), 0);
    let soft = rules("network_bytes = {limit = 1000, policy = 'soft-warn'}");
    assert_eq!(soft.admit(&spent, &request()).unwrap().len(), 1);
    assert_eq!(soft.left(&spent, Dimension::NetworkBytes), None);
    let asking = budgets("network_bytes = {limit = 1000, policy = 'approval-required'}");
    let refused = Rules::new(&asking, &BTreeMap::new())
        .admit(&spent, &request())
        .unwrap_err();
    assert_eq!((refused.ask, refused.amount), (true, 10_000));
    let extensions = BTreeMap::from([("network-bytes".to_owned(), 11_000)]);
    let extended = Rules::new(&asking, &extensions);
    assert_eq!(extended.left(&spent, Dimension::NetworkBytes), Some(10_000));
    assert!(extended.admit(&spent, &request()).is_ok());
}

#[test]
fn one_warning_at_half_and_one_at_four_fifths() {
    let rules = rules("network_bytes = 1000\nsteps = 1000");
    let mut budget = Budget::default();
    let mut percents = Vec::new();
    for bytes in [499, 1, 0, 299, 1, 500] {
        let due = budget.charge(&rules, &network(bytes), 0);
        percents.push(
            due.iter()
                .map(|warning| warning.percent)
                .collect::<Vec<_>>(),
        );
    }
    assert_eq!(
        percents,
        [vec![], vec![50], vec![], vec![], vec![80], vec![]]
    );
    let mut at_once = Budget::default();
    let due = at_once.charge(&rules, &network(900), 0);
    assert_eq!(due.len(), 2);
    assert_eq!(due[1].subject(), "network-bytes 80 %");
    assert_eq!(
        due[1].to_string(),
        "80 % of the budget for network-bytes is used"
    );
    // Not again after a restart.
    let mut kept: Budget = serde_json::from_str(&serde_json::to_string(&at_once).unwrap()).unwrap();
    assert!(kept.charge(&rules, &network(1), 0).is_empty());
}

proptest! {
    #[test]
    fn no_sum_overflows(calls in prop::collection::vec((any::<u64>(), any::<u64>()), 1..8)) {
        let rules = rules("");
        let mut budget = Budget::default();
        for (bytes, memory) in calls {
            let used = Used { wall_clock_ms: bytes, network_bytes: bytes, cpu_ms: bytes, storage_bytes: bytes };
            budget.charge(&rules, &used, memory);
            prop_assert!(budget.used(Dimension::NetworkBytes) >= bytes);
            for dimension in Dimension::ALL {
                let _ = rules.left(&budget, dimension);
            }
        }
    }
}
