//! Tests of strict JSON.

use super::*;

fn canonical(text: &str) -> Option<String> {
    Json::parse(text.as_bytes()).map(|json| json.canonical())
}

/// RFC 8785, appendix B. The standard library's shortest digits fail the last: they do not round half to even.
#[test]
fn numbers_are_written_as_ecmascript_does() {
    for (bits, text) in [
        (0x0000_0000_0000_0000, "0"),
        (0x8000_0000_0000_0000, "0"),
        (0x0000_0000_0000_0001, "5e-324"),
        (0x8000_0000_0000_0001, "-5e-324"),
        (0x7fef_ffff_ffff_ffff, "1.7976931348623157e+308"),
        (0xffef_ffff_ffff_ffff, "-1.7976931348623157e+308"),
        (0x4340_0000_0000_0000, "9007199254740992"),
        (0xc340_0000_0000_0000, "-9007199254740992"),
        (0x4430_0000_0000_0000, "295147905179352830000"),
        (0x44b5_2d02_c7e1_4af5, "9.999999999999997e+22"),
        (0x44b5_2d02_c7e1_4af6, "1e+23"),
        (0x44b5_2d02_c7e1_4af7, "1.0000000000000001e+23"),
        (0x444b_1ae4_d6e2_ef4e, "999999999999999700000"),
        (0x444b_1ae4_d6e2_ef4f, "999999999999999900000"),
        (0x444b_1ae4_d6e2_ef50, "1e+21"),
        (0x3eb0_c6f7_a0b5_ed8c, "9.999999999999997e-7"),
        (0x3eb0_c6f7_a0b5_ed8d, "0.000001"),
        (0x41b3_de43_5555_5553, "333333333.3333332"),
        (0x41b3_de43_5555_5554, "333333333.33333325"),
        (0x41b3_de43_5555_5555, "333333333.3333333"),
        (0x41b3_de43_5555_5556, "333333333.3333334"),
        (0x41b3_de43_5555_5557, "333333333.33333343"),
        (0xbecb_f647_612f_3696, "-0.0000033333333333333333"),
        (0x4314_3ff3_c1cb_0959, "1424953923781206.2"),
    ] {
        assert_eq!(Json::Number(f64::from_bits(bits)).canonical(), text);
    }
}

/// Read to the nearest double: this needs `serde_json`'s `float_roundtrip`, and integers are doubles too.
#[test]
fn numbers_are_read_as_the_nearest_double() {
    for (text, canonical_text) in [
        ("267460e26", "2.6746e+31"),
        ("9007199254740993", "9007199254740992"),
        ("-9007199254740993", "-9007199254740992"),
        ("18446744073709551615", "18446744073709552000"),
        ("18446744073709551616", "18446744073709552000"),
        ("100000000000000000000", "100000000000000000000"),
        ("-0", "0"),
        ("1.0", "1"),
        ("1E2", "100"),
    ] {
        assert_eq!(canonical(text).as_deref(), Some(canonical_text), "{text}");
    }
    for bad in ["1e400", "-1e400", "NaN", "Infinity", "01", "+1", ".5", "1."] {
        assert_eq!(canonical(bad), None, "{bad}");
    }
}

/// RFC 8785, sections 3.2.2 and 3.2.3.
#[test]
fn strings_and_the_order_of_names_are_canonical() {
    let sample = r#" { "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
        "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/", "literals": [null, true, false] } "#;
    let expected = r#"{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}"#;
    assert_eq!(canonical(sample).as_deref(), Some(expected));
    let names =
        r#"{"\u20ac":0,"\r":1,"\ufb33":2,"1":3,"\ud83d\ude00":4,"\u0080":5,"\u00f6":6,"a":{"b":1,"aa":2,"":3}}"#;
    let expected =
        "{\"\\r\":1,\"1\":3,\"a\":{\"\":3,\"aa\":2,\"b\":1},\"\u{80}\":5,\"ö\":6,\"€\":0,\"😀\":4,\"\u{fb33}\":2}";
    assert_eq!(canonical(names).as_deref(), Some(expected));
    assert_eq!(canonical(r#""\b\t\n\f\r\u0001\u007f\u2028é""#).unwrap(), "\"\\b\\t\\n\\f\\r\\u0001\u{7f}\u{2028}é\"");
}

#[test]
fn what_two_readers_could_read_differently_is_not_json() {
    for bad in [
        r#"{"a":1,"a":1}"#,
        r#"{"a":1,"\u0061":2}"#,
        r#"[{"b":{"c":[{"a":1,"a":2}]}}]"#,
        r#"{"a":"\ud800"}"#,
        r#"{"a":1}{}"#,
        r#"{"a":1,}"#,
        "\u{feff}{}",
        "",
        &"[".repeat(100_000),
        &format!("{}{}", "[".repeat(200), "]".repeat(200)),
    ] {
        assert_eq!(canonical(bad), None, "{bad:.40}");
    }
    assert!(Json::parse(b"\"\xff\"").is_none());
    assert!(Json::parse(b"{\"a\":{\"a\":[{\"a\":1},{\"a\":1}]}}").is_some());
}
