//! Tests of the messages of a socket.

use super::*;

#[test]
fn only_the_messages_of_the_protocol_are_understood() {
    assert_eq!(read(r#"{"type":"connection_init"}"#), Some(Incoming::ConnectionInit(ConstValue::Null)));
    assert!(matches!(
        read(r#"{"type":"connection_init","payload":{"token":"x"}}"#),
        Some(Incoming::ConnectionInit(ConstValue::Object(_)))
    ));
    assert_eq!(read(r#"{"type":"complete","id":"1"}"#), Some(Incoming::Complete("1".to_owned())));
    assert!(matches!(
        read(r#"{"type":"subscribe","id":"1","payload":{"query":"{a}"}}"#),
        Some(Incoming::Subscribe(..))
    ));
    for text in [
        "",
        "[]",
        "{}",
        "7",
        r#"{"type":1}"#,
        r#"{"type":"start"}"#,
        r#"{"type":"connection_init","payload":1}"#,
        r#"{"type":"subscribe","payload":{}}"#,
        r#"{"type":"subscribe","id":"","payload":{}}"#,
        r#"{"type":"subscribe","id":1,"payload":{}}"#,
        r#"{"type":"subscribe","id":"1"}"#,
        r#"{"type":"ping""#,
    ] {
        assert_eq!(read(text), None, "{text}");
    }
}

#[test]
fn a_close_reason_fits_its_frame_and_stays_text() {
    let Message::Close(Some(frame)) = Farewell::duplicate(&"é".repeat(100)).into() else { panic!("not a close") };
    assert!(frame.reason.len() <= 123 && frame.reason.starts_with("Subscriber for éé"));
    assert_eq!(frame.code, 4409);
}
