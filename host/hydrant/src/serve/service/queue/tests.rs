//! Turns, bounds, and leaving.

use std::time::Duration;

use super::*;

const WIDE: Share = Share {
    running: 100,
    waiting: 1000,
};

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap()
}

#[test]
fn a_flood_of_one_tenant_delays_another_by_one_call() {
    runtime().block_on(async {
        let queue = Queue::new(1, 0, 1000);
        let held = queue.place("a", WIDE).await.unwrap();
        let order = Arc::new(Mutex::new(Vec::new()));
        let mut tasks = Vec::new();
        for name in ["a"; 20].into_iter().chain(["b"]) {
            let (queue, order) = (queue.clone(), Arc::clone(&order));
            tasks.push(tokio::spawn(async move {
                let _place = queue.place(name, WIDE).await.unwrap();
                order.lock().unwrap().push(name);
            }));
            tokio::task::yield_now().await;
        }
        assert_eq!(queue.load().waiting, 21);
        drop(held);
        for task in tasks {
            task.await.unwrap();
        }
        let order = order.lock().unwrap();
        let at = order.iter().position(|name| *name == "b").unwrap();
        assert!(at <= 1, "b came {at}");
        assert_eq!(queue.load(), Load::default());
    });
}

#[test]
fn a_tenant_has_its_own_bounds_and_others_go_on() {
    runtime().block_on(async {
        let queue = Queue::new(10, 0, 1000);
        let narrow = Share {
            running: 1,
            waiting: 0,
        };
        let _held = queue.place("a", narrow).await.unwrap();
        assert_eq!(queue.place("a", narrow).await.unwrap_err(), Full::Lane);
        assert!(queue.place("b", narrow).await.is_ok());
    });
}

#[test]
fn who_fills_the_line_does_not_turn_others_away() {
    runtime().block_on(async {
        let queue = Queue::new(1, 0, 4);
        let _held = queue.place("a", WIDE).await.unwrap();
        let wait = |name: &'static str| {
            let queue = queue.clone();
            tokio::spawn(async move { queue.place(name, WIDE).await.map(drop) })
        };
        let waiting: Vec<_> = (0..4).map(|_| wait("a")).collect();
        tokio::task::yield_now().await;
        assert_eq!(queue.place("a", WIDE).await.unwrap_err(), Full::Server);
        let other = wait("b");
        tokio::task::yield_now().await;
        assert_eq!(queue.load().waiting, 5);
        for task in waiting {
            task.abort();
        }
        other.abort();
    });
}

#[test]
fn who_stops_waiting_leaves_the_line() {
    runtime().block_on(async {
        let queue = Queue::new(1, 0, 4);
        let held = queue.place("a", WIDE).await.unwrap();
        let late = tokio::time::timeout(Duration::from_millis(20), queue.place("b", WIDE)).await;
        assert!(late.is_err());
        assert_eq!(
            queue.load(),
            Load {
                running: 1,
                waiting: 0
            }
        );
        drop(held);
        assert_eq!(queue.load(), Load::default());
        assert!(queue.place("b", WIDE).await.is_ok());
    });
}

#[test]
fn a_spare_place_is_for_who_has_none() {
    runtime().block_on(async {
        let queue = Queue::new(2, 1, 1000);
        let a = [
            queue.place("a", WIDE).await.unwrap(),
            queue.place("a", WIDE).await.unwrap(),
        ];
        let wait = |name: &'static str| {
            let queue = queue.clone();
            tokio::spawn(async move { queue.place(name, WIDE).await })
        };
        let more = wait("a");
        tokio::task::yield_now().await;
        assert_eq!(queue.load().waiting, 1);
        // b begins at once, though a has every worker and waits for another one.
        let b = queue.place("b", WIDE).await.unwrap();
        let (second, c) = (wait("b"), wait("c"));
        tokio::task::yield_now().await;
        assert_eq!((queue.load().running, queue.load().waiting), (3, 3));
        // The spare place goes to who has nothing, past those of a, who came before: b again, then c.
        drop(b);
        let second = second.await.unwrap().unwrap();
        assert!(!more.is_finished() && !c.is_finished());
        drop(second);
        let c = c.await.unwrap().unwrap();
        assert!(!more.is_finished());
        drop((a, c));
        drop(more.await.unwrap());
        assert_eq!(queue.load(), Load::default());
    });
}
