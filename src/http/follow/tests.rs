//! Tests of following.

use super::*;

fn asked(place: u8) -> Asked {
    ([place; 32], Arc::new(Viewer::open()))
}

#[test]
fn nobody_is_given_an_answer_from_before_their_last() {
    let askings = Askings::default();
    let first = askings.rendering(asked(1), (7, 0), 0, || 3);
    assert!(Arc::ptr_eq(&first, &askings.rendering(asked(1), (7, 0), 2, || 4)), "it began after");
    let second = askings.rendering(asked(1), (7, 0), 3, || 5);
    assert!(!Arc::ptr_eq(&first, &second), "it may be older");
    assert!(Arc::ptr_eq(&second, &askings.rendering(asked(1), (7, 0), 4, || 6)));
    for other in [(asked(2), (7, 0)), (asked(1), (8, 0)), (asked(1), (7, 1))] {
        assert!(!Arc::ptr_eq(&second, &askings.rendering(other.0, other.1, 0, || 7)));
    }
}

#[test]
fn what_is_kept_for_others_is_bounded() {
    let askings = Askings::default();
    for change in 0..10_000 {
        let answer = askings.rendering(asked(1), (change, 0), 0, || 1);
        askings.rendered(asked(1), (change, 0), &answer, 1_000);
        // Rendered anew: what it was counted for before is not counted twice.
        let answer = askings.rendering(asked(1), (change, 0), 1, || 2);
        askings.rendered(asked(1), (change, 0), &answer, 1_000);
    }
    let large = askings.rendering(asked(2), (1, 0), 0, || 1);
    assert!(askings.shared().rendered.len() <= limits::SHARED_ANSWERS);
    askings.rendered(asked(2), (1, 0), &large, limits::SHARED_ANSWER_BYTES);
    let shared = askings.shared();
    assert_eq!((shared.rendered.len(), shared.order.len(), shared.bytes), (1, 1, limits::SHARED_ANSWER_BYTES));
}
